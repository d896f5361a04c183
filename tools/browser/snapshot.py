"""Looks at a page: runs the collector in every frame at once and joins the results into one list."""

import asyncio
import time
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from core.errors import BrowserError
from tools.browser.clean import clean, clean_line
from tools.browser.enrich import Enricher
from tools.browser.faults import page_faults
from tools.browser.settle import unresponsive
from tools.browser.tab import PageElement, Snapshot, Tab

if TYPE_CHECKING:
    from playwright.async_api import Frame, JSHandle

COLLECTOR = Path(__file__).with_name("collector.js").read_text(encoding="utf-8")
NEAR_PX = 1200
"""Elements up to this far above and below the viewport are collected."""
SCAN_MS = 400
SCAN_NODES = 20_000
MAIN_TIMEOUT_S = 6.0
"""A main frame that does not answer in this time counts as hung."""
FRAME_TIMEOUT_S = 2.5
MAX_FRAMES = 40
MAX_ELEMENTS = 400
"""More than this is nothing anybody reads; the rest comes with scrolling."""
TEXT_CHARACTERS = 20_000
"""Of each frame's text, this much is compared from look to look."""
ROW_PX = 8
"""Elements whose tops differ by less are read from left to right."""

_OPTIONS = {
    "margin": NEAR_PX,
    "timeMs": SCAN_MS,
    "maxNodes": SCAN_NODES,
    "textLength": TEXT_CHARACTERS,
}
_SCAN = "(collector, options) => collector.scan(options)"
_INNER_CORNER = """frame => { const style = getComputedStyle(frame);
  return [frame.clientLeft + parseFloat(style.paddingLeft), frame.clientTop + parseFloat(style.paddingTop)]; }"""


@dataclass(frozen=True, slots=True, kw_only=True)
class FrameScan:
    """What the collector said of one frame."""

    frame: "Frame"
    document: "JSHandle"
    found: list[dict[str, Any]]
    seen: int
    """Nodes looked at."""
    total: int
    cut: bool
    title: str
    text: str
    scroll: tuple[int, int, int]
    corner: tuple[float, float]
    """Where the frame's content begins in the main viewport, in pixels."""


async def document_of(tab: Tab, frame: "Frame") -> "JSHandle":
    """Return the collector's handle in a frame's current document, put there when it is new.

    Raises:
        playwright Error: The frame is gone or navigating.
    """
    document = tab.documents.get(frame)
    if document is not None:
        try:
            await document.evaluate("collector => 1")
        except page_faults():
            tab.forget_document(frame)
        else:
            return document
    document = await frame.evaluate_handle(COLLECTOR)
    tab.documents[frame] = document
    return document


def check_usable(tab: Tab) -> None:
    """Refuse to touch a tab that cannot answer now.

    Raises:
        BrowserError: A dialog is open (dialog_open) or the page crashed (tab_crashed).
    """
    if tab.dialog is not None:
        raise BrowserError(
            f"The page shows a {tab.dialog.type} dialog: {clean_line(tab.dialog.message)[:300]!r}.",
            hint="Answer it with handle_dialog accept=true or accept=false.",
            code="dialog_open",
        )
    if tab.crashed:
        raise BrowserError(
            "The page crashed.", hint="Open it again with go_to.", code="tab_crashed"
        )


async def scan_frames(tab: Tab) -> list[FrameScan]:
    """Run the collector in all frames, the main frame's result first.

    Raises:
        BrowserError: The main frame does not answer (code page_unresponsive) or the tab is not usable.
    """
    check_usable(tab)
    frames = tab.page.frames[:MAX_FRAMES]
    scans = await asyncio.gather(*(_scan_frame(tab, frame) for frame in frames))
    if scans[0] is None:
        check_usable(tab)
        raise unresponsive()
    return [scan for scan in scans if scan is not None]


async def _scan_frame(tab: Tab, frame: "Frame") -> FrameScan | None:
    is_main = frame is tab.page.main_frame
    try:
        async with asyncio.timeout(MAIN_TIMEOUT_S if is_main else FRAME_TIMEOUT_S):
            document = await document_of(tab, frame)
            answer = await document.evaluate(_SCAN, _OPTIONS)
            corner = (0.0, 0.0) if is_main else await _corner(frame)
    except page_faults():
        return None
    return FrameScan(
        frame=frame,
        document=document,
        found=answer["found"],
        seen=answer["seen"],
        total=answer["total"],
        cut=answer["cut"],
        title=answer["title"],
        text=answer["text"],
        scroll=(answer["scroll"][0], answer["scroll"][1], answer["scroll"][2]),
        corner=corner,
    )


async def _corner(frame: "Frame") -> tuple[float, float]:
    element = await frame.frame_element()
    box = await element.bounding_box()
    inner = await element.evaluate(_INNER_CORNER)
    if box is None:
        return (0.0, 0.0)
    return (box["x"] + inner[0], box["y"] + inner[1])


async def take_snapshot(tab: Tab, enricher: Enricher) -> Snapshot:
    """Look at a tab and keep the result in it.

    Args:
        tab: What to look at.
        enricher: Adds what the collector cannot see.

    Raises:
        BrowserError: The page does not answer, crashed, or shows a dialog.
    """
    started_s = time.perf_counter()
    scans = await scan_frames(tab)
    fast_ms = round((time.perf_counter() - started_s) * 1000)
    dom_ms = await enricher.enrich(tab, scans)
    elements = collected(tab, scans)
    main = scans[0]
    tab.snapshots += 1
    tab.snapshot = Snapshot(
        name=f"{tab.name}.{tab.snapshots}",
        url=tab.page.url,
        title=clean_line(main.title),
        text=clean("\n".join(scan.text for scan in scans)),
        elements=tuple(elements),
        total=max(sum(scan.total for scan in scans), len(elements)),
        truncated=any(scan.cut for scan in scans) or len(scans) < len(tab.page.frames),
        scroll=main.scroll,
        engine="fast" if dom_ms < 0 else "fast+dom",
        timing_ms={"fast": fast_ms, "dom": max(0, dom_ms)},
        secrets=any("secret" in element.flags for element in elements),
    )
    return tab.snapshot


def collected(tab: Tab, scans: list[FrameScan]) -> list[PageElement]:
    """Turn what the collectors found into elements, numbered in reading order."""
    main = tab.page.main_frame
    height = scans[0].scroll[1]
    placed = [
        (
            _described(scan, found, is_main=scan.frame is main, viewport_height=height),
            scan,
            found["id"],
        )
        for scan in scans
        for found in scan.found
    ]
    placed.sort(key=lambda item: _reading_order(item[0]))
    return [_numbered(tab, element, scan, node) for element, scan, node in placed[:MAX_ELEMENTS]]


def _numbered(tab: Tab, element: PageElement, scan: FrameScan, node: int) -> PageElement:
    ref = tab.ref_for(scan.frame, scan.document, node)
    return replace(element, ref=ref)


def _described(
    scan: FrameScan, found: dict[str, Any], *, is_main: bool, viewport_height: int
) -> PageElement:
    x, y, width, height = found["box"]
    left, top = round(x + scan.corner[0]), round(y + scan.corner[1])
    in_view = bool(found["inView"]) and (is_main or (top < viewport_height and top + height > 0))
    return PageElement(
        ref=0,
        role=found["role"],
        tag=found["label"],
        name=clean_line(found["name"]),
        fingerprint=found["fingerprint"],
        box=(left, top, width, height),
        value=clean_line(found.get("value", "")),
        flags=_flags(found, in_view=in_view),
        options=_options(found),
        in_view=in_view,
        covered=bool(found["cover"]),
        in_main_frame=is_main,
        mark=found["mark"],
    )


def _flags(found: dict[str, Any], *, in_view: bool) -> tuple[str, ...]:
    flags = [name for name in ("secret", "required", "readonly", "selected") if found.get(name)]
    if "checked" in found:
        flags.append("checked" if found["checked"] else "unchecked")
    if "expanded" in found:
        flags.append("expanded" if found["expanded"] else "collapsed")
    if found["cover"]:
        flags.append(f"covered-by {clean_line(found['cover'])}")
    if not in_view:
        flags.append("offscreen")
    return tuple(flags)


def _options(found: dict[str, Any]) -> tuple[str, ...]:
    options = [clean_line(option) for option in found.get("options", ())]
    if found.get("moreOptions"):
        options.append(f"+{found['moreOptions']}")
    return tuple(options)


def _reading_order(element: PageElement) -> tuple[bool, bool, bool, int, int]:
    x, y, _, _ = element.box
    return (not element.in_view, element.covered, not element.in_main_frame, y // ROW_PX, x)

"""One look at one page, for the command `handrail inspect`."""

import asyncio
import os
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from core.address import parse_web_address
from core.egress import EgressPolicy
from core.egress_upstream import upstream_from
from core.errors import BrowserBlockedError
from core.messages import JsonValue
from core.private_hosts import OPTION, how_to_open
from tools.browser import listing
from tools.browser.act import Act
from tools.browser.arguments import BrowserArguments
from tools.browser.guard import checked_url
from tools.browser.loop_thread import LoopThread
from tools.browser.navigation import open_address
from tools.browser.picture import png
from tools.browser.session import BrowserSession, BrowserSetup
from tools.browser.settle import settle
from tools.browser.snapshot import take_snapshot
from tools.browser.steps import as_element
from tools.browser.tab import Snapshot


@dataclass(frozen=True, slots=True, kw_only=True)
class Inspection:
    """What was seen of a page."""

    body: dict[str, JsonValue]
    """The object of `inspect --json`: url, title, engine, snapshot, timing, elements, lines and, if asked for, text."""
    lines: tuple[str, ...]
    """The page as the model would see it."""


async def inspect_page(
    url: str,
    *,
    allow_private: bool = False,
    executable: str = "",
    state_dir: Path,
    screenshot: Path | None = None,
    with_text: bool = False,
) -> Inspection:
    """Open a page in a browser of its own, look at it once, and end the browser.

    Args:
        url: http or https.
        allow_private: Open it even if it is a private or loopback address; its own host and port only.
        executable: Path of a Chromium, "" to look for one.
        state_dir: Existing folder for the browser's files; nothing stays in it.
        screenshot: Where a PNG of the viewport is written, None for no picture.
        with_text: Also the page's text.

    Raises:
        BrowserBlockedError: The address is refused.
        BrowserUnavailableError: There is no Chromium, or it does not start.
        BrowserError: The page cannot be loaded or does not answer.
        OSError: The picture cannot be written.
    """
    address = checked_url(url)
    egress = EgressPolicy(upstream=upstream_from(os.environ))
    await _permit(address, egress, allow_private=allow_private)
    with tempfile.TemporaryDirectory(prefix="inspect-", dir=state_dir) as folder:
        thread = LoopThread("inspect")
        session = BrowserSession(
            BrowserSetup(folder=Path(folder) / "browser", egress=egress, executable=executable)
        )
        try:
            snapshot, text = await thread.run(_look(session, address, screenshot))
        finally:
            await asyncio.shield(thread.run(session.close()))
            thread.stop()
    return _inspection(snapshot, text if with_text else None)


async def _permit(url: str, egress: EgressPolicy, *, allow_private: bool) -> None:
    """Refuse a private address before a browser is started for nothing."""
    parts = parse_web_address(url)
    if allow_private:
        egress.allow(parts.host, parts.port)
    decision = await egress.decide(parts.host, parts.port)
    if not decision.allowed:
        raise BrowserBlockedError(
            f"{parts.host}:{parts.port} is refused: {decision.reason}.",
            hint=f"Use {OPTION} to open it." if how_to_open(decision.reason) else "",
            code="blocked_network",
        )


async def _look(session: BrowserSession, url: str, screenshot: Path | None) -> tuple[Snapshot, str]:
    await session.start()
    tab = session.tab
    await open_address(Act(session, tab, BrowserArguments(action="go_to", url=url)), url)
    await settle(tab)
    snapshot = await take_snapshot(tab, session.enricher)
    if screenshot is not None:
        await asyncio.to_thread(screenshot.write_bytes, await png(tab))
    return snapshot, snapshot.text


def _inspection(snapshot: Snapshot, text: str | None) -> Inspection:
    lines = [listing.line(element) for element in snapshot.elements]
    body: dict[str, Any] = {
        "url": snapshot.url,
        "title": snapshot.title,
        "engine": snapshot.engine,
        "snapshot": snapshot.name,
        "timing": dict(snapshot.timing_ms),
        "elements": [
            {
                "ref": element.ref,
                "tag": element.tag,
                "role": element.role,
                "name": element.name,
                "value": element.value,
                "flags": list(element.flags),
                "options": list(element.options),
            }
            for element in map(as_element, snapshot.elements)
        ],
        "lines": lines,
    }
    if text is not None:
        body["text"] = text
    shown = [*listing.heading(snapshot).splitlines(), *lines]
    return Inspection(body=body, lines=(*shown, *([text] if text is not None else [])))

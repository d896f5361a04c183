"""What the Browser pane says: pure functions of the view."""

from collections.abc import Sequence
from typing import Final

from rich.cells import cell_len, set_cell_size
from textual.content import Content

from core.surroundings import Element
from core.view.browser import BrowserView
from tui.safe_text import safe_text
from tui.shown_lines import HEADING, QUIET, text_lines
from tui.widgets.folded_text import Line
from tui.widgets.half_block import Box, Mark

ZOOM_WIDTH, ZOOM_HEIGHT = 400, 250
"""Pixels around an element that the zoom shows at least."""
STATES: Final = {
    "off": "no browser was started yet",
    "starting": "the browser starts …",
    "ready": "no page was looked at yet",
    "closed": "the browser is closed",
    "unavailable": "the browser cannot be used",
}
"""What is said where there is no picture."""


def one_line(text: str, width_cells: int = 0) -> str:
    """Return a text from outside as one line, cut at a width if one is given."""
    shown = safe_text(text, single_line=True)
    if not width_cells or cell_len(shown) <= width_cells:
        return shown
    return set_cell_size(shown, max(width_cells - 1, 0)) + "…"


def state_text(browser: BrowserView) -> str:
    """Say why there is no picture."""
    detail = f": {one_line(browser.detail)}" if browser.detail else ""
    return STATES[browser.state] + detail


def head_content(browser: BrowserView) -> Content:
    """Return address, title and tabs."""
    if not browser.snapshot:
        return Content(state_text(browser))
    others = [one_line(title, 24) for title in browser.tabs[1:]]
    tabs = f"   +{len(others)} tabs: {' | '.join(others)}" if others else ""
    return Content.assemble(
        (one_line(browser.url), "$text-accent"), "\n", (one_line(browser.title), HEADING), tabs
    )


def foot_content(browser: BrowserView) -> Content:
    """Return the last action with what was seen of it, the newest message, and the hosts."""
    if not browser.snapshot:
        return Content("")
    effect = one_line(browser.effect) or "no effect seen"
    lines: list[str | tuple[str, str]] = []
    if browser.action:
        lines += [(one_line(browser.action), HEADING), f" -> {effect}\n"]
    if browser.messages:
        count = len(browser.messages)
        lines.append((f"console ({count}): {one_line(browser.messages[-1])}\n", "$text-warning"))
    refused = sum(verdict != "allowed" for verdict in browser.hosts.values())
    hosts = f"{len(browser.hosts)} hosts" + (f", {refused} refused" if refused else "")
    lines.append((f"{len(browser.elements)} of {browser.total} elements · {hosts}", QUIET))
    return Content.assemble(*lines)


def element_row(element: Element, width_cells: int) -> Content:
    """Return an element as a row: number, role, name, value, flags."""
    value = f" = {one_line(element.value)}" if element.value else ""
    flags = f" ({', '.join(one_line(flag) for flag in element.flags)})" if element.flags else ""
    number, role = f"[{element.ref}]".rjust(5), one_line(element.role)
    room = max(width_cells - len(number) - cell_len(role) - 2, 4)
    rest = one_line(f"{element.name}{value}{flags}", room)
    return Content.assemble((number, HEADING), " ", (role, "$text-accent"), " ", rest)


def marks(elements: Sequence[Element], chosen: int) -> tuple[Mark, ...]:
    """Return the numbers to draw over the picture, those of the list beside it."""
    return tuple(
        Mark(text=str(element.ref), box=element.box, chosen=row == chosen)
        for row, element in enumerate(elements)
        if element.box[2] and element.box[3]
    )


def zoom_box(element: Element) -> Box | None:
    """Return the part of the page around an element, None where it has no place on the picture."""
    x, y, width, height = element.box
    if not width or not height:
        return None
    wide, high = max(width + 40, ZOOM_WIDTH), max(height + 40, ZOOM_HEIGHT)
    return max(x + width // 2 - wide // 2, 0), max(y + height // 2 - high // 2, 0), wide, high


def detail_lines(browser: BrowserView) -> list[Line]:
    """Return all that is known of the page: elements, actions, messages, hosts."""
    lines = [Line(one_line(browser.url), HEADING), Line(one_line(browser.title)), Line("")]
    lines += [Line(one_line(f"tab: {title}")) for title in browser.tabs]
    lines += _section("Elements", [element_row(item, 10_000).plain for item in browser.elements])
    for item in browser.elements:
        if item.options:
            lines += text_lines(f"options of [{item.ref}]: {', '.join(item.options)}", QUIET)
    done = [f"step {done.step}: {done.action} -> {done.effect}" for done in browser.actions]
    lines += _section("Actions", done)
    lines += _section("Console and notes", browser.messages)
    return lines + _section("Hosts", [f"{host} {how}" for host, how in browser.hosts.items()])


def _section(title: str, rows: Sequence[str]) -> list[Line]:
    return [
        Line(""),
        Line(f"{title} ({len(rows)})", HEADING),
        *[Line(one_line(row)) for row in rows],
    ]

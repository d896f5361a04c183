"""Rows that are cheap to show: made safe once, with a bar of one cell."""

from collections.abc import AsyncIterator

import pytest
from textual.app import App, ComposeResult
from textual.content import Content
from textual.pilot import Pilot

from tests.support.app import eventually
from tui.line_filter import SafeLineFilter
from tui.widgets.line_view import LineView
from tui.widgets.quick_lines import THUMB, QuickLines

HEIGHT = 10


class Quick(QuickLines, LineView):
    """A plain line view with the bar."""

    DEFAULT_CSS = "Quick { scrollbar-size-vertical: 0; overflow-y: scroll; }"


class Host(App[None]):
    """Shows one such view, with the filter that the app has."""

    def __init__(self) -> None:
        super().__init__()
        self._filters.append(SafeLineFilter())

    def compose(self) -> ComposeResult:
        yield Quick()

    @property
    def view(self) -> Quick:
        return self.query_one(Quick)


@pytest.fixture
async def pilot() -> AsyncIterator[Pilot[None]]:
    async with Host().run_test(size=(20, HEIGHT)) as running:
        yield running


def view_of(pilot: Pilot[None]) -> Quick:
    assert isinstance(pilot.app, Host)
    return pilot.app.view


def bar(view: Quick) -> str:
    return "".join(view.render_line(y).text[-1] for y in range(HEIGHT))


def number_row(row: int, width_cells: int) -> Content:
    return Content(f"row {row}")


async def test_a_row_that_was_not_made_safe_is_made_so_here(pilot: Pilot[None]) -> None:
    view = view_of(pilot)
    view.show_rows(1, lambda row, width: Content("a\u202eb\u200bc"))
    await pilot.pause()
    assert "\u202e" not in view.render_line(0).text
    assert "\u200b" not in view.render_line(0).text


async def test_there_is_no_bar_while_everything_is_in_view(pilot: Pilot[None]) -> None:
    view = view_of(pilot)
    view.show_rows(HEIGHT, number_row)
    await pilot.pause()
    assert THUMB not in bar(view)


async def test_the_bar_shows_how_much_and_where(pilot: Pilot[None]) -> None:
    view = view_of(pilot)
    view.show_rows(4 * HEIGHT, number_row)
    await pilot.pause()
    assert bar(view) == THUMB * 2 + " " * 8
    view.scroll_end(animate=False, immediate=True)
    await eventually(pilot, lambda: view.end_in_view)
    assert bar(view) == " " * 8 + THUMB * 2


async def test_a_click_on_the_bar_goes_there(pilot: Pilot[None]) -> None:
    view = view_of(pilot)
    view.show_rows(10 * HEIGHT, number_row)
    await pilot.pause()
    await pilot.click(Quick, offset=(19, 5))
    await eventually(pilot, lambda: view.scroll_offset.y == 50)


async def test_a_row_drawn_anew_is_not_taken_from_before(pilot: Pilot[None]) -> None:
    view = view_of(pilot)
    view.show_rows(1, lambda row, width: Content("old"))
    await pilot.pause()
    assert view.render_line(0).text.startswith("old")
    view.show_rows(1, lambda row, width: Content("new"))
    await pilot.pause()
    assert view.render_line(0).text.startswith("new")

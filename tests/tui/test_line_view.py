import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len
from textual.content import Content
from textual.pilot import Pilot

from tests.support.dialog_host import DialogHost, press, settled
from tui.widgets.folded_text import FoldedText, Line
from tui.widgets.line_view import LineView, RowList
from tui.widgets.text_lines import TextLines


class Drawer:
    """Draws numbered rows and remembers which it was asked for."""

    def __init__(self, name: str = "row") -> None:
        self.name = name
        self.drawn: list[int] = []

    def __call__(self, row: int, width_cells: int) -> Content:
        self.drawn.append(row)
        return Content(f"{self.name} {row}")


def shown(view: LineView) -> list[str]:
    return [view.render_line(y).text.rstrip() for y in range(view.size.height)]


async def filled(pilot: Pilot[None], view: LineView, count: int) -> Drawer:
    draw = Drawer()
    view.focus()
    view.show_rows(count, draw)
    await settled(pilot)
    return draw


async def test_only_rows_on_the_screen_are_drawn_and_each_once():
    view = RowList()
    async with DialogHost(widget=view).run_test(size=(40, 10)) as pilot:
        draw = await filled(pilot, view, 100_000)
        assert set(draw.drawn) == set(range(10))
        draw.drawn.clear()
        await press(pilot, "pagedown")
        await press(pilot, "pageup")
        assert len(draw.drawn) < 40


async def test_rows_that_did_not_change_are_not_drawn_again():
    view = LineView()
    async with DialogHost(widget=view).run_test(size=(40, 10)) as pilot:
        await filled(pilot, view, 10)
        draw = Drawer("new")
        view.show_rows(10, draw, changed_from=8)
        await settled(pilot)
        assert set(draw.drawn) == {8, 9}
        assert shown(view)[7:] == ["row 7", "new 8", "new 9"]


async def test_a_followed_end_stays_in_view_until_the_person_scrolls_up():
    view = RowList(follow=True)
    async with DialogHost(widget=view).run_test(size=(40, 10)) as pilot:
        draw = await filled(pilot, view, 50)
        assert shown(view)[-1] == "row 49"
        assert view.cursor_row == 49
        view.show_rows(60, draw, changed_from=50)
        await settled(pilot)
        assert shown(view)[-1] == "row 59"
        await press(pilot, "home")
        view.show_rows(70, draw, changed_from=60)
        await settled(pilot)
        assert shown(view)[0] == "row 0"
        await press(pilot, "end")
        view.show_rows(80, draw, changed_from=70)
        await settled(pilot)
        assert shown(view)[-1] == "row 79"


async def test_rows_given_before_the_first_layout_are_followed_to_their_end():
    class Early(RowList):
        def on_mount(self) -> None:
            self.show_rows(50, Drawer())

    view = Early(follow=True)
    async with DialogHost(widget=view).run_test(size=(40, 10)) as pilot:
        await settled(pilot)
        assert shown(view)[-1] == "row 49"


async def test_the_cursor_stays_inside_when_rows_go():
    view = RowList()
    async with DialogHost(widget=view).run_test(size=(40, 10)) as pilot:
        await filled(pilot, view, 50)
        view.cursor_row = 40
        await filled(pilot, view, 5)
        assert view.cursor_row == 4
        await filled(pilot, view, 0)
        assert view.cursor_row == 0
        await press(pilot, "enter", "down", "end")


@pytest.mark.parametrize(
    ("keys", "row"),
    [(["down", "j", "k"], 1), (["end", "up"], 98), (["G", "g"], 0), (["pagedown"], 9)],
)
async def test_keys_move_the_cursor(keys: list[str], row: int):
    view = RowList()
    async with DialogHost(widget=view).run_test(size=(40, 10)) as pilot:
        await filled(pilot, view, 100)
        await press(pilot, *keys)
        assert view.cursor_row == row


async def test_wide_characters_fill_a_row_exactly():
    view = LineView()
    async with DialogHost(widget=view).run_test(size=(11, 3)) as pilot:
        view.show_rows(1, lambda row, width: Content("漢字" * 9))
        await settled(pilot)
        assert view.render_line(0).cell_length == 11


async def test_a_theme_change_draws_anew():
    view = LineView()
    app = DialogHost(widget=view)
    async with app.run_test(size=(40, 10)) as pilot:
        draw = await filled(pilot, view, 5)
        before = view.render_line(0)
        draw.drawn.clear()
        app.theme = "textual-light"
        await settled(pilot)
        assert draw.drawn
        assert view.render_line(0) != before


async def test_selected_text_can_be_copied():
    view = LineView()
    app = DialogHost(widget=view)
    async with app.run_test(size=(40, 10)) as pilot:
        await filled(pilot, view, 5)
        await pilot.mouse_down(view, offset=(4, 1))
        await pilot.hover(view, offset=(2, 2))
        await pilot.mouse_up(view, offset=(2, 2))
        assert app.screen.get_selected_text() == "1\nrow"


async def test_a_search_goes_round_the_end_and_marks_the_hit():
    view = TextLines()
    async with DialogHost(widget=view).run_test(size=(40, 5)) as pilot:
        view.show_lines([Line(f"line {number}") for number in range(30)])
        await settled(pilot)
        assert view.seek("LINE 2")
        assert view.cursor_line == 2
        assert view.seek("line 2")
        assert view.cursor_line == 20
        assert view.seek("line 2", backwards=True)
        assert view.cursor_line == 2
        assert not view.seek("nowhere")
        assert view.cursor_line == 2


async def test_text_is_folded_again_at_another_width_and_the_line_stays():
    view = TextLines()
    async with DialogHost(widget=view).run_test(size=(40, 6)) as pilot:
        view.show_lines([Line("x" * 75) for _ in range(20)])
        await settled(pilot)
        view.cursor_row = view.text.row_of(10)
        await pilot.resize_terminal(20, 6)
        await settled(pilot)
        assert view.cursor_line == 10
        assert view.text.width_cells == view.row_width


TEXT = st.text(st.sampled_from("ab \t漢字é\u0301🙂"), max_size=60)


@given(st.lists(TEXT, max_size=8), st.integers(2, 20), st.booleans())
def test_folded_rows_hold_all_text_and_fit(lines: list[str], width: int, at_blanks: bool):
    text = FoldedText([Line(line) for line in lines], width, at_blanks=at_blanks)
    rows = [text.row(row).plain for row in range(text.row_count)]
    assert all(cell_len(row) <= width for row in rows)
    whole = ["".join(rows[start:end]) for start, end in _spans(text)]
    assert whole == [line.expandtabs(4) for line in lines]


def test_prose_is_folded_at_blanks_and_long_words_anywhere():
    text = FoldedText([Line("Go on with the draft? 0123456789abc")], 10, at_blanks=True)
    rows = [text.row(row).plain for row in range(text.row_count)]
    assert rows == ["Go on ", "with the ", "draft? ", "0123456789", "abc"]


@given(st.lists(TEXT, min_size=1, max_size=6), TEXT, st.integers(2, 20))
def test_cutting_and_appending_is_the_same_as_starting_anew(
    lines: list[str], last: str, width: int
):
    text = FoldedText([Line(line) for line in lines], width)
    text.cut(len(lines) - 1)
    text.append([Line(last)])
    anew = FoldedText([Line(line) for line in [*lines[:-1], last]], width)
    assert [text.row(row).plain for row in range(text.row_count)] == [
        anew.row(row).plain for row in range(anew.row_count)
    ]


def _spans(text: FoldedText) -> list[tuple[int, int]]:
    starts = [text.row_of(line) for line in range(len(text.lines))]
    return list(zip(starts, [*starts[1:], text.row_count], strict=False))

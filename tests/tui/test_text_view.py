from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

from textual.content import Content
from textual.pilot import Pilot
from textual.widgets import Static

from tests.support.dialog_host import DialogHost, press, settled
from tui.screens.text_view import TextViewScreen
from tui.shown_lines import argument_lines, count_marks, diff_lines, text_lines
from tui.widgets.folded_text import Line


@dataclass
class Read:
    screen: TextViewScreen
    pilot: Pilot[None]
    results: list[bool | None] = field(default_factory=list)

    def status(self) -> str:
        return str(self.screen.query_one("#text-view-status", Static).content)


@asynccontextmanager
async def read(lines: list[Line], title: str = "a text") -> AsyncIterator[Read]:
    app = DialogHost()
    async with app.run_test(size=(80, 24)) as pilot:
        reading = Read(TextViewScreen(title, lines), pilot)
        await app.push_screen(reading.screen, reading.results.append)
        await settled(pilot)
        yield reading


def numbered(count: int) -> list[Line]:
    return text_lines("\n".join(f"line {number}" for number in range(count)))


async def test_a_text_that_fits_was_seen_to_its_end():
    async with read(numbered(5)) as r:
        await press(r.pilot, "escape")
        assert r.results == [True]


async def test_a_long_text_was_seen_to_its_end_only_when_the_end_was_in_view():
    async with read(numbered(500)) as r:
        await press(r.pilot, "pagedown", "escape")
        assert r.results == [False]
    async with read(numbered(500)) as r:
        await press(r.pilot, "G", "g", "q")
        assert r.results == [True]


async def test_a_search_goes_on_with_n_and_back_with_capital_n():
    async with read(numbered(500)) as r:
        await press(r.pilot, "slash", *"9", "enter")
        assert r.screen.lines_view.cursor_line == 9
        await press(r.pilot, "n")
        assert r.screen.lines_view.cursor_line == 19
        await press(r.pilot, "N")
        assert r.screen.lines_view.cursor_line == 9
        assert "line 10 of 500" in r.status()


async def test_a_search_without_a_hit_says_so_and_stays():
    async with read(numbered(50)) as r:
        await press(r.pilot, "slash", *"zebra", "enter")
        assert r.screen.lines_view.cursor_line == 0
        assert "nowhere: /zebra" in r.status()


async def test_escape_in_the_search_line_closes_the_line_only():
    async with read(numbered(50)) as r:
        await press(r.pilot, "slash", "x", "escape")
        assert r.results == []
        assert r.screen.lines_view.has_focus


async def test_title_and_text_are_shown_as_they_are_but_inert():
    async with read(text_lines("[b]x[/] \x1b[2J\u202e"), title="[/ \x1b]0;x\x07") as r:
        frame = r.screen.query_one("#text-view")
        assert Content.from_markup(str(frame.border_title)).plain == "[/ <U+001B>]0;x<U+0007>"
        assert r.screen.lines_view.text.lines[0].text == "[b]x[/] <U+001B>[2J<U+202E>"


def test_a_diff_is_told_apart_by_its_first_column_and_by_style():
    lines = diff_lines("--- a\n+++ b\n@@ -1 +1 @@\n-old\n+new\n same\n")
    assert [line.text[:1] for line in lines] == ["-", "+", "@", "-", "+", " "]
    assert len({line.style for line in lines}) == 5


def test_arguments_are_shown_as_they_are_texts_of_several_lines_under_their_name():
    lines = argument_lines(
        {"path": "a b", "count": 3, "flags": ["x"], "text": "one\ntwo", "none": None}
    )
    assert [line.text for line in lines] == [
        "path = a b",
        "count = 3",
        'flags = ["x"]',
        "text = (2 lines)",
        "one",
        "two",
        "none = null",
    ]


def test_hidden_characters_are_counted_by_kind():
    assert count_marks(["a\u202eb\u202e", "\u00a0\u00a0"]) == "<U+202E> x2, <U+00A0> x2"
    assert count_marks(["plain <b>", "漢字"]) == "none"

"""Markdown drawn as rows, whole and while it streams."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from tui.markdown_rows import MarkdownRows, markdown_rows
from tui.markdown_table import share_width

PIECES = st.sampled_from(
    [
        "# Title\n",
        "Some *text* with `code` and a [link](http://a.example/x).",
        " more words",
        "\n",
        "\n\n",
        "- item\n",
        "- item two\n  - nested\n",
        "3. third\n4. fourth\n",
        "> quoted\n",
        "```python\nprint(1)\n\nx = 2\n```\n",
        "```\nopen fence\n",
        "~~~\n",
        "| a | b |\n|---|---|\n| 1 | 2 |\n",
        "***\n",
        "===\n",
        "  ",
        "中文字符、需要换行。",
        "\r\n",
    ]
)
TEXTS = st.lists(PIECES, max_size=14).map("".join)


def plain(text: str, width: int = 40) -> list[str]:
    return [row.plain.rstrip() for row in markdown_rows(text, width)]


@given(TEXTS, st.lists(st.integers(1, 9), min_size=1, max_size=60), st.integers(10, 50))
def test_a_text_that_streams_looks_at_each_moment_like_the_whole_text_so_far(
    text: str, steps: list[int], width: int
) -> None:
    drawn, at = MarkdownRows(width), 0
    for step in [*steps, len(text)]:
        at = min(at + step, len(text))
        before = list(drawn.rows)
        first = drawn.set_text(text[:at])
        assert [row.plain for row in drawn.rows] == [
            row.plain for row in markdown_rows(text[:at], width)
        ]
        assert [row.plain for row in drawn.rows[:first]] == [row.plain for row in before[:first]]


@given(TEXTS, st.integers(20, 60))
def test_no_row_is_wider_than_asked(text: str, width: int) -> None:
    assert all(cell_len(row.plain) <= width for row in markdown_rows(text, width))


def test_only_the_end_of_a_growing_text_is_drawn_anew() -> None:
    drawn = MarkdownRows(40)
    drawn.set_text("para one\n\npara two\n\npara")
    assert drawn.set_text("para one\n\npara two\n\npara three") == 1


def test_a_growing_code_block_keeps_its_lines() -> None:
    drawn = MarkdownRows(40)
    code = "```python\n" + "".join(f"line {number}\n" for number in range(50))
    drawn.set_text(code)
    assert drawn.set_text(code + "line 50\n") >= 48


def test_a_text_that_does_not_go_on_is_drawn_from_its_start() -> None:
    drawn = MarkdownRows(40)
    drawn.set_text("one\n\ntwo\n\nthree")
    drawn.set_text("other")
    assert [row.plain for row in drawn.rows] == ["other"]


def test_a_list_keeps_its_numbers_and_hangs_its_rows() -> None:
    assert plain("7. a word that wraps here\n8. next", 16) == [
        "7. a word that",
        "   wraps here",
        "8. next",
    ]


def test_a_link_shows_where_it_leads() -> None:
    assert plain("[bank](http://evil.example/)", 60) == ["bank (http://evil.example/)"]


def test_a_link_whose_text_is_its_target_shows_it_once() -> None:
    assert plain("<http://a.example/>", 60) == ["http://a.example/"]


def test_a_picture_is_named_and_not_fetched() -> None:
    assert plain("![cat](http://a.example/cat.png)", 60) == [
        "[picture: cat] (http://a.example/cat.png)"
    ]


def test_html_is_shown_as_the_text_it_is() -> None:
    assert plain("<b>bold</b> <script>x</script>", 60) == ["<b>bold</b> <script>x</script>"]


@pytest.mark.parametrize("bad", ["\x1b[31mred", "a\u202eb", "x\x07", "\x9b2J"])
def test_control_and_hidden_characters_become_marks(bad: str) -> None:
    shown = "\n".join(plain(bad, 60))
    assert "<U+" in shown
    assert not any(character in shown for character in "\x1b\u202e\x07\x9b")


def test_textual_markup_in_a_reply_is_plain_text() -> None:
    assert plain("[bold red]no[/] [@click=app.quit]x[/]", 60) == [
        "[bold red]no[/] [@click=app.quit]x[/]"
    ]


def test_a_table_shares_the_width() -> None:
    rows = plain("| n | what |\n|---|---|\n| 1 | a long cell that wraps |\n", 20)
    assert rows == ["n │ what", "──┼─────────────────", "1 │ a long cell that", "  │ wraps"]


@given(st.lists(st.integers(0, 90), min_size=1, max_size=6), st.integers(30, 100))
def test_columns_fit_in_the_room_there_is(natural: list[int], room: int) -> None:
    widths = share_width(natural, room)
    assert all(width >= 1 for width in widths)
    assert sum(widths) <= max(room, 4 * len(widths))

"""Wrapping at words and between wide characters."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len
from textual.content import Content

from tui.wrapping import wrap


def rows(text: str, width: int) -> list[str]:
    return [row.plain for row in wrap(Content(text), width)]


@pytest.mark.parametrize(
    ("text", "width", "expected"),
    [
        ("The quick brown fox", 10, ["The quick", "brown fox"]),
        ("averyverylongword fits", 6, ["averyv", "erylon", "gword", "fits"]),
        ("", 10, [""]),
        ("a\n\nb", 10, ["a", "", "b"]),
        ("exactly10! more", 10, ["exactly10!", "more"]),
        ("Note: 你好世界你好世界", 12, ["Note: 你好世", "界你好世界"]),
        ("你好、世界", 4, ["你", "好、", "世界"]),
    ],
)
def test_text_wraps_where_a_reader_expects_it(text: str, width: int, expected: list[str]) -> None:
    assert rows(text, width) == expected


def test_styles_stay_on_their_words() -> None:
    content = Content.assemble("one two ", ("three", "bold"), " four")
    wrapped = wrap(content, 9)
    assert [row.plain for row in wrapped] == ["one two", "three", "four"]
    assert [span.style for span in wrapped[1].spans] == ["bold"]


@given(st.text(st.sampled_from("ab c、你好é界.\n"), max_size=80), st.integers(2, 30))
def test_no_row_is_too_wide_and_no_visible_character_is_lost(text: str, width: int) -> None:
    wrapped = rows(text, width)
    assert all(cell_len(row) <= width for row in wrapped)
    assert "".join("".join(row.split()) for row in wrapped) == "".join(text.split())

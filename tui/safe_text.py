"""The one way by which text from outside reaches the screen.

A terminal acts on control characters, and an eye is fooled by characters that are not seen or that turn the order of
reading. Both become marks such as `<U+202E>`; everything else stays as it is. Newline and tab are layout.
"""

import re
import unicodedata
from collections.abc import Callable
from itertools import groupby
from typing import Final

FOLD_BLANKS: Final = 16
"""Longest run of spaces or tabs that is shown as it is when folding."""
FOLD_LINES: Final = 3
"""Longest run of newlines that is shown as it is when folding."""
FOLD_SAME: Final = 40
"""Longest run of one other character that is shown as it is when folding."""
FOLD_WORD: Final = 600
"""Longest text without a blank that is shown whole when folding."""
FOLD_MARKS: Final = 4
"""Most marks on one letter that are shown as they are when folding; Tibetan needs that many."""
KEPT_OF_WORD: Final = 120
"""Characters kept at either end of a folded word."""

CONTROL: Final = r"\x00-\x08\x0b-\x1f\x7f"
HIDDEN: Final = (
    r"\x80-\xa0\xad\u034f\u061c\u115f\u1160\u1680\u17b4\u17b5\u180b-\u180f\u2000-\u200f\u2028-\u202f\u205f-\u206f"
    r"\u2800\u3000\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb\ufffe\uffff\ud800-\udfff"
    r"\U00013430-\U0001343f\U0001bca0-\U0001bca3\U0001d159\U0001d173-\U0001d17a\U0001f3fb-\U0001f3ff"
    r"\U000e0000-\U000e0fff"
)
"""C1, blanks that are not a space, format characters, fillers, selectors, skin tones, tags and surrogates.

A skin tone counts as no cell in our own reckoning and as two in most terminals: a run of them would push what follows
off the screen.

Source: Unicode 16, categories Cc, Cf, Zs, Zl, Zp and Default_Ignorable_Code_Point, less the visible Arabic and Kaithi
number signs, plus U+2800 and U+1D159, which are drawn as blanks.
"""

AFTER_SYMBOL: Final = frozenset("\ufe0f\U0001f3fb\U0001f3fc\U0001f3fd\U0001f3fe\U0001f3ff")
"""Shown as they are behind a symbol, which they change."""

_BAD_ASCII: Final = re.compile(f"[{CONTROL}]")
_BAD: Final = re.compile(f"[{CONTROL}{HIDDEN}]")
_BAD_RUN: Final = re.compile(f"([{CONTROL}{HIDDEN}])\\1*")
_IDEOGRAPHIC_BLANKS: Final = re.compile(
    "(?<=[\u3001-\u30ff\u3400-\u9fff\uac00-\ud7af\uff01-\uff5e])\u3000{1,2}(?!\u3000)"
    "|(?:(?<=\n)|^)\u3000{1,2}(?=[\u3001-\u30ff\u3400-\u9fff\uac00-\ud7af\uff01-\uff5e])"
)
_SAME_RUN: Final = re.compile(
    rf"\n{{{FOLD_LINES + 1},}}|[ \t]{{{FOLD_BLANKS + 1},}}|([^\s])\1{{{FOLD_SAME},}}"
)
_BLANK_LINES: Final = re.compile(rf"(?:[ \t]*\n){{{FOLD_LINES + 1},}}")
_LONG_WORD: Final = re.compile(rf"\S{{{FOLD_WORD + 1},}}")
_MARKS_STACKED: Final = re.compile(rf"[^\x00-\x7f\w]{{{FOLD_MARKS + 1},}}")
"""Where stacked marks may be: a mark is neither letter nor digit."""


def is_safe(text: str) -> bool:
    """Return True when nothing in `text` needs a mark."""
    return (_BAD_ASCII if text.isascii() else _BAD).search(text) is None


def safe_text(text: str, *, single_line: bool = False, fold: bool = False) -> str:
    """Return `text` with everything a terminal would act on, or an eye would miss, as visible marks.

    Args:
        text: Any string, lone surrogates included.
        single_line: Show newlines as "↵" and tabs as a space.
        fold: Shorten long runs of blanks, of newlines, of one character, and long words, each with its count.

    Returns:
        Text of the same reading order without control, format, bidirectional or zero-width characters.
    """
    if text.isascii():
        if _BAD_ASCII.search(text) is not None:
            text = _BAD_RUN.sub(_mark, text)
    elif _BAD.search(text) is not None:
        text = _BAD_RUN.sub(_mark_in(_keep_layout(text)), _keep_layout(text))
    if fold:
        text = _fold(text)
    if single_line:
        text = text.replace("\n", "↵").replace("\t", " ")
    return text


def _keep_layout(text: str) -> str:
    """Show the wide blank as two spaces where it is layout of Chinese, Japanese or Korean text."""
    return _IDEOGRAPHIC_BLANKS.sub(lambda found: "  " * len(found.group()), text)


def _mark(found: re.Match[str]) -> str:
    run = found.group()
    count = f" x{len(run)}" if len(run) > 1 else ""
    return f"<U+{ord(run[0]):04X}{count}>"


def _mark_in(text: str) -> Callable[[re.Match[str]], str]:
    """Return a marker that leaves the emoji selector and one skin tone after a symbol alone."""

    def mark(found: re.Match[str]) -> str:
        before = text[found.start() - 1] if found.start() else ""
        if found.group() in AFTER_SYMBOL and before and unicodedata.category(before) == "So":
            return found.group()
        return _mark(found)

    return mark


def _fold(text: str) -> str:
    text = _BLANK_LINES.sub(_fold_lines, text)
    text = _MARKS_STACKED.sub(_fold_marks, text)
    text = _SAME_RUN.sub(_fold_run, text)
    return _LONG_WORD.sub(_fold_word, text)


def _fold_marks(found: re.Match[str]) -> str:
    folded = ""
    for are_marks, run in groupby(found.group(), lambda each: unicodedata.category(each)[0] == "M"):
        whole = "".join(run)
        stacked = are_marks and len(whole) > FOLD_MARKS
        folded += f"{whole[0]}<{len(whole)} marks>" if stacked else whole
    return folded


def _fold_lines(found: re.Match[str]) -> str:
    return f"\n<{found.group().count(chr(10)) - 1} blank lines>\n"


def _fold_run(found: re.Match[str]) -> str:
    run = found.group()
    if run[0] in " \t":
        return f" <{len(run)} blanks> "
    return f"{run[:3]}<{run[0]} x{len(run)}>{run[:3]}"


def _fold_word(found: re.Match[str]) -> str:
    word = found.group()
    cut = len(word) - 2 * KEPT_OF_WORD
    return f"{word[:KEPT_OF_WORD]}<{cut} characters>{word[-KEPT_OF_WORD:]}"

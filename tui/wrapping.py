"""Wraps styled text at words, and between the characters of Chinese, Japanese and Korean, in linear time.

Textual's own wrapping breaks at blanks only, so that a sentence without blanks starts a new row and leaves the one
before half empty; and it is slow for such text.
"""

import re
from collections.abc import Iterator
from typing import Final

from rich.cells import cell_len, chop_cells
from textual.content import Content

_WIDE: Final = (
    "\u1100-\u115f\u2e80-\u303e\u3041-\u33ff\u3400-\u4dbf\u4e00-\u9fff\ua000-\ua4cf\uac00-\ud7a3"
    "\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6"
)
_NOT_FIRST: Final = (
    "\u3001\u3002\uff0c\uff0e\uff1a\uff1b\uff1f\uff01\uff09\u300d\u300f\u3011\u3015\u3009\u300b\u3017\u3019\u00b7\u2026\u30fc\u3005"
    "\u3041\u3043\u3045\u3047\u3049\u3063\u3083\u3085\u3087\u30a1\u30a3\u30a5\u30a7\u30a9\u30c3\u30e3\u30e5\u30e7"
    ",.:;?!)\\]}%"
)
"""Characters that do not begin a row. Source: the common part of GB/T 15834 and JIS X 4051."""
_NOT_LAST: Final = "\uff08\u300c\u300e\u3010\u3014\u3008\u300a\u3016\u3018"
"""Characters that do not end a row."""
_TOKEN: Final = re.compile(f"[{_NOT_LAST}]*[{_WIDE}][{_NOT_FIRST}]*|[^\\s{_WIDE}]+|\\s+")


def wrap(content: Content, width_cells: int) -> list[Content]:
    """Wrap one or more lines; there is at least one row, and a row is at most `width_cells` wide (2 at least)."""
    rows: list[Content] = []
    for line in content.split("\n", allow_blank=True) if "\n" in content.plain else [content]:
        rows += _wrap_line(line, max(width_cells, 2))
    return rows


def _wrap_line(line: Content, width: int) -> list[Content]:
    text = line.plain
    if len(text) * 2 <= width or (text.isascii() and len(text) <= width):
        return [line]
    pieces = list(_pieces(text, width))
    if not line.spans:
        return [Content(text[start:end]) for start, end in pieces]
    return [line[start:end] for start, end in pieces]


def _pieces(text: str, width: int) -> Iterator[tuple[int, int]]:
    """Yield start and end of each row; the blanks at which a row was broken are between them."""
    start, used, end = 0, 0, 0
    for found in _TOKEN.finditer(text):
        token, at = found.group(), found.start()
        cells = len(token) if token.isascii() else cell_len(token)
        if used + cells <= width:
            used += cells
            end = found.end()
        elif token.isspace():
            yield start, at
            start = end = found.end()
            used = 0
        else:
            if text[start:at].strip():
                yield start, _without_blanks(text, start, at)
            *whole, rest = chop_cells(token, width) if cells > width else [token]
            for part in whole:
                yield at, at + len(part)
                at += len(part)
            start, used, end = at, cell_len(rest), found.end()
    if end > start or not text:
        yield start, len(text)


def _without_blanks(text: str, start: int, end: int) -> int:
    while end > start and text[end - 1].isspace():
        end -= 1
    return end

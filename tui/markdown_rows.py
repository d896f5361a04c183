"""Markdown as rows of a given width, for text that grows at its end.

While a reply streams, only the block at its end is read again; what is above it is done. The parser is
markdown-it-py; drawing is ours, because a widget a block is what makes long transcripts slow.
"""

from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from typing import Final, NamedTuple

from markdown_it import MarkdownIt
from markdown_it.tree import SyntaxTreeNode
from rich.cells import cell_len, chop_cells
from textual.content import Content

from tui.markdown_inline import inline_content
from tui.markdown_table import table_rows
from tui.safe_text import safe_text
from tui.wrapping import wrap

MAX_NESTING: Final = 8
"""Lists and quotes deeper than this are shown as their text."""
_LISTS: Final = frozenset({"bullet_list", "ordered_list"})
_CONTAINERS: Final = _LISTS | {"blockquote"}
_HEADINGS: Final = {"h1": "bold underline $text-primary", "h2": "bold $text-primary"}
_MUTED: Final = "$text-muted"
_BLANK: Final = Content("")


class Begun(NamedTuple):
    """A list or a code block whose beginning is drawn for good and which may go on."""

    kind: str
    next_number: int = 0
    """Of the next item of a list."""
    opener: str = ""
    """The line that opened a code block, read again before what follows."""


class Unit(NamedTuple):
    """A piece of the text that can be drawn for good without what follows it: a block, an item, lines of code."""

    line: int
    """Line of the text where it begins."""
    rows: list[Content]
    begun: Begun | None = None
    """What is open where it begins."""
    is_sure: bool = False
    """It begins where it does whatever the rest of its line will be."""


class MarkdownRows:
    """The rows of one text at one width."""

    def __init__(self, width_cells: int) -> None:
        """Start empty at a width of at least 8 cells."""
        self.width = max(width_cells, 8)
        self.rows: list[Content] = []
        self._done = ""
        """The beginning of the text that is drawn for good."""
        self._done_rows = 0
        self._begun: Begun | None = None
        """Set when the done part ends inside a list or a code block."""

    def set_text(self, text: str) -> int:
        """Draw a text; where it continues the one before, only its end is drawn anew.

        Returns:
            Number of the first row that may have changed.
        """
        if not text.startswith(self._done):
            self._done, self._done_rows, self._begun = "", 0, None
        first = self._done_rows
        del self.rows[first:]
        self._draw_tail(text, text[len(self._done) :])
        return first

    def _draw_tail(self, text: str, tail: str) -> None:
        begun, start = self._begun, len(self._done)
        opener = begun.opener if begun else ""
        skipped = 1 if opener else 0
        whole_lines = text.rfind("\n") + 1
        for at, block in enumerate(_top_level(opener + safe_text(tail.replace("\r\n", "\n")))):
            goes_on = begun if begun is not None and at == 0 and block.type == begun.kind else None
            for unit in _units(block, self.width, goes_on):
                chars = start + _line_start(tail, unit.line - skipped)
                if chars < whole_lines or unit.is_sure:
                    self._settle(text, chars, unit.begun)
                if self.rows and unit.begun is None:
                    self.rows.append(_BLANK)
                self.rows += unit.rows

    def _settle(self, text: str, chars: int, begun: Begun | None) -> None:
        """Mark the rows so far as drawn for good; they show the text before `chars`."""
        self._done, self._done_rows, self._begun = text[:chars], len(self.rows), begun


def markdown_rows(text: str, width_cells: int) -> list[Content]:
    """Return the rows of a whole text."""
    drawn = MarkdownRows(width_cells)
    drawn.set_text(text)
    return drawn.rows


@cache
def _parser() -> MarkdownIt:
    return MarkdownIt("commonmark", {"html": False}).enable(["table", "strikethrough"])


def _top_level(text: str) -> list[SyntaxTreeNode]:
    return SyntaxTreeNode(_parser().parse(text)).children


def _first_line(node: SyntaxTreeNode) -> int:
    return node.map[0] if node.map else 0


def _line_start(text: str, line: int) -> int:
    at = 0
    for _ in range(line):
        at = text.find("\n", at) + 1
    return at


def _units(block: SyntaxTreeNode, width: int, begun: Begun | None) -> Iterator[Unit]:
    """Draw a top-level block; `begun` when its beginning is drawn already."""
    if block.type in _LISTS:
        number = begun.next_number if begun else _first_number(block)
        for item in block.children:
            yield Unit(_first_line(item), _list_rows(block.type, [item], width, 0, number), begun)
            number += 1
            begun = Begun(block.type, next_number=number)
    elif block.type == "fence":
        yield from _fence_units(block, width, begun)
    else:
        yield Unit(_first_line(block), _block_rows(block, width, 0))


def _fence_units(block: SyntaxTreeNode, width: int, begun: Begun | None) -> Iterator[Unit]:
    line = _first_line(block)
    if begun and not block.content:
        yield Unit(line, [], begun)
        return
    *lines, last_line = block.content.removesuffix("\n").split("\n")
    language = [] if begun else _language_row(block, width)
    last_row = _code_rows([last_line], width)
    if not lines:
        yield Unit(line, language + last_row, begun)
        return
    yield Unit(line, language + _code_rows(lines, width), begun)
    goes_on = Begun("fence", opener=f"{block.markup}{block.info}\n")
    yield Unit(line + 1 + len(lines), last_row, goes_on, is_sure=True)


def _block_rows(node: SyntaxTreeNode, width: int, depth: int) -> list[Content]:
    if node.type in _CONTAINERS and depth < MAX_NESTING:
        return _container_rows(node, width, depth)
    if node.type in {"fence", "code_block"}:
        return _language_row(node, width) + _code_rows(
            node.content.removesuffix("\n").split("\n"), width
        )
    if node.type == "table":
        return table_rows(node, width)
    if node.type == "hr":
        return [Content("─" * width).stylize(_MUTED)]
    content = _inline(node)
    if node.type == "heading":
        content = content.stylize_before(_HEADINGS.get(node.tag, "bold"))
    return wrap(content, width)


def _container_rows(node: SyntaxTreeNode, width: int, depth: int) -> list[Content]:
    if node.type in _LISTS:
        return _list_rows(node.type, node.children, width, depth, _first_number(node))
    return _prefixed(_stacked(node.children, width - 2, depth + 1), Content("▌ ").stylize(_MUTED))


def _inline(node: SyntaxTreeNode) -> Content:
    """Return the text of a block that holds inline nodes, or of everything below it."""
    if node.children and node.children[0].type == "inline":
        return inline_content(node.children[0])
    return inline_content(node)


def _stacked(
    nodes: Iterable[SyntaxTreeNode], width: int, depth: int, *, tight: bool = False
) -> list[Content]:
    rows: list[Content] = []
    for node in nodes:
        if rows and not tight:
            rows.append(_BLANK)
        rows += _block_rows(node, max(width, 4), depth)
    return rows


def _first_number(block: SyntaxTreeNode) -> int:
    return int(block.attrs.get("start", 1))


def _list_rows(
    kind: str, items: Sequence[SyntaxTreeNode], width: int, depth: int, first_number: int
) -> list[Content]:
    rows: list[Content] = []
    for number, item in enumerate(items, first_number):
        mark = f"{number}. " if kind == "ordered_list" else "• "
        inner = _stacked(item.children, width - len(mark), depth + 1, tight=True) or [_BLANK]
        rows += _prefixed(inner, Content(" " * len(mark)), Content(mark).stylize("$text-primary"))
    return rows


def _prefixed(
    rows: Sequence[Content], prefix: Content, first: Content | None = None
) -> list[Content]:
    return [
        (first if first is not None and not at else prefix) + row for at, row in enumerate(rows)
    ]


def _language_row(node: SyntaxTreeNode, width: int) -> list[Content]:
    language = node.info.split()[0] if node.type == "fence" and node.info.strip() else ""
    return [_code_row(language, width, _MUTED)] if language else []


def _code_rows(lines: Iterable[str], width: int) -> list[Content]:
    room = max(width - 2, 4)
    rows: list[Content] = []
    for line in lines:
        shown = line.expandtabs(4)
        parts = [shown] if cell_len(shown) <= room else chop_cells(shown, room)
        rows += [_code_row(part, width, "") for part in parts or [""]]
    return rows


def _code_row(text: str, width: int, style: str) -> Content:
    fill = " " * max(width - 1 - cell_len(text), 0)
    return Content(f" {text}{fill}").stylize(f"{style} on $surface".strip())

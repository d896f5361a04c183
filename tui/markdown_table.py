"""Markdown tables as rows: columns share the width, cells wrap."""

from collections.abc import Sequence
from itertools import zip_longest
from typing import Final

from markdown_it.tree import SyntaxTreeNode
from textual.content import Content

from tui.markdown_inline import inline_content
from tui.wrapping import wrap

MIN_COLUMN_CELLS: Final = 4
_GAP: Final = " │ "


def table_rows(table: SyntaxTreeNode, width_cells: int) -> list[Content]:
    """Return the rows of a table node."""
    lines = [
        [_cell(cell, is_head=part.type == "thead") for cell in row.children]
        for part in table.children
        for row in part.children
    ]
    if not lines:
        return []
    natural = [
        max(cell.cell_length for cell in column)
        for column in zip_longest(*lines, fillvalue=Content(""))
    ]
    widths = share_width(natural, width_cells - len(_GAP) * (len(natural) - 1))
    rows = _wrapped(lines[0], widths)
    rows.append(Content("─┼─".join("─" * width for width in widths)).stylize("$text-muted"))
    for line in lines[1:]:
        rows += _wrapped(line, widths)
    return rows


def share_width(natural: Sequence[int], room: int) -> list[int]:
    """Share `room` cells among columns: narrow ones get what they need, wide ones the rest in equal parts.

    Args:
        natural: Widths at which nothing wraps.
        room: Cells for all columns together.

    Returns:
        A width a column, each at least 1, together at most `room` where that can be.
    """
    widths = [max(width, 1) for width in natural]
    open_columns = set(range(len(widths)))
    left = room
    while open_columns and sum(widths[column] for column in open_columns) > left:
        share = max(left // len(open_columns), MIN_COLUMN_CELLS)
        narrow = {column for column in open_columns if widths[column] <= share}
        if not narrow:
            for column in open_columns:
                widths[column] = share
            break
        left -= sum(widths[column] for column in narrow)
        open_columns -= narrow
    return widths


def _cell(node: SyntaxTreeNode, *, is_head: bool) -> Content:
    content = inline_content(node)
    return content.stylize_before("bold") if is_head else content


def _wrapped(cells: Sequence[Content], widths: Sequence[int]) -> list[Content]:
    columns = [wrap(cell, width) for cell, width in zip(cells, widths, strict=False)]
    gap = Content(_GAP).stylize("$text-muted")
    return [
        gap.join(_fitted(part, width) for part, width in zip(parts, widths, strict=False))
        for parts in zip_longest(*columns, fillvalue=Content(""))
    ]


def _fitted(part: Content, width_cells: int) -> Content:
    return part.pad_right(max(width_cells - part.cell_length, 0))

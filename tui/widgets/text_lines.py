"""Text folded at the width: to scroll through, or in a row list with a search."""

from collections.abc import Sequence

from textual import on
from textual.content import Content

from tui.widgets.folded_text import FoldedText, Line
from tui.widgets.line_view import LineView, RowList


class TextBlock(LineView):
    """Shows lines to scroll through."""

    def __init__(self, *, id: str | None = None, is_prose: bool = False) -> None:
        """Make an empty block; prose is folded at blanks."""
        super().__init__(id=id)
        self._is_prose = is_prose
        self._text = FoldedText()

    def show_lines(self, lines: Sequence[Line]) -> None:
        """Show these lines instead, from the first on."""
        width_cells = self.row_width or self._text.width_cells
        self._text = FoldedText(lines, width_cells, at_blanks=self._is_prose)
        self.show_rows(self._text.row_count, self._text.row)
        self.scroll_to(y=0, animate=False)

    @on(LineView.Resized)
    def fold_again(self) -> None:
        """Fold at the new width."""
        self._text.fold(self.row_width)
        self.show_rows(self._text.row_count, self._text.row)


class TextLines(RowList):
    """Shows a `FoldedText`; the cursor row is where a search goes on from."""

    def __init__(self, *, follow: bool = False, id: str | None = None) -> None:
        """Make an empty view; `follow` keeps the end in view as lines come."""
        super().__init__(follow=follow, id=id)
        self.text = FoldedText()
        self.sought = ""

    @property
    def cursor_line(self) -> int:
        """Number of the logical line under the cursor, 0 where there is none."""
        return max(self.text.line_at(self.cursor_row), 0)

    def show_lines(self, lines: Sequence[Line]) -> None:
        """Show these lines instead."""
        self.text = FoldedText(lines, self.row_width or self.text.width_cells)
        self._show(0)

    def replace_lines(self, kept: int, lines: Sequence[Line]) -> None:
        """Keep the first `kept` lines and show `lines` after them."""
        self.text.cut(kept)
        changed_from = self.text.row_count
        self.text.append(lines)
        self._show(changed_from)

    def seek(self, needle: str, *, backwards: bool = False) -> bool:
        """Go to the next line that holds `needle`; returns whether there is one.

        Args:
            needle: Plain text, case does not count; "" takes the marks away.
            backwards: Look upwards.
        """
        self.sought = needle
        self.forget()
        if not needle:
            return False
        found = self.text.find(needle, after_line=self.cursor_line, backwards=backwards)
        if found is None:
            return False
        self.cursor_row = self.text.row_of(found)
        return True

    @on(RowList.Resized)
    def fold_again(self) -> None:
        """Fold at the new width; the line under the cursor stays under it."""
        line = self.cursor_line
        self.text.fold(self.row_width)
        self._show(0)
        if self.text.lines and not (self.follow and self.end_in_view):
            self.cursor_row = self.text.row_of(line)

    def _show(self, changed_from: int) -> None:
        self.show_rows(self.text.row_count, self._marked_row, changed_from=changed_from)

    def _marked_row(self, row: int, width_cells: int) -> Content:
        content = self.text.row(row)
        at = content.plain.casefold().find(self.sought.casefold()) if self.sought else -1
        return content if at < 0 else content.stylize("reverse", at, at + len(self.sought))

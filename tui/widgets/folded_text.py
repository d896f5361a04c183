"""Long text as rows of a given width: folded lazily, one style a line, nothing kept twice."""

from bisect import bisect_right
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from rich.cells import cell_len
from textual.content import Content

TAB_CELLS = 4
"""Tab stops of shown text."""


class Line(NamedTuple):
    """A logical line: text that is safe to show, without line ends, and how it looks."""

    text: str
    style: str = ""
    """A style of `textual.content`, such as "$text-error"; "" for plain."""


class FoldedText:
    """Lines folded at the width; rows are numbered from 0 over all lines."""

    def __init__(
        self, lines: Iterable[Line] = (), width_cells: int = 80, *, at_blanks: bool = False
    ) -> None:
        """Fold lines.

        Args:
            lines: What is shown.
            width_cells: Width of a row; at least 2 is used.
            at_blanks: Fold prose at blanks; else anywhere, as a terminal does.
        """
        self._at_blanks = at_blanks
        self._lines = [_untabbed(line) for line in lines]
        self._starts: list[int] = []
        self._row_count = 0
        self.fold(width_cells)

    @property
    def lines(self) -> Sequence[Line]:
        """The logical lines."""
        return self._lines

    @property
    def row_count(self) -> int:
        """Number of rows at this width."""
        return self._row_count

    @property
    def width_cells(self) -> int:
        """Width the lines are folded at."""
        return self._width

    def fold(self, width_cells: int) -> None:
        """Fold all lines at another width."""
        self._width = max(width_cells, 2)
        self._starts, self._row_count = [], 0
        self._cuts: dict[int, list[int]] = {}
        for line in self._lines:
            self._count(line)

    def append(self, lines: Iterable[Line]) -> None:
        """Add lines at the end."""
        for line in map(_untabbed, lines):
            self._lines.append(line)
            self._count(line)

    def cut(self, kept: int) -> None:
        """Take away all lines but the first `kept`."""
        if kept < len(self._lines):
            self._row_count = self._starts[kept]
            del self._lines[kept:], self._starts[kept:]
            self._cuts = {line: cuts for line, cuts in self._cuts.items() if line < kept}

    def line_at(self, row: int) -> int:
        """Return the number of the line that row `row` is part of."""
        return bisect_right(self._starts, row) - 1

    def row_of(self, line: int) -> int:
        """Return the first row of a line."""
        return self._starts[line]

    def row(self, row: int, width_cells: int = 0) -> Content:
        """Return one row; `width_cells` is not used and makes it fit `LineView.show_rows`."""
        number = self.line_at(row)
        text, style = self._lines[number]
        part = row - self._starts[number]
        cuts = self._cuts.get(number)
        if cuts is None:
            at = part * self._width
            return Content(text[at : at + self._width]).stylize(style)
        return Content(text[cuts[part] : cuts[part + 1]]).stylize(style)

    def find(self, needle: str, *, after_line: int, backwards: bool = False) -> int | None:
        """Return the next line that holds `needle`, looking on round the end; None if none does.

        Args:
            needle: Plain text; case does not count.
            after_line: Where the search starts; this line comes last.
            backwards: Look upwards.
        """
        wanted, count = needle.casefold(), len(self._lines)
        step = -1 if backwards else 1
        numbers = ((after_line + step * ahead) % count for ahead in range(1, count + 1))
        return next(
            (number for number in numbers if wanted in self._lines[number].text.casefold()), None
        )

    def _count(self, line: Line) -> None:
        self._starts.append(self._row_count)
        if line.text.isascii() and not self._at_blanks:
            self._row_count += max(-(-len(line.text) // self._width), 1)
            return
        cuts = _cuts(line.text, self._width, at_blanks=self._at_blanks)
        self._cuts[len(self._starts) - 1] = cuts
        self._row_count += len(cuts) - 1


def _untabbed(line: Line) -> Line:
    return line._replace(text=line.text.expandtabs(TAB_CELLS)) if "\t" in line.text else line


def _cuts(text: str, width: int, *, at_blanks: bool) -> list[int]:
    """Return where rows begin in a text, and its length at the end."""
    cuts, at = [0], 0
    while at < len(text):
        end = min(at + width, len(text))
        while end - at > 1 and (excess := cell_len(text[at:end]) - width) > 0:
            end = max(end - max(excess // 2, 1), at + 1)
        if at_blanks and end < len(text):
            end = text.rfind(" ", at, end) + 1 or end
        cuts.append(end)
        at = end
    return cuts if text else [0, 0]

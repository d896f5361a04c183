"""A scroll view of blocks of rows that are laid out only when they come near the screen.

Far blocks have an estimated height. When one comes near, it is drawn, its height becomes exact, and the rows on the
screen stay where they are. So a session of 10,000 steps opens as fast as a short one and a new width costs one screen.
"""

from abc import abstractmethod
from typing import TYPE_CHECKING, Final, NamedTuple

from textual import on
from textual.cache import LRUCache
from textual.content import Content
from textual.geometry import Region, Size

from tui.widgets.block_heights import BlockHeights
from tui.widgets.line_view import LineView
from tui.widgets.quick_lines import QuickLines

if TYPE_CHECKING:
    from collections.abc import Sequence

    from textual.selection import Selection

GUTTER_CELLS: Final = 2
"""Columns left of every row: the mark of the chosen block and a blank."""
KEPT_BLOCKS: Final = 512
"""Drawn blocks that are kept."""
EAGER_BLOCKS: Final = 64
"""New blocks at the end that are drawn at once; the others of a long log wait until they come near."""
_NO_ROW: Final = Content("")
_GUTTER: Final = Content(" " * GUTTER_CELLS)
_CHOSEN: Final = Content("▌ ").stylize("$text-accent")


class Drawn(NamedTuple):
    """The rows of a block and what they were drawn for."""

    stamp: int
    rows: "Sequence[Content]"


class BlockView(QuickLines, LineView):
    """Blocks under each other; subclasses say what a block is."""

    DEFAULT_CSS = "BlockView { scrollbar-size-vertical: 0; overflow-y: scroll; }"

    def __init__(self, *, id: str | None = None) -> None:
        """Make an empty view that follows its end."""
        super().__init__(follow=True, id=id)
        self._draw = self._row
        self.chosen: int | None = None
        """The block that keys act on."""
        self._heights = BlockHeights()
        self._stamps: list[int] = []
        self._drawn: LRUCache[int, Drawn] = LRUCache(KEPT_BLOCKS)
        self._is_settling = False

    @abstractmethod
    def count_blocks(self) -> int:
        """Return the number of blocks."""

    @abstractmethod
    def stamp(self, block: int) -> int:
        """Return a number that changes whenever the block has to be drawn anew."""

    @abstractmethod
    def estimate(self, block: int, width_cells: int) -> int:
        """Return about how many rows the block takes; must be quick."""

    @abstractmethod
    def draw_rows(self, block: int, width_cells: int) -> "Sequence[Content]":
        """Draw the block."""

    def first_changed_row(self, block: int) -> int:
        """Return the number of the row of the block from which on it changed; called after it was drawn."""
        return 0

    @property
    def block_width(self) -> int:
        """Cells a row of a block may take; 0 before the first layout."""
        return max(self.row_width - GUTTER_CELLS, 0)

    def update_blocks(self, unchanged: int = 0) -> None:
        """Take over new and changed blocks.

        Args:
            unchanged: So many blocks of the beginning are the same as last time.
        """
        width = self.block_width
        if not width:
            return
        known, count = len(self._heights), self.count_blocks()
        changed = [at for at in range(unchanged, known) if self.stamp(at) != self._stamps[at]]
        for block in range(known, count):
            self._heights.append(self.estimate(block, width))
            self._stamps.append(self.stamp(block))
        eager = [*changed, *range(max(known, count - EAGER_BLOCKS), count)]
        for block in eager:
            self._stamps[block] = self.stamp(block)
            self._heights.set(block, len(self._rows(block)))
        if changed or count > known:
            first = min([*changed, known])
            row = self._heights.start(first)
            self._show(row + (self.first_changed_row(first) if changed else 0))
        self._settle()

    def rebuild(self) -> None:
        """Estimate everything anew: another width, or other blocks altogether."""
        if not self.block_width:
            return
        at_end = self.end_in_view or not self.row_count
        top = self.scroll_offset.y
        anchor = (
            self._heights.locate(top) if self.row_count and top < self._heights.total else (0, 0)
        )
        self._drawn.clear()
        count, width = self.count_blocks(), self.block_width
        self._heights.replace(self.estimate(block, width) for block in range(count))
        self._stamps = [self.stamp(block) for block in range(count)]
        self._show(0)
        if at_end or anchor[0] >= count:
            self.scroll_end(animate=False, immediate=True, x_axis=False)
        else:
            self.scroll_to(y=self._heights.start(anchor[0]) + anchor[1], animate=False)
        self._settle()

    def block_at(self, row: int) -> tuple[int, int] | None:
        """Return the block a row is part of and the number of the row in it, None below the last one."""
        return self._heights.locate(row) if 0 <= row < self._heights.total else None

    def choose(self, block: int | None) -> None:
        """Put the mark on a block and bring its beginning into view."""
        before, self.chosen = self.chosen, block
        for marked in (before, block):
            if marked is not None and marked < len(self._heights):
                self.forget_rows(self._heights.start(marked), self._heights.height(marked))
        if block is not None:
            self.bring_into_view(self._heights.start(block))
            self._settle()
            self.bring_into_view(self._heights.start(block))

    def watch_scroll_y(self, old_value: float, new_value: float) -> None:
        """Lay out what comes near."""
        super().watch_scroll_y(old_value, new_value)
        if round(old_value) != round(new_value):
            self._settle()

    @on(LineView.Resized)
    def lay_out_again(self) -> None:
        """Take the new width."""
        self.rebuild()

    def get_selection(self, selection: "Selection") -> tuple[str, str] | None:
        """Return the selected text without the gutter; only the rows it covers are drawn."""
        first = selection.start.y if selection.start else 0
        last = min(selection.end.y if selection.end else self.row_count, self.row_count - 1)
        rows = [
            self._row(row, self.row_width).plain[GUTTER_CELLS:] for row in range(first, last + 1)
        ]
        if selection.end and rows:
            rows[-1] = rows[-1][: max(selection.end.x - GUTTER_CELLS, 0)]
        if selection.start and rows:
            rows[0] = rows[0][max(selection.start.x - GUTTER_CELLS, 0) :]
        return "\n".join(row.rstrip() for row in rows), "\n"

    def forget_rows(self, first: int, count: int) -> None:
        """Draw a few rows anew and nothing else."""
        for row in range(first, first + count):
            self._strips.discard(row)
        self.refresh(Region(0, first - self.scroll_offset.y, self.size.width, count))

    def _settle(self) -> None:
        """Make the heights around the screen exact; what is on the screen stays where it is."""
        height = self.scrollable_content_region.height
        if self._is_settling or not height or not len(self._heights):
            return
        self._is_settling = True
        try:
            top = self.scroll_offset.y
            first_row, shift = self._make_exact(top - height, top + 2 * height, top)
            if first_row is not None:
                at_end = self.end_in_view
                self._show(first_row)
                if shift and not at_end:
                    self.scroll_to(y=top + shift, animate=False)
        finally:
            self._is_settling = False

    def _make_exact(self, first: int, last: int, top: int) -> tuple[int | None, int]:
        """Draw the blocks of some rows; returns the first row that changed and by how much those above `top` grew."""
        found = self.block_at(max(min(first, self._heights.total - 1), 0))
        if found is None:
            return None, 0
        block, _ = found
        row, changed, shift = self._heights.start(block), None, 0
        while block < len(self._heights) and row < last + shift:
            if not self._heights.is_exact(block):
                grown = self._heights.set(block, len(self._rows(block)))
                changed = row if changed is None and grown else changed
                shift += grown if row < top + shift else 0
            row += self._heights.height(block)
            block += 1
        return changed, shift

    def _rows(self, block: int) -> "Sequence[Content]":
        kept = self._drawn.get(block)
        stamp = self.stamp(block)
        if kept is None or kept.stamp != stamp:
            kept = Drawn(stamp, self.draw_rows(block, self.block_width))
            self._drawn.discard(block)  # this cache keeps the first value of a key
            self._drawn[block] = kept
        return kept.rows

    def _show(self, changed_from: int) -> None:
        """Show the rows from `changed_from` on anew; the others stay as they are on the screen."""
        at_end, top = self.end_in_view or not self._count, self.scroll_offset.y
        for row in [row for row in self._strips.keys() if row >= changed_from]:  # noqa: SIM118 - not a dict
            self._strips.discard(row)
        total = self._heights.total
        if total != self._count:
            self._count = total
            # No layout: the view itself keeps its size, only what it scrolls over has grown.
            self.set_reactive(BlockView.virtual_size, Size(self.size.width, total))
            self._scroll_update(self.virtual_size)
        if at_end:
            self.scroll_end(animate=False, immediate=True, x_axis=False)
        if self.scroll_offset.y == top:
            self.refresh(Region(0, max(changed_from - top, 0), *self.size))

    def _row(self, row: int, width_cells: int) -> Content:
        found = self.block_at(row)
        if found is None:
            return _NO_ROW
        rows = self._rows(found[0])
        content = rows[found[1]] if found[1] < len(rows) else _NO_ROW
        return (_CHOSEN if found[0] == self.chosen else _GUTTER) + content

"""What makes rows that change 30 times a second cheap to show.

A scrollbar of Textual's is a widget whose every line is composed anew whenever its list grows, which costs as much as
the list itself. Here it is one cell at the end of each row. And rows are made safe once, when they are drawn, not
each time they are composed.
"""

from typing import TYPE_CHECKING, Final

from rich.segment import Segment
from rich.style import Style
from textual.cache import LRUCache
from textual.strip import Strip

from tui.line_filter import SafeLineFilter
from tui.widgets.line_view import KEPT_STRIPS, LineView

if TYPE_CHECKING:
    from collections.abc import Sequence

    from textual import events
    from textual.filter import LineFilter

BAR_CELLS: Final = 1
THUMB: Final = "▐"
_FILTER: Final = SafeLineFilter()


if TYPE_CHECKING:
    _Lines = LineView
else:
    # Textual takes styles from the first base that is a widget; this one must not stand before it.
    _Lines = object


class QuickLines(_Lines):
    """Added to a line view: a thin bar at the right; a click on the bar goes there.

    The view sets `scrollbar-size-vertical: 0`.
    """

    def __init__(
        self, *, follow: bool = False, id: str | None = None, classes: str | None = None
    ) -> None:
        """Make an empty view; arguments as those of `LineView`."""
        super().__init__(follow=follow, id=id, classes=classes)
        self._kept_bars: LRUCache[tuple[int, bool], tuple[Strip, Strip]] = LRUCache(KEPT_STRIPS)
        """Rows with their cell of the bar, beside the row they were made from."""

    @property
    def row_width(self) -> int:
        """Width of a row in cells, 0 before the first layout; the bar is beside it."""
        return max(super().row_width - BAR_CELLS, 0)

    def get_line_filters(self) -> "Sequence[LineFilter]":
        """Leave out the filter that `render_row` has applied."""
        return [each for each in super().get_line_filters() if not isinstance(each, SafeLineFilter)]

    def render_row(self, row: int, width_cells: int) -> Strip:
        """Draw one row and make it safe."""
        return super().render_row(row, width_cells).apply_filter(_FILTER, self.background_colors[1])

    def render_line(self, y: int) -> Strip:
        """Return line `y` of the part on the screen, with its cell of the bar."""
        strip, is_thumb = super().render_line(y), self._is_thumb(y)
        key = (self.scroll_offset.y + y, is_thumb)
        kept = self._kept_bars.get(key)
        if kept is not None and kept[0] is strip:
            return kept[1]
        style = self.visual_style.rich_style
        if is_thumb:
            style += Style(color=self.styles.scrollbar_color.rich_color)
        cell = Segment(THUMB if is_thumb else " ", style)
        barred = Strip([*strip, cell], strip.cell_length + BAR_CELLS)
        self._kept_bars.discard(key)  # this cache keeps the first value of a key
        self._kept_bars[key] = (strip, barred)
        return barred

    def _is_thumb(self, y: int) -> bool:
        height, total = self.size.height, self.row_count
        if total <= height:
            return False
        size = max(height * height // total, 1)
        last_top = total - height
        start = round(self.scroll_offset.y * (height - size) / last_top)
        return start <= y < start + size

    def on_click(self, event: "events.Click") -> None:
        """Go to the place of the bar that was clicked."""
        if event.x < self.row_width:
            return
        event.stop()
        event.prevent_default()
        self.scroll_to(y=event.y * self.row_count // max(self.size.height, 1), animate=False)

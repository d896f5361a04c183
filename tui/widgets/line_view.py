"""Scroll views that draw rows on demand: only those on the screen, each once until it changes.

`LineView` scrolls; `RowList` also has a cursor row that keys act on.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, TypeAlias

from rich.segment import Segment
from textual.cache import LRUCache
from textual.content import Content
from textual.geometry import Size
from textual.message import Message
from textual.reactive import reactive
from textual.scroll_view import ScrollView
from textual.strip import Strip

from tui.keys_panes import LINE_KEYS, ROW_KEYS

if TYPE_CHECKING:
    from textual import events
    from textual.binding import BindingType
    from textual.selection import Selection

DrawRow: TypeAlias = Callable[[int, int], Content]
"""Row number from 0 and width in cells -> that row, one line; what is wider is cut."""
KEPT_STRIPS = 1024
"""Drawn rows that are kept: some screens' worth, so memory does not grow with the rows."""


def _no_row(row: int, width_cells: int) -> Content:
    return Content("")


@dataclass
class LineMessage(Message):
    """Something a line view tells."""

    view: "LineView"

    @property
    def control(self) -> "LineView":
        """The view it is about."""
        return self.view


class LineView(ScrollView, can_focus=True):
    """Rows from a function; the end is followed while it is in view, where that is asked for.

    Wrapping is the owner's business: `Resized` tells the width, the rows given must fit.
    """

    DEFAULT_CSS = """
    LineView { overflow-x: hidden; overflow-y: auto; scrollbar-size-vertical: 1; }
    """
    BINDINGS: ClassVar["list[BindingType]"] = [*LINE_KEYS]

    @dataclass
    class Scrolled(LineMessage):
        """Other rows are in view."""

    @dataclass
    class Resized(LineMessage):
        """Rows may take another width."""

        width_cells: int

    def __init__(
        self, *, follow: bool = False, id: str | None = None, classes: str | None = None
    ) -> None:
        """Make an empty view.

        Args:
            follow: Whether the end stays in view as rows come, until the person scrolls up.
            id: Widget id.
            classes: CSS classes.
        """
        super().__init__(id=id, classes=classes)
        self.follow = follow
        self._draw: DrawRow = _no_row
        self._count = 0
        self._strips: LRUCache[int, Strip] = LRUCache(KEPT_STRIPS)
        self._drawn_width = 0
        self._at_end = follow
        """The end stays in view: it is followed and the person has not scrolled up."""

    @property
    def row_count(self) -> int:
        """Number of rows."""
        return self._count

    @property
    def row_width(self) -> int:
        """Width of a row in cells, 0 before the first layout."""
        return self.scrollable_content_region.width

    @property
    def end_in_view(self) -> bool:
        """Whether the last row is in view; False before the first layout."""
        height = self.scrollable_content_region.height
        return height > 0 and self.scroll_offset.y + height >= self._count

    def row_text(self, row: int) -> str:
        """Return the text of a row."""
        return self._draw(row, self.row_width).plain

    def show_rows(self, count: int, draw: DrawRow, *, changed_from: int = 0) -> None:
        """Show other rows.

        Args:
            count: Number of rows.
            draw: Gives a row when it comes into view.
            changed_from: The first row that may differ from what was shown before.
        """
        self._draw = draw
        self.forget(changed_from)
        self._count = count
        self.virtual_size = Size(self.size.width, count)
        self._stay_at_end()
        self.refresh()

    def forget(self, changed_from: int = 0) -> None:
        """Draw rows anew from `changed_from` on, after a change that their function knows of."""
        for row in [row for row in self._strips.keys() if row >= changed_from]:  # noqa: SIM118 - not a dict
            self._strips.discard(row)
        self.refresh()

    def bring_into_view(self, row: int) -> None:
        """Scroll as little as needed to have a row in view; nothing before the first layout."""
        top, height = self.scroll_offset.y, self.scrollable_content_region.height
        if not height:
            return
        if row < top:
            self.scroll_to(y=row, animate=False, force=True)
        elif row >= top + height:
            self.scroll_to(y=row - height + 1, animate=False, force=True)

    def watch_scroll_y(self, old_value: float, new_value: float) -> None:
        """Tell that other rows are in view."""
        super().watch_scroll_y(old_value, new_value)
        self._at_end = self.follow and self.end_in_view
        if round(old_value) != round(new_value):
            self.post_message(self.Scrolled(self))

    def notify_style_update(self) -> None:
        """Draw anew in the new colours."""
        super().notify_style_update()
        self._strips.clear()

    def on_resize(self, event: "events.Resize") -> None:
        """Forget rows of another width."""
        self.virtual_size = Size(self.size.width, self._count)
        self._stay_at_end()
        if self.row_width != self._drawn_width:
            self._drawn_width = self.row_width
            self._strips.clear()
            self.post_message(self.Resized(self, self.row_width))

    def render_line(self, y: int) -> Strip:
        """Return line `y` of the part on the screen."""
        row, width = self.scroll_offset.y + y, self.row_width
        if row >= self._count:
            return Strip.blank(width, self.visual_style.rich_style)
        strip = self._strips.get(row)
        if strip is None:
            strip = self._strips[row] = self.render_row(row, width)
        return strip

    def render_row(self, row: int, width_cells: int) -> Strip:
        """Draw one row, with the selected part of it marked."""
        content, base = self._draw(row, width_cells), self.visual_style
        span = self.text_selection.get_span(row) if self.text_selection is not None else None
        if span is not None:
            start, end = span
            content = content.stylize(
                self.screen.get_visual_style("screen--selection"),
                start,
                len(content) if end == -1 else end,
            )
        segments = [
            Segment(text, (base + style).rich_style)
            for text, style in content.render(base, end="", parse_style=self._get_style)
        ]
        strip = Strip(segments).adjust_cell_length(width_cells, base.rich_style)
        return strip.apply_offsets(0, row)

    def get_selection(self, selection: "Selection") -> tuple[str, str] | None:
        """Return the text under the mouse selection."""
        rows = map(self.row_text, range(self._count))
        return selection.extract("\n".join(rows)), "\n"

    def selection_updated(self, selection: "Selection | None") -> None:
        """Mark what is selected now."""
        self.forget()

    def _stay_at_end(self) -> None:
        if self._at_end and self.size.height:
            self.scroll_end(animate=False, immediate=True, x_axis=False, force=True)

    def action_move(self, rows: int) -> None:
        """Move by rows, down when positive."""
        self.scroll_relative(y=rows, animate=False)

    def action_move_page(self, pages: int) -> None:
        """Move by screens, down when positive."""
        self.action_move(pages * max(self.scrollable_content_region.height - 1, 1))

    def action_move_to(self, end: bool) -> None:
        """Move to the last or the first row."""
        self.action_move(self._count if end else -self._count)


class RowList(LineView):
    """A line view with a cursor row."""

    COMPONENT_CLASSES: ClassVar[set[str]] = {"row-list--cursor"}
    DEFAULT_CSS = """
    RowList > .row-list--cursor { background: $surface-lighten-2; }
    RowList:focus > .row-list--cursor {
        background: $block-cursor-background;
        color: $block-cursor-foreground;
    }
    """
    BINDINGS: ClassVar["list[BindingType]"] = [*ROW_KEYS]

    cursor_row: reactive[int] = reactive(0, repaint=False)
    """The row that keys act on."""

    @dataclass
    class Moved(LineMessage):
        """The cursor is on another row."""

        row: int

    @dataclass
    class Chosen(LineMessage):
        """A row was chosen by Enter or by a double click."""

        row: int

    def show_rows(self, count: int, draw: DrawRow, *, changed_from: int = 0) -> None:
        """Show other rows; a cursor on the last row of a followed list stays on the last row."""
        on_last = self.follow and self.cursor_row >= self._count - 1
        super().show_rows(count, draw, changed_from=changed_from)
        self.cursor_row = count - 1 if on_last else self.cursor_row

    def validate_cursor_row(self, row: int) -> int:
        """Keep the cursor inside."""
        return max(0, min(row, self._count - 1))

    def watch_cursor_row(self, before: int, after: int) -> None:
        """Draw the cursor where it is now."""
        for row in (before, after):
            self._strips.discard(row)
        self.refresh()
        self.bring_into_view(after)
        self.post_message(self.Moved(self, after))

    def render_row(self, row: int, width_cells: int) -> Strip:
        """Draw one row, over the cursor's colours where the cursor is."""
        strip = super().render_row(row, width_cells)
        if row != self.cursor_row:
            return strip
        cursor = self.get_visual_style("row-list--cursor").rich_style
        return Strip(
            [Segment(text, (style + cursor) if style else cursor) for text, style, _ in strip]
        )

    def on_click(self, event: "events.Click") -> None:
        """Move the cursor; a double click chooses."""
        row = self.scroll_offset.y + event.y
        if row >= self._count:
            return
        self.cursor_row = row
        if event.chain > 1:
            self.post_message(self.Chosen(self, row))

    def action_move(self, rows: int) -> None:
        """Move the cursor by rows, down when positive."""
        self.cursor_row += rows

    def action_choose(self) -> None:
        """Choose the cursor row."""
        if self._count:
            self.post_message(self.Chosen(self, self.cursor_row))

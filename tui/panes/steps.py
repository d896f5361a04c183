"""The Steps pane: one row a step and one a call, newest last."""

from typing import TYPE_CHECKING, ClassVar

from textual import getters, on
from textual.containers import Vertical
from textual.content import Content
from textual.geometry import Region
from textual.widgets import Static

from tui.call_rows import call_full_text
from tui.keys import STEPS_KEYS
from tui.pane_messages import CardAsked, CopyAsked, FullTextAsked
from tui.step_rows import fitting_columns, heading_row, step_row
from tui.widgets.line_view import RowList
from tui.widgets.quick_lines import QuickLines

if TYPE_CHECKING:
    from collections.abc import Sequence

    from textual.app import ComposeResult
    from textual.binding import BindingType

    from core.run_view import RunView
    from core.view.steps import StepRow


class StepList(QuickLines, RowList):
    """The rows of the step log; the newest stays in view while the cursor is on the last row."""

    def __init__(self) -> None:
        """Make an empty log."""
        super().__init__(follow=True, id="step-list")
        self._rows: Sequence[StepRow] = ()
        self._revisions: list[int] = []
        self._settled = 0
        """Rows before this one never change again."""
        self._now_s = 0.0

    def show_log(self, rows: "Sequence[StepRow]", now_s: float) -> None:
        """Show the newest state of the log."""
        self._rows, self._now_s = rows, now_s
        known = len(self._revisions)
        changed = [
            at for at in range(self._settled, known) if rows[at].revision != self._revisions[at]
        ]
        for at in changed:
            self._revisions[at] = rows[at].revision
        self._revisions.extend(row.revision for row in rows[known:])
        first = min([*changed, known])
        if first < len(rows):
            self.show_rows(len(rows), self._draw_row, changed_from=first)
        while self._settled < len(rows) and not self._is_open(self._settled):
            self._settled += 1

    def tick(self, now_s: float) -> None:
        """Let the time of what runs grow; nothing else is drawn."""
        self._now_s = now_s
        for at in range(self._settled, len(self._rows)):
            if self._is_open(at):
                self._strips.discard(at)
                self.refresh(Region(0, at - self.scroll_offset.y, self.size.width, 1))

    def row_at_cursor(self) -> "StepRow | None":
        """Return the row under the cursor."""
        return self._rows[self.cursor_row] if self._rows else None

    def _is_open(self, at: int) -> bool:
        row = self._rows[at]
        return row.call.state != "ended" if row.call else row.state == "running"

    def _draw_row(self, row: int, width_cells: int) -> Content:
        return step_row(self._rows[row], fitting_columns(width_cells), width_cells, self._now_s)


class StepsPane(Vertical):
    """Every step and every call: what, state, time, tokens, cost, risk, and who allowed it."""

    PANE_ID: ClassVar = "steps"
    PANE_TITLE: ClassVar = "Steps"
    DEFAULT_CSS = """
    StepsPane > Static { height: 1; }
    StepList { height: 1fr; scrollbar-size-vertical: 0; overflow-y: scroll; }
    """
    BINDINGS: ClassVar["list[BindingType]"] = [*STEPS_KEYS]

    log_rows = getters.query_one(StepList)
    heading = getters.query_one("#steps-heading", Static)

    def compose(self) -> "ComposeResult":
        """Lay out the heading and the rows."""
        yield Static(id="steps-heading")
        yield StepList()

    def show(self, view: "RunView") -> None:
        """Show the newest state."""
        self.log_rows.show_log(view.steps.rows, view.header.last_mono_s)

    def tick(self, now_s: float) -> None:
        """Let the time of what runs grow."""
        self.log_rows.tick(now_s)

    @on(RowList.Resized)
    def show_heading(self, message: RowList.Resized) -> None:
        """Name the columns there is room for."""
        width = message.width_cells
        self.heading.update(heading_row(fitting_columns(width), width))

    @on(RowList.Chosen)
    def open_row(self) -> None:
        """Ask for the full text of the row."""
        if (row := self.log_rows.row_at_cursor()) is not None:
            title = row.call.name if row.call else f"step {row.step}"
            self.post_message(FullTextAsked(title, row_text(row)))

    def action_copy_row(self) -> None:
        """Copy all that is known of the row."""
        if (row := self.log_rows.row_at_cursor()) is not None:
            self.post_message(CopyAsked(row_text(row)))

    def action_follow(self) -> None:
        """Go to the newest row and stay there."""
        self.log_rows.action_move_to(end=True)

    def action_to_conversation(self) -> None:
        """Ask the conversation to show the card."""
        if (row := self.log_rows.row_at_cursor()) is not None:
            self.post_message(CardAsked(row.n))


def row_text(row: "StepRow") -> str:
    """Return a row as plain text."""
    return call_full_text(row.call) if row.call else row.title

"""The Memory pane: exactly what the next request will hold, live, and what a person may change of it.

Looking sends nothing and changes nothing. Changes go to the session, which applies them between steps.
"""

from typing import TYPE_CHECKING, ClassVar, Final, Literal

from textual import getters, on
from textual.containers import Vertical
from textual.content import Content
from textual.widgets import Static

from core.context.rows import MemoryRow, NextRequest
from core.run_view import RunView
from tui.keys_panes import MEMORY_KEYS, SEARCH_KEYS
from tui.panes import memory_rows
from tui.panes.memory_edits import MemoryEdits
from tui.screens.edit_arguments import EditArgumentsScreen, EditResult
from tui.screens.text_view import TextViewScreen
from tui.widgets.line_view import RowList
from tui.widgets.search_bar import SearchBar
from tui.widgets.text_lines import TextLines

if TYPE_CHECKING:
    from textual.app import ComposeResult
    from textual.binding import BindingType

    from tui.session_port import SessionLike

MemoryTab = Literal["units", "wire", "exact"]
TABS: Final[tuple[MemoryTab, ...]] = ("units", "wire", "exact")
TAB_NAMES: Final = {"units": "Units", "wire": "Wire JSON", "exact": "Exact bytes"}
NOTHING_YET: Final = NextRequest(rows=(), body=b"", tokens=0, window=0)


class MemoryPane(Vertical):
    """Units of the next request, its wire JSON, and its bytes."""

    PANE_ID: ClassVar = "memory"
    PANE_TITLE: ClassVar = "Memory"
    BINDINGS: ClassVar["list[BindingType]"] = [*MEMORY_KEYS, *SEARCH_KEYS]
    DEFAULT_CSS = """
    MemoryPane {
        & > Static { height: auto; max-height: 2; padding: 0 1; }
        & > #memory-columns { color: $text-muted; text-style: underline; text-wrap: nowrap; }
        & > #memory-tabs { text-wrap: nowrap; text-overflow: ellipsis; }
        & > #memory-why { color: $text-muted; }
        & > LineView { height: 1fr; padding: 0 1; display: none; }
        &.-units > #memory-units, &.-wire > #memory-wire, &.-exact > #memory-wire { display: block; }
        &.-wire > #memory-columns, &.-exact > #memory-columns { display: none; }
    }
    """

    rows_view = getters.query_one("#memory-units", RowList)
    wire_view = getters.query_one("#memory-wire", TextLines)
    bar = getters.query_one(SearchBar)

    def __init__(self, session: "SessionLike") -> None:
        """Look into the memory of `session`."""
        super().__init__(classes="-units")
        self._session = session
        self.request = NOTHING_YET
        """The request that is shown; `request.body` is byte-equal to what would be sent."""
        self._tab: MemoryTab = "units"
        self._shown_revision = -1
        self._sought = ""
        self._edits = MemoryEdits(session)

    def compose(self) -> "ComposeResult":
        """Lay out header, tabs, list, text and the line about the row."""
        yield Static(id="memory-head")
        yield Static(id="memory-tabs")
        yield Static(Content(memory_rows.COLUMNS), id="memory-columns")
        yield RowList(follow=True, id="memory-units")
        yield TextLines(id="memory-wire")
        yield SearchBar()
        yield Static(id="memory-why")

    def show(self, view: RunView) -> None:
        """Show what the next request holds now, if that may have changed."""
        if view.memory.revision == self._shown_revision:
            return
        self._shown_revision = view.memory.revision
        self.request = self._session.next_request()
        model = view.header.model or view.memory.model
        head = memory_rows.head_text(self.request, view.memory, model)
        self.query_one("#memory-head", Static).update(Content(head))
        self.rows_view.show_rows(len(self.request.rows), self._draw_row)
        self._show_tab()

    @on(RowList.Moved, "#memory-units")
    def tell_why(self) -> None:
        """Say why the row under the cursor is sent or not."""
        row = self._row
        self._say(memory_rows.why_text(row) if row else "nothing yet")

    @on(RowList.Chosen, "#memory-units")
    def open_text(self) -> None:
        """Show the whole text of a unit."""
        row = self._row
        if row is not None:
            title = f"{row.role} {row.unit_id}"
            self.app.push_screen(TextViewScreen(title, memory_rows.whole_lines(row)))

    @on(SearchBar.Sought)
    def seek(self, message: SearchBar.Sought) -> None:
        """Go to the first unit or line that holds the text."""
        self._sought = message.needle
        (self.rows_view if self._tab == "units" else self.wire_view).focus()
        if self._sought:
            self.action_search_next(1)

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Offer what acts on a unit only where units are listed."""
        return self._tab == "units" or action not in {"edit", "switch", "summarise"}

    def action_search(self) -> None:
        """Ask what to look for."""
        self.bar.open()

    def action_search_next(self, step: int) -> None:
        """Go to the next unit or line that holds the text, or to the one before."""
        if not self._sought:
            return
        if self._tab != "units":
            found = self.wire_view.seek(self._sought, backwards=step < 0)
        else:
            at = memory_rows.find_row(
                self.request.rows, self._sought, self.rows_view.cursor_row, step
            )
            found = at is not None
            self.rows_view.cursor_row = self.rows_view.cursor_row if at is None else at
        if not found:
            self._say(f"nowhere: {self._sought}")

    def action_next_view(self) -> None:
        """Go on from units to wire JSON to exact bytes and back."""
        self._tab = TABS[(TABS.index(self._tab) + 1) % len(TABS)]
        for tab in TABS:
            self.set_class(tab == self._tab, f"-{tab}")
        self._show_tab()
        (self.rows_view if self._tab == "units" else self.wire_view).focus()

    def action_switch(self, flag: str, operation: str) -> None:
        """Drop or pin the unit, or the opposite where it is dropped or pinned."""
        if self._row is not None:
            self._say(self._edits.switch(self._row, flag, operation))

    def action_edit(self) -> None:
        """Change the text of the unit."""
        row = self._row
        if row is None or not row.editable:
            self._say("this part has no text of its own to change")
            return

        def take(result: EditResult) -> None:
            if result is not None and result["text"] != row.editable:
                self._say(self._edits.replace(row, str(result["text"])))

        form = EditArgumentsScreen(f"{row.role} {row.unit_id}", {"text": row.editable})
        self.app.push_screen(form, take)

    def action_insert(self) -> None:
        """Add a note at the end."""

        def take(result: EditResult) -> None:
            text = str(result["note"]).strip() if result else ""
            if text:
                self._say(self._edits.insert(text))

        self.app.push_screen(EditArgumentsScreen("a note to the agent", {"note": ""}), take)

    def action_summarise(self) -> None:
        """Let a summary stand for the old units up to the one under the cursor."""
        units = memory_rows.units_up_to(self.request.rows, self.rows_view.cursor_row)
        if len(units) < memory_rows.LEAST_SUMMARISED:
            self._say("nothing to sum up here: go to a later unit, so that several lie before it")
            return
        tokens = sum(row.tokens for row in units)
        self._say(f"the model sums up {len(units)} units, about {tokens:,} tokens ...")
        ids = [row.unit_id for row in units]
        self.run_worker(self._summarise(ids), group="summary", exit_on_error=False)

    async def _summarise(self, unit_ids: list[str]) -> None:
        if not await self._session.compact(unit_ids):
            self._say("not summed up: " + memory_rows.why_no_summary(self._session.running))

    def action_turn(self, operation: str) -> None:
        """Take back the newest change of memory, or do it again."""
        self._say(self._edits.turn(operation))

    @property
    def _row(self) -> MemoryRow | None:
        rows, at = self.request.rows, self.rows_view.cursor_row
        return rows[at] if at < len(rows) else None

    def _draw_row(self, row: int, width_cells: int) -> Content:
        return memory_rows.draw_row(row + 1, self.request.rows[row], width_cells)

    def _show_tab(self) -> None:
        names = [(f" {TAB_NAMES[tab]} ", "reverse" if tab == self._tab else "") for tab in TABS]
        digest = memory_rows.body_text(self.request.body)
        self.query_one("#memory-tabs", Static).update(Content.assemble(*names, f"   {digest}"))
        if self._tab == "wire":
            self.wire_view.show_lines(memory_rows.pretty_lines(self.request.body))
        elif self._tab == "exact":
            self.wire_view.show_lines(memory_rows.exact_lines(self.request.body))
        self.tell_why()

    def _say(self, text: str) -> None:
        self.query_one("#memory-why", Static).update(Content(text))

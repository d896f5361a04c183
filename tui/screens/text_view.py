"""A text over the whole screen: full texts, diffs, exact requests; with a search."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, ClassVar

from textual import getters, on
from textual.containers import Vertical
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Static

from tui.keys_dialogs import TEXT_VIEW_KEYS
from tui.keys_panes import SEARCH_KEYS
from tui.safe_text import safe_text
from tui.widgets.line_view import LineView
from tui.widgets.search_bar import SearchBar
from tui.widgets.text_lines import TextLines

if TYPE_CHECKING:
    from textual.app import ComposeResult
    from textual.binding import BindingType

    from tui.widgets.folded_text import Line


class TextViewScreen(ModalScreen[bool]):
    """Shows lines; closes with whether the last one was in view."""

    CSS_PATH = "text_view.tcss"
    BINDINGS: ClassVar["list[BindingType]"] = [*TEXT_VIEW_KEYS, *SEARCH_KEYS]

    lines_view = getters.query_one("#text-view-lines", TextLines)
    bar = getters.query_one(SearchBar)
    status = getters.query_one("#text-view-status", Static)

    def __init__(self, title: str, lines: Sequence["Line"]) -> None:
        """Show `lines` under a title from anywhere."""
        super().__init__()
        self._heading = safe_text(title, single_line=True)
        self._lines = lines
        self._end_seen = False
        self._found = True

    def compose(self) -> "ComposeResult":
        """Lay out text, search line and status."""
        with Vertical(id="text-view") as frame:
            frame.border_title = Content(self._heading)
            yield TextLines(id="text-view-lines")
            yield SearchBar()
            yield Static(id="text-view-status")

    def on_mount(self) -> None:
        """Fill in the text."""
        self.lines_view.show_lines(self._lines)
        self.lines_view.focus()

    @on(LineView.Resized)
    @on(LineView.Scrolled)
    @on(TextLines.Moved)
    def tell_position(self) -> None:
        """Say where the reader is."""
        view = self.lines_view
        self._end_seen = self._end_seen or view.end_in_view
        where = f"line {view.cursor_line + 1} of {len(view.text.lines)}"
        sought = safe_text(view.sought, single_line=True)
        hits = f"  ·  {'' if self._found else 'nowhere: '}/{sought}" if sought else ""
        keys = "  ·  / search  n next  g top  G end  Esc close"
        self.status.update(Content(where + hits + keys))

    @on(SearchBar.Sought)
    def seek(self, message: SearchBar.Sought) -> None:
        """Go to the first hit after the cursor."""
        self._found = self.lines_view.seek(message.needle)
        self.lines_view.focus()
        self.tell_position()

    def action_search(self) -> None:
        """Ask what to look for."""
        self.bar.open()

    def action_search_next(self, step: int) -> None:
        """Go to the next hit, or to the one before."""
        self._found = self.lines_view.seek(self.lines_view.sought, backwards=step < 0)
        self.tell_position()

    def action_close(self) -> None:
        """Go back."""
        self.dismiss(self._end_seen)

"""The Sandbox pane: the cage, and a terminal-like list of what ran in it."""

from bisect import bisect_right
from typing import TYPE_CHECKING, ClassVar, Final

from textual import getters, on
from textual.containers import Vertical
from textual.widgets import Static

from core.run_view import RunView
from core.view.calls import CallView
from tui.keys_panes import SANDBOX_KEYS, SEARCH_KEYS
from tui.panes import sandbox_rows
from tui.screens.text_view import TextViewScreen
from tui.shown_lines import QUIET
from tui.widgets.folded_text import Line
from tui.widgets.line_view import RowList
from tui.widgets.search_bar import SearchBar
from tui.widgets.text_lines import TextLines

if TYPE_CHECKING:
    from textual.app import ComposeResult
    from textual.binding import BindingType

MAX_COMMANDS: Final = 300
"""Commands that are listed, and at most `DROPPED_AT_ONCE` more; older ones are in the step log."""
DROPPED_AT_ONCE: Final = 100


class SandboxPane(Vertical):
    """Engine, limits, network, and each command with its output, exit code and time."""

    PANE_ID: ClassVar = "sandbox"
    PANE_TITLE: ClassVar = "Sandbox"
    BINDINGS: ClassVar["list[BindingType]"] = [*SANDBOX_KEYS, *SEARCH_KEYS]
    DEFAULT_CSS = """
    SandboxPane {
        & > Static { height: auto; max-height: 4; padding: 0 1; }
        & > TextLines { height: 1fr; padding: 0 1; }
    }
    """

    terminal = getters.query_one("#sandbox-terminal", TextLines)
    bar = getters.query_one(SearchBar)

    def __init__(self) -> None:
        """Make a pane in which nothing ran."""
        super().__init__()
        self._revision = -1
        self._first = 0
        """Number of commands that are not listed any more."""
        self._calls: list[CallView] = []
        self._revisions: list[int] = []
        self._starts: list[int] = []
        """First line of each listed command."""

    def compose(self) -> "ComposeResult":
        """Lay out the cage's facts, the terminal and the search line."""
        yield Static(id="sandbox-head")
        yield TextLines(follow=True, id="sandbox-terminal")
        yield SearchBar()

    def show(self, view: RunView) -> None:
        """Show the newest state; only commands that changed are drawn again."""
        sandbox = view.sandbox
        if sandbox.revision == self._revision:
            return
        self._revision = sandbox.revision
        self.query_one("#sandbox-head", Static).update(sandbox_rows.head_content(sandbox))
        first = max(len(sandbox.commands) - MAX_COMMANDS, 0) // DROPPED_AT_ONCE * DROPPED_AT_ONCE
        if first != self._first:
            self._first = first
            self._revisions.clear()
        self._calls = sandbox.commands[first:]
        self._show_commands(self._first_changed(), view.header.last_mono_s)

    @on(RowList.Chosen, "#sandbox-terminal")
    def open_command(self) -> None:
        """Show all that is kept of the command under the cursor."""
        at = bisect_right(self._starts, self.terminal.cursor_line) - 1
        if 0 <= at < len(self._calls):
            call = self._calls[at]
            title = f"{call.name}, step {call.step}"
            self.app.push_screen(TextViewScreen(title, sandbox_rows.full_lines(call)))

    @on(SearchBar.Sought)
    def seek(self, message: SearchBar.Sought) -> None:
        """Go to the first hit after the cursor."""
        self.terminal.focus()
        self.terminal.seek(message.needle)

    def action_search(self) -> None:
        """Ask what to look for."""
        self.bar.open()

    def action_search_next(self, step: int) -> None:
        """Go to the next hit, or to the one before."""
        self.terminal.seek(self.terminal.sought, backwards=step < 0)

    def _first_changed(self) -> int:
        """Return the number of the first listed command that is not drawn as it is now."""
        known = len(self._revisions)
        pairs = zip(self._calls[:known], self._revisions, strict=True)
        return next((at for at, (call, seen) in enumerate(pairs) if call.revision != seen), known)

    def _show_commands(self, first: int, now_s: float) -> None:
        kept = len(self.terminal.text.lines)
        if first < len(self._starts):
            kept = max(self._starts[first] - 1, 0)
        lines: list[Line] = []
        if first == 0:
            kept = 0
            if self._first:
                lines.append(Line(f"({self._first} earlier commands: see Steps)", QUIET))
        del self._starts[first:], self._revisions[first:]
        for call in self._calls[first:]:
            if kept + len(lines):
                lines.append(Line(""))
            self._starts.append(kept + len(lines))
            self._revisions.append(call.revision)
            lines += sandbox_rows.command_lines(call, now_s)
        if first < len(self._calls):
            self.terminal.replace_lines(kept, lines)

"""The line in which a search text is typed; it is there only while it is used."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from textual import on
from textual.message import Message
from textual.widgets import Input

if TYPE_CHECKING:
    from textual.binding import BindingType

from tui.keys_panes import SEARCH_BAR_KEYS


class SearchBar(Input):
    """Asks for the text to look for."""

    DEFAULT_CSS = """
    SearchBar { display: none; height: 1; border: none; padding: 0 1; background: $boost; }
    SearchBar:focus { border: none; }
    SearchBar.-open { display: block; }
    """
    BINDINGS: ClassVar["list[BindingType]"] = [*SEARCH_BAR_KEYS]

    @dataclass
    class Sought(Message):
        """A text is looked for; "" when the search was given up."""

        bar: "SearchBar"
        needle: str

        @property
        def control(self) -> "SearchBar":
            """The bar."""
            return self.bar

    def __init__(self, *, id: str | None = None) -> None:
        """Make a bar that is closed."""
        super().__init__(placeholder="search: Enter goes to the next hit, Esc closes", id=id)

    def open(self) -> None:
        """Show the bar and take focus."""
        self.add_class("-open")
        self.focus()

    def action_close(self) -> None:
        """Give the search up."""
        self.value = ""
        self._leave("")

    @on(Input.Submitted)
    def seek(self, event: Input.Submitted) -> None:
        """Start the search."""
        event.stop()
        self._leave(self.value)

    def _leave(self, needle: str) -> None:
        self.remove_class("-open")
        self.post_message(self.Sought(self, needle))

"""Where the person writes: several lines, a history, Enter sends."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from textual.message import Message
from textual.widgets import TextArea

from tui.keys import COMPOSER_KEYS

if TYPE_CHECKING:
    from collections.abc import Iterable

    from textual import events
    from textual.binding import BindingType

MAX_HISTORY = 500
"""Messages that Up brings back."""
ORDERED_ACTIONS = frozenset({"submit", "newline"})
"""Actions whose keys wait for the letters before them."""


class Composer(TextArea):
    """A text area that sends on Enter and keeps what was sent.

    The terminal's own cursor stands at the caret, so that input methods show their candidates in the right place.
    """

    DEFAULT_CSS = """
    Composer {
        height: auto; max-height: 8; min-height: 1; border: none; padding: 0; background: transparent;
        scrollbar-size-vertical: 1;
        &:focus { border: none; }
        & .text-area--placeholder { color: $text-muted; }
    }
    """
    BINDINGS: ClassVar["list[BindingType]"] = [*COMPOSER_KEYS]

    @dataclass
    class Sent(Message):
        """The person sent a text."""

        text: str

    def __init__(self) -> None:
        """Make an empty composer."""
        super().__init__(
            id="composer",
            soft_wrap=True,
            tab_behavior="focus",
            show_line_numbers=False,
            highlight_cursor_line=False,
            placeholder="What should be done? Enter sends, Ctrl+J is a new line",
        )
        self.cursor_blink = False
        self._history: list[str] = []
        self._at: int | None = None
        """Place in the history, None while a new text is written."""
        self._draft = ""

    @property
    def is_empty(self) -> bool:
        """Whether there is no draft."""
        return not self.text.strip()

    def remember(self, texts: "Iterable[str]") -> None:
        """Put messages of an earlier part of the session into the history."""
        for text in texts:
            self._remember(text)

    def put_back(self, text: str) -> None:
        """Put text that went nowhere in front of the person again, before what they write now."""
        if text.strip():
            self.text = f"{text}\n{self.text}".rstrip("\n")
            self.move_cursor(self.document.end)

    async def _on_key(self, event: "events.Key") -> None:
        """Send or begin a line in the order of the keys.

        A text area would take Enter as a new line before it looks at its bindings, and a priority binding acts before
        the letters that were typed just before it have arrived.
        """
        found = self.screen.active_bindings.get(event.key)
        if found is not None and found.node is self and found.binding.action in ORDERED_ACTIONS:
            event.stop()
            event.prevent_default()
            await self.run_action(found.binding.action)

    def on_paste(self, event: "events.Paste") -> None:
        """Take pasted text without control characters; it is never sent by itself."""
        event.prevent_default()
        event.stop()
        self.write(event.text)

    def write(self, text: str) -> None:
        """Write a text at the cursor, without its control characters."""
        lines = text.replace("\r\n", "\n").replace("\r", "\n")
        clean = "".join(char for char in lines if char in "\n\t" or char.isprintable())
        self.replace(clean, *self.selection)

    def action_submit(self) -> None:
        """Send; after a backslash, begin a new line instead."""
        row, column = self.cursor_location
        if column and self.document.get_line(row)[:column].endswith("\\"):
            self.replace("\n", (row, column - 1), (row, column))
            return
        text = self.text.strip()
        if not text:
            return
        self._remember(text)
        self.text = ""
        self.post_message(self.Sent(text))

    def action_newline(self) -> None:
        """Begin a new line."""
        self.insert("\n")

    def action_history(self, step: int) -> None:
        """Move in the history from the first or the last line, else move the cursor."""
        row = self.cursor_location[0]
        at_edge = row == 0 if step < 0 else row == self.document.line_count - 1
        if not at_edge or self.selected_text:
            (self.action_cursor_up if step < 0 else self.action_cursor_down)()
            return
        self._recall(step)

    def _recall(self, step: int) -> None:
        at = (len(self._history) if self._at is None else self._at) + step
        if not 0 <= at <= len(self._history):
            return
        if self._at is None:
            self._draft = self.text
        self._at = at if at < len(self._history) else None
        self.text = self._draft if self._at is None else self._history[at]
        self.move_cursor(self.document.end)

    def _remember(self, text: str) -> None:
        if not self._history or self._history[-1] != text:
            self._history.append(text)
            del self._history[:-MAX_HISTORY]
        self._at, self._draft = None, ""

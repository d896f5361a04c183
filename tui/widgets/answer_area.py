"""A field for an answer of one or more lines: Enter sends, a line more is asked for by its own key."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from textual.message import Message
from textual.widgets import TextArea

from tui.keys_dialogs import TEXT_KEYS

if TYPE_CHECKING:
    from textual import events
    from textual.binding import BindingType


class AnswerArea(TextArea):
    """Takes a typed answer."""

    DEFAULT_CSS = """
    AnswerArea { height: auto; min-height: 3; max-height: 10; }
    """
    BINDINGS: ClassVar["list[BindingType]"] = [*TEXT_KEYS]

    @dataclass
    class Sent(Message):
        """The key that sends was pressed."""

        area: "AnswerArea"
        at_s: float
        """When the key arrived."""

        @property
        def control(self) -> "AnswerArea":
            """The field."""
            return self.area

    async def _on_key(self, event: "events.Key") -> None:
        """Send on the key for it, with the time it arrived; all else is typed."""
        found = self.screen.active_bindings.get(event.key)
        if found is not None and found.node is self and found.binding.action == "send":
            event.stop()
            event.prevent_default()
            self.post_message(self.Sent(self, event.time))
            return
        await super()._on_key(event)

    def action_newline(self) -> None:
        """Begin a new line."""
        self.insert("\n")

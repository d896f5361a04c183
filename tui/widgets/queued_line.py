"""The line that shows what was said to a run and has not entered it yet."""

from typing import TYPE_CHECKING, ClassVar

from textual.content import Content
from textual.widgets import Static

from tui.safe_text import safe_text

if TYPE_CHECKING:
    from collections.abc import Sequence


class QueuedLine(Static):
    """Shown while messages wait for the next step."""

    DEFAULT_CSS = """
    QueuedLine {
        display: none; height: 1; padding: 0 1;
        color: $text-muted; text-wrap: nowrap; text-overflow: ellipsis;
    }
    QueuedLine.-open { display: block; }
    """
    ALLOW_SELECT: ClassVar = False

    def __init__(self) -> None:
        """Make a hidden line."""
        super().__init__(id="queued")

    def show(self, texts: "Sequence[str]") -> None:
        """Show the newest of the messages that wait, and how many there are."""
        self.set_class(bool(texts), "-open")
        if texts:
            count = f"{len(texts)} messages" if len(texts) > 1 else "message"
            newest = safe_text(texts[-1], single_line=True)
            self.update(Content(f"{count} queued for the next step: {newest}"))

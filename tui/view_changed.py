"""The one message from the pump to the screen."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from textual.message import Message

if TYPE_CHECKING:
    from core.run_view import Parts, RunView


@dataclass
class ViewChanged(Message):
    """The view changed; it holds everything up to its `n`."""

    view: "RunView"
    parts: "Parts"

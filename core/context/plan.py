"""A request and how it came about: what becomes of each unit, and how it is written then."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from core.context.relevance import Relevance
from core.context.tool_pick import ToolPick
from core.messages import Message, ModelRequest, ToolMessage
from core.unit import Unit

NEWEST_KEPT = 4
"""Units at the end that are never left out."""
SHORT_RESULT_CHARS = 400
"""Results up to this length are never cut to a note."""
EARLIER_LEFT_OUT = "The beginning of this conversation is left out."
"""Stands first where the first message would be the model's own, which servers refuse."""

ChoiceState = Literal["sent", "shortened", "left_out", "dropped", "summarised", "unfit"]
SENT_STATES = ("sent", "shortened")


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """What becomes of one unit."""

    unit: Unit
    plain_tokens: int
    """Our estimate of what is sent of it, else of all of it, before the model's factor."""
    state: ChoiceState = "sent"
    note: str = ""
    """Why it was shortened or left out, where that was for lack of room."""
    relevance: Relevance | None = None
    """How much it matters, where that decided."""

    @property
    def why(self) -> str:
        """Why it was shortened or left out for lack of room, "" where it was not."""
        return f"{self.note}: {self.relevance.why}" if self.relevance else self.note


@dataclass(frozen=True, slots=True, kw_only=True)
class Measured:
    """A request that was sent, and what the server counted for it."""

    revision: int
    """Of memory then."""
    units: int
    """Units of memory then."""
    tools: tuple[str, ...]
    plain_tokens: int
    tokens: int
    """As reported."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """A request and how it came about."""

    request: ModelRequest
    tokens: int
    """Tokens of the whole request: as reported for what was sent before, our estimate for the rest."""
    system_tokens: int
    """Before the model's factor, as all parts."""
    tools_tokens: int
    opening_tokens: int
    """Of the message that stands for a beginning that is left out, 0 for none."""
    nudge_tokens: int
    situation_tokens: int
    """Of how things stand, 0 where that is not told."""
    pick: ToolPick
    shown: Sequence[Unit]
    """Units that would be sent if there were room for all."""
    choose: Callable[[], Sequence[Choice]]
    """What becomes of each unit; only the inspector asks."""
    units: int
    """Units that are sent."""
    left_out: int = 0
    """Units kept but not sent for lack of room."""
    fits: bool = True
    """Nothing had to be left out, and all is within the limit."""
    revision: int = 0
    """Of memory when it was made."""
    seen_units: int = 0
    """Units of memory when it was made."""
    is_whole: bool = True
    """Nothing was shortened or left out for lack of room."""
    measured: Measured | None = None
    """What the server counted for the beginning of this request, where it was sent before."""

    @property
    def added_tokens(self) -> int:
        """Of what stands behind memory in this request only."""
        return self.nudge_tokens + self.situation_tokens


def rendered(choice: Choice) -> tuple[Message, ...]:
    """Return the messages of a unit as they are sent."""
    if choice.state not in SENT_STATES:
        return ()
    if choice.state == "shortened":
        return shortened(choice.unit)
    return choice.unit.messages()


def shortened(unit: Unit) -> tuple[Message, ...]:
    """Return the messages of a unit with its long results cut to a note."""
    return tuple(_shortened(message) for message in unit.messages())


def _shortened(message: Message) -> Message:
    if not isinstance(message, ToolMessage) or len(message.text) <= SHORT_RESULT_CHARS:
        return message
    where = f'read_file path "{message.stored}" shows it' if message.stored else "call again"
    note = f"{message.text[: SHORT_RESULT_CHARS // 2]}\n[the rest of this old result is left out; {where} if needed]"
    return replace(message, text=note, images=())

"""What the agent remembers: units that stay whole, made from the log by one reducer.

A unit is a message of the person, or a reply of the model together with the results of all its calls. Edits work on
whole units, so a call and its result can never be parted. The same `apply` builds memory while a run goes on and
when a session is resumed.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

from core.events import (
    Event,
    MemoryEdited,
    MessageSteered,
    ModelReplied,
    RunStarted,
    StepStarted,
    ToolEnded,
)
from core.messages import AssistantMessage, Message, ToolMessage, UserMessage
from core.record import Record

UnitRole = Literal["user", "assistant", "note"]


@dataclass(slots=True, kw_only=True)
class Unit:
    """One piece of memory that is kept, edited and left out as a whole."""

    unit_id: str
    role: UnitRole
    head: UserMessage | AssistantMessage
    results: dict[str, ToolMessage] = field(default_factory=dict)
    """Results by call id."""
    born_step: int = 0
    """Steps of the session before it came."""
    is_task: bool = False
    """The request of a run: never left out."""
    pinned: bool = False
    dropped: bool = False
    edited: bool = False
    tokens: int = -1
    """Cached estimate; -1 when it must be counted again."""

    @property
    def is_complete(self) -> bool:
        """Whether every call has its result."""
        return not isinstance(self.head, AssistantMessage) or len(self.results) == len(
            self.head.calls
        )

    def messages(self) -> tuple[Message, ...]:
        """Return its messages, each call followed by its result; a missing result is said to be missing."""
        if not isinstance(self.head, AssistantMessage):
            return (self.head,)
        results = (
            self.results.get(call.id) or _missing(call.id, call.name) for call in self.head.calls
        )
        return (self.head, *results)

    def text(self) -> str:
        """Return all its text, for reading."""
        return "\n".join(_plain(message) for message in self.messages())


class Memory:
    """Units in the order they came."""

    def __init__(self) -> None:
        """Start empty."""
        self._units: list[Unit] = []
        self._by_call: dict[str, Unit] = {}
        self._steps = 0
        self._revision = 0

    @property
    def units(self) -> Sequence[Unit]:
        """All units, dropped ones too, oldest first."""
        return self._units

    @property
    def revision(self) -> int:
        """Changes whenever something else happened than a unit, or a result, being added."""
        return self._revision

    @property
    def steps(self) -> int:
        """Steps of the session so far."""
        return self._steps

    def find(self, unit_id: str) -> Unit | None:
        """Return the unit of that id, None if there is none."""
        return next((unit for unit in self._units if unit.unit_id == unit_id), None)

    def apply(self, record: Record) -> None:
        """Take in one record; those that say nothing about memory change nothing."""
        handler = _REDUCERS.get(type(record.event))
        if handler is not None:
            handler(self, record)

    def add(self, unit: Unit) -> None:
        """Add a unit at the end."""
        self._units.append(unit)
        if isinstance(unit.head, AssistantMessage):
            for call in unit.head.calls:
                self._by_call[call.id] = unit

    def add_result(self, result: ToolMessage) -> None:
        """Put a result beside its call; one without a call is ignored."""
        unit = self._by_call.get(result.call_id)
        if unit is not None:
            unit.results[result.call_id] = result
            unit.tokens = -1

    def revise(self) -> None:
        """Note that units changed otherwise than by growing."""
        self._revision += 1

    def count_step(self) -> None:
        """Note that a step began."""
        self._steps += 1


def _missing(call_id: str, name: str) -> ToolMessage:
    text = "No result: the call did not end."
    return ToolMessage(call_id=call_id, name=name, text=text, outcome="unknown")


def _plain(message: Message) -> str:
    if isinstance(message, AssistantMessage):
        calls = [f"-> {call.name} {call.raw_arguments}" for call in message.calls]
        return "\n".join(part for part in (message.reasoning, message.text, *calls) if part)
    if isinstance(message, ToolMessage):
        return f"<- {message.name} ({message.outcome})\n{message.text}"
    return message.text


def _task(memory: Memory, record: Record) -> None:
    event = record.event
    assert isinstance(event, RunStarted)
    head = UserMessage(text=event.task)
    memory.add(
        Unit(unit_id=f"u{record.n}", role="user", head=head, born_step=memory.steps, is_task=True)
    )


def _steered(memory: Memory, record: Record) -> None:
    event = record.event
    assert isinstance(event, MessageSteered)
    head = UserMessage(text=event.text, author=event.author)
    memory.add(Unit(unit_id=f"u{record.n}", role="user", head=head, born_step=memory.steps))


def _replied(memory: Memory, record: Record) -> None:
    event = record.event
    assert isinstance(event, ModelReplied)
    if not event.text and not event.calls:
        return
    head = AssistantMessage(
        text=event.text, reasoning=event.reasoning, calls=event.calls, carry=event.carry
    )
    memory.add(Unit(unit_id=f"u{record.n}", role="assistant", head=head, born_step=memory.steps))


def _ended(memory: Memory, record: Record) -> None:
    event = record.event
    assert isinstance(event, ToolEnded)
    memory.add_result(
        ToolMessage(
            call_id=event.call_id,
            name=event.name,
            text=event.output or event.error or f"({event.outcome}, no output)",
            outcome=event.outcome,
            images=event.images,
        )
    )


def _stepped(memory: Memory, record: Record) -> None:
    memory.count_step()


def _edited(memory: Memory, record: Record) -> None:
    event = record.event
    assert isinstance(event, MemoryEdited)
    if event.operation == "insert":
        head = UserMessage(text=event.text)
        memory.add(
            Unit(
                unit_id=f"u{record.n}", role="note", head=head, born_step=memory.steps, edited=True
            )
        )
        return
    unit = memory.find(event.unit_id)
    if unit is None:
        return
    memory.revise()
    if event.operation == "edit":
        unit.head = replace(unit.head, text=event.text)
        unit.edited, unit.tokens = True, -1
    elif event.operation in ("drop", "restore"):
        unit.dropped = event.operation == "drop"
    elif event.operation in ("pin", "unpin"):
        unit.pinned = event.operation == "pin"


_REDUCERS: dict[type[Event], Callable[[Memory, Record], None]] = {
    RunStarted: _task,
    MessageSteered: _steered,
    ModelReplied: _replied,
    ToolEnded: _ended,
    StepStarted: _stepped,
    MemoryEdited: _edited,
}

"""What the agent remembers: units that stay whole, made from the log by one reducer.

A unit is a message of the person, or a reply of the model together with the results of all its calls. Edits work on
whole units, so a call and its result can never be parted. The same `apply` builds memory while a run goes on and
when a session is resumed.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace

from core.events import (
    Event,
    MemoryEdited,
    MessageSteered,
    ModelReplied,
    RunStarted,
    StepStarted,
    ToolEnded,
)
from core.guidance import InstructionsLoaded
from core.memory_events import CompactionEnded, MemoryScored
from core.memory_history import Change, MemoryHistory
from core.messages import AssistantMessage, ToolMessage, UserMessage
from core.record import Record
from core.stored_results import handle_of
from core.unit import Unit

SUMMARY_HEAD = "A summary of earlier work, made to save room; the results in full are gone:"
"""Stands before a summary, for the model."""


class Memory:
    """Units in the order they came."""

    def __init__(self) -> None:
        """Start empty."""
        self._units: list[Unit] = []
        self._by_id: dict[str, Unit] = {}
        self._by_call: dict[str, Unit] = {}
        self._history = MemoryHistory()
        self._task: Unit | None = None
        self._said: Unit | None = None
        self._steps = 0
        self._revision = 0

    @property
    def units(self) -> Sequence[Unit]:
        """All units, dropped and summarised ones too, oldest first."""
        return self._units

    @property
    def revision(self) -> int:
        """Changes whenever something else happened than a unit, or a result, being added."""
        return self._revision

    @property
    def steps(self) -> int:
        """Steps of the session so far."""
        return self._steps

    @property
    def task(self) -> Unit | None:
        """The newest request of the person: never left out, dropped or summarised."""
        return self._task

    @property
    def said(self) -> Unit | None:
        """The newest message of the person, the task among them."""
        return self._said

    def find(self, unit_id: str) -> Unit | None:
        """Return the unit of that id, None if there is none."""
        return self._by_id.get(unit_id)

    def stays(self, unit: Unit) -> bool:
        """Whether the unit must be in every request: the newest task, the plan, pins."""
        return unit is self._task or unit.stays_always

    def allows(self, operation: str, unit_id: str, text: str = "") -> bool:
        """Return whether an edit can be made (`core.events.MemoryEdited`)."""
        if operation in ("undo", "redo"):
            return self._history.can_undo if operation == "undo" else self._history.can_redo
        if operation == "insert":
            return bool(text.strip())
        unit = self.find(unit_id)
        if unit is None or unit.summarised_into:
            return False
        if operation == "drop":
            return not self.stays(unit)
        if operation == "edit":
            return bool(text.strip()) or unit.has_calls
        return not (operation == "pin" and unit.dropped)

    def can_summarise(self, unit: Unit) -> bool:
        """Whether a summary may stand for the unit."""
        return not (self.stays(unit) or unit.is_hidden) and unit.is_complete

    def apply(self, record: Record) -> None:
        """Take in one record; those that say nothing about memory change nothing."""
        handler = _REDUCERS.get(type(record.event))
        if handler is not None:
            handler(self, record)

    def add(self, unit: Unit) -> None:
        """Add a unit at the end."""
        self._units.append(unit)
        self._by_id[unit.unit_id] = unit
        if unit.is_task:
            self._task = unit
        if isinstance(unit.head, UserMessage) and unit.head.author == "user":
            self._said = unit
        if isinstance(unit.head, AssistantMessage):
            for call in unit.head.calls:
                self._by_call[call.id] = unit

    def put_guide(self, guide: Unit) -> None:
        """Put the text of a file among the first units; one of the same file gets the new text in its place."""
        known = next((unit for unit in self._units if unit.origin == guide.origin), None)
        if known is None:
            place = sum(unit.origin != "" for unit in self._units)
            self._units.insert(place, guide)
            self._by_id[guide.unit_id] = guide
        else:
            known.head, known.edited = guide.head, False
            known.forget()
        self._revision += 1

    def add_result(self, result: ToolMessage) -> None:
        """Put a result beside its call; one without a call is ignored."""
        unit = self._by_call.get(result.call_id)
        if unit is not None:
            unit.results[result.call_id] = result
            unit.forget()

    def add_note(self, unit: Unit) -> None:
        """Add a note of the person at the end; it can be taken back."""
        self.add(unit)
        self._history.note(Change([], added=unit, added_at=len(self._units) - 1))

    def change(self, unit_id: str, operation: str, text: str) -> None:
        """Edit, drop, restore, pin or unpin one unit."""
        unit = self._by_id[unit_id]
        change = Change([(unit, unit.state)])
        if operation == "edit":
            unit.head, unit.edited = replace(unit.head, text=text), True
        elif operation in ("drop", "restore"):
            unit.dropped = operation == "drop"
        elif operation in ("pin", "unpin"):
            unit.pinned = operation == "pin"
        unit.forget()
        self._history.note(change)
        self._revision += 1

    def turn_back(self, operation: str) -> None:
        """Take the newest change back, or do it again."""
        turn = self._history.undo if operation == "undo" else self._history.redo
        change = turn(self._units)
        if change is None:
            return
        if (added := change.added) is not None and operation == "undo":
            self._by_id.pop(added.unit_id, None)
        elif added is not None:
            self._by_id[added.unit_id] = added
        self._revision += 1

    def summarise(self, units: Sequence[Unit], summary: Unit) -> None:
        """Let a summary stand in the place of the first of `units`."""
        place = next(index for index, unit in enumerate(self._units) if unit is units[0])
        change = Change([(unit, unit.state) for unit in units], is_summary=True)
        change.added, change.added_at = summary, place
        for unit in units:
            unit.summarised_into = summary.unit_id
        self._units.insert(place, summary)
        self._by_id[summary.unit_id] = summary
        self._history.note(change)
        self._revision += 1

    def score(self, scores: "Sequence[tuple[Unit, float, bool]]") -> None:
        """Note what a model said of units: each with its score and whether it is left out."""
        for unit, score, is_unfit in scores:
            unit.score, unit.is_unfit = score, is_unfit
        self._revision += 1

    def count_step(self) -> None:
        """Note that a step began."""
        self._steps += 1


def _task(memory: Memory, record: Record) -> None:
    event = record.event
    assert isinstance(event, RunStarted)
    head = UserMessage(text=event.task)
    memory.add(
        Unit(unit_id=f"u{record.n}", role="user", head=head, born_step=memory.steps, is_task=True)
    )


def _instructed(memory: Memory, record: Record) -> None:
    event = record.event
    assert isinstance(event, InstructionsLoaded)
    memory.put_guide(
        Unit(
            unit_id=f"u{record.n}",
            role="note",
            head=UserMessage(text=event.text, author="handrail"),
            born_step=memory.steps,
            pinned=True,
            origin=event.path,
        )
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
            stored=handle_of(event.whole_path),
        )
    )


def _stepped(memory: Memory, record: Record) -> None:
    memory.count_step()


def _edited(memory: Memory, record: Record) -> None:
    event = record.event
    assert isinstance(event, MemoryEdited)
    if not memory.allows(event.operation, event.unit_id, event.text):
        return
    if event.operation in ("undo", "redo"):
        memory.turn_back(event.operation)
    elif event.operation == "insert":
        memory.add_note(
            Unit(
                unit_id=f"u{record.n}",
                role="note",
                head=UserMessage(text=event.text),
                born_step=memory.steps,
                edited=True,
            )
        )
    else:
        memory.change(event.unit_id, event.operation, event.text)


def _compacted(memory: Memory, record: Record) -> None:
    event = record.event
    assert isinstance(event, CompactionEnded)
    found = [memory.find(unit_id) for unit_id in event.unit_ids]
    units = [unit for unit in found if unit is not None and memory.can_summarise(unit)]
    if not event.summary or not units or len(units) < len(found):
        return
    summary = Unit(
        unit_id=f"u{record.n}",
        role="summary",
        head=UserMessage(text=f"{SUMMARY_HEAD}\n{event.summary}", author="handrail"),
        born_step=units[-1].born_step,
        summarises=event.unit_ids,
    )
    memory.summarise(units, summary)


def _scored(memory: Memory, record: Record) -> None:
    event = record.event
    assert isinstance(event, MemoryScored)
    found = ((memory.find(unit_id), score) for unit_id, score in event.scores.items())
    memory.score(
        [
            (unit, score, unit.unit_id in event.left_out and not memory.stays(unit))
            for unit, score in found
            if unit is not None
        ]
    )


_REDUCERS: dict[type[Event], Callable[[Memory, Record], None]] = {
    InstructionsLoaded: _instructed,
    RunStarted: _task,
    MessageSteered: _steered,
    ModelReplied: _replied,
    ToolEnded: _ended,
    StepStarted: _stepped,
    MemoryEdited: _edited,
    CompactionEnded: _compacted,
    MemoryScored: _scored,
}

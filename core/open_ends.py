"""What a journal leaves open: calls without a result, decisions nobody closed, a run without an end."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field

from core.decision import DecisionClosed, DecisionOpened, QuestionPrompt
from core.events import (
    CallIntended,
    MessageSteered,
    ModelReplied,
    RunEnded,
    RunStarted,
    ToolEnded,
)
from core.messages import ToolCall
from core.record import Record


@dataclass(slots=True, kw_only=True)
class UnknownCall:
    """A call whose outcome a crash left unknown, and what the person said of it."""

    call: ToolCall
    answer: str | None = None
    """Their words, None until they answered; the model has not been told of them yet."""


@dataclass(slots=True)
class OpenEnds:
    """The open ends after some records; `take` them in order."""

    decisions: dict[str, DecisionOpened] = field(default_factory=dict)
    """Open decisions by id."""
    calls: dict[str, ToolCall] = field(default_factory=dict)
    """Calls without a result by id, in call order."""
    intents: dict[str, CallIntended] = field(default_factory=dict)
    """Intents of those calls: what may have begun."""
    answers: dict[str, DecisionClosed] = field(default_factory=dict)
    """How questions of those calls were closed."""
    unknown: dict[str, UnknownCall] = field(default_factory=dict)
    """Calls of unknown outcome, by id, that no run has taken note of."""
    run: list[Record] = field(default_factory=list)
    """The records of the run that has no end, empty when there is none."""

    def take(self, record: Record) -> None:
        """Take in one record."""
        if self.run:
            self.run.append(record)
        taker = _TAKERS.get(type(record.event))
        if taker is not None:
            taker(self, record)


def read_open_ends(records: Iterable[Record]) -> OpenEnds:
    """Return what these records leave open."""
    ends = OpenEnds()
    for record in records:
        ends.take(record)
    return ends


def told_text(call: ToolCall, answer: str) -> str:
    """Return what the model is told the person said of a call whose outcome was unknown."""
    return f"The outcome of the call {call.id} ({call.name}) was unknown. The person says: {answer}"


def _start_run(ends: OpenEnds, record: Record) -> None:
    ends.run = [record]
    ends.unknown.clear()  # a run has begun with what was known: it is the model's business now


def _end_run(ends: OpenEnds, record: Record) -> None:
    del record
    ends.run = []


def _reply(ends: OpenEnds, record: Record) -> None:
    event = record.event
    assert isinstance(event, ModelReplied)
    for call in event.calls:
        # An id that a server used before means the new call from here on.
        for by_call in (ends.intents, ends.answers, ends.unknown):
            by_call.pop(call.id, None)
        ends.calls[call.id] = call


def _intend(ends: OpenEnds, record: Record) -> None:
    event = record.event
    assert isinstance(event, CallIntended)
    ends.intents[event.call_id] = event


def _end_call(ends: OpenEnds, record: Record) -> None:
    event = record.event
    assert isinstance(event, ToolEnded)
    call = ends.calls.pop(event.call_id, None)
    ends.intents.pop(event.call_id, None)
    ends.answers.pop(event.call_id, None)
    if event.outcome == "unknown" and call is not None:
        ends.unknown[event.call_id] = UnknownCall(call=call)


def _open_decision(ends: OpenEnds, record: Record) -> None:
    event = record.event
    assert isinstance(event, DecisionOpened)
    ends.decisions[event.decision_id] = event


def _close_decision(ends: OpenEnds, record: Record) -> None:
    event = record.event
    assert isinstance(event, DecisionClosed)
    opened = ends.decisions.pop(event.decision_id, None)
    if opened is None or not isinstance(opened.prompt, QuestionPrompt):
        return
    call_id = opened.prompt.call_id
    if call_id in ends.calls:
        ends.answers[call_id] = event
    elif call_id in ends.unknown and event.resolution == "answered":
        ends.unknown[call_id].answer = event.text
    elif event.resolution == "declined":
        ends.unknown.pop(call_id, None)


def _steer(ends: OpenEnds, record: Record) -> None:
    event = record.event
    assert isinstance(event, MessageSteered)
    told = [
        call_id
        for call_id, one in ends.unknown.items()
        if one.answer is not None and event.text == told_text(one.call, one.answer)
    ]
    for call_id in told:
        del ends.unknown[call_id]


_TAKERS: Mapping[type, Callable[[OpenEnds, Record], None]] = {
    RunStarted: _start_run,
    RunEnded: _end_run,
    ModelReplied: _reply,
    CallIntended: _intend,
    ToolEnded: _end_call,
    DecisionOpened: _open_decision,
    DecisionClosed: _close_decision,
    MessageSteered: _steer,
}

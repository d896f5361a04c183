"""Closes what a killed app left open in a journal, without running anything again."""

from collections.abc import Sequence

from core.decision import DecisionClosed, DecisionOpened
from core.event_log import EventLog
from core.events import (
    CallIntended,
    ErrorInfo,
    ModelReplied,
    RunEnded,
    RunStarted,
    ToolEnded,
)
from core.messages import Outcome, ToolCall, Usage
from core.record import Record

UNKNOWN = (
    "The outcome of this call is unknown: Handrail ended while it ran. "
    "It may have happened, wholly, in part or not at all. Look before you do it again."
)
NOT_STARTED = "Not run: Handrail ended before this call started."


def close_open_ends(log: EventLog) -> None:
    """Give each call without a result one, withdraw open decisions, and end a run that has no end."""
    records = tuple(log.records)
    for decision_id in _open_decisions(records):
        log.append(DecisionClosed(decision_id=decision_id, resolution="withdrawn", decided_by=""))
    intended = {
        record.event.call_id for record in records if isinstance(record.event, CallIntended)
    }
    for call in _open_calls(records):
        outcome: Outcome = "unknown" if call.id in intended else "cancelled"
        text = UNKNOWN if outcome == "unknown" else NOT_STARTED
        log.append(
            ToolEnded(call_id=call.id, name=call.name, outcome=outcome, output=text, error=text)
        )
    if _run_is_open(records):
        log.append(_cut_end(records))


def _open_decisions(records: Sequence[Record]) -> list[str]:
    closed = {
        record.event.decision_id for record in records if isinstance(record.event, DecisionClosed)
    }
    opened = [
        record.event.decision_id for record in records if isinstance(record.event, DecisionOpened)
    ]
    return [decision_id for decision_id in opened if decision_id not in closed]


def _open_calls(records: Sequence[Record]) -> list[ToolCall]:
    ended = {record.event.call_id for record in records if isinstance(record.event, ToolEnded)}
    replies = [record.event for record in records if isinstance(record.event, ModelReplied)]
    return [call for reply in replies for call in reply.calls if call.id not in ended]


def _run_is_open(records: Sequence[Record]) -> bool:
    for record in reversed(records):
        if isinstance(record.event, RunEnded):
            return False
        if isinstance(record.event, RunStarted):
            return True
    return False


def _cut_end(records: Sequence[Record]) -> RunEnded:
    """Return the end of a run that had none, with what is known of it."""
    start = max(n for n, record in enumerate(records) if isinstance(record.event, RunStarted))
    run = records[start:]
    replies = [record.event for record in run if isinstance(record.event, ModelReplied)]
    costs = [reply.cost_usd for reply in replies]
    return RunEnded(
        reason="stopped",
        exit_code=130,
        usage=Usage(
            input_tokens=sum(reply.usage.input_tokens for reply in replies),
            output_tokens=sum(reply.usage.output_tokens for reply in replies),
        ),
        cost_usd=None if None in costs else sum(cost for cost in costs if cost is not None),
        steps=run[-1].step,
        duration_s=round(max(0.0, run[-1].mono_s - run[0].mono_s), 3),
        error=ErrorInfo(code="ended_early", message="Handrail ended while this run went on."),
    )

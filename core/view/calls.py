"""Calls as people see them: one object a call, shared by the transcript, the step log and the sandbox pane."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from core.bounded_text import BoundedText
from core.decision import ApprovalPrompt, DecisionClosed, DecisionOpened
from core.events import (
    CallIntended,
    ModelReplied,
    ToolEnded,
    ToolOutputReceived,
    ToolProposed,
)
from core.messages import Image, JsonValue, Outcome
from core.record import Record
from core.vocabulary import DecidedBy, RiskLevel, Verdict

CallState = Literal["proposed", "waiting", "running", "ended"]
"""proposed: nothing ran · waiting: for a person · running: its effect may have started · ended: it has its result."""


@dataclass(slots=True)
class CallView:
    """One call and all that is known of it."""

    call_id: str
    name: str
    run_id: str = ""
    step: int = 0
    arguments: Mapping[str, JsonValue] = field(default_factory=dict)
    """As proposed, then as they ran (a person may edit them)."""
    raw_arguments: str = ""
    """As the model wrote them, where they could not be read."""
    state: CallState = "proposed"
    outcome: Outcome | None = None
    """Set when `state` is ended."""
    risk: RiskLevel | None = None
    """None until the call was judged."""
    verdict: Verdict | None = None
    reasons: tuple[str, ...] = ()
    rule: str = ""
    decided_by: DecidedBy = ""
    edited: bool = False
    """A person changed the arguments."""
    repaired: bool = False
    """The program repaired what the model wrote."""
    denial: str = ""
    """The reason a person gave for a denial."""
    has_started: bool = False
    """Its effect was let go; words like "ran" are allowed only then."""
    exit_code: int | None = None
    output: str = ""
    """What the model got."""
    whole_path: str = ""
    """File that holds all of it, "" where `output` does."""
    error: str = ""
    duration_s: float | None = None
    started_mono_s: float = 0.0
    """Time of the record that let it start, else of the one that proposed it."""
    stdout: BoundedText = field(default_factory=BoundedText)
    stderr: BoundedText = field(default_factory=BoundedText)
    info: BoundedText = field(default_factory=BoundedText)
    images: tuple[Image, ...] = ()
    files: tuple[str, ...] = ()
    revision: int = 0
    """Grows with each change."""


@dataclass(slots=True)
class CallsView:
    """All calls of the session."""

    by_id: dict[str, CallView] = field(default_factory=dict)
    running: int = 0
    """Calls whose effect goes on now."""
    waiting: dict[str, str] = field(default_factory=dict)
    """Call id by id of the open decision it waits for."""

    def get(self, record: Record, call_id: str, name: str) -> CallView:
        """Return the call, made if it is not known yet."""
        call = self.by_id.get(call_id)
        if call is None:
            call = CallView(call_id, name, record.run_id, record.step, started_mono_s=record.mono_s)
            self.by_id[call_id] = call
        return call

    def move(self, call: CallView, state: CallState) -> None:
        """Put a call into another state and keep the count of running ones."""
        self.running += (state == "running") - (call.state == "running")
        call.state = state
        call.revision += 1


def list_calls(calls: CallsView, record: Record, event: ModelReplied) -> None:
    """Enter the calls of a reply, in the model's order."""
    for asked in event.calls:
        call = calls.get(record, asked.id, asked.name)
        call.arguments = asked.arguments or {}
        call.raw_arguments = "" if asked.arguments is not None else asked.raw_arguments
        call.repaired = asked.repaired
        call.revision += 1


def judge_call(calls: CallsView, record: Record, event: ToolProposed) -> None:
    """Note what the policy said."""
    call = calls.get(record, event.call_id, event.name)
    call.arguments, call.risk, call.verdict = event.arguments, event.risk, event.verdict
    call.reasons, call.rule = event.reasons, event.rule
    call.revision += 1


def hold_call(calls: CallsView, record: Record, event: DecisionOpened) -> None:
    """Mark the call as waiting for a person; a decision may be about no call."""
    if not event.prompt.call_id:
        return
    tool = event.prompt.tool if isinstance(event.prompt, ApprovalPrompt) else "ask_human"
    call = calls.get(record, event.prompt.call_id, tool)
    if call.state == "ended":
        return  # asked what became of it: it is over all the same
    calls.waiting[event.decision_id] = call.call_id
    calls.move(call, "waiting")


def release_call(calls: CallsView, event: DecisionClosed) -> None:
    """Note what a person decided; only a later record says that the call ran."""
    call = calls.by_id.get(calls.waiting.pop(event.decision_id, ""))
    if call is None or call.state == "ended":
        return
    if event.resolution in {"denied", "denied_pause"}:
        call.denial = event.text
    if event.resolution == "edited" and event.arguments is not None:
        call.arguments, call.edited = event.arguments, True
    if event.resolution not in {"answered", "declined"}:
        call.decided_by = event.decided_by
    calls.move(call, "running" if call.has_started else "proposed")


def start_call(calls: CallsView, record: Record, event: CallIntended) -> None:
    """Mark the call as running."""
    call = calls.get(record, event.call_id, event.name)
    call.arguments, call.risk, call.decided_by = (
        event.arguments,
        event.risk,
        event.decided_by,
    )
    call.started_mono_s, call.has_started = record.mono_s, True
    calls.move(call, "running")


def add_output(calls: CallsView, record: Record, event: ToolOutputReceived) -> None:
    """Keep live output, head and tail."""
    call = calls.get(record, event.call_id, "")
    kept: BoundedText = getattr(call, event.stream)
    kept.append(event.text)
    call.revision += 1


def end_call(calls: CallsView, record: Record, event: ToolEnded) -> None:
    """Note the result."""
    call = calls.get(record, event.call_id, event.name)
    call.name = event.name
    call.outcome, call.output, call.error = event.outcome, event.output, event.error
    call.exit_code, call.duration_s = event.exit_code, event.duration_s
    call.decided_by = event.decided_by or call.decided_by
    call.images, call.files = event.images, event.files
    call.whole_path = event.whole_path
    calls.move(call, "ended")


def close_calls(calls: CallsView, run_id: str) -> None:
    """End the calls of a run that have no result: what they did is not known."""
    for call in reversed(calls.by_id.values()):
        if call.run_id != run_id:
            return
        if call.state != "ended":
            call.outcome = "unknown" if call.has_started else "cancelled"
            calls.move(call, "ended")


def failed_calls(calls: CallsView, run_id: str) -> int:
    """Count the calls of a run that did not end well."""
    return sum(call.run_id == run_id and call.outcome != "ok" for call in calls.by_id.values())

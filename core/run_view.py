"""What any front end shows of a session: the log, reduced.

`reduce` takes one record after the other; the same records give the same view, whether they come live, from a resumed
journal or from a replay. Nothing here knows a screen. A part of the view is changed in place and only by its reducer.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

from core import decision as dec
from core import events as ev
from core import memory_events as mem
from core import surroundings as sur
from core.guard_events import LoopNoticed
from core.guidance import InstructionsLoaded
from core.model_events import ModelDowngraded, ModelSwitched
from core.record import Record
from core.view import browser, calls, conversation, decisions, header, memory, sandbox, steps
from core.view.browser import BrowserView
from core.view.calls import CallsView
from core.view.conversation import ConversationView
from core.view.decisions import DecisionsView, NoticesView
from core.view.header import HeaderView
from core.view.memory import MemoryView
from core.view.model import tell_of_model
from core.view.sandbox import SandboxView
from core.view.steps import StepsView

Part: TypeAlias = Literal[
    "header", "conversation", "steps", "memory", "browser", "sandbox", "decisions"
]
"""A part of the view that can change."""
Parts: TypeAlias = frozenset[Part]


@dataclass(slots=True)
class RunView:
    """Everything a front end shows."""

    n: int = 0
    """Sequence of the newest record that is in it."""
    header: HeaderView = field(default_factory=HeaderView)
    calls: CallsView = field(default_factory=CallsView)
    conversation: ConversationView = field(default_factory=ConversationView)
    steps: StepsView = field(default_factory=StepsView)
    memory: MemoryView = field(default_factory=MemoryView)
    browser: BrowserView = field(default_factory=BrowserView)
    sandbox: SandboxView = field(default_factory=SandboxView)
    decisions: DecisionsView = field(default_factory=DecisionsView)
    notices: NoticesView = field(default_factory=NoticesView)

    @property
    def why(self) -> str:
        """What the session waited for when the newest record came, in a few words."""
        return self.why_at(self.header.last_mono_s)

    def why_at(self, now_s: float) -> str:
        """Return what the session waits for at a time on the clock of the records, in a few words."""
        header = self.header
        if self.decisions.open:
            count = len(self.decisions.open)
            return f"waiting for you: {count} decision{'s' * (count > 1)}"
        if header.phase == "paused":
            return "paused"
        if header.phase == "running":
            why = self._running_why(now_s)
            has_room = header.circle and header.waits_for != "retry"
            return f"{why}, {header.circle}" if has_room else why
        return f"run {header.last_reason.replace('_', ' ')}" if header.last_reason else header.phase

    def _running_why(self, now_s: float) -> str:
        running = self.calls.running
        if running:
            return f"{running} tool{'s' * (running > 1)} running"
        if self.header.waits_for == "retry":
            return header.retry_words(self.header, now_s)
        if self.header.waits_for == "summary":
            return "summarising old memory"
        return "model answering" if self.header.waits_for == "model" else "between steps"


Reducer: TypeAlias = Callable[[RunView, Record, Any], Parts]


def reduce(view: RunView, record: Record) -> Parts:
    """Take one record into the view.

    Returns:
        The parts that changed.
    """
    view.n = record.n
    view.header.last_mono_s = record.mono_s
    reducer = REDUCERS.get(type(record.event))
    return reducer(view, record, record.event) if reducer else NOTHING


def reduce_all(view: RunView, records: Iterable[Record]) -> Parts:
    """Take records into the view, oldest first; returns the parts that changed."""
    changed: set[Part] = set()
    for record in records:
        changed |= reduce(view, record)
    return frozenset(changed)


NOTHING: Parts = frozenset()
TALK: Parts = frozenset({"conversation"})
HEADER: Parts = frozenset({"header"})
BROWSER: Parts = frozenset({"browser"})
SANDBOX: Parts = frozenset({"sandbox"})
CALLS: Parts = frozenset({"header", "conversation", "steps"})
CALLS_AND_SANDBOX: Parts = CALLS | SANDBOX
MEMORY: Parts = frozenset({"header", "memory"})
RUN: Parts = frozenset({"header", "conversation", "steps", "memory"})


def _session_opened(view: RunView, record: Record, event: ev.SessionOpened) -> Parts:
    del record
    header.open_session(view.header, event)
    view.memory.revision += 1
    return MEMORY


def _journal_recovered(view: RunView, record: Record, event: ev.JournalRecovered) -> Parts:
    conversation.tell(view.conversation, decisions.tell_recovery(view.notices, record, event))
    return TALK


def _notice_raised(view: RunView, record: Record, event: ev.NoticeRaised) -> Parts:
    conversation.tell(view.conversation, decisions.raise_notice(view.notices, record, event))
    return TALK


def _mode_changed(view: RunView, record: Record, event: ev.ModeChanged) -> Parts:
    del record
    view.header.mode = event.mode
    return HEADER


def _run_started(view: RunView, record: Record, event: ev.RunStarted) -> Parts:
    header.start_run(view.header, record, event)
    conversation.begin_run(view.conversation, record, event)
    steps.list_run(view.steps, record, event)
    view.memory.revision += 1
    return RUN


def _run_paused(view: RunView, record: Record, event: ev.RunPaused) -> Parts:
    del record, event
    view.header.phase = "paused"
    return HEADER


def _run_resumed(view: RunView, record: Record, event: ev.RunResumed) -> Parts:
    del record
    header.resume_run(view.header, event)
    return HEADER


def _run_ended(view: RunView, record: Record, event: ev.RunEnded) -> Parts:
    calls.close_calls(view.calls, record.run_id)
    header.end_run(view.header, event)
    steps.close_step(view.steps)
    failed = calls.failed_calls(view.calls, record.run_id)
    conversation.add_result(view.conversation, record, event, failed)
    view.memory.revision += 1
    return RUN


def _step_started(view: RunView, record: Record, event: ev.StepStarted) -> Parts:
    del event
    view.header.step = record.step
    conversation.begin_step(view.conversation)
    steps.start_step(view.steps, record)
    return CALLS


def _step_ended(view: RunView, record: Record, event: ev.StepEnded) -> Parts:
    del record
    steps.end_step(view.steps, event)
    if not view.header.circle:
        return frozenset({"steps"})
    view.header.circle = ""
    return frozenset({"steps", "header"})


def _loop_noticed(view: RunView, record: Record, event: LoopNoticed) -> Parts:
    header.note_circle(view.header, event)
    steps.list_note(view.steps, record, event.line)
    return frozenset({"steps", "header"})


def _context_built(view: RunView, record: Record, event: ev.ContextBuilt) -> Parts:
    del record
    header.note_context(view.header, event)
    memory.note_built(view.memory, event)
    return MEMORY


def _model_requested(view: RunView, record: Record, event: ev.ModelRequested) -> Parts:
    del record
    if view.header.waits_for != "summary":
        view.header.waits_for = "model"
    memory.note_request(view.memory, event)
    return MEMORY


def _model_retried(view: RunView, record: Record, event: ev.ModelRetried) -> Parts:
    header.note_retry(view.header, record, event)
    steps.list_retry(view.steps, record, event)
    conversation.reset_stream(view.conversation)
    return frozenset({"header", "conversation", "steps"})


def _model_told(
    view: RunView, record: Record, event: ev.ModelAdapted | ModelSwitched | ModelDowngraded
) -> Parts:
    if isinstance(event, ModelSwitched):
        conversation.reset_stream(view.conversation)
        steps.list_note(view.steps, record, event.line)
    notice = tell_of_model(view.header, view.notices, record, event)
    conversation.tell(view.conversation, notice)
    return frozenset({"header", "conversation", "steps"})


def _text_streamed(view: RunView, record: Record, event: ev.TextStreamed) -> Parts:
    conversation.stream_text(view.conversation, record, event)
    return TALK


def _reasoning_streamed(view: RunView, record: Record, event: ev.ReasoningStreamed) -> Parts:
    conversation.stream_reasoning(view.conversation, record, event)
    return TALK


def _model_replied(view: RunView, record: Record, event: ev.ModelReplied) -> Parts:
    header.note_reply(view.header, event)
    conversation.settle_reply(view.conversation, record, event)
    steps.note_step_reply(view.steps, event)
    calls.list_calls(view.calls, record, event)
    _list(view, record, *(call.id for call in event.calls))
    view.memory.revision += 1
    return RUN


def _tool_proposed(view: RunView, record: Record, event: ev.ToolProposed) -> Parts:
    calls.judge_call(view.calls, record, event)
    return _list(view, record, event.call_id)


def _decision_opened(view: RunView, record: Record, event: dec.DecisionOpened) -> Parts:
    calls.hold_call(view.calls, record, event)
    decisions.open_decision(view.decisions, record, event)
    changed = _list(view, record, event.prompt.call_id) if event.prompt.call_id else HEADER
    conversation.ask_question(view.conversation, record, event)
    return changed | {"decisions"}


def _decision_closed(view: RunView, record: Record, event: dec.DecisionClosed) -> Parts:
    del record
    calls.release_call(view.calls, event)
    decisions.close_decision(view.decisions, event)
    conversation.answer_question(view.conversation, event)
    return CALLS | {"decisions"}


def _call_intended(view: RunView, record: Record, event: ev.CallIntended) -> Parts:
    calls.start_call(view.calls, record, event)
    return _list(view, record, event.call_id)


def _tool_output_received(view: RunView, record: Record, event: ev.ToolOutputReceived) -> Parts:
    calls.add_output(view.calls, record, event)
    return _list(view, record, event.call_id)


def _tool_ended(view: RunView, record: Record, event: ev.ToolEnded) -> Parts:
    calls.end_call(view.calls, record, event)
    view.memory.revision += 1
    return _list(view, record, event.call_id) | {"memory"}


def _message_steered(view: RunView, record: Record, event: ev.MessageSteered) -> Parts:
    conversation.add_message(view.conversation, record, event)
    view.memory.revision += 1
    return frozenset({"conversation", "memory"})


def _instructions_loaded(view: RunView, record: Record, event: InstructionsLoaded) -> Parts:
    del record, event
    view.memory.revision += 1
    return MEMORY


def _memory_edited(view: RunView, record: Record, event: ev.MemoryEdited) -> Parts:
    del record
    memory.note_edit(view.memory, event)
    return frozenset({"memory"})


def _compaction_started(view: RunView, record: Record, event: mem.CompactionStarted) -> Parts:
    del record, event
    view.header.waits_for = "summary"
    return HEADER


def _compaction_ended(view: RunView, record: Record, event: mem.CompactionEnded) -> Parts:
    view.header.waits_for = ""
    header.add_usage(view.header, event.usage, event.cost_usd)
    memory.note_summary(view.memory, event)
    notice = decisions.tell_summary(view.notices, record, view.memory.last_summary, event)
    conversation.tell(view.conversation, notice)
    return MEMORY | TALK


def _memory_scored(view: RunView, record: Record, event: mem.MemoryScored) -> Parts:
    del record
    header.add_usage(view.header, event.usage, event.cost_usd)
    memory.note_scores(view.memory, event)
    return MEMORY


def _browser_snapshotted(view: RunView, record: Record, event: sur.BrowserSnapshotted) -> Parts:
    browser.show_snapshot(view.browser, record, event)
    return BROWSER


def _browser_changed(view: RunView, record: Record, event: sur.BrowserChanged) -> Parts:
    del record
    browser.change_browser(view.browser, event)
    return BROWSER


def _sandbox_changed(view: RunView, record: Record, event: sur.SandboxChanged) -> Parts:
    del record
    sandbox.change_sandbox(view.sandbox, event)
    return SANDBOX


def _list(view: RunView, record: Record, *call_ids: str) -> Parts:
    """Let every pane that lists calls know these; returns the parts that changed."""
    conversation.show_calls(view.conversation, record, view.calls, *call_ids)
    steps.list_new_calls(view.steps, record, view.calls, *call_ids)
    changed = CALLS
    for call_id in call_ids:
        if sandbox.list_command(view.sandbox, view.calls, call_id):
            changed = CALLS_AND_SANDBOX
    return changed


REDUCERS: Mapping[type, Reducer] = {
    ev.SessionOpened: _session_opened,
    ev.JournalRecovered: _journal_recovered,
    ev.NoticeRaised: _notice_raised,
    ev.ModeChanged: _mode_changed,
    ev.RunStarted: _run_started,
    ev.RunPaused: _run_paused,
    ev.RunResumed: _run_resumed,
    ev.RunEnded: _run_ended,
    ev.StepStarted: _step_started,
    ev.StepEnded: _step_ended,
    LoopNoticed: _loop_noticed,
    ev.ContextBuilt: _context_built,
    ev.ModelRequested: _model_requested,
    ev.ModelRetried: _model_retried,
    ev.ModelAdapted: _model_told,
    ModelSwitched: _model_told,
    ModelDowngraded: _model_told,
    ev.TextStreamed: _text_streamed,
    ev.ReasoningStreamed: _reasoning_streamed,
    ev.ModelReplied: _model_replied,
    ev.ToolProposed: _tool_proposed,
    dec.DecisionOpened: _decision_opened,
    dec.DecisionClosed: _decision_closed,
    ev.CallIntended: _call_intended,
    ev.ToolOutputReceived: _tool_output_received,
    ev.ToolEnded: _tool_ended,
    ev.MessageSteered: _message_steered,
    InstructionsLoaded: _instructions_loaded,
    ev.MemoryEdited: _memory_edited,
    mem.CompactionStarted: _compaction_started,
    mem.CompactionEnded: _compaction_ended,
    mem.MemoryScored: _memory_scored,
    sur.BrowserSnapshotted: _browser_snapshotted,
    sur.BrowserChanged: _browser_changed,
    sur.SandboxChanged: _sandbox_changed,
}
"""What each kind of event changes."""
UNSHOWN: frozenset[type] = frozenset({ev.SessionClosed})
"""Kinds that change nothing on the screen: the app is gone by then."""

"""The facts of a session, in the order they happened.

Each event is a frozen dataclass of JSON values with a past participle as `kind`. Pictures and long texts are named
by path, never held. `core.record.Record` adds what the log knows: sequence, time, run and step. One `TypeAdapter`
reads and writes them all, so a journal line, a `--json` line and what the screen follows are the same object.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Annotated, Literal, TypeAlias

from pydantic import Field, TypeAdapter

from core.decision import DecisionClosed, DecisionOpened
from core.guard_events import LoopNoticed
from core.guidance import InstructionsLoaded
from core.memory_events import CompactionEnded, CompactionStarted, MemoryScored
from core.messages import Image, JsonValue, Outcome, ToolCall, Usage
from core.model_events import ModelDowngraded, ModelSwitched
from core.surroundings import BrowserChanged, BrowserSnapshotted, SandboxChanged
from core.vocabulary import DecidedBy, EndReason, Mode, RiskLevel, Verdict


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionOpened:
    """A session begins, or goes on in a new process."""

    session_id: str
    workspace: str
    """Absolute path on the host."""
    model: str
    """Name as the server knows it, "" while none is configured."""
    profile: str = "general"
    mode: Mode = "ask"
    base_url: str = ""
    """Without user, password or query."""
    version: str = ""
    """Of Handrail."""
    resumed: bool = False
    scripted: bool = False
    """The model is the built-in script of the tour; every screen says so."""
    kind: Literal["session_opened"] = "session_opened"


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionClosed:
    """The app ended in an orderly way."""

    reason: str = "quit"
    kind: Literal["session_closed"] = "session_closed"


@dataclass(frozen=True, slots=True, kw_only=True)
class JournalRecovered:
    """A torn end of the journal was cut off and set aside."""

    cut_bytes: int
    kept_as: str
    """File name of the bytes that were cut."""
    kind: Literal["journal_recovered"] = "journal_recovered"


@dataclass(frozen=True, slots=True, kw_only=True)
class RunStarted:
    """A request of the person is taken up; it is also the user message of that text."""

    task: str
    max_steps: int
    max_minutes: float
    max_cost_usd: float
    """0 means no limit."""
    max_cost_per_day_usd: float = 0.0
    """Of all sessions of this machine together; 0 means no limit."""
    kind: Literal["run_started"] = "run_started"


@dataclass(frozen=True, slots=True, kw_only=True)
class RunPaused:
    """The run waits at a step boundary."""

    by: DecidedBy = "person"
    kind: Literal["run_paused"] = "run_paused"


@dataclass(frozen=True, slots=True, kw_only=True)
class RunResumed:
    """The run goes on."""

    single_step: bool = False
    kind: Literal["run_resumed"] = "run_resumed"


@dataclass(frozen=True, slots=True, kw_only=True)
class ErrorInfo:
    """An error as JSON: never a traceback, never a secret."""

    code: str
    message: str
    hint: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunEnded:
    """The run is over. Always the last event of `run --json`."""

    reason: EndReason
    exit_code: int
    answer: str = ""
    files: tuple[str, ...] = ()
    """Workspace paths made or changed by the run and there on disk at its end."""
    missing_files: tuple[str, ...] = ()
    """Workspace paths the answer names that are not there."""
    usage: Usage = field(default_factory=Usage)
    cost_usd: float | None = None
    """None where the price is not known."""
    steps: int = 0
    duration_s: float = 0.0
    error: ErrorInfo | None = None
    limit: str = ""
    """steps, minutes, cost or cost_per_day when `reason` is limit."""
    kind: Literal["run_ended"] = "run_ended"


@dataclass(frozen=True, slots=True, kw_only=True)
class StepStarted:
    """One model reply plus its calls begins."""

    kind: Literal["step_started"] = "step_started"


@dataclass(frozen=True, slots=True, kw_only=True)
class StepEnded:
    """All calls of the step have their results."""

    duration_s: float
    kind: Literal["step_ended"] = "step_ended"


@dataclass(frozen=True, slots=True, kw_only=True)
class ContextBuilt:
    """What the next request holds."""

    units: int
    """Number of units sent."""
    left_out: int
    """Number of units kept but not sent."""
    tokens: int
    """Our estimate of the whole request."""
    window: int
    """Context window of the model in tokens, 0 where unknown."""
    kind: Literal["context_built"] = "context_built"


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelRequested:
    """A request goes to the model."""

    model: str
    size_bytes: int
    digest: str
    """SHA-256 of the body that is sent."""
    kind: Literal["model_requested"] = "model_requested"


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelRetried:
    """A try failed and the next one waits."""

    error: ErrorInfo
    attempt: int
    """The try that failed, from 1."""
    wait_s: float
    limit: int = 0
    """Tries there may be for this answer; 0 where that is not known."""
    usage: Usage = field(default_factory=Usage)
    """What an answer that broke off is taken to have used; nothing for one that never began."""
    cost_usd: float | None = 0.0
    """Price of that; None where it is not known."""
    kind: Literal["model_retried"] = "model_retried"


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelAdapted:
    """A flag of the model server was learned from a refusal."""

    flag: str
    """As flag=value."""
    kind: Literal["model_adapted"] = "model_adapted"


@dataclass(frozen=True, slots=True, kw_only=True)
class TextStreamed:
    """A piece of the answer arrived."""

    text: str
    kind: Literal["text_streamed"] = "text_streamed"


@dataclass(frozen=True, slots=True, kw_only=True)
class ReasoningStreamed:
    """A piece of the model's reasoning arrived."""

    text: str
    kind: Literal["reasoning_streamed"] = "reasoning_streamed"


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelReplied:
    """The whole reply; it is also the assistant message of that step."""

    text: str = ""
    reasoning: str = ""
    calls: tuple[ToolCall, ...] = ()
    carry: Mapping[str, JsonValue] = field(default_factory=dict)
    usage: Usage = field(default_factory=Usage)
    cost_usd: float | None = None
    finish_reason: str = ""
    warnings: tuple[str, ...] = ()
    message: str = ""
    duration_s: float = 0.0
    kind: Literal["model_replied"] = "model_replied"


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolProposed:
    """A call was read and judged; nothing has run."""

    call_id: str
    name: str
    arguments: Mapping[str, JsonValue]
    """Those that differ from their defaults."""
    risk: RiskLevel
    verdict: Verdict
    reasons: tuple[str, ...] = ()
    """Why this level and verdict, one line each."""
    rule: str = ""
    """Id of the rule that decided, "" for the table."""
    kind: Literal["tool_proposed"] = "tool_proposed"


@dataclass(frozen=True, slots=True, kw_only=True)
class CallIntended:
    """The effect of a call may start now; written before it does."""

    call_id: str
    name: str
    arguments: Mapping[str, JsonValue]
    digest: str
    risk: RiskLevel
    decided_by: DecidedBy
    bindings: Mapping[str, str] = field(default_factory=dict)
    """What else the call was allowed for; for an edit its `file`, `pre_image` and `post_image` (`core.preimage`)."""
    reads_only: bool = False
    """It changes nothing, whatever becomes of it."""
    kind: Literal["call_intended"] = "call_intended"


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolOutputReceived:
    """Live output of a running call; the result repeats what matters of it."""

    call_id: str
    stream: Literal["stdout", "stderr", "info"]
    text: str
    kind: Literal["tool_output_received"] = "tool_output_received"


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolEnded:
    """A call has its result; it is also the tool message of that call."""

    call_id: str
    name: str
    outcome: Outcome
    output: str = ""
    error: str = ""
    exit_code: int | None = None
    duration_s: float = 0.0
    decided_by: DecidedBy = ""
    images: tuple[Image, ...] = ()
    files: tuple[str, ...] = ()
    whole_path: str = ""
    """Absolute path of the whole result, where `output` holds its head and tail only (`core.stored_results`)."""
    kind: Literal["tool_ended"] = "tool_ended"


@dataclass(frozen=True, slots=True, kw_only=True)
class MessageSteered:
    """The person added a message while a run goes on, or before the next one."""

    text: str
    author: Literal["user", "handrail"] = "user"
    kind: Literal["message_steered"] = "message_steered"


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryEdited:
    """The person changed what the model will see."""

    operation: Literal["edit", "drop", "restore", "pin", "unpin", "insert", "undo", "redo"]
    """undo and redo: the newest change of memory, a summary included."""
    unit_id: str
    """"" for insert, undo and redo."""
    text: str = ""
    by: DecidedBy = "person"
    kind: Literal["memory_edited"] = "memory_edited"


@dataclass(frozen=True, slots=True, kw_only=True)
class ModeChanged:
    """The person chose another mode."""

    mode: Mode
    kind: Literal["mode_changed"] = "mode_changed"


@dataclass(frozen=True, slots=True, kw_only=True)
class NoticeRaised:
    """Something the person should know."""

    level: Literal["info", "warning", "error"]
    text: str
    hint: str = ""
    code: str = ""
    kind: Literal["notice_raised"] = "notice_raised"


Event: TypeAlias = (
    SessionOpened
    | SessionClosed
    | JournalRecovered
    | RunStarted
    | RunPaused
    | RunResumed
    | RunEnded
    | StepStarted
    | StepEnded
    | ContextBuilt
    | ModelRequested
    | ModelRetried
    | ModelAdapted
    | ModelSwitched
    | ModelDowngraded
    | TextStreamed
    | ReasoningStreamed
    | ModelReplied
    | ToolProposed
    | DecisionOpened
    | DecisionClosed
    | CallIntended
    | ToolOutputReceived
    | ToolEnded
    | MessageSteered
    | MemoryEdited
    | CompactionStarted
    | CompactionEnded
    | MemoryScored
    | LoopNoticed
    | BrowserSnapshotted
    | BrowserChanged
    | SandboxChanged
    | ModeChanged
    | InstructionsLoaded
    | NoticeRaised
)

EVENT_ADAPTER: TypeAdapter[Event] = TypeAdapter(Annotated[Event, Field(discriminator="kind")])
"""Reads and writes any event."""

"""What the header line says: whose run it is, how far it got, and what it waits for."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from core.events import (
    ContextBuilt,
    ModelReplied,
    ModelRetried,
    RunEnded,
    RunResumed,
    RunStarted,
    SessionOpened,
)
from core.guard_events import LoopNoticed
from core.messages import Usage
from core.record import Record
from core.vocabulary import EndReason, Mode

Phase = Literal["opening", "idle", "running", "paused"]
"""opening: no session yet · idle: no run · running · paused: the run waits at a step boundary."""

_CAUSES: Mapping[str, str] = {
    "rate_limited": "rate limited",
    "server": "the server failed",
    "model_unreachable": "not reachable",
    "idle_timeout": "no answer in time",
    "incomplete_stream": "the answer broke off",
    "disconnect": "the answer broke off",
    "corrupt_stream": "the answer was damaged",
    "upstream_mid_stream": "the server failed",
}
"""Why a try failed, short enough for the header; the step log has the whole message."""


@dataclass(slots=True)
class HeaderView:
    """State of session and run in short."""

    session_id: str = ""
    workspace: str = ""
    profile: str = ""
    model: str = ""
    """The one that answers now."""
    first_model: str = ""
    """The one that every run begins with."""
    mode: Mode = "ask"
    scripted: bool = False
    version: str = ""
    resumed: bool = False
    phase: Phase = "opening"
    title: str = ""
    """First line of the task."""
    run_id: str = ""
    runs: int = 0
    """Runs begun in this session."""
    step: int = 0
    max_steps: int = 0
    max_minutes: float = 0.0
    max_cost_usd: float = 0.0
    """0 means no limit."""
    context_tokens: int = 0
    context_window: int = 0
    """0 where unknown."""
    input_tokens: int = 0
    output_tokens: int = 0
    cost_usd: float = 0.0
    """Of this run, as far as it is known."""
    is_cost_known: bool = False
    """False until one price of this run was known."""
    unpriced: int = 0
    """Requests of this run whose price is not known."""
    session_cost_usd: float = 0.0
    started_mono_s: float = 0.0
    """Start of the run, on the clock of the records."""
    last_mono_s: float = 0.0
    """Time of the newest record."""
    last_reason: EndReason | None = None
    """How the last run ended."""
    duration_s: float = 0.0
    """Of the run that ended last."""
    waits_for: Literal["", "model", "retry", "summary"] = ""
    """What the loop waits for, calls and decisions aside."""
    retry_at_mono_s: float = 0.0
    """When the next try begins, on the clock of the records, while `waits_for` is retry."""
    retry_attempt: int = 0
    """The try that failed."""
    retry_limit: int = 0
    """Tries there may be, 0 where that is not known."""
    retry_cause: str = ""
    circle: str = ""
    """Counter of the loop guard, while it stands above the ordinary."""


def open_session(header: HeaderView, event: SessionOpened) -> None:
    """Take over the facts of the session; a run that a crash cut off is over."""
    header.session_id, header.workspace = event.session_id, event.workspace
    header.profile, header.model, header.mode = event.profile, event.model, event.mode
    header.scripted, header.version, header.resumed = (
        event.scripted,
        event.version,
        event.resumed,
    )
    header.first_model = event.model
    header.phase, header.waits_for = "idle", ""


def start_run(header: HeaderView, record: Record, event: RunStarted) -> None:
    """Begin a run: its counters start again."""
    header.phase, header.waits_for = "running", ""
    header.title = next((line for line in event.task.splitlines() if line.strip()), "").strip()
    header.run_id, header.step = record.run_id, 0
    header.runs += 1
    header.model = header.first_model
    header.max_steps, header.max_minutes = event.max_steps, event.max_minutes
    header.max_cost_usd = event.max_cost_usd
    header.input_tokens = header.output_tokens = 0
    header.cost_usd, header.is_cost_known, header.unpriced = 0.0, False, 0
    header.circle = ""
    header.started_mono_s = record.mono_s


def resume_run(header: HeaderView, event: RunResumed) -> None:
    """Go on; a single step pauses again by a record of its own."""
    del event
    header.phase = "running"


def end_run(header: HeaderView, event: RunEnded) -> None:
    """Keep how it ended."""
    header.phase, header.waits_for, header.circle = "idle", "", ""
    header.last_reason, header.duration_s = event.reason, event.duration_s
    if event.cost_usd is not None:
        header.cost_usd, header.is_cost_known = event.cost_usd, True


def note_context(header: HeaderView, event: ContextBuilt) -> None:
    """Keep the size of the next request."""
    header.context_tokens, header.context_window = event.tokens, event.window


def note_retry(header: HeaderView, record: Record, event: ModelRetried) -> None:
    """Keep that a try failed, and when the next one begins."""
    header.waits_for = "retry"
    header.retry_at_mono_s = record.mono_s + event.wait_s
    header.retry_attempt, header.retry_limit = event.attempt, event.limit
    if event.usage.input_tokens:
        add_usage(header, event.usage, event.cost_usd)
    header.retry_cause = _CAUSES.get(event.error.code, event.error.message)


def retry_words(header: HeaderView, now_s: float) -> str:
    """Return what a retry waits for, counted down to `now_s` on the clock of the records."""
    left_s = math.ceil(max(header.retry_at_mono_s - now_s, 0.0))
    when = f"retrying in {left_s} s" if left_s else "retrying now"
    of = f" of {header.retry_limit}" if header.retry_limit else ""
    return f"{when} ({header.retry_attempt + 1}{of}): {header.retry_cause}"


def note_circle(header: HeaderView, event: LoopNoticed) -> None:
    """Show the counter of the loop guard until the next step shows that it fell."""
    header.circle = event.short


def note_reply(header: HeaderView, event: ModelReplied) -> None:
    """Add tokens and price."""
    header.waits_for = ""
    add_usage(header, event.usage, event.cost_usd)


def add_usage(header: HeaderView, usage: Usage, cost_usd: float | None) -> None:
    """Add tokens and price of one request, of whatever kind."""
    header.input_tokens += usage.input_tokens
    header.output_tokens += usage.output_tokens
    if cost_usd is not None:
        header.cost_usd += cost_usd
        header.session_cost_usd += cost_usd
        header.is_cost_known = True
    else:
        header.unpriced += 1

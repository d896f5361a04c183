"""What `handrail run` prints: JSON events on stdout, or progress on stderr and the answer on stdout."""

import json
import sys
import time
from typing import Protocol

from core.chat.flag_words import learned_words
from core.decision import DecisionClosed
from core.errors import HandrailError
from core.event_log import SystemClock
from core.events import (
    ErrorInfo,
    ModelAdapted,
    ModelRetried,
    NoticeRaised,
    RunEnded,
    ToolEnded,
    ToolProposed,
)
from core.guard_events import LoopNoticed
from core.model_events import ModelDowngraded, ModelSwitched
from core.record import Record
from core.surroundings import BrowserChanged, SandboxChanged
from tui.console import say, write_line
from tui.line_writer import LineWriter
from tui.safe_text import safe_text

NOT_TRUSTED = "not_trusted"
"""Code of the notice that names files which are ignored; said on stderr in every form of output."""
SHOWN_ARGUMENTS = 100
"""Characters of a call's arguments in a line of progress."""


def failed_run(error: HandrailError, exit_code: int) -> RunEnded:
    """Return the end of a run that an error ended."""
    info = ErrorInfo(code=error.code, message=error.message, hint=error.hint)
    return RunEnded(reason="failed", exit_code=exit_code, error=info)


def print_failed_run(error: HandrailError, exit_code: int) -> None:
    """Print the `run_ended` of a run that could not begin, as the first and last event."""
    now = SystemClock().now_utc().isoformat(timespec="milliseconds").replace("+00:00", "Z")
    event = failed_run(error, exit_code)
    write_line(
        Record(n=1, at_utc=now, mono_s=time.monotonic(), run_id="", step=0, event=event).json_line()
    )


class Report(Protocol):
    """Takes the events of a run and prints them in its way."""

    @property
    def reader_gone(self) -> bool:
        """Whether nobody can read it any more."""
        ...

    def take(self, record: Record) -> None:
        """Print one event; never blocks and never raises."""
        ...

    def close(self, timeout_s: float | None = None) -> None:
        """Bring out what waits; blocks for as long as the reader takes, at most `timeout_s` where it is given."""
        ...


class JsonReport:
    """One JSON object a line."""

    def __init__(self) -> None:
        """Print on stdout."""
        self._writer = LineWriter(sys.stdout.fileno())

    @property
    def reader_gone(self) -> bool:
        """Whether nobody can read it any more."""
        return self._writer.reader_gone

    def take(self, record: Record) -> None:
        """Print one event; an error is said on stderr too."""
        self._writer.write(record.json_line())
        event = record.event
        if isinstance(event, RunEnded) and event.error:
            say(error_line(event.error))
        elif isinstance(event, ModelSwitched):
            say(f"model  {event.line}")
        elif isinstance(event, NoticeRaised) and event.code == NOT_TRUSTED:
            say(f"{event.level}  {event.text} {event.hint}")

    def close(self, timeout_s: float | None = None) -> None:
        """Bring out what waits."""
        self._writer.close(timeout_s)


class TextReport:
    """A line on stderr for each thing that happens; the answer alone on stdout."""

    def __init__(self) -> None:
        """Print on stdout and stderr."""
        self._writer = LineWriter(sys.stdout.fileno())
        self._to_terminal = sys.stdout.isatty()
        self._calls: dict[str, str] = {}

    @property
    def reader_gone(self) -> bool:
        """Whether nobody can read it any more."""
        return self._writer.reader_gone

    def take(self, record: Record) -> None:
        """Print what a person wants to know of one event."""
        event = record.event
        if isinstance(event, RunEnded):
            self._end(event)
        elif isinstance(event, ToolProposed):
            arguments = json.dumps(event.arguments, ensure_ascii=False, default=str)
            self._calls[event.call_id] = f"{event.name} {shortened(arguments)}"
        elif line := self._line(record):
            say(line)

    def close(self, timeout_s: float | None = None) -> None:
        """Bring out what waits."""
        self._writer.close(timeout_s)

    def _line(self, record: Record) -> str:
        event = record.event
        if isinstance(event, ToolEnded):
            call = self._calls.pop(event.call_id, event.name)
            problem = f": {shortened(event.error)}" if event.error else ""
            return f"step {record.step}  {call}  {event.outcome} {event.duration_s:.1f} s{problem}"
        if isinstance(event, DecisionClosed) and event.decided_by == "nobody":
            return f"step {record.step}  {event.resolution}: nobody is there to decide"
        if isinstance(event, ModelRetried):
            of = f" of {event.limit}" if event.limit else ""
            return f"model  try {event.attempt}{of} failed: {event.error.message} Waiting {event.wait_s:.1f} s."
        if isinstance(event, LoopNoticed):
            return f"step {record.step}  {event.line}"
        if isinstance(event, NoticeRaised):
            return f"{event.level}  {event.text} {event.hint}".rstrip()
        return model_line(record) or surroundings_line(record)

    def _end(self, event: RunEnded) -> None:
        if event.answer:
            self._writer.write(safe_text(event.answer) if self._to_terminal else event.answer)
        if event.files:
            say(f"files  {', '.join(event.files)}")
        if event.missing_files:
            say(f"named in the answer, not there: {', '.join(event.missing_files)}")
        if event.error:
            say(error_line(event.error))
        cost = "unknown" if event.cost_usd is None else f"${event.cost_usd:.2f}"
        tokens = event.usage.input_tokens + event.usage.output_tokens
        steps = f"{event.steps} step{'' if event.steps == 1 else 's'}"
        say(f"{event.reason}  {steps}, {tokens:,} tokens, cost {cost}, {event.duration_s:.1f} s")


def error_line(error: ErrorInfo) -> str:
    """Return an error as the line for stderr."""
    return f"handrail: {error.message} {error.hint}".strip()


def shortened(text: str) -> str:
    """Return the head of a text that is too long for a line."""
    return text if len(text) <= SHOWN_ARGUMENTS else text[: SHOWN_ARGUMENTS - 1] + "…"


def model_line(record: Record) -> str:
    """Return a line on the model itself: another one answers, it can do less, its server was learned about."""
    event = record.event
    if isinstance(event, ModelSwitched | ModelDowngraded):
        return f"model  {event.line}"
    if isinstance(event, ModelAdapted):
        return f"model  learned: {learned_words(event.flag)}."
    return ""


def surroundings_line(record: Record) -> str:
    """Return a line on a sandbox or browser that came up or failed, "" for anything else."""
    event = record.event
    if isinstance(event, SandboxChanged) and event.state in ("ready", "lost", "unavailable"):
        words = (event.state, event.detail if event.state == "unavailable" else event.label)
        return f"sandbox  {': '.join(words)}"
    if isinstance(event, BrowserChanged) and event.state == "unavailable":
        return f"browser  unavailable: {event.detail}"
    return ""

"""Words for calls, runs, money and time, the same in every pane.

A word like "ran" or "edited" comes from the outcome, never from the call: what was denied did not run.
"""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Final

from tui.safe_text import safe_text

if TYPE_CHECKING:
    from core.messages import JsonValue
    from core.view.calls import CallView
    from core.vocabulary import DecidedBy

MAIN_ARGUMENTS: Final = (
    "command",
    "code",
    "path",
    "url",
    "urls",
    "query",
    "question",
    "pattern",
    "action",
    "answer",
)
"""Arguments that say most of a call; they come first and without their name."""
QUIET_ARGUMENTS: Final = frozenset({"timeout_s", "session", "offset", "limit"})
"""Arguments that are left out of the short form; the open card shows them."""
SHORT_CHARS: Final = 400
"""Arguments in short are cut to this before they are cut to the width of a row."""
_BY: Final[Mapping[str, str]] = {
    "person": "you",
    "rule": "rule",
    "policy": "policy",
    "nobody": "nobody there",
    "tour": "tour script",
    "answers_file": "answers file",
    "": "",
}
_ENDED: Final[Mapping[str, tuple[str, str]]] = {
    "ok": ("ok", "$text-success"),
    "failed": ("failed", "$text-error"),
    "denied": ("denied", "$text-warning"),
    "invalid": ("not run: invalid", "$text-warning"),
    "timed_out": ("timed out", "$text-error"),
    "cancelled": ("stopped", "$text-warning"),
    "out_of_memory": ("out of memory", "$text-error"),
    "too_many_processes": ("too many processes", "$text-error"),
    "disk_full": ("disk full", "$text-error"),
    "lost": ("sandbox lost", "$text-error"),
    "unknown": ("unknown: may have run", "$text-error"),
}
_OPEN: Final[Mapping[str, tuple[str, str]]] = {
    "proposed": ("proposed", "$text-muted"),
    "waiting": ("waiting for you", "$text-warning"),
    "running": ("running", "$text-primary"),
}
_MARKS: Final[Mapping[str, str]] = {"ok": "✓", "denied": "⊘", "invalid": "⊘", "cancelled": "⊝"}


def call_state(call: "CallView") -> tuple[str, str]:
    """Return what became of a call, in words, and its style."""
    if call.outcome is None:
        return _OPEN[call.state]
    word, style = _ENDED[call.outcome]
    if call.outcome == "failed" and call.exit_code is not None:
        word = f"failed, exit {call.exit_code}"
    if call.outcome == "cancelled" and not call.has_started:
        word = "not run"
    return word, style


def call_mark(call: "CallView") -> str:
    """Return one cell that stands for the state of a call."""
    if call.outcome is None:
        return {"proposed": "·", "waiting": "?", "running": "»"}[call.state]
    return _MARKS.get(call.outcome, "✗")


def decider(by: "DecidedBy") -> str:
    """Return who decided, for people; "" while nobody has."""
    return _BY[by]


def arguments_short(call: "CallView") -> str:
    """Return the arguments of a call on one line, the telling one first."""
    if not call.arguments:
        return safe_text(call.raw_arguments[:SHORT_CHARS], single_line=True)
    named = sorted(call.arguments.items(), key=lambda item: item[0] not in MAIN_ARGUMENTS)
    parts = [
        _value(value) if name in MAIN_ARGUMENTS else f"{name}={_value(value)}"
        for name, value in named
        if name not in QUIET_ARGUMENTS and value not in (None, "", [], {})
    ]
    return safe_text("  ".join(parts)[:SHORT_CHARS], single_line=True)


def _value(value: "JsonValue") -> str:
    if isinstance(value, str):
        return value[:SHORT_CHARS].strip()
    if isinstance(value, list | tuple):
        return ", ".join(_value(item) for item in value[:8])
    return str(value)[:SHORT_CHARS]


def duration(seconds: float | None) -> str:
    """Return a duration in few cells: "12 ms", "3.2 s", "4:05", "1:02:03"."""
    if seconds is None:
        return ""
    if seconds < 1:
        return f"{max(seconds, 0) * 1000:.0f} ms"
    if seconds < 60:
        return f"{seconds:.1f} s"
    return clock(seconds)


def clock(seconds: float) -> str:
    """Return a running time: "02:31", "1:02:31"."""
    minutes, rest = divmod(max(int(seconds), 0), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes:02}:{rest:02}"


def tokens(count: int) -> str:
    """Return a number of tokens in few cells: "950", "12.3k", "1.2M"."""
    if count < 1000:
        return str(count)
    return f"{count / 1000:.1f}k" if count < 1_000_000 else f"{count / 1_000_000:.1f}M"


def dollars(cost_usd: float | None) -> str:
    """Return a price, "" where it is not known."""
    if cost_usd is None:
        return ""
    return f"${cost_usd:.2f}" if cost_usd >= 0.01 or cost_usd == 0 else f"${cost_usd:.4f}"

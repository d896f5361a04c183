"""Open decisions and notices."""

from dataclasses import dataclass, field
from typing import Literal

from core.decision import ApprovalPrompt, DecisionClosed, DecisionOpened, QuestionPrompt
from core.events import JournalRecovered, NoticeRaised
from core.memory_events import CompactionEnded
from core.record import Record


@dataclass(frozen=True, slots=True)
class WaitingDecision:
    """A decision that waits for a person."""

    decision_id: str
    prompt: ApprovalPrompt | QuestionPrompt
    n: int
    """Sequence of the record that opened it."""
    step: int
    opened_mono_s: float


@dataclass(slots=True)
class DecisionsView:
    """Decisions that are open, oldest first."""

    open: dict[str, WaitingDecision] = field(default_factory=dict)
    revision: int = 0


@dataclass(frozen=True, slots=True)
class Notice:
    """Something the person should know."""

    level: Literal["info", "warning", "error"]
    text: str
    hint: str
    code: str
    n: int


@dataclass(slots=True)
class NoticesView:
    """All notices, newest last."""

    notices: list[Notice] = field(default_factory=list)


def open_decision(decisions: DecisionsView, record: Record, event: DecisionOpened) -> None:
    """Add an open decision."""
    decisions.open[event.decision_id] = WaitingDecision(
        event.decision_id, event.prompt, record.n, record.step, record.mono_s
    )
    decisions.revision += 1


def close_decision(decisions: DecisionsView, event: DecisionClosed) -> None:
    """Remove it."""
    if decisions.open.pop(event.decision_id, None) is not None:
        decisions.revision += 1


def raise_notice(notices: NoticesView, record: Record, event: NoticeRaised) -> Notice:
    """Add a notice."""
    notice = Notice(event.level, event.text, event.hint, event.code, record.n)
    notices.notices.append(notice)
    return notice


def tell_recovery(notices: NoticesView, record: Record, event: JournalRecovered) -> Notice:
    """Say that the end of the journal was torn."""
    notice = Notice(
        "warning",
        f"The session's journal was cut off in the middle of a record; {event.cut_bytes} bytes were set aside.",
        f"They are kept as {event.kept_as}.",
        "journal_recovered",
        record.n,
    )
    notices.notices.append(notice)
    return notice


def tell_summary(notices: NoticesView, record: Record, text: str, event: CompactionEnded) -> Notice:
    """Add and return the notice that old memory was summarised, or could not be."""
    hint = "F3 shows before and after; u there takes it back." if event.summary else ""
    level: Literal["info", "warning"] = "info" if event.summary else "warning"
    notice = Notice(level, f"Memory: {text}.", hint, "memory_summary", record.n)
    notices.notices.append(notice)
    return notice

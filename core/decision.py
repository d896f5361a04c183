"""Open decisions: what a person is asked, and how it was resolved."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Literal, TypeAlias

from pydantic import Field

from core.messages import JsonValue
from core.vocabulary import DecidedBy, QuestionKind, Resolution, RiskLevel


@dataclass(frozen=True, slots=True, kw_only=True)
class ApprovalPrompt:
    """What an approval dialog shows."""

    call_id: str
    """"" where it is about no call, such as trust in the files of a workspace."""
    tool: str
    arguments: Mapping[str, JsonValue]
    risk: RiskLevel
    strong: bool
    """Two steps at least."""
    title: str
    """Effect in plain words, one line: "shell in sandbox (network off)"."""
    parts: tuple[str, ...] = ()
    """The call in parts: commands, paths, hosts."""
    reasons: tuple[str, ...] = ()
    diff: str = ""
    """Unified diff for edits, else ""."""
    digest: str = ""
    """SHA-256 of tool, arguments and what they resolve to; an approval holds for it alone."""
    effect: str = "run once"
    """What approving does, in two words: "press y to run once"."""
    editable: bool = True
    """The person may let it go with arguments of their own."""
    kind: Literal["approval"] = "approval"


@dataclass(frozen=True, slots=True, kw_only=True)
class QuestionPrompt:
    """What a question dialog shows."""

    call_id: str
    question: str
    answer_kind: QuestionKind = "text"
    options: tuple[str, ...] = ()
    default: str = ""
    kind: Literal["question"] = "question"


Prompt: TypeAlias = Annotated[ApprovalPrompt | QuestionPrompt, Field(discriminator="kind")]


@dataclass(frozen=True, slots=True, kw_only=True)
class DecisionOpened:
    """A person is needed."""

    decision_id: str
    prompt: Prompt
    kind: Literal["decision_opened"] = "decision_opened"


@dataclass(frozen=True, slots=True, kw_only=True)
class DecisionClosed:
    """An open decision was resolved or withdrawn."""

    decision_id: str
    resolution: Resolution
    decided_by: DecidedBy
    text: str = ""
    """Answer, or reason of a denial."""
    arguments: Mapping[str, JsonValue] | None = None
    """The edited arguments for `edited`."""
    digest: str = ""
    key: str = ""
    """The key that made an approval."""
    kind: Literal["decision_closed"] = "decision_closed"

"""Facts about memory that the program brings about: summaries, and scores of relevance."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from core.messages import Usage

CompactionReason = Literal["window", "overflow", "person"]
"""window: the next request would not fit · overflow: the server refused one as too long · person: by key."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CompactionStarted:
    """A model is asked for a summary of some units."""

    unit_ids: tuple[str, ...]
    tokens_before: int
    """Our estimate of these units."""
    reason: CompactionReason
    kind: Literal["compaction_started"] = "compaction_started"


@dataclass(frozen=True, slots=True, kw_only=True)
class CompactionEnded:
    """The summary is there and stands for the units from now on, or none could be had and nothing has changed."""

    unit_ids: tuple[str, ...]
    """Units the summary stands for."""
    summary: str = ""
    """"" when there is none: nothing has changed then."""
    tokens_before: int = 0
    tokens_after: int = 0
    """Our estimate of the summary."""
    reason: CompactionReason = "window"
    problem: str = ""
    """Why there is none, one line."""
    usage: Usage = field(default_factory=Usage)
    cost_usd: float | None = None
    duration_s: float = 0.0
    kind: Literal["compaction_ended"] = "compaction_ended"


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryScored:
    """A model said how much units matter for what is asked; what it found unfit is left out from now on."""

    scores: Mapping[str, float]
    """Relevance by unit id, 0 to 1."""
    left_out: tuple[str, ...] = ()
    """Units below the threshold."""
    threshold: float = 0.0
    problem: str = ""
    """Why there are no scores, or why everything is kept; one line."""
    usage: Usage = field(default_factory=Usage)
    cost_usd: float | None = None
    kind: Literal["memory_scored"] = "memory_scored"

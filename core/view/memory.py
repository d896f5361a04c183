"""Marks for the Memory pane: when the next request may have changed. What it holds is asked of the session."""

from dataclasses import dataclass

from core.events import ContextBuilt, MemoryEdited, ModelRequested
from core.memory_events import CompactionEnded, MemoryScored


@dataclass(slots=True)
class MemoryView:
    """What the log says of memory."""

    revision: int = 0
    """Grows with each record that may change the next request."""
    units: int = 0
    """Units in the last request that was built."""
    left_out: int = 0
    tokens: int = 0
    window: int = 0
    """0 where unknown."""
    model: str = ""
    size_bytes: int = 0
    digest: str = ""
    """SHA-256 of the body that was sent last."""
    edits: int = 0
    """Edits by the person in this session."""
    last_edit: str = ""
    """Operation and unit of the newest one."""
    summaries: int = 0
    """Summaries made in this session, those taken back included."""
    last_summary: str = ""
    """What the newest one came to, or why there is none."""


def note_built(memory: MemoryView, event: ContextBuilt) -> None:
    """Keep the size of the request that was built."""
    memory.units, memory.left_out = event.units, event.left_out
    memory.tokens, memory.window = event.tokens, event.window
    memory.revision += 1


def note_request(memory: MemoryView, event: ModelRequested) -> None:
    """Keep what was sent."""
    memory.model, memory.size_bytes, memory.digest = (
        event.model,
        event.size_bytes,
        event.digest,
    )


def note_edit(memory: MemoryView, event: MemoryEdited) -> None:
    """Keep what the person changed."""
    memory.edits += 1
    memory.last_edit = f"{event.operation} {event.unit_id}".strip()
    memory.revision += 1


def note_summary(memory: MemoryView, event: CompactionEnded) -> None:
    """Keep what became of a summary."""
    count = len(event.unit_ids)
    memory.revision += 1
    if event.summary:
        memory.summaries += 1
        tokens = f"{event.tokens_before:,} -> {event.tokens_after:,} tokens"
        memory.last_summary = f"{count} unit{'s' * (count != 1)} summarised, {tokens}"
    else:
        memory.last_summary = f"no summary of {count} units: {event.problem}"


def note_scores(memory: MemoryView, event: MemoryScored) -> None:
    """The next request may leave other units out."""
    del event
    memory.revision += 1

"""What a dialog about an open decision gets from the app, and what it tells the app when it closes."""

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Literal

from core.view.decisions import DecisionsView

Leaving = Literal["answered", "later", "next", "previous", "withdrawn"]
"""answered: resolved here; later: still open; next, previous: still open, show that one; withdrawn: gone."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DialogContext:
    """What the app knows and a dialog needs."""

    queue: DecisionsView = field(default_factory=DecisionsView)
    """The open decisions; the dialog shows its place among them."""
    last_key_at_s: float | None = None
    """Arrival of the last key before this dialog, wherever it went."""
    drafts: dict[str, str] = field(default_factory=dict)
    """What was typed and not sent, by decision id; kept by the app, so that nothing typed is lost."""
    now: Callable[[], float] = time.monotonic
    """Seconds on the clock of `Key.time`."""

    @property
    def is_alone(self) -> bool:
        """Whether no other decision is known to be open."""
        return len(self.queue.open) < 2

    def place_of(self, decision_id: str) -> str:
        """Return which of the open decisions it is: " 1 of 2", "" while that is not known."""
        ids = list(self.queue.open)
        return f" {ids.index(decision_id) + 1} of {len(ids)}" if decision_id in ids else ""


@dataclass(frozen=True, slots=True, kw_only=True)
class DialogEnd:
    """How a dialog went away."""

    how: Leaving
    decision_id: str
    text: str = ""
    """What was typed and not sent; it belongs back in front of the person."""

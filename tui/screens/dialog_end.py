"""How a dialog about an open decision went away."""

from dataclasses import dataclass
from typing import Literal

Leaving = Literal["answered", "later", "next", "previous", "withdrawn"]
"""answered: resolved here · later: still open · next, previous: still open, show that one · withdrawn: gone."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DialogEnd:
    """What the app is told when a dialog closes."""

    how: Leaving
    decision_id: str
    text: str = ""
    """What was typed and not sent; it belongs back in front of the person."""

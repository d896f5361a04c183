"""When a person who looks elsewhere should be called: once for each decision that opens and once a run that ends."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from core.run_view import RunView


class Attention:
    """Remembers what the person was called for."""

    def __init__(self) -> None:
        """Start with nothing that happened."""
        self._decisions: frozenset[str] = frozenset()
        self._was_running = False

    def is_due(self, view: "RunView") -> bool:
        """Return whether something new waits for the person, since this was asked last."""
        waiting = frozenset(view.decisions.open)
        is_running = view.header.phase in ("running", "paused")
        due = bool(waiting - self._decisions) or (self._was_running and not is_running)
        self._decisions, self._was_running = waiting, is_running
        return due

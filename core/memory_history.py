"""What was changed in memory, so that it can be taken back and done again."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from core.unit import Unit, UnitState


@dataclass(slots=True)
class Change:
    """One edit or summary: the units it touched, before and after."""

    before: list[tuple[Unit, UnitState]]
    after: list[tuple[Unit, UnitState]] = field(default_factory=list)
    added: Unit | None = None
    """A note or summary that came with it."""
    added_at: int = 0
    """Its place."""
    is_summary: bool = False


class MemoryHistory:
    """Changes that can be taken back, newest last, and those that were."""

    def __init__(self) -> None:
        """Start empty."""
        self._done: list[Change] = []
        self._undone: list[Change] = []

    @property
    def can_undo(self) -> bool:
        """Whether there is something to take back."""
        return bool(self._done)

    @property
    def can_redo(self) -> bool:
        """Whether something was taken back and nothing was changed since."""
        return bool(self._undone)

    def note(self, change: Change) -> None:
        """Remember a change that was made; what was taken back before cannot be done again then."""
        change.after = [(unit, unit.state) for unit, _ in change.before]
        self._done.append(change)
        self._undone.clear()

    def undo(self, units: list[Unit]) -> Change | None:
        """Take the newest change back in `units`; None when there is none."""
        if not self._done:
            return None
        change = self._done.pop()
        self._undone.append(change)
        if change.added is not None:
            change.added_at = _place(units, change.added)
            del units[change.added_at]
        _put(change.before)
        if change.is_summary:
            for unit, _ in change.before:
                unit.kept_whole = True
        return change

    def redo(self, units: list[Unit]) -> Change | None:
        """Do again in `units` what was taken back last; None when there is nothing."""
        if not self._undone:
            return None
        change = self._undone.pop()
        self._done.append(change)
        if change.added is not None:
            units.insert(change.added_at, change.added)
        _put(change.after)
        return change


def _put(states: Sequence[tuple[Unit, UnitState]]) -> None:
    for unit, state in states:
        unit.put(state)


def _place(units: Sequence[Unit], wanted: Unit) -> int:
    return next(index for index, unit in enumerate(units) if unit is wanted)

"""What a person changed in memory from the pane, so that it can be taken back."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from core.context import MemoryRow

if TYPE_CHECKING:
    from tui.session_port import SessionLike

OPPOSITE: Final = {"drop": "restore", "restore": "drop", "pin": "unpin", "unpin": "pin"}


@dataclass(frozen=True, slots=True)
class Change:
    """One operation of `Session.edit_memory`."""

    operation: str
    unit_id: str
    text: str = ""


@dataclass(slots=True)
class MemoryEdits:
    """Asks the session for changes and remembers their opposites."""

    session: "SessionLike"
    _back: list[Change] = field(default_factory=list)

    def switch(self, row: MemoryRow, flag: str, operation: str) -> str:
        """Do `operation`, or its opposite where `flag` is set; returns what to say."""
        chosen = OPPOSITE[operation] if flag in row.flags else operation
        return self._ask(Change(chosen, row.unit_id), Change(OPPOSITE[chosen], row.unit_id))

    def replace(self, row: MemoryRow, text: str) -> str:
        """Change the text of a unit; returns what to say."""
        before = Change("edit", row.unit_id, row.editable)
        return self._ask(Change("edit", row.unit_id, text), before)

    def insert(self, text: str) -> str:
        """Add a note at the end; returns what to say."""
        return self._ask(Change("insert", "", text), Change("drop", "", text))

    def undo(self, rows: Sequence[MemoryRow]) -> str:
        """Take the last change back; returns what to say.

        Args:
            rows: What memory holds now; a note is found there by its text.
        """
        if not self._back:
            return "nothing to take back"
        change = self._back.pop()
        if not change.unit_id:
            notes = [row for row in rows if row.role == "note" and row.text == change.text]
            change = Change(change.operation, notes[-1].unit_id if notes else "")
        return self._ask(change, None)

    def _ask(self, change: Change, back: Change | None) -> str:
        if not self.session.edit_memory(change.operation, change.unit_id, change.text):
            return "this part cannot be changed"
        if back is not None:
            self._back.append(back)
        when = "at the next step" if self.session.running else "now"
        return f"{change.operation} {change.unit_id}: {when}"

"""What a person changes in memory from the pane: asked of the session, with what to say of it."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from core.context.rows import MemoryRow

if TYPE_CHECKING:
    from tui.session_port import SessionLike

OPPOSITE: Final = {"drop": "restore", "pin": "unpin"}
NOTHING: Final = {"undo": "nothing to take back", "redo": "nothing to do again"}


@dataclass(slots=True)
class MemoryEdits:
    """Asks the session for changes."""

    session: "SessionLike"

    def switch(self, row: MemoryRow, flag: str, operation: str) -> str:
        """Do `operation`, or its opposite where `flag` is set; returns what to say."""
        chosen = OPPOSITE[operation] if flag in row.flags else operation
        return self._ask(chosen, row.unit_id) or _refusal(row, chosen)

    def replace(self, row: MemoryRow, text: str) -> str:
        """Change the text of a unit; returns what to say."""
        return self._ask("edit", row.unit_id, text) or _refusal(row, "edit")

    def insert(self, text: str) -> str:
        """Add a note at the end; returns what to say."""
        return self._ask("insert", "", text) or "an empty note is none"

    def turn(self, operation: str) -> str:
        """Undo or redo; returns what to say."""
        return self._ask(operation, "") or NOTHING[operation]

    def _ask(self, operation: str, unit_id: str, text: str = "") -> str:
        """Return what to say, "" where it cannot be done."""
        if not self.session.edit_memory(operation, unit_id, text):
            return ""
        when = "at the next step" if self.session.running else "now"
        return f"{operation} {unit_id}".strip() + f": {when}"


def _refusal(row: MemoryRow, operation: str) -> str:
    """Say why a unit cannot be changed so."""
    if "summarised" in row.flags:
        return "a summary stands for it: take that back with u first"
    if operation == "drop" and "pinned" in row.flags:
        return "it is pinned: p lets it go first"
    if operation == "drop" and {"task", "plan"} & set(row.flags):
        return "the task and the plan are in every request: e changes their text"
    if operation == "pin" and "dropped" in row.flags:
        return "it is dropped: d brings it back first"
    return "this part cannot be changed"

"""The line that says that a decision waits; it never takes focus."""

from typing import TYPE_CHECKING, ClassVar

from textual.content import Content
from textual.widgets import Static

from tui.safe_text import safe_text

if TYPE_CHECKING:
    from core.view.decisions import DecisionsView


class DecisionBanner(Static):
    """Shown while a decision is open and its dialog is not."""

    DEFAULT_CSS = """
    DecisionBanner {
        display: none; height: 1; padding: 0 1;
        background: $warning; color: $background; text-style: bold;
    }
    DecisionBanner.-open { display: block; }
    """
    ALLOW_SELECT: ClassVar = False

    def __init__(self) -> None:
        """Make a hidden banner."""
        super().__init__(id="decision-banner")

    def show(self, decisions: "DecisionsView", *, is_hidden: bool) -> None:
        """Say what waits; hidden when nothing does, or when its dialog is open."""
        waiting = [] if is_hidden else list(decisions.open.values())
        self.set_class(bool(waiting), "-open")
        if waiting:
            count = len(waiting)
            prompt = waiting[0].prompt
            what = prompt.title or prompt.tool if prompt.kind == "approval" else prompt.question
            said = safe_text(what, single_line=True, fold=True)
            self.update(Content(f"{count} decision{'s' * (count > 1)} - Ctrl+G   {said}"))

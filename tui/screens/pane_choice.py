"""Which panes are visible at which size: pure, so that every size can be tested."""

from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

from tui.arming import MIN_HEIGHT, MIN_WIDTH

TWO_PANES_CELLS: Final = 100
THREE_PANES_CELLS: Final = 180
Layout: TypeAlias = Literal["tiny", "one", "two", "three"]
"""tiny: only a notice · one: conversation or a pane · two: both · three: conversation, steps and another pane."""
TALK: Final = "conversation"
STEPS: Final = "steps"


def layout_of(width_cells: int, height_cells: int) -> Layout:
    """Return how a terminal of this size is used."""
    if width_cells < MIN_WIDTH or height_cells < MIN_HEIGHT:
        return "tiny"
    if width_cells < TWO_PANES_CELLS:
        return "one"
    return "two" if width_cells < THREE_PANES_CELLS else "three"


@dataclass(slots=True)
class PaneChoice:
    """What the person chose to see, at the size there is."""

    layout: Layout = "two"
    pane_id: str = STEPS
    """The pane beside the conversation."""
    other_id: str = "memory"
    """The second pane beside it, where there is room for both and Steps."""
    is_in_front: bool = False
    """Where there is room for one: the pane is shown, not the conversation."""

    def choose(self, pane_id: str) -> None:
        """Show a pane or the conversation."""
        self.is_in_front = pane_id != TALK
        if pane_id != TALK:
            self.pane_id = pane_id
        if pane_id not in (TALK, STEPS):
            self.other_id = pane_id

    @property
    def panes(self) -> frozenset[str]:
        """Panes beside the conversation that are visible."""
        match self.layout:
            case "tiny":
                return frozenset()
            case "one":
                return frozenset({self.pane_id}) if self.is_in_front else frozenset()
            case "two":
                return frozenset({self.pane_id})
            case "three":
                return frozenset({STEPS, self.other_id})

    @property
    def visible(self) -> frozenset[str]:
        """All that is visible, the conversation included."""
        has_talk = self.layout in ("two", "three") or (
            self.layout == "one" and not self.is_in_front
        )
        return self.panes | {TALK} if has_talk else self.panes

"""The row of titles: the conversation's at the left, the panes' as tabs at the right, or all of them as tabs."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, NamedTuple

from textual.content import Content
from textual.widget import Widget

if TYPE_CHECKING:
    from collections.abc import Sequence

    from textual import events


class Tab(NamedTuple):
    """One tab."""

    pane_id: str
    title: str
    key: str
    """The key that shows it."""


@dataclass(frozen=True, slots=True)
class Shown:
    """What the row says."""

    split_cells: int = 0
    """Where the tabs begin; 0 when the conversation is one of the tabs."""
    active: frozenset[str] = frozenset({"conversation", "steps"})
    new_below: int = 0


class TitleRow(Widget):
    """Tabs that can be clicked; the screen has the action `show_pane`."""

    DEFAULT_CSS = "TitleRow { height: 1; background: $panel; color: $text-muted; }"
    ALLOW_SELECT: ClassVar = False

    def __init__(self, tabs: "Sequence[Tab]") -> None:
        """Make a row; the first tab is the conversation."""
        super().__init__(id="titles")
        self._tabs = tabs
        self._shown = Shown()
        self._places: list[tuple[int, int, str]] = []

    def show(self, shown: Shown) -> None:
        """Show another state."""
        if shown != self._shown:
            self._shown = shown
            self.refresh()

    def render(self) -> Content:
        """Return the row and note where each tab is."""
        self._places = []
        shown, line = self._shown, Content("")
        for number, tab in enumerate(self._tabs):
            is_talk = number == 0
            title = (
                f" {tab.title}"
                + (f" {tab.key}" if tab.key and not (is_talk and shown.split_cells) else "")
                + " "
            )
            if is_talk and shown.new_below:
                title += f"· {shown.new_below} new below (End) "
            style = "bold $text on $surface" if tab.pane_id in shown.active else ""
            start = line.cell_length
            line += Content(title).stylize(style)
            self._places.append((start, line.cell_length, tab.pane_id))
            if is_talk and shown.split_cells:
                line = line.truncate(shown.split_cells)
                line = line.pad_right(max(shown.split_cells - line.cell_length, 0)) + Content(
                    "│"
                ).stylize("$border-blurred")
        return line

    async def on_click(self, event: "events.Click") -> None:
        """Show the pane whose tab was clicked."""
        for start, end, pane_id in self._places:
            if start <= event.x < end:
                await self.run_action(f"screen.show_pane('{pane_id}')")

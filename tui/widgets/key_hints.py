"""The lines of keys in a dialog, made from the keys it has; a key and its word stay on one line."""

from collections.abc import Collection, Iterable, Sequence
from typing import TYPE_CHECKING

from rich.cells import cell_len
from textual.binding import Binding
from textual.content import Content
from textual.widget import Widget

from tui.keys import key_label

if TYPE_CHECKING:
    from textual.geometry import Size

GAP = "  "


class KeyHints(Widget):
    """Shows "y once  e edit ..."."""

    DEFAULT_CSS = """
    KeyHints { height: auto; width: 1fr; }
    """

    def __init__(self, bindings: Iterable[Binding] = (), *, id: str | None = None) -> None:
        """Show the keys of these bindings."""
        super().__init__(id=id)
        self._hints = _hints(bindings, ())

    def show_keys(self, bindings: Iterable[Binding], *, hidden: Collection[str] = ()) -> None:
        """Show other keys.

        Args:
            bindings: In the order they are shown; those that are not to be shown are left out.
            hidden: Actions that do nothing here.
        """
        self._hints = _hints(bindings, hidden)
        self.refresh(layout=True)

    def get_content_height(self, container: "Size", viewport: "Size", width: int) -> int:
        """Return how many lines the keys take at a width."""
        return len(self._lines(width))

    def render(self) -> Content:
        """Return the keys, each with its word."""
        return Content("\n").join(self._lines(self.size.width))

    def _lines(self, width_cells: int) -> list[Content]:
        lines: list[list[tuple[str, str]]] = [[]]
        used = 0
        for key, word in self._hints:
            needed = cell_len(key) + 1 + cell_len(word)
            if used and used + len(GAP) + needed > width_cells:
                lines.append([])
                used = 0
            if used:
                lines[-1].append((GAP, ""))
            lines[-1] += [(key, "bold $text-accent"), (f" {word}", "")]
            used += needed + (len(GAP) if used else 0)
        return [Content.assemble(*line) for line in lines]


def _hints(bindings: Iterable[Binding], hidden: Collection[str]) -> Sequence[tuple[str, str]]:
    """Return key and word of each binding that is shown, one an action."""
    shown = {}
    for binding in bindings:
        if binding.show and binding.action not in hidden and binding.action not in shown:
            shown[binding.action] = (key_label(binding.key), binding.description)
    return list(shown.values())

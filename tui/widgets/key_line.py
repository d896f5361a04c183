"""The last line: the keys that work where the focus is, made from the bindings themselves."""

from typing import TYPE_CHECKING, ClassVar

from textual.content import Content
from textual.widget import Widget

from tui.keys import key_label

if TYPE_CHECKING:
    from collections.abc import Iterable

    from textual.binding import Binding
    from textual.screen import Screen


class KeyLine(Widget):
    """Shows the keys of the focused pane first, then those that work everywhere."""

    DEFAULT_CSS = "KeyLine { height: 1; background: $panel; color: $text-muted; padding: 0 1; }"
    ALLOW_SELECT: ClassVar = False

    def __init__(self) -> None:
        """Make the line."""
        super().__init__(id="key-line")
        self._shown: tuple[tuple[str, str], ...] = ()

    def on_mount(self) -> None:
        """Follow the focus."""
        self.screen.bindings_updated_signal.subscribe(self, self._take)

    def render(self) -> Content:
        """Return as many keys as fit."""
        return key_content(self._shown, self.content_size.width)

    def _take(self, screen: "Screen[object]") -> None:
        found = sorted(
            (
                binding
                for _, binding, enabled, _ in screen.active_bindings.values()
                if binding.show and enabled
            ),
            key=lambda binding: (
                binding.id is not None and binding.id.startswith(("app.", "pane.", "run."))
            ),
        )
        shown = shown_keys(found)
        if shown != self._shown:
            self._shown = shown
            self.refresh()


def shown_keys(bindings: "Iterable[Binding]") -> tuple[tuple[str, str], ...]:
    """Return (key, what it does) once an action, in the order of the bindings."""
    shown: dict[str, tuple[str, str]] = {}
    for binding in bindings:
        shown.setdefault(binding.action, (key_label(binding.key), binding.description))
    return tuple(shown.values())


def key_content(keys: "Iterable[tuple[str, str]]", width_cells: int) -> Content:
    """Return "Enter Send  F1 Help …" as far as it fits whole."""
    line = Content("")
    for key, does in keys:
        piece = Content.assemble((key, "bold $footer-key-foreground"), f" {does}")
        gap = 2 if line else 0
        if line.cell_length + gap + piece.cell_length > width_cells:
            break
        line = line + Content(" " * gap) + piece
    return line

"""The last line: the keys that work where the focus is, made from the bindings themselves."""

from typing import TYPE_CHECKING, ClassVar, Final

from textual.content import Content
from textual.widget import Widget

from tui.keys import key_label

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

    from textual.binding import Binding
    from textual.screen import Screen


HELP: Final = "Help"
"""What the key does without which no other one can be found."""
GAP_CELLS: Final = 2


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
    """Return "Enter Send  F1 Help …" as far as it fits whole; the key that lists all the others gives way last."""
    pieces = {
        does: Content.assemble((key, "bold $footer-key-foreground"), f" {does}")
        for key, does in keys
    }
    kept = pieces.pop(HELP, None) if _width(pieces.values()) > width_cells else None
    room = width_cells - (kept.cell_length + GAP_CELLS if kept else 0)
    shown: list[Content] = []
    for piece in pieces.values():
        if _width([*shown, piece]) > room:
            break
        shown.append(piece)
    if kept is not None and _width([*shown, kept]) <= width_cells:
        shown.append(kept)
    return Content(" " * GAP_CELLS).join(shown)


def _width(pieces: "Collection[Content]") -> int:
    return sum(piece.cell_length for piece in pieces) + GAP_CELLS * max(len(pieces) - 1, 0)

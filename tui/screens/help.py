"""The help screen: all keys, from the tables they are bound by."""

from typing import TYPE_CHECKING, ClassVar

from textual.containers import Vertical
from textual.content import Content
from textual.screen import ModalScreen

from tui.keys import HELP_KEYS, key_labels, key_tables
from tui.widgets.line_view import LineView

if TYPE_CHECKING:
    from collections.abc import Mapping

    from textual.app import ComposeResult
    from textual.binding import BindingType

KEY_CELLS = 22
"""Width of the column of keys."""


class HelpScreen(ModalScreen[None]):
    """All keys, by the place where they work."""

    CSS_PATH = "help.tcss"
    BINDINGS: ClassVar["list[BindingType]"] = [*HELP_KEYS]

    def __init__(self, keymap: "Mapping[str, str] | None" = None) -> None:
        """Show the keys as they are with the person's own `keymap` (id -> keys)."""
        super().__init__()
        self._rows = help_rows(keymap or {})

    def compose(self) -> "ComposeResult":
        """Lay out one text."""
        with Vertical(id="help") as frame:
            frame.border_title = Content("Keys")
            frame.border_subtitle = Content("Esc closes")
            yield LineView(id="help-rows")

    def on_mount(self) -> None:
        """Fill in the keys."""
        view = self.query_one(LineView)
        view.show_rows(
            len(self._rows), lambda row, width: self._rows[row].truncate(width, ellipsis=True)
        )
        view.focus()


def help_rows(keymap: "Mapping[str, str]") -> list[Content]:
    """Return all keys as rows, one table after the other."""
    rows: list[Content] = []
    for table in key_tables():
        if not table.keys:
            continue
        rows += [Content(""), Content(table.title).stylize("bold $text-primary")]
        for binding in table.keys:
            keys = keymap.get(binding.id or "", binding.key)
            shown = key_labels(keys).ljust(KEY_CELLS)
            about = binding.tooltip or binding.description
            rows.append(
                Content.assemble(
                    (f"  {shown} ", "bold $footer-key-foreground"),
                    about,
                    (f"  {binding.id}", "$text-muted"),
                )
            )
    return rows[1:]

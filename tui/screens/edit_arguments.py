"""A form for the arguments of a call, or for one text: a field each, nothing lost by a slip."""

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, ClassVar

from textual import getters
from textual.containers import Vertical, VerticalScroll
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Static, TextArea

from core.messages import JsonValue
from tui.keys_dialogs import FORM_KEYS
from tui.safe_text import safe_text
from tui.widgets.key_hints import KeyHints

if TYPE_CHECKING:
    from textual.app import ComposeResult
    from textual.binding import BindingType

EditResult = Mapping[str, JsonValue] | None
"""The new arguments; None when the form was left."""


class EditArgumentsScreen(ModalScreen[EditResult]):
    """Text arguments are edited as they are, all others as JSON."""

    CSS_PATH = "edit_arguments.tcss"
    BINDINGS: ClassVar["list[BindingType]"] = [*FORM_KEYS]

    status = getters.query_one("#edit-status", Static)

    def __init__(self, title: str, arguments: Mapping[str, JsonValue]) -> None:
        """Edit `arguments` under a title from anywhere."""
        super().__init__()
        self._heading = safe_text(title, single_line=True)
        self._arguments = arguments

    def compose(self) -> "ComposeResult":
        """Lay out a labelled field for each argument."""
        with Vertical(id="edit") as frame:
            frame.border_title = Content(self._heading)
            with VerticalScroll(id="edit-fields", can_focus=False):
                for number, (name, value) in enumerate(self._arguments.items()):
                    form = "text" if isinstance(value, str) else "JSON"
                    label = Content(f"{safe_text(name, single_line=True)} ({form})")
                    yield Static(label, classes="edit--label")
                    yield TextArea(
                        _written(value), id=f"edit-field-{number}", compact=True, soft_wrap=True
                    )
            yield Static(id="edit-status")
            yield KeyHints(FORM_KEYS, id="edit-keys")

    def on_mount(self) -> None:
        """Go to the first field."""
        self.query(TextArea).first().focus()

    def action_save(self) -> None:
        """Take the fields, if each can be read."""
        result: dict[str, JsonValue] = {}
        for number, (name, before) in enumerate(self._arguments.items()):
            field = self.query_one(f"#edit-field-{number}", TextArea)
            try:
                result[name] = field.text if isinstance(before, str) else json.loads(field.text)
            except ValueError as error:
                field.focus()
                shown = safe_text(name, single_line=True)
                self._say(Content.assemble((f"{shown} is not JSON: {error}", "$text-error")))
                return
        self.dismiss(result)

    def action_cancel(self) -> None:
        """Leave everything as it was."""
        self.dismiss(None)

    def _say(self, content: Content) -> None:
        self.status.update(content)


def _written(value: JsonValue) -> str:
    if isinstance(value, str):
        return value
    return json.dumps(value, ensure_ascii=False, indent=2, default=list)

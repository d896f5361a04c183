"""What the model may ask of the browser: one flat object, an action and the few fields it needs."""

from collections.abc import Mapping
from typing import Any, Literal, TypeAlias, get_args

from pydantic import Field, model_validator

from tools.base import ToolArguments

Action: TypeAlias = Literal[
    "go_to",
    "click",
    "type",
    "press_key",
    "select_option",
    "hover",
    "scroll",
    "back",
    "read",
    "read_text",
    "wait",
    "handle_dialog",
    "new_tab",
    "switch_tab",
    "close_tab",
]

ACTION_ALIASES: Mapping[str, str] = {
    "navigate": "go_to",
    "goto": "go_to",
    "open": "go_to",
    "go_to_url": "go_to",
    "click_element": "click",
    "click_element_by_index": "click",
    "input_text": "type",
    "fill": "type",
    "send_keys": "press_key",
    "press": "press_key",
    "select_dropdown_option": "select_option",
    "select": "select_option",
    "get_dropdown_options": "read",
    "scroll_down": "scroll",
    "scroll_up": "scroll",
    "scroll_to_text": "scroll",
    "go_back": "back",
    "inspect": "read",
    "snapshot": "read",
    "extract_content": "read_text",
    "extract": "read_text",
    "open_tab": "new_tab",
}
"""Names other agents use for these actions."""

FIELD_ALIASES: Mapping[str, str] = {
    "index": "ref",
    "element": "ref",
    "keys": "text",
    "key": "text",
    "value": "text",
    "option": "text",
    "query": "text",
    "goal": "text",
    "scroll_amount": "dy",
    "amount": "dy",
    "seconds": "wait_s",
    "tab_id": "tab",
    "page_id": "tab",
}
"""Names other agents use for these fields."""

_NEEDS: Mapping[str, tuple[str, ...]] = {
    "go_to": ("url",),
    "click": ("ref",),
    "type": ("ref", "text"),
    "press_key": ("text",),
    "select_option": ("ref", "text"),
    "hover": ("ref",),
    "handle_dialog": ("accept",),
    "switch_tab": ("tab",),
}
_EXAMPLES: Mapping[str, str] = {
    "go_to": '{"action": "go_to", "url": "https://example.org"}',
    "click": '{"action": "click", "ref": 12}',
    "type": '{"action": "type", "ref": 12, "text": "hello", "submit": false}',
    "press_key": '{"action": "press_key", "text": "Enter"}',
    "select_option": '{"action": "select_option", "ref": 12, "text": "Two"}',
    "hover": '{"action": "hover", "ref": 12}',
    "handle_dialog": '{"action": "handle_dialog", "accept": true}',
    "switch_tab": '{"action": "switch_tab", "tab": 2}',
}


class BrowserArguments(ToolArguments):
    """One action in the browser."""

    action: Action = Field(
        description=(
            "go_to url; click ref; type text into ref (replaces what is there; submit=true presses Enter); "
            "press_key text (Enter, Escape, Control+A); select_option text in ref; hover ref; scroll dy pixels, "
            "or to ref or text; back; read the numbered elements (offset pages on; ref = one element whole); "
            "read_text of the page; wait wait_s or for text; handle_dialog accept; new_tab url; switch_tab tab; "
            "close_tab."
        )
    )
    url: str | None = Field(None, max_length=8192)
    ref: int | None = Field(None, ge=0, description="Number of an element in the last list.")
    text: str | None = Field(None, max_length=100_000)
    submit: bool | None = Field(None, description="Press Enter after typing.")
    dy: int | None = Field(
        None, ge=-50_000, le=50_000, description="Pixels to scroll, negative is up."
    )
    offset: int | None = Field(None, ge=0, description="First element or character to show.")
    wait_s: float | None = Field(None, ge=0, le=60)
    accept: bool | None = Field(None, description="OK or Cancel of an open dialog.")
    tab: int | None = Field(None, ge=1, description="Number of a tab, as listed.")

    @model_validator(mode="before")
    @classmethod
    def _usual_names(cls, given: Any) -> Any:
        """Take the names other agents use, and drop fields that are null."""
        if not isinstance(given, Mapping):
            return given
        named = {
            FIELD_ALIASES.get(key, key): value for key, value in given.items() if value is not None
        }
        asked = str(named.get("action", ""))
        named["action"] = ACTION_ALIASES.get(asked, asked)
        distance = named.get("dy", SCREENFUL)
        if asked in ("scroll_up", "scroll_down") and isinstance(distance, int):
            named["dy"] = -abs(distance) if asked == "scroll_up" else abs(distance)
        return named

    @model_validator(mode="after")
    def _complete(self) -> "BrowserArguments":
        missing = [name for name in _NEEDS.get(self.action, ()) if getattr(self, name) is None]
        if missing:
            raise ValueError(
                f"{self.action} needs {' and '.join(missing)}, as in {_EXAMPLES[self.action]}"
            )
        return self


SCREENFUL = 700
"""Pixels of one scroll when nothing else is said: a bit less than the height of the viewport."""
ACTIONS: tuple[str, ...] = get_args(Action)
"""Every action by its own name."""

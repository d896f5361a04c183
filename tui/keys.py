"""Every key of the app, once: the help screen, the key line and the command palette are made from these tables.

The keys inside panes and dialogs that have tables of their own (`tui.keys_panes` and others) join in `key_tables`.
All have an id, so that they can be remapped in the config (`ui.keys`).
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Final

from textual.binding import Binding

KEY_NAMES: Final[Mapping[str, str]] = {
    "escape": "Esc",
    "enter": "Enter",
    "space": "Space",
    "slash": "/",
    "pagedown": "PgDn",
    "pageup": "PgUp",
    "question_mark": "?",
    "left_square_bracket": "[",
    "right_square_bracket": "]",
    "full_stop": ".",
    "comma": ",",
}
"""How keys are written, where Textual's name is not how people say it."""

APP_KEYS: Final[tuple[Binding, ...]] = (
    Binding("f1", "show_help", "Help", id="app.help", tooltip="All keys", priority=True),
    Binding(
        "ctrl+p", "command_palette", "Palette", id="app.palette", tooltip="All commands by name"
    ),
    Binding("ctrl+t", "next_theme", "Theme", id="app.theme", tooltip="Other colours", show=False),
    Binding(
        "ctrl+c",
        "copy_or_interrupt",
        "Copy/stop",
        id="app.copy",
        tooltip="Copy the selection, else stop the run; twice within 1 s quits",
        show=False,
        priority=True,
    ),
    Binding("ctrl+q", "quit", "Quit", id="app.quit", tooltip="End the session", priority=True),
)
"""Keys that work everywhere, in dialogs too."""
MAIN_KEYS: Final[tuple[Binding, ...]] = (
    Binding("f2", "show_pane('steps')", "Steps", id="pane.steps", tooltip="Every step and call"),
    Binding("f3", "show_pane('memory')", "Memory", id="pane.memory", tooltip="The next request"),
    Binding("f4", "show_pane('browser')", "Browser", id="pane.browser", tooltip="The agent's page"),
    Binding(
        "f5", "show_pane('sandbox')", "Sandbox", id="pane.sandbox", tooltip="What ran, and where"
    ),
    Binding("f8", "app.pause", "Pause", id="run.pause", tooltip="Pause at the next step, or go on"),
    Binding(
        "f9", "app.step_once", "Step", id="run.step", tooltip="One step of a paused run", show=False
    ),
    Binding("escape", "app.interrupt", "Stop", id="run.interrupt", tooltip="Stop the run now"),
    Binding(
        "ctrl+g", "app.open_decision", "Decide", id="run.decide", tooltip="Go to the open decision"
    ),
    Binding(
        "shift+tab",
        "app.next_mode",
        "Mode",
        id="run.mode",
        tooltip="read, ask, auto: what runs without a question",
    ),
    Binding("tab", "app.focus_next", "Next", id="app.focus", tooltip="Focus moves on", show=False),
)
"""Keys of the main screen, wherever the focus is."""
COMPOSER_KEYS: Final[tuple[Binding, ...]] = (
    Binding(
        "enter",
        "submit",
        "Send",
        id="composer.send",
        tooltip="Send; while a run goes on it enters at the next step",
    ),
    Binding(
        "ctrl+j,alt+enter,shift+enter",
        "newline",
        "New line",
        id="composer.newline",
        tooltip="A new line; a backslash before Enter does the same",
        show=False,
    ),
    Binding(
        "up",
        "history(-1)",
        "Earlier",
        id="composer.earlier",
        tooltip="Earlier message, from the first line",
        show=False,
    ),
    Binding(
        "down",
        "history(1)",
        "Later",
        id="composer.later",
        tooltip="Later message, from the last line",
        show=False,
    ),
)
"""Keys of the composer, besides those of any text field."""
CONVERSATION_KEYS: Final[tuple[Binding, ...]] = (
    Binding(
        "right_square_bracket,n",
        "choose_block(1)",
        "Next",
        id="talk.next",
        tooltip="Next card or message",
    ),
    Binding(
        "left_square_bracket,p",
        "choose_block(-1)",
        "Previous",
        id="talk.previous",
        tooltip="Card or message before",
        show=False,
    ),
    Binding("enter,o", "toggle_fold", "Fold", id="talk.fold", tooltip="Open or close the card"),
    Binding(
        "O",
        "fold_all",
        "Fold all",
        id="talk.fold-all",
        tooltip="Open or close all cards",
        show=False,
    ),
    Binding("v", "view_full", "Full", id="talk.full", tooltip="The whole text of the card"),
    Binding("c,y", "copy_block", "Copy", id="talk.copy", tooltip="Copy the card or message"),
)
"""Keys of the Conversation pane, besides moving."""
STEPS_KEYS: Final[tuple[Binding, ...]] = (
    Binding("c,y", "copy_row", "Copy", id="steps.copy", tooltip="Copy the row and what it holds"),
    Binding(
        "f", "follow", "Follow", id="steps.follow", tooltip="Go to the newest row and stay there"
    ),
    Binding(
        "m", "to_conversation", "Card", id="steps.card", tooltip="Show the card in the conversation"
    ),
)
"""Keys of the Steps pane, besides moving and opening."""
HELP_KEYS: Final[tuple[Binding, ...]] = (
    Binding("escape,q,f1", "dismiss", "Close", id="help.close", tooltip="Back to where you were"),
)
"""Keys of the help screen."""


@dataclass(frozen=True, slots=True)
class KeyTable:
    """The keys of one place."""

    title: str
    """Where they work, for people."""
    keys: Sequence[Binding]


def key_tables() -> Iterator[KeyTable]:
    """Yield all tables, in the order of the help screen."""
    from tui import keys_dialogs, keys_panes

    yield KeyTable("Everywhere", APP_KEYS)
    yield KeyTable("Main screen", MAIN_KEYS)
    yield KeyTable("Composer", COMPOSER_KEYS)
    yield KeyTable(
        "Lists and texts", keys_panes.LINE_KEYS + keys_panes.ROW_KEYS + keys_panes.SEARCH_KEYS
    )
    yield KeyTable("Conversation", CONVERSATION_KEYS)
    yield KeyTable("Steps", STEPS_KEYS)
    yield KeyTable("Memory", keys_panes.MEMORY_KEYS)
    yield KeyTable("Browser", keys_panes.BROWSER_KEYS)
    yield KeyTable("Sandbox", keys_panes.SANDBOX_KEYS)
    yield KeyTable("Approvals", keys_dialogs.APPROVAL_KEYS)
    yield KeyTable("Questions", keys_dialogs.QUESTION_KEYS + keys_dialogs.CONFIRM_KEYS)
    yield KeyTable("Questions with options", keys_dialogs.CHOICE_KEYS)
    yield KeyTable("Questions with a text", keys_dialogs.TEXT_KEYS)
    yield KeyTable("Every dialog about a decision", keys_dialogs.LEAVING_KEYS)
    yield KeyTable("Forms", keys_dialogs.FORM_KEYS)
    yield KeyTable("Full text", keys_dialogs.TEXT_VIEW_KEYS)
    yield KeyTable("Search line", keys_panes.SEARCH_BAR_KEYS)
    yield KeyTable("Help", HELP_KEYS)


def all_keys() -> Iterator[Binding]:
    """Yield every binding."""
    return chain.from_iterable(table.keys for table in key_tables())


def key_label(keys: str) -> str:
    """Return the first of the keys of a binding as people write it: "Ctrl+P", "Shift+Tab", "G"."""
    first = keys.split(",")[0].strip()
    if first in KEY_NAMES:
        return KEY_NAMES[first]
    *modifiers, key = first.split("+")
    shown = KEY_NAMES.get(key, key if len(key) == 1 and not modifiers else key.title())
    return "+".join([*(modifier.title() for modifier in modifiers), shown])


def key_labels(keys: str) -> str:
    """Return all keys of a binding as people write them."""
    return " ".join(key_label(key) for key in keys.split(","))

"""Keys of the panes and of what they are made of, in the form of `tui.keys`."""

from textual.binding import Binding

LINE_KEYS: tuple[Binding, ...] = (
    Binding("down,j", "move(1)", "Down", id="lines.down", tooltip="One row down", show=False),
    Binding("up,k", "move(-1)", "Up", id="lines.up", tooltip="One row up", show=False),
    Binding(
        "pagedown,space",
        "move_page(1)",
        "Page down",
        id="lines.page-down",
        tooltip="One screen down",
        show=False,
    ),
    Binding(
        "pageup,b",
        "move_page(-1)",
        "Page up",
        id="lines.page-up",
        tooltip="One screen up",
        show=False,
    ),
    Binding("home,g", "move_to(False)", "Top", id="lines.top", tooltip="First row", show=False),
    Binding("end,G", "move_to(True)", "End", id="lines.end", tooltip="Last row", show=False),
)
"""Moving in rows."""
ROW_KEYS: tuple[Binding, ...] = (
    Binding("enter", "choose", "Open", id="lines.open", tooltip="Open the row"),
)
"""Choosing a row."""
SEARCH_KEYS: tuple[Binding, ...] = (
    Binding("slash", "search", "Search", id="search.open", tooltip="Search in this text"),
    Binding("n", "search_next(1)", "Next", id="search.next", tooltip="Next hit", show=False),
    Binding(
        "N", "search_next(-1)", "Previous", id="search.previous", tooltip="Hit before", show=False
    ),
)
"""Searching."""
SEARCH_BAR_KEYS: tuple[Binding, ...] = (
    Binding("escape", "close", "Close", id="search.close", tooltip="Give the search up"),
)
"""The search line."""
MEMORY_KEYS: tuple[Binding, ...] = (
    Binding("w", "next_view", "Wire", id="memory.view", tooltip="Units, wire JSON, exact bytes"),
    Binding("e", "edit", "Edit", id="memory.edit", tooltip="Change the text the model sees"),
    Binding(
        "d",
        "switch('dropped', 'drop')",
        "Drop",
        id="memory.drop",
        tooltip="Leave the unit out, or bring it back",
    ),
    Binding(
        "p",
        "switch('pinned', 'pin')",
        "Pin",
        id="memory.pin",
        tooltip="Never leave the unit out, or let go",
    ),
    Binding("i", "insert", "Note", id="memory.insert", tooltip="Add a note of yours at the end"),
    Binding(
        "m",
        "summarise",
        "Sum up",
        id="memory.summarise",
        tooltip="Let a summary by the model stand for all old units up to this one",
    ),
    Binding("u", "turn('undo')", "Undo", id="memory.undo", tooltip="Take back the last change"),
    Binding(
        "U",
        "turn('redo')",
        "Redo",
        id="memory.redo",
        tooltip="Do again what was taken back",
        show=False,
    ),
)
"""The Memory pane."""
BROWSER_KEYS: tuple[Binding, ...] = (
    Binding("z", "zoom", "Zoom", id="browser.zoom", tooltip="Zoom to the element, and back"),
    Binding("l", "layout", "List", id="browser.layout", tooltip="Picture and list, list, picture"),
    Binding("v", "details", "Page", id="browser.details", tooltip="All elements, messages, hosts"),
)
"""The Browser pane."""
SANDBOX_KEYS: tuple[Binding, ...] = ()
"""The Sandbox pane has none of its own."""

"""Lets the part of a dialog that scrolls take the rows that all other parts leave."""

from textual.errors import NoWidget
from textual.widget import Widget

MIN_ROWS = 2
"""What the part that scrolls gets at least."""


def fit_height(dialog: Widget, scrolling: Widget, room_rows: int) -> bool:
    """Bound the height of `scrolling`, so that nothing below it is pushed off the screen.

    Args:
        dialog: Holds all parts, one below the other.
        scrolling: One of them.
        room_rows: Rows of the terminal.

    Returns:
        False when the height was changed: what is on the screen is not what will be.
    """
    parts = [part for part in dialog.children if part.display and part is not scrolling]
    others = sum(part.outer_size.height + part.styles.margin.height for part in parts)
    around = dialog.gutter.height + scrolling.styles.margin.height
    rows = max(room_rows - around - others, MIN_ROWS)
    bound = scrolling.styles.max_height
    if bound is not None and bound.value == rows:
        return True
    scrolling.styles.max_height = rows
    return False


def is_whole(widget: Widget) -> bool:
    """Return whether all of a widget is on the screen, nothing of it cut off by what holds it."""
    try:
        geometry = widget.screen.find_widget(widget)
    except NoWidget:
        return False
    return geometry.visible_region == geometry.region

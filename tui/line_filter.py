"""The last net before the terminal: a filter over every line that any widget draws."""

import re
from typing import Final

from rich.cells import cell_len
from rich.segment import Segment
from textual.color import Color
from textual.filter import LineFilter

from tui.safe_text import AFTER_SYMBOL, CONTROL, HIDDEN, is_safe

_BAD_CELL: Final = re.compile(f"[{CONTROL}\t\n{HIDDEN}]")


class SafeLineFilter(LineFilter):
    """Backstop for `App._filters`: whatever a widget draws, no control sequence leaves the app.

    It keeps the width of the line: hidden characters go, others become U+FFFD. Hyperlinks of the terminal go too.
    """

    def apply(self, segments: list[Segment], background: Color) -> list[Segment]:
        """Return the segments without what a terminal would act on.

        Args:
            segments: One line.
            background: Not used.
        """
        return [self._safe(segment) for segment in segments]

    @staticmethod
    def _safe(segment: Segment) -> Segment:
        text, style, control = segment
        if control:
            return segment
        linked = style is not None and style.link is not None
        if not linked and is_safe(text) and "\n" not in text:
            return segment
        if linked and style is not None:
            style = style.update_link(None)
        return Segment(_BAD_CELL.sub(_same_width, text), style)


def _same_width(found: re.Match[str]) -> str:
    character = found.group()
    if character == "\u3000":
        return "  "
    if character in AFTER_SYMBOL:
        return character
    return "\ufffd" * cell_len(character)

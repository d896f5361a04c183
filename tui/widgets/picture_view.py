"""A picture drawn in half blocks: decoded off the screen's thread, the newest wins, older ones are dropped."""

import asyncio
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from textual.content import Content
from textual.geometry import Size
from textual.strip import Strip
from textual.widget import Widget

from tui.widgets.half_block import Box, Frame, Mark, PictureError, draw_picture

if TYPE_CHECKING:
    from textual import events
    from textual.timer import Timer

RESIZE_QUIET_S = 0.08
"""A new size must hold this long before the picture is drawn for it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Picture:
    """What is shown."""

    path: Path
    marks: tuple[Mark, ...] = ()
    crop: Box | None = None


class PictureView(Widget):
    """Shows the newest picture it was given, or why there is none."""

    DEFAULT_CSS = """
    PictureView { width: 1fr; height: 1fr; }
    """

    def __init__(self, *, id: str | None = None) -> None:
        """Make an empty view."""
        super().__init__(id=id)
        self._picture: Picture | None = None
        self._drawn: tuple[Picture | None, Size] = (None, Size(0, 0))
        self._strips: tuple[Strip, ...] = ()
        self._note = ""
        self._timer: Timer | None = None

    @property
    def strips(self) -> tuple[Strip, ...]:
        """The rows that are drawn."""
        return self._strips

    @property
    def is_up_to_date(self) -> bool:
        """Whether the newest picture is drawn for the size there is; there is none while hidden."""
        return self._picture is None or not self.size or self._drawn == (self._picture, self.size)

    def show_picture(self, picture: Picture | None, note: str = "") -> None:
        """Show a picture, drawn in a thread; `note` is shown where there is none."""
        self._note = note
        if picture is None:
            self._picture, self._strips = None, ()
            self.refresh()
        elif picture != self._picture:
            self._picture = picture
            self._draw_soon(0.0)

    def on_resize(self, event: "events.Resize") -> None:
        """Draw at once what was not drawn yet, else again once the size holds."""
        if not self.is_up_to_date:
            self._draw_soon(RESIZE_QUIET_S if self._strips else 0.0)

    def render_line(self, y: int) -> Strip:
        """Return row `y`, centred."""
        base = self.visual_style
        if self._strips and y < len(self._strips):
            strip = self._strips[y]
            left = (self.size.width - strip.cell_length) // 2
            return Strip.join(
                [Strip.blank(max(left, 0), base.rich_style), strip]
            ).adjust_cell_length(self.size.width, base.rich_style)
        if not self._strips and y == 0 and self._note:
            strip = Strip(Content(self._note).render_segments(base))
            return strip.adjust_cell_length(self.size.width, base.rich_style)
        return Strip.blank(self.size.width, base.rich_style)

    def _draw_soon(self, after_s: float) -> None:
        if self._timer is not None:
            self._timer.stop()
        self._timer = self.set_timer(after_s, self._start) if after_s else None
        if self._timer is None:
            self._start()

    def _start(self) -> None:
        if self._picture is not None and self.size:
            self.run_worker(self._draw(self._picture, self.size), group="picture", exclusive=True)

    async def _draw(self, picture: Picture, size: Size) -> None:
        """Draw in a thread; a newer picture cancels the wait, so only the newest is shown."""
        frame = Frame(
            width_cells=size.width, height_cells=size.height, crop=picture.crop, marks=picture.marks
        )
        try:
            strips = await asyncio.to_thread(draw_picture, picture.path, frame)
        except PictureError as error:
            self._strips, self._note = (), str(error)
        else:
            self._strips = strips
        self._drawn = (picture, size)
        self.refresh()

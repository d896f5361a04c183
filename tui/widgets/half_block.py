"""Pictures as rows of half blocks: two pixels a cell, the upper one in the text's colour.

Decoding and drawing belong in a thread; what comes back are strips that cost nothing to show again.
Pillow is imported when the first picture is drawn.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, TypeAlias

from rich.color import Color
from rich.segment import Segment
from rich.style import Style
from textual.strip import Strip

if TYPE_CHECKING:
    from pathlib import Path

    from PIL.Image import Image

UPPER_HALF = "\N{UPPER HALF BLOCK}"
QUANTISE_MASK = 0xF8
"""Five bits a channel: neighbours that hardly differ join into one run, so a third of the bytes is sent.

Source: measured on 1280x800 pages: 10-16 KB at 80x24, 77-81 KB with all colours.
"""
MAX_PIXELS = 40_000_000
"""A picture with more pixels is refused before it is decoded."""

Box: TypeAlias = tuple[int, int, int, int]
"""x, y, width, height in pixels of the picture."""
Row: TypeAlias = list[tuple[str, Style]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Mark:
    """A number drawn over a picture where an element is."""

    text: str
    box: Box
    chosen: bool = False
    """The one the cursor is on: drawn first and in other colours."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Frame:
    """What to draw and how large."""

    width_cells: int
    """Columns that may be used, above 0."""
    height_cells: int
    """Rows that may be used, above 0."""
    crop: Box | None = None
    """Part of the picture, None for all of it."""
    marks: tuple[Mark, ...] = ()


class PictureError(Exception):
    """A picture that cannot be shown; the text says why, for people."""


def draw_picture(path: "Path", frame: Frame) -> tuple[Strip, ...]:
    """Decode a picture and draw it as large as it fits, keeping its shape.

    Args:
        path: PNG or JPEG file.
        frame: Room, part and marks.

    Returns:
        One strip a row, all of equal width, at most the frame's size.

    Raises:
        PictureError: Not there, not a picture, or too large; show the text instead.
    """
    image, scale, left, top = _scaled(path, frame)
    rows = _half_blocks(image.tobytes(), image.width, image.height // 2)
    for mark in sorted(frame.marks, key=lambda mark: not mark.chosen):
        column, row = round((mark.box[0] - left) * scale), round((mark.box[1] - top) * scale / 2)
        _write_over(rows, column, row, mark)
    return tuple(_strip(row) for row in rows)


def _scaled(path: "Path", frame: Frame) -> "tuple[Image, float, int, int]":
    from PIL import Image as images  # noqa: N813 - Pillow stays off the start path

    try:
        with images.open(path) as opened:
            if opened.width * opened.height > MAX_PIXELS:
                raise PictureError(
                    f"The picture is too large to show ({opened.width}x{opened.height})."
                )
            left, top, width, height = _inside(frame.crop, opened.width, opened.height)
            scale = min(frame.width_cells / width, frame.height_cells * 2 / height)
            size = (max(1, round(width * scale)), max(2, round(height * scale) // 2 * 2))
            region = (left, top, left + width, top + height)
            image = opened.convert("RGB").resize(size, images.Resampling.BOX, box=region)
    except (OSError, ValueError, SyntaxError, images.DecompressionBombError) as error:
        raise PictureError(f"The picture cannot be read: {type(error).__name__}.") from error
    return image, scale, left, top


def _inside(crop: Box | None, width: int, height: int) -> Box:
    if crop is None:
        return 0, 0, width, height
    wide, high = max(1, min(crop[2], width)), max(1, min(crop[3], height))
    return max(0, min(crop[0], width - wide)), max(0, min(crop[1], height - high)), wide, high


@lru_cache(maxsize=8192)
def _style(upper: tuple[int, int, int], lower: tuple[int, int, int]) -> Style:
    return Style(color=Color.from_rgb(*upper), bgcolor=Color.from_rgb(*lower))


def _half_blocks(pixels: bytes, width: int, rows: int) -> list[Row]:
    quantised = pixels.translate(bytes(value & QUANTISE_MASK for value in range(256)))
    line = width * 3
    drawn: list[Row] = []
    for row in range(rows):
        start = row * 2 * line
        cells: Row = []
        for at in range(start, start + line, 3):
            upper = (quantised[at], quantised[at + 1], quantised[at + 2])
            lower = (quantised[at + line], quantised[at + line + 1], quantised[at + line + 2])
            cells.append((" " if upper == lower else UPPER_HALF, _style(upper, lower)))
        drawn.append(cells)
    return drawn


_MARK = Style(color=Color.from_rgb(0, 0, 0), bgcolor=Color.from_rgb(248, 216, 80))
_CHOSEN = Style(color=Color.from_rgb(255, 255, 255), bgcolor=Color.from_rgb(200, 0, 80), bold=True)


def _write_over(rows: list[Row], column: int, row: int, mark: Mark) -> None:
    """Write a mark where it fits and covers no other one."""
    if not 0 <= row < len(rows) or column < 0 or column + len(mark.text) > len(rows[row]):
        return
    cells = rows[row]
    if any(
        style in (_MARK, _CHOSEN)
        for _, style in cells[max(column - 1, 0) : column + len(mark.text) + 1]
    ):
        return
    style = _CHOSEN if mark.chosen else _MARK
    cells[column : column + len(mark.text)] = [(character, style) for character in mark.text]


def _strip(cells: Sequence[tuple[str, Style]]) -> Strip:
    segments: list[Segment] = []
    run, run_style = "", cells[0][1]
    for character, style in cells:
        if style is not run_style:
            segments.append(Segment(run, run_style))
            run, run_style = "", style
        run += character
    segments.append(Segment(run, run_style))
    return Strip(segments, len(cells))

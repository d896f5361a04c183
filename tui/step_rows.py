"""The step log as rows: columns that fit the width, the least telling one goes first."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from rich.cells import set_cell_size
from textual.content import Content

from tui.call_text import arguments_short, call_mark, call_state, decider, dollars, duration, tokens
from tui.safe_text import safe_text

if TYPE_CHECKING:
    from core.view.steps import StepRow

_MUTED: Final = "$text-muted"
MIN_WHAT_CELLS: Final = 24
"""Columns are dropped until tool and arguments have this much room."""


@dataclass(frozen=True, slots=True)
class Column:
    """One column right of what was done."""

    title: str
    width_cells: int
    text: Callable[["StepRow", float], str]
    """Row and the time now, on the clock of the records."""


def _state(row: "StepRow", now_s: float) -> str:
    return call_state(row.call)[0] if row.call else ""


def _duration(row: "StepRow", now_s: float) -> str:
    if row.call is not None:
        call = row.call
        if call.state == "running":
            return duration(now_s - call.started_mono_s) if now_s else ""
        return duration(call.duration_s) if call.has_started else ""
    if row.state == "running":
        return duration(now_s - row.started_mono_s) if now_s else ""
    return duration(row.duration_s)


def _tokens(row: "StepRow", now_s: float) -> str:
    total = row.input_tokens + row.output_tokens
    return f"{'~' if row.is_estimated else ''}{tokens(total)}" if total else ""


def _cost(row: "StepRow", now_s: float) -> str:
    if row.is_price_unknown:
        return "unknown"
    return dollars(row.cost_usd)


def _risk(row: "StepRow", now_s: float) -> str:
    return (row.call.risk or "") if row.call else ""


def _by(row: "StepRow", now_s: float) -> str:
    return decider(row.call.decided_by) if row.call else ""


COLUMNS: Final = (
    Column("state", 14, _state),
    Column("time", 7, _duration),
    Column("tokens", 7, _tokens),
    Column("cost", 7, _cost),
    Column("risk", 4, _risk),
    Column("by", 6, _by),
)
_DROP_ORDER: Final = ("cost", "by", "tokens", "risk", "time")


def fitting_columns(width_cells: int) -> tuple[Column, ...]:
    """Return the columns for which there is room."""
    shown = list(COLUMNS)
    for title in _DROP_ORDER:
        if width_cells - sum(column.width_cells + 1 for column in shown) >= MIN_WHAT_CELLS:
            break
        shown = [column for column in shown if column.title != title]
    return tuple(shown)


def heading_row(columns: Sequence[Column], width_cells: int) -> Content:
    """Return the row above the log."""
    cells = [(column.title, column.width_cells, _MUTED) for column in columns]
    return _line(Content("   # what").stylize(_MUTED), cells, width_cells)


def step_row(row: "StepRow", columns: Sequence[Column], width_cells: int, now_s: float) -> Content:
    """Draw a row; `now_s` lets the time of what still runs grow."""
    if row.is_note:
        note = Content(f"     ! {safe_text(row.title, single_line=True)}").stylize("$text-warning")
        note = note.truncate(width_cells, ellipsis=True)
        return note.pad_right(max(width_cells - note.cell_length, 0))
    style = call_state(row.call)[1] if row.call else _MUTED
    cells = [
        (column.text(row, now_s), column.width_cells, style if column.title == "state" else _MUTED)
        for column in columns
    ]
    return _line(_what(row), cells, width_cells)


def _what(row: "StepRow") -> Content:
    if row.call is not None:
        return Content.assemble(
            (f"     {call_mark(row.call)} ", call_state(row.call)[1]),
            (safe_text(row.call.name, single_line=True), "bold"),
            f" {arguments_short(row.call)}",
        )
    title = safe_text(row.title, single_line=True).strip("#*_ `").replace("**", "")
    if not row.step:
        return Content.assemble(("   > ", "bold $text-primary"), (title, "bold"))
    what = title or ("" if row.has_reply or row.state == "ended" else "model answering")
    return Content.assemble((f"{row.step:>4} ", "bold"), (what, _MUTED))


def _line(what: Content, cells: Sequence[tuple[str, int, str]], width: int) -> Content:
    room = max(width - sum(cell_width + 1 for _, cell_width, _ in cells), 4)
    what = what.truncate(room, ellipsis=True)
    line = what.pad_right(max(room - what.cell_length, 0))
    return line + Content.assemble(*_merged(cells))


def _merged(cells: Sequence[tuple[str, int, str]]) -> list[tuple[str, str]]:
    """Return the cells as few pieces: each change of style costs about 40 bytes on the way to the terminal."""
    pieces: list[tuple[str, str]] = []
    for text, cell_width, style in cells:
        shown = set_cell_size(f" {text}", cell_width + 1)
        if pieces and (pieces[-1][1] == style or not text):
            pieces[-1] = (pieces[-1][0] + shown, pieces[-1][1])
        else:
            pieces.append((shown, style if text else ""))
    return pieces

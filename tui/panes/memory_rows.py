"""The rows of the Memory pane: pure functions of the next request."""

import hashlib
import json
from collections.abc import Sequence
from typing import Final

from rich.cells import cell_len, set_cell_size
from textual.content import Content

from core.context.rows import MemoryRow, NextRequest
from core.view.memory import MemoryView
from tui.safe_text import safe_text
from tui.shown_lines import HEADING, QUIET, text_lines
from tui.widgets.folded_text import Line

FLAG_LETTERS: Final = {
    "task": "*",
    "plan": "*",
    "pinned": "P",
    "edited": "E",
    "summary": "S",
    "shortened": "C",
    "left_out": "L",
    "dropped": "D",
    "summarised": "s",
    "unfit": "U",
}
"""One letter a flag; the words are told for the row under the cursor."""
LEAST_SUMMARISED: Final = 2
COLUMNS: Final = "  #  role       tokens  age  flags  first line"
ROLE_STYLES: Final = {
    "user": "$text-accent",
    "assistant": "$text-primary",
    "note": "$text-warning",
    "summary": "$text-secondary",
}


def draw_row(number: int, row: MemoryRow, width_cells: int) -> Content:
    """Return one unit as a row: number, role, tokens, age, flags, first line."""
    tokens = f"{'' if row.exact else '~'}{row.tokens:,}"
    flags = "".join(FLAG_LETTERS.get(flag, "?") for flag in row.flags)
    if row.stands_for:
        flags = flags.replace("S", f"S{row.stands_for}")
    head = f"{number:>3}  {row.role:<9}  {tokens:>6}  {row.age:>3}  {flags:<5}  "
    room = max(width_cells - cell_len(head), 8)
    first = safe_text(row.first_line, single_line=True)
    if cell_len(first) > room:
        first = set_cell_size(first, room - 1) + "…"
    if not row.sent:
        return Content.assemble((head + first, f"{QUIET} strike"))
    return Content.assemble(
        head[:5], (head[5:14], ROLE_STYLES.get(row.role, QUIET)), head[14:], first
    )


def why_text(row: MemoryRow) -> str:
    """Say what the flags of a row mean, and why it is sent or not."""
    words = ", ".join(flag.replace("_", " ") for flag in row.flags)
    if row.stands_for:
        words = words.replace("summary", f"summary of {row.stands_for} units")
    state = "sent" if row.sent else "not sent"
    return f"{row.unit_id}: {words + '; ' if words else ''}{state}, {row.why}"


def head_text(request: NextRequest, memory: MemoryView, model: str) -> str:
    """Return the header: model, window, units, last edit."""
    units = [row for row in request.rows if row.role not in {"system", "tools", "now"}]
    sent = sum(row.sent for row in units)
    share = f" ({100 * request.tokens // request.window}%)" if request.window else ""
    window = f"{request.window:,}" if request.window else "an unknown window"
    parts = [
        safe_text(model, single_line=True) or "no model",
        f"{'' if request.is_exact else '~'}{request.tokens:,} of {window} tokens{share}",
        f"{sent} of {len(units)} units sent",
    ]
    if memory.last_summary:
        parts.append(safe_text(memory.last_summary, single_line=True))
    if memory.edits:
        edits = f"{memory.edits} edit{'' if memory.edits == 1 else 's'}"
        parts.append(f"{edits}, last: {safe_text(memory.last_edit, single_line=True)}")
    return "  ·  ".join(parts)


def whole_lines(row: MemoryRow) -> list[Line]:
    """Return the whole text of a row; of a summary what it is, then what it stands for."""
    if not row.stands_for:
        return text_lines(row.text)
    return [
        Line(f"after: the summary, {row.tokens:,} tokens", HEADING),
        *text_lines(row.text),
        Line(""),
        Line(
            f"before: {row.stands_for} units; u brings them back while that is the last change",
            HEADING,
        ),
        *text_lines(row.original),
    ]


def units_up_to(rows: Sequence[MemoryRow], at: int) -> list[MemoryRow]:
    """Return the units from the oldest to the row `at` that a summary may stand for."""
    kept = {"plan", "pinned", "dropped", "summarised", "unfit"}
    tasks = [row.unit_id for row in rows if "task" in row.flags]
    return [
        row
        for row in rows[: at + 1]
        if row.role in ROLE_STYLES and row.unit_id not in tasks[-1:] and not kept & set(row.flags)
    ]


def why_no_summary(running: bool) -> str:
    """Say why no summary was asked for, or where the reason stands."""
    return "pause the run first (F8)" if running else "the conversation says why"


def body_text(body: bytes) -> str:
    """Return what identifies the body: size and digest."""
    if not body:
        return "no model is configured: nothing would be sent"
    return f"{len(body):,} bytes, SHA-256 {hashlib.sha256(body).hexdigest()[:16]}…"


def pretty_lines(body: bytes) -> list[Line]:
    """Return the body as indented JSON."""
    if not body:
        return [Line(body_text(body), QUIET)]
    return text_lines(json.dumps(json.loads(body), ensure_ascii=False, indent=2))


def exact_lines(body: bytes) -> list[Line]:
    """Return the body as it is sent, one line."""
    return text_lines(body.decode("utf-8", "backslashreplace")) if body else pretty_lines(body)


def find_row(rows: tuple[MemoryRow, ...], needle: str, start: int, step: int) -> int | None:
    """Return the next row whose whole text holds `needle`, looking on round the end."""
    wanted, count = needle.casefold(), len(rows)
    numbers = ((start + step * ahead) % count for ahead in range(1, count + 1))
    return next((number for number in numbers if wanted in rows[number].text.casefold()), None)

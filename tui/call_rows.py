"""A call as rows of the transcript: one line and the head of its result, or everything when it is unfolded."""

import json
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Final

from rich.cells import cell_len
from textual.content import Content

from core.stored_results import whole_text
from tui.call_text import arguments_short, call_mark, call_state, decider, duration
from tui.safe_text import safe_text

if TYPE_CHECKING:
    from core.messages import JsonValue
    from core.view.calls import CallView

MAX_OPEN_ROWS: Final = 200
"""An unfolded part is cut after this many rows; the full text opens by key."""
HEAD_CHARS: Final = 2000
"""The head of a result is looked for in this much of it."""
_MUTED: Final = "$text-muted"


def call_rows(call: "CallView", width_cells: int, *, is_folded: bool) -> list[Content]:
    """Draw a call."""
    rows = [_title_row(call, width_cells, is_folded=is_folded)]
    if is_folded:
        head = head_line(call)
        return (
            [*rows, Content(f"    {head}").stylize(_MUTED).truncate(width_cells, ellipsis=True)]
            if head
            else rows
        )
    for part in _open_parts(call):
        rows += _limited(part, width_cells - 4)
    return rows


def folded_height(call: "CallView") -> int:
    """Return the number of rows of a folded call without drawing it."""
    return 2 if head_line(call) else 1


def head_line(call: "CallView") -> str:
    """Return one line on what came of a call, "" while nothing did."""
    if call.outcome is None:
        live = call.stdout.tail or call.stdout.head or call.stderr.tail or call.stderr.head
        return _last_line(live) if call.state == "running" else _why_waiting(call)
    if call.denial:
        return safe_text(f"you said: {call.denial}", single_line=True)
    if call.outcome != "ok" and call.error:
        return safe_text(call.error, single_line=True)
    if call.name == "ask_human":  # the question has a block of its own
        return ""
    shown = call.stdout.head or call.stderr.head or call.output[:HEAD_CHARS]
    text = shown.strip()
    more = text.count("\n")
    first = safe_text(text.partition("\n")[0], single_line=True)
    return f"{first}  (+{more} lines)" if more > 0 else first


def _last_line(text: str) -> str:
    return safe_text(text[-HEAD_CHARS:].rstrip().rpartition("\n")[2], single_line=True)


def _why_waiting(call: "CallView") -> str:
    if call.state != "waiting":
        return ""
    why = "; ".join(call.reasons)
    return safe_text(f"Ctrl+G to decide{': ' if why else ''}{why}", single_line=True)


def _title_row(call: "CallView", width: int, *, is_folded: bool) -> Content:
    word, style = call_state(call)
    by = decider(call.decided_by) if call.outcome == "denied" or call.decided_by == "person" else ""
    facts = [f"{word} by {by}" if by and call.outcome == "denied" else word]
    if call.has_started and call.duration_s is not None:
        facts.append(duration(call.duration_s))
    if by and call.outcome != "denied" and call.name != "ask_human":
        facts.append(f"allowed by {by}")
    if call.edited:
        facts.append("edited")
    right = Content.assemble((f" {facts[0]}", style), (" · ".join(["", *facts[1:]]), _MUTED))
    left = Content.assemble(
        ("▸ " if is_folded else "▾ ", _MUTED),
        (f"{call_mark(call)} ", style),
        (safe_text(call.name, single_line=True), "bold"),
        (f"  {arguments_short(call)}", ""),
    )
    room = max(width - right.cell_length, 8)
    left = left.truncate(room, ellipsis=True)
    row = left.pad_right(max(room - left.cell_length, 0)) + right
    return row.truncate(width, ellipsis=True)


def _open_parts(call: "CallView") -> Iterator[list[Content]]:
    yield list(_argument_lines(call))
    if call.risk:
        rule = f" (rule {call.rule})" if call.rule else ""
        yield [_labelled("risk", f"{call.risk}, {call.verdict}{rule}")]
        yield [_labelled("why", reason) for reason in call.reasons]
    if call.edited:
        yield [_labelled("edited", "you changed the arguments")]
    if call.repaired:
        yield [_labelled("repaired", "the arguments as the model wrote them could not be read")]
    if call.stdout or call.stderr:
        yield _stream("stdout", call.stdout.text, "")
        yield _stream("stderr", call.stderr.text, "$text-warning")
    else:
        yield _stream("result", call.output, "")
    if call.error:
        yield [_labelled("error", call.error, "$text-error")]
    if call.files:
        yield [_labelled("files", ", ".join(call.files))]


def _argument_lines(call: "CallView") -> Iterator[Content]:
    if not call.arguments and call.raw_arguments:
        yield _labelled("arguments", call.raw_arguments)
    for name, value in call.arguments.items():
        yield _labelled(name, argument_text(value))


def argument_text(value: "JsonValue") -> str:
    """Return an argument as text: strings as they are, everything else as JSON."""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)


def _stream(label: str, text: str, style: str) -> list[Content]:
    text = text.rstrip("\n")
    return [_labelled(label, text, style)] if text else []


def _labelled(label: str, text: str, style: str = "") -> Content:
    gap = "\n" if "\n" in text.strip() else " "
    return Content.assemble(
        (f"{safe_text(label, single_line=True)}:", _MUTED), (gap + safe_text(text), style)
    )


def _limited(contents: Iterable[Content], width: int) -> list[Content]:
    rows: list[Content] = []
    indent = Content("    ")
    for content in contents:
        for line in content.split("\n"):
            rows += [indent + row for row in fold_line(line, width)]
            if len(rows) > MAX_OPEN_ROWS:
                return [*rows[:MAX_OPEN_ROWS], Content("    … v shows all of it").stylize(_MUTED)]
    return rows


def fold_line(line: Content, width_cells: int) -> list[Content]:
    """Fold one line at the width, as a terminal does."""
    line = line.expand_tabs(4)
    if cell_len(line.plain) <= width_cells:
        return [line]
    return line.fold(max(width_cells, 4))


def call_full_text(call: "CallView") -> str:
    """Return all that is known of a call as plain text, for the full view and the clipboard."""
    word, _ = call_state(call)
    lines = [f"{call.name}: {word} {duration(call.duration_s)}".rstrip()]
    lines += [f"{name}: {argument_text(value)}" for name, value in call.arguments.items()]
    if not call.arguments and call.raw_arguments:
        lines.append(f"arguments: {call.raw_arguments}")
    lines += [f"why: {reason}" for reason in call.reasons]
    parts = (
        ("stdout", call.stdout.text),
        ("stderr", call.stderr.text),
        ("result", whole_text(call.whole_path) or call.output),
        ("error", call.error),
    )
    lines += [f"\n--- {label}\n{text}" for label, text in parts if text]
    return "\n".join(lines)

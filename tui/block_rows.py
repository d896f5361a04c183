"""Blocks of the transcript as rows: who spoke, what was called, asked, answered, and the result page."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from textual.content import Content

from tui.call_rows import call_full_text, call_rows, fold_line, folded_height
from tui.call_text import clock, decider, dollars, tokens
from tui.safe_text import safe_text
from tui.wrapping import wrap

if TYPE_CHECKING:
    from core.view.conversation import (
        Block,
        CallBlock,
        NoticeBlock,
        QuestionBlock,
        ReasoningBlock,
        ResultBlock,
        TextBlock,
        UserBlock,
    )

_MUTED: Final = "$text-muted"
_REASONS: Final = {
    "answered": ("Answered", "$text-success"),
    "gave_up": ("Gave up", "$text-warning"),
    "limit": ("Stopped by a limit", "$text-warning"),
    "stopped": ("Stopped by you", "$text-warning"),
    "failed": ("Failed", "$text-error"),
}
_NOTICES: Final = {
    "info": ("i ", "$text-primary"),
    "warning": ("! ", "$text-warning"),
    "error": ("✗ ", "$text-error"),
}


@dataclass(frozen=True, slots=True)
class Look:
    """How a block is to be drawn."""

    width_cells: int
    is_folded: bool = True


def draw_block(block: "Block", look: Look) -> list[Content]:
    """Draw a block as rows of at most `look.width_cells`, without the blank row above it."""
    return _DRAWERS[block.kind](block, look)


def is_spaced(block: "Block", before: "Block | None") -> bool:
    """Return whether a blank row goes above a block: cards stand close together, everything else apart."""
    if before is None:
        return False
    compact = ("call", "reasoning")
    return not (block.kind in compact and before.kind in compact)


def is_told_elsewhere(block: "CallBlock") -> bool:
    """Return whether a card would only repeat what is below: a `finish` that went well is the result page."""
    return block.call.name == "finish" and block.call.outcome == "ok"


def estimated_height(block: "Block", look: Look) -> int:
    """Return about how many rows a block takes, quickly; exact for folded cards."""
    if block.kind == "call":
        if is_told_elsewhere(block):
            return 0
        return folded_height(block.call) if look.is_folded else 12
    if block.kind == "reasoning":
        return 1 if block.text and look.is_folded else _rows_of(block.text, look)
    if block.kind in ("user", "text"):
        return _rows_of(block.text, look)
    return 6 if block.kind == "result" else 2


def block_text(block: "Block") -> str:
    """Return a block as plain text, for the clipboard and the full view."""
    match block.kind:
        case "user" | "reasoning" | "text":
            return block.text
        case "call":
            return call_full_text(block.call)
        case "question":
            return f"{block.prompt.question}\n{block.answer}".strip()
        case "notice":
            return f"{block.notice.text} {block.notice.hint}".strip()
        case "result":
            files = "".join(f"\n{path}" for path in block.ended.files)
            return f"{block.ended.answer}{files}"


def _rows_of(text: str, look: Look) -> int:
    if not text.strip():
        return 0
    return text.count("\n") + len(text) // max(look.width_cells - 4, 8) + 1


def _markdown(text: str, width: int) -> list[Content]:
    from tui.markdown_rows import markdown_rows  # the parser stays off the start path

    return markdown_rows(text, width)


def _lines(text: str, width: int, style: str = "") -> list[Content]:
    return wrap(
        Content(safe_text(text.strip("\n").replace("\r\n", "\n")).expandtabs(4)).stylize(style),
        width,
    )


def _hanging(mark: str, style: str, rows: Sequence[Content]) -> list[Content]:
    blank = Content(" " * len(mark))
    first = Content(mark).stylize(style)
    return [(blank if at else first) + row for at, row in enumerate(rows)]


def _text(block: "TextBlock", look: Look) -> list[Content]:
    return _markdown(block.text, look.width_cells) if block.text.strip() else []


def _call(block: "CallBlock", look: Look) -> list[Content]:
    if is_told_elsewhere(block):
        return []
    return call_rows(block.call, look.width_cells, is_folded=look.is_folded)


def _user(block: "UserBlock", look: Look) -> list[Content]:
    is_person = block.author == "user"
    mark, style = ("> ", "bold $text-primary") if is_person else ("· ", _MUTED)
    rows = _lines(block.text, look.width_cells - 2, "bold" if is_person else _MUTED)
    if block.is_steering and is_person and rows:
        rows[-1] += Content("  (added while it worked)").stylize(_MUTED)
        rows = [part for row in rows for part in fold_line(row, look.width_cells - 2)]
    return _hanging(mark, style, rows)


def _reasoning(block: "ReasoningBlock", look: Look) -> list[Content]:
    text = block.text.strip()
    if not text:
        return []
    if not look.is_folded:
        return _hanging("▾ ", _MUTED, _lines(text, look.width_cells - 2, f"italic {_MUTED}"))
    words = "thinking" if block.is_open else f"thought, {len(text.split())} words"
    last = safe_text(text.rpartition("\n")[2][-look.width_cells :], single_line=True)
    row = Content.assemble((f"▸ {words}: ", _MUTED), (last, f"italic {_MUTED}"))
    return [row.truncate(look.width_cells, ellipsis=True)]


def _question(block: "QuestionBlock", look: Look) -> list[Content]:
    rows = _lines(block.prompt.question, look.width_cells - 2, "bold")
    rows += [
        row
        for option in block.prompt.options
        for row in _hanging("- ", _MUTED, _lines(option, look.width_cells - 4))
    ]
    rows += _answer(block, look)
    return _hanging("? ", "bold $text-accent", rows)


def _answer(block: "QuestionBlock", look: Look) -> list[Content]:
    match block.resolution:
        case None:
            return [Content("waiting for your answer: Ctrl+G").stylize("$text-warning")]
        case "withdrawn":
            return [Content("withdrawn").stylize(_MUTED)]
        case "declined":
            by = decider(block.decided_by) or "you"
            return [Content(f"no answer ({by}): the agent decides").stylize(_MUTED)]
        case _ if block.prompt.answer_kind == "secret":
            return [Content("answered, kept secret").stylize(_MUTED)]
        case _:
            by = "" if block.decided_by == "person" else f"  ({decider(block.decided_by)})"
            rows = _lines(block.answer or "(empty)", look.width_cells - 4, "$text-success")
            rows[-1] += Content(by).stylize(_MUTED)
            return _hanging("= ", _MUTED, rows)


def _notice(block: "NoticeBlock", look: Look) -> list[Content]:
    mark, style = _NOTICES[block.notice.level]
    rows = _lines(block.notice.text, look.width_cells - 2, style)
    if block.notice.hint:
        rows += _lines(block.notice.hint, look.width_cells - 2)
    return _hanging(mark, style, rows)


def _result(block: "ResultBlock", look: Look) -> list[Content]:
    ended, width = block.ended, look.width_cells
    word, style = _REASONS[ended.reason]
    if ended.reason == "stopped" and ended.error:  # not by the person: the app itself went away
        word = "Cut short"
    if ended.limit:
        word = f"{word} ({ended.limit})"
    rows = [_rule(word, style, _facts(block), width)]
    if ended.error:
        rows += _lines(ended.error.message, width, "$text-error")
        rows += _lines(ended.error.hint, width) if ended.error.hint else []
    if ended.answer.strip() and not block.is_answer_above:
        rows += [*([Content("")] if len(rows) > 1 else []), *_markdown(ended.answer, width)]
    for path in ended.files:
        rows += _hanging("+ ", "$text-success", _lines(path, width - 2))
    for path in ended.missing_files:
        text = f"{path}  named in the answer, not there"
        rows += _hanging("? ", "$text-warning", _lines(text, width - 2))
    if block.failed_calls:
        count = block.failed_calls
        rows.append(
            Content(f"{count} call{'s' * (count > 1)} failed or did not run").stylize(
                "$text-warning"
            )
        )
    return rows


def _facts(block: "ResultBlock") -> str:
    ended = block.ended
    usage = ended.usage
    about = "~" if usage.estimated else ""
    facts = [
        f"{ended.steps} step{'s' * (ended.steps != 1)}",
        clock(ended.duration_s),
        f"{about}{tokens(usage.input_tokens + usage.output_tokens)} tokens",
        dollars(ended.cost_usd) or "price not known",
    ]
    return " · ".join(facts)


def _rule(word: str, style: str, facts: str, width: int) -> Content:
    row = Content.assemble(("── ", _MUTED), (word, f"bold {style}"), (f"  {facts} ", _MUTED))
    row = row.truncate(width, ellipsis=True)
    return row + Content("─" * max(width - row.cell_length, 0)).stylize(_MUTED)


_DRAWERS: Final[Mapping[str, Callable[[Any, Look], list[Content]]]] = {
    "user": _user,
    "reasoning": _reasoning,
    "text": _text,
    "call": _call,
    "question": _question,
    "notice": _notice,
    "result": _result,
}

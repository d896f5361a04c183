"""What an approval dialog says, as lines: pure functions of the prompt."""

from collections.abc import Mapping, Sequence
from typing import Final

from rich.cells import cell_len, set_cell_size
from textual.content import Content

from core.decision import ApprovalPrompt
from core.messages import JsonValue
from core.vocabulary import RiskLevel
from tui.arming import MIN_HEIGHT, MIN_WIDTH, Arming, Demands
from tui.safe_text import safe_text
from tui.shown_lines import (
    FOLDED,
    HEADING,
    QUIET,
    argument_lines,
    count_marks,
    diff_lines,
    text_lines,
)
from tui.widgets.folded_text import Line

RISK_WORDS: Final[Mapping[RiskLevel, str]] = {
    "R0": "no effect",
    "R1": "LOW",
    "R2": "MEDIUM",
    "R3": "HIGH",
    "R4": "FINAL",
}
"""The level in one word, beside its number."""
EDITED_EFFECT: Final = "run it with your arguments"
"""What approving does once the person has changed the arguments."""
HEAD_CELLS: Final = 90
"""Title and reason in the head of the dialog are at most this wide."""


def heading(prompt: ApprovalPrompt, place: str) -> Content:
    """Return the title of the dialog: its place in the queue and the risk."""
    return Content(f"APPROVAL{place} · {prompt.risk} {RISK_WORDS[prompt.risk]}")


def body_lines(
    prompt: ApprovalPrompt, *, edited: Mapping[str, JsonValue] | None, with_reasons: bool
) -> list[Line]:
    """Return what the dialog shows of a call: reasons if asked for, parts, then diff or arguments.

    Args:
        prompt: What is asked.
        edited: Arguments the person wrote instead; then only these are shown.
        with_reasons: Show every reason first.
    """
    lines = _reason_lines(prompt.reasons) if with_reasons else []
    if edited is not None:
        return [*lines, Line("your arguments:", HEADING), *argument_lines(edited, fold=True)]
    for number, part in enumerate(prompt.parts, 1):
        shown = safe_text(part, single_line=True, fold=True)
        lines.append(Line(f"{number:>2}  {shown}", HEADING))
    if prompt.diff:
        return [*lines, *diff_lines(prompt.diff)]
    told = {*prompt.parts, "\n".join(prompt.parts)}
    rest = {name: value for name, value in prompt.arguments.items() if str(value) not in told}
    return [*lines, *argument_lines(rest, fold=True)]


def full_lines(prompt: ApprovalPrompt, edited: Mapping[str, JsonValue] | None) -> list[Line]:
    """Return the whole call, nothing shortened."""
    arguments = prompt.arguments if edited is None else edited
    return [
        Line(safe_text(f"{prompt.tool}: {prompt.title}", single_line=True), HEADING),
        *_reason_lines(prompt.reasons),
        Line(""),
        *argument_lines(arguments),
    ]


def title_text(prompt: ApprovalPrompt, step: int) -> str:
    """Return what would run in plain words, and in which step."""
    title = safe_text(prompt.title or prompt.tool, single_line=True, fold=True)
    return _short(title, "v") + (f"   (step {step})" if step else "")


def why_text(reasons: Sequence[str]) -> str:
    """Return the first reason, and how many more there are."""
    if not reasons:
        return "why: this mode asks before such calls"
    more = f"  (+{len(reasons) - 1}: x)" if len(reasons) > 1 else ""
    return f"why: {_short(safe_text(reasons[0], single_line=True, fold=True), 'x')}{more}"


def marks_text(prompt: ApprovalPrompt, lines: Sequence[Line]) -> str:
    """Say which hidden characters the call holds, and whether something is shown shortened."""
    texts = [str(value) for value in prompt.arguments.values()]
    folded = sum(1 for line in lines if FOLDED.search(line.text))
    shortened = f"   shortened lines: {folded} (v shows all)" if folded else ""
    return f"marked: {count_marks(texts)}{shortened}"


def next_step_text(
    arming: Arming, demands: Demands, *, at_s: float, size: tuple[int, int], effect: str
) -> str:
    """Say what an approval takes now.

    Args:
        arming: State of the dialog.
        demands: What was given to it.
        at_s: Now, on its clock.
        size: Columns and rows of the terminal.
        effect: What approving does.
    """
    if size[0] < MIN_WIDTH or size[1] < MIN_HEIGHT:
        return f"no approvals below {MIN_WIDTH}x{MIN_HEIGHT}; this is {size[0]}x{size[1]}"
    if not arming.approvable:
        return "see the end of the text first: End or PgDn"
    if not arming.armed(at_s) and arming.typed is None:
        return "arming: no key counts yet"
    return _steps_text(arming, demands, effect)


def _steps_text(arming: Arming, demands: Demands, effect: str) -> str:
    if demands.steps == "single":
        return f"press y to {effect}"
    if arming.typed is None:
        then = f"type {demands.word}" if demands.steps == "word" else "Enter"
        return f"press y, then {then}, to {effect}"
    if demands.steps == "enter":
        return f"now Enter to {effect}; any other key takes it back"
    missing = "_" * (len(demands.word) - len(arming.typed))
    return f"now type {demands.word} to {effect}: {arming.typed}{missing}"


def _short(text: str, key: str) -> str:
    """Cut what would not fit two rows of the smallest terminal, and say which key shows all of it."""
    if cell_len(text) <= HEAD_CELLS:
        return text
    return f"{set_cell_size(text, HEAD_CELLS - 4)}… ({key})"


def _reason_lines(reasons: Sequence[str]) -> list[Line]:
    return [line for reason in reasons for line in text_lines(f"- {reason}", QUIET, fold=True)]

"""What the Sandbox pane says: the cage in words, and each command as lines."""

import re
from typing import Final

from textual.content import Content

from core.bounded_text import BoundedText
from core.stored_results import whole_text
from core.view.calls import CallView
from core.view.sandbox import SandboxView
from tui.safe_text import safe_text
from tui.shown_lines import HEADING, QUIET, text_lines
from tui.widgets.folded_text import Line

MAX_OUTPUT_LINES: Final = 200
"""Lines of one stream of one command that the pane lists; Enter shows all that is kept."""
STDERR_MARK: Final = "! "
"""Before each line of stderr, so that it is told from stdout without colour."""
COLOUR: Final = re.compile(r"\x1b\[[0-9;:]*m")
"""A change of colour or weight."""
STATES: Final = {
    "off": "no sandbox was started yet",
    "starting": "starting …",
    "ready": "",
    "closed": "closed",
    "lost": "lost: it ended while it was in use",
    "unavailable": "not available",
}


def head_content(sandbox: SandboxView) -> Content:
    """Return label, image, limits, network and workspace of the cage."""
    state = STATES[sandbox.state]
    if not sandbox.label:
        return Content(state)
    label = safe_text(sandbox.label, single_line=True)
    limits = ", ".join(f"{name} {value}" for name, value in sandbox.limits.items())
    facts = {
        "image": sandbox.image,
        "limits": limits,
        "network": sandbox.network,
        "workspace": sandbox.workspace,
    }
    told = " · ".join(
        f"{name}: {safe_text(value, single_line=True)}" for name, value in facts.items() if value
    )
    detail = safe_text(sandbox.detail, single_line=True)
    bad = "$text-error" if sandbox.state in {"lost", "unavailable"} else QUIET
    return Content.assemble((label, HEADING), (f"  {state} {detail}".rstrip(), bad), f"\n{told}")


def command_lines(call: CallView, now_s: float) -> list[Line]:
    """Return one command: what ran, its output by stream, how it ended."""
    shown = safe_text(_source(call).rstrip("\n")).split("\n")
    sign = {"python": ">>> ", "shell": "$ "}.get(call.name, f"{call.name}: ")
    lines = [Line(f"{sign}{shown[0]}", f"{HEADING} $text-accent")]
    lines += [Line(f"{' ' * len(sign)}{line}", "$text-accent") for line in shown[1:]]
    lines += _output(call.stdout, "", "")
    lines += _output(call.stderr, STDERR_MARK, "$text-error")
    lines += _output(call.info, "", QUIET)
    return [*lines, _ending(call, now_s)]


def full_lines(call: CallView) -> list[Line]:
    """Return all that is kept of a command."""
    lines = text_lines(_source(call), HEADING)
    for title, text, style in (
        ("stdout", call.stdout.text, ""),
        ("stderr", call.stderr.text, "$text-error"),
        ("notes", call.info.text, QUIET),
        ("what the model got", call.output, ""),
        ("all of it", whole_text(call.whole_path), ""),
    ):
        if text:
            lines += [Line(""), Line(title, QUIET), *text_lines(text, style)]
    return lines


def _source(call: CallView) -> str:
    """Return what runs: the command or code, else all arguments."""
    for name in ("command", "code"):
        value = call.arguments.get(name)
        if isinstance(value, str):
            return value
    return call.raw_arguments or " ".join(
        f"{name}={value}" for name, value in call.arguments.items()
    )


def _output(kept: BoundedText, mark: str, style: str) -> list[Line]:
    if not kept:
        return []
    rows = _as_terminal(kept.text.rstrip("\n")).split("\n")
    half = MAX_OUTPUT_LINES // 2
    left_out = len(rows) - 2 * half
    if left_out <= 0:
        return _marked(rows, mark, style)
    note = Line(f"… {left_out:,} lines, Enter shows them …", QUIET)
    return [*_marked(rows[:half], mark, style), note, *_marked(rows[-half:], mark, style)]


def _marked(rows: list[str], mark: str, style: str) -> list[Line]:
    lines = text_lines("\n".join(rows), style)
    return [Line(mark + line.text, style) for line in lines] if mark else lines


def _as_terminal(text: str) -> str:
    """Return what a terminal would leave on the screen of colours and of lines written over.

    The full text of a command shows all of it as marks.
    """
    text = COLOUR.sub("", text)
    if "\r" not in text:
        return text
    return "\n".join(line.rstrip("\r").rpartition("\r")[2] for line in text.split("\n"))


def _ending(call: CallView, now_s: float) -> Line:
    if call.state == "running":
        return Line(f"[running, {max(now_s - call.started_mono_s, 0):.1f} s]", "$text-warning")
    if call.state == "waiting":
        return Line("[waits for you]", "$text-warning")
    if call.state == "proposed":
        return Line("[not started]", QUIET)
    took = f", {call.duration_s:.2f} s" if call.duration_s is not None and call.has_started else ""
    if call.exit_code is not None:
        style = "$text-success" if call.exit_code == 0 else "$text-error"
        words = "" if call.outcome in {"ok", "failed"} else f", {call.outcome}".replace("_", " ")
        return Line(f"[exit {call.exit_code}{words}{took}]", style)
    error = safe_text(call.denial or call.error, single_line=True)
    word = (call.outcome or "ended").replace("_", " ")
    return Line(f"[{word}{took}{': ' + error if error else ''}]", _style_of(call))


def _style_of(call: CallView) -> str:
    return {"ok": "$text-success", "denied": "$text-warning", "cancelled": QUIET}.get(
        call.outcome or "", "$text-error"
    )

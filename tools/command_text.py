"""A command's result as the model reads it, and its live output within bounds."""

import re
from typing import Literal

from core.messages import ToolResult
from core.ports import CallContext, CommandResult
from tools.base import clip

STREAM_CHARS = 64 << 10
"""Kept of each stream; what of it goes to the model is not decided here (`core.stored_results`)."""
LIVE_CHARS = 256_000
"""Shown live of one call; what comes after is in the result and the spilled file."""
_ESCAPES = re.compile(
    r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)?|[PX^_][^\x1b]*(?:\x1b\\)?|[@-Z\\^_])"
)
"""Terminal control sequences: CSI, OSC, string sequences, two-character ones. Source: ECMA-48."""


def tool_result(result: CommandResult) -> ToolResult:
    """Return what the model is told of a command."""
    return ToolResult(
        outcome=result.outcome,
        output=rendered(result),
        exit_code=result.exit_code,
        error="" if result.outcome == "ok" else _headline(result),
        whole_path=result.spill_path,
    )


def rendered(result: CommandResult) -> str:
    """Return headline, both streams where they hold anything, and the note."""
    sections = [_headline(result)]
    for name, text in (("stdout", result.stdout), ("stderr", result.stderr)):
        if text:
            plain = clip(_ESCAPES.sub("", text), STREAM_CHARS)
            sections.append(f"{name}:\n{plain.rstrip()}")
    if not result.stdout and not result.stderr:
        sections[0] += ", no output"
    if result.note:
        sections.append(f"note: {result.note}")
    return "\n".join(sections)


def _headline(result: CommandResult) -> str:
    seconds = f"{result.duration_s:.1f} s"
    if result.outcome == "timed_out":
        return f"timed out after {seconds} and was stopped"
    if result.outcome in ("ok", "failed") and result.exit_code is not None:
        return f"exit code {result.exit_code} ({seconds})"
    words = result.outcome.replace("_", " ")
    code = "" if result.exit_code is None else f", exit code {result.exit_code}"
    return f"{words}{code} ({seconds})"


class LiveOutput:
    """Passes output on to a call until there was enough of it."""

    def __init__(self, context: CallContext) -> None:
        """Show output as that of the call."""
        self._context = context
        self._left_chars = LIVE_CHARS

    def __call__(self, stream: Literal["stdout", "stderr"], text: str) -> None:
        """Take a piece (`core.ports.OutputSink`)."""
        if self._left_chars <= 0:
            return
        self._context.output(stream, text[: self._left_chars])
        self._left_chars -= len(text)
        if self._left_chars <= 0:
            self._context.output("info", "[more output is not shown live]")

"""Texts from outside as lines that are safe to show: plain text, diffs, JSON values."""

import json
import re
from collections.abc import Mapping

from core.messages import JsonValue
from tui.safe_text import safe_text
from tui.widgets.folded_text import Line

ADDED, REMOVED, HUNK, QUIET, HEADING = (
    "$text-success",
    "$text-error",
    "$text-accent",
    "$foreground 70%",
    "bold",
)
"""Looks of lines."""
MARKED = re.compile(r"<U\+([0-9A-F]{4,6})(?: x(\d+))?>")
"""A character that is shown as a mark."""
FOLDED = re.compile(r"<(\d+) (?:blanks|blank lines|characters|marks)>|<\S x(\d+)>")
"""A run that is shown shortened."""


def text_lines(text: str, style: str = "", *, fold: bool = False) -> list[Line]:
    """Return a text line by line.

    Args:
        text: From anywhere.
        style: Look of all lines.
        fold: Show long runs and words shortened, with their count.
    """
    return [Line(line, style) for line in safe_text(text, fold=fold).split("\n")]


def diff_lines(diff: str) -> list[Line]:
    """Return a unified diff line by line; the first column tells the kind without colour."""
    return [Line(line, _diff_style(line)) for line in safe_text(diff).rstrip("\n").split("\n")]


def _diff_style(line: str) -> str:
    if line.startswith(("+++", "---")):
        return HEADING
    return {"+": ADDED, "-": REMOVED, "@": HUNK}.get(line[:1], "")


def value_lines(name: str, value: JsonValue, *, fold: bool = False) -> list[Line]:
    """Return an argument as `name = value`, or as a heading with the lines of its text under it."""
    shown_name = safe_text(name, single_line=True)
    if isinstance(value, str) and "\n" in value:
        count = value.count("\n") + (not value.endswith("\n"))
        lines = f"{count} line{'' if count == 1 else 's'}"
        return [Line(f"{shown_name} = ({lines})", QUIET), *text_lines(value, fold=fold)]
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=list)
    return text_lines(f"{shown_name} = {text}", fold=fold)


def argument_lines(arguments: Mapping[str, JsonValue], *, fold: bool = False) -> list[Line]:
    """Return all arguments of a call, one after the other."""
    return [
        line for name, value in arguments.items() for line in value_lines(name, value, fold=fold)
    ]


def count_marks(texts: "list[str]") -> str:
    """Say which hidden characters texts hold: "<U+00A0> x2, <U+202E> x1"; "none" without any."""
    counts: dict[str, int] = {}
    for text in texts:
        for found in MARKED.finditer(safe_text(text)):
            name = f"<U+{found[1]}>"
            counts[name] = counts.get(name, 0) + int(found[2] or 1)
    return ", ".join(f"{name} x{count}" for name, count in counts.items()) or "none"

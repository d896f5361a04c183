"""Changes of a text: exactly one place replaced, lines inserted or appended, line endings kept."""

import difflib
import re

from core.errors import ToolFailedError

DIFF_LINES = 2000
"""A longer diff is cut, with a mark."""
COMPARED_LINES = 20_000
"""Larger changed parts are only counted: comparing them would take seconds."""
SEARCHED_LINES = 5_000
"""Lines looked at for the nearest one."""
CONTEXT_LINES = 3


def newline_of(text: str) -> str:
    r"""Return the line ending that prevails: "\r\n" or "\n"."""
    crlf = text.count("\r\n")
    return "\r\n" if crlf and crlf * 2 > text.count("\n") else "\n"


def with_newlines(text: str, newline: str) -> str:
    """Return `text` with every line ending as `newline`."""
    return text.replace("\r\n", "\n").replace("\n", newline)


def replaced(text: str, old: str, new: str, path: str) -> str:
    """Replace the one place where `old` stands.

    Args:
        text: The whole text.
        old: What to replace, not empty; with plain line ends it also fits a text with CRLF.
        new: What comes in its place.
        path: For the messages.

    Raises:
        ToolFailedError: It stands nowhere or in several places; the message says where to look.
    """
    if text.count(old) == 0 and "\r\n" in text:
        old, new = with_newlines(old, "\r\n"), with_newlines(new, "\r\n")
    count = text.count(old)
    if count > 1:
        numbers = ", ".join(str(number) for number in _line_numbers(text, old))
        raise ToolFailedError(
            f"old_str stands {count} times in {path} (lines {numbers}).",
            hint="Add lines around it so that it fits one place.",
        )
    if count == 0:
        raise ToolFailedError(f"old_str does not stand in {path}. {_nearest(text, old)}".strip())
    if old == new:
        raise ToolFailedError("old_str and new_str are the same: nothing to change.")
    return text.replace(old, new)


def inserted(text: str, new: str, after_line: int, path: str) -> str:
    """Insert whole lines after a line.

    Args:
        text: The whole text.
        new: The lines; a line end is added where it lacks one.
        after_line: Number of the line before them, 0 for the beginning.
        path: For the messages.

    Raises:
        ToolFailedError: There is no such line.
    """
    newline = newline_of(text)
    lines = lines_of(text)
    if after_line > len(lines):
        raise ToolFailedError(
            f"{path} has only {len(lines)} lines; insert_line {after_line} is too large."
        )
    block = with_newlines(new, newline)
    if after_line < len(lines) and not block.endswith("\n"):
        block += newline
    before = "".join(lines[:after_line])
    if before and not before.endswith("\n"):
        before += newline
    return before + block + "".join(lines[after_line:])


def appended(text: str, new: str) -> str:
    """Add lines at the end, on a line of their own."""
    newline = newline_of(text)
    between = newline if text and not text.endswith("\n") else ""
    return text + between + with_newlines(new, newline)


def lines_of(text: str) -> list[str]:
    """Return the lines of a text with their ends; only a newline ends a line."""
    *whole, rest = text.split("\n")
    return [line + "\n" for line in whole] + ([rest] if rest else [])


def _line_numbers(text: str, part: str, most: int = 8) -> list[int]:
    numbers: list[int] = []
    at = text.find(part)
    while at >= 0 and len(numbers) < most:
        numbers.append(text.count("\n", 0, at) + 1)
        at = text.find(part, at + 1)
    return numbers


def _nearest(text: str, old: str) -> str:
    """Say where something like `old` stands."""
    lines = text.splitlines()[:SEARCHED_LINES]
    wanted = next((line for line in old.splitlines() if line.strip()), "")
    if not wanted:
        return ""
    for number, line in enumerate(lines, 1):
        if line.strip() == wanted.strip():
            what = "the same" if line == wanted else "the same but for white space"
            return (
                f"Its first line is {what} as line {number}: {line[:200]!r}; compare what follows."
            )
    close = difflib.get_close_matches(wanted, lines, n=1, cutoff=0.6)
    if not close:
        return "No line is like its first line; view the file."
    return f"The nearest line is {lines.index(close[0]) + 1}: {close[0][:200]!r}."


def unified_diff(before: str, after: str, path: str) -> str:
    """Return the unified diff of two texts, "" when they are equal, cut after `DIFF_LINES` lines."""
    old, new = lines_of(before), lines_of(after)
    start = _common(old, new)
    end = _common(old[start:][::-1], new[start:][::-1])
    start, end = max(0, start - CONTEXT_LINES), max(0, end - CONTEXT_LINES)
    old, new = old[start : len(old) - end], new[start : len(new) - end]
    if max(len(old), len(new)) > COMPARED_LINES:
        return f"--- a/{path}\n+++ b/{path}\n[{len(old):,} lines from line {start + 1} on become {len(new):,} lines]\n"
    lines = [
        _shifted(line, start)
        for line in difflib.unified_diff(old, new, f"a/{path}", f"b/{path}", n=CONTEXT_LINES)
    ]
    text = "".join(
        line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n"
        for line in lines[:DIFF_LINES]
    )
    if len(lines) > DIFF_LINES:
        text += f"[... {len(lines) - DIFF_LINES:,} more lines of this diff]\n"
    return text


def _common(old: list[str], new: list[str]) -> int:
    """Return how many lines the two begin with in common."""
    count = 0
    for left, right in zip(old, new, strict=False):
        if left != right:
            break
        count += 1
    return count


def _shifted(line: str, lines: int) -> str:
    """Return a hunk header with its line numbers moved down, any other line as it is."""
    if not line.startswith("@@ "):
        return line
    return re.sub(r"(?<=[-+])\d+", lambda match: str(int(match[0]) + lines), line)

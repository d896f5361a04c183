"""Mends Python source that a model broke while it wrote it as JSON: the meaning is plain, only the form is not.

Models write a line break inside quotes as one backslash and n, which JSON turns into a real line break, and indent all
of a piece of code alike. Neither can be Python, so nothing that runs is ever changed.
"""

import ast
import re
import warnings

_RUN = re.compile(r"(?:python3?\s+)?([\w./-]+\.py)")
MAX_MENDED = 50
"""Line breaks inside quotes that are mended."""
MAX_CHARS = 200_000
"""Longer source is left alone."""


def runnable(source: str) -> str:
    """Return the source mended; the name of a Python file, or the command that runs it, becomes code that runs it."""
    if command := _RUN.fullmatch(source.strip()):
        return f"import runpy\n_ = runpy.run_path({command[1]!r}, run_name='__main__')"
    return mended(source)


def mended(source: str) -> str:
    """Return source that can be compiled where mending makes it so, else the source as it is."""
    if len(source) > MAX_CHARS or _error(source) is None:
        return source
    for candidate in (source, _outdented(source)):
        joined = _joined(candidate)
        if joined is not None:
            return joined
    return source


def _outdented(source: str) -> str:
    """Take the indent of the first line from all lines that have it; the rest of a broken line has none."""
    body = source.strip("\n")
    indent = body[: len(body) - len(body.lstrip(" \t"))]
    return "\n".join(line.removeprefix(indent) for line in body.split("\n"))


def _joined(source: str) -> str | None:
    """Return the source with line breaks inside quotes written as escapes, None where that does not help."""
    for _ in range(MAX_MENDED):
        error = _error(source)
        if error is None:
            return source
        lines = source.split("\n")
        line = error.lineno or 0
        is_cut = "unterminated" in (error.msg or "") and "triple" not in (error.msg or "")
        if not is_cut or not 0 < line < len(lines):
            return None
        lines[line - 1 : line + 1] = [f"{lines[line - 1]}\\n{lines[line]}"]
        source = "\n".join(lines)
    return None


def _error(source: str) -> SyntaxError | None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SyntaxWarning)
        try:
            ast.parse(source)
        except SyntaxError as error:
            return error
        except ValueError:  # a NUL character
            return None
    return None

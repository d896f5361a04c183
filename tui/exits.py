"""Exit codes, and the code of each kind of error."""

from collections.abc import Mapping

from core.errors import (
    BrowserBlockedError,
    BrowserUnavailableError,
    ConfigError,
    HandrailError,
    ModelError,
    SandboxError,
    StoreError,
    WorkspaceError,
)

ANSWERED = 0
GAVE_UP = 1
USAGE = 2
LIMIT = 3
MODEL = 4
NOBODY_THERE = 5
NO_SURROUNDINGS = 6
"""A sandbox or browser is needed and cannot be had."""
INTERRUPTED = 130

_CODES: Mapping[type[HandrailError], int] = {
    ConfigError: USAGE,
    WorkspaceError: USAGE,
    StoreError: USAGE,
    ModelError: MODEL,
    SandboxError: NO_SURROUNDINGS,
    BrowserUnavailableError: NO_SURROUNDINGS,
    BrowserBlockedError: USAGE,
}


def exit_code_of(error: HandrailError) -> int:
    """Return the exit code for an error that ended the program."""
    return next((code for kind, code in _CODES.items() if isinstance(error, kind)), GAVE_UP)

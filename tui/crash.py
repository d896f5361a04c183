"""Bugs of ours: kept in a file for whoever mends them, one line for the person."""

import os
import time
import traceback
from pathlib import Path
from typing import TYPE_CHECKING

from core.config_layers import state_dir
from core.errors import HandrailError

if TYPE_CHECKING:
    from core.events import ErrorInfo


class InternalError(HandrailError):
    """A bug in Handrail ended what was going on."""

    default_code = "internal"


def kept_crash(error: BaseException) -> InternalError:
    """Write the traceback of a bug (without values of variables) to a file of the owner's alone.

    Returns:
        The same as an error of one line that says where the rest is.
    """
    what = f"Internal error: {type(error).__name__}: {error}"
    path = state_dir() / f"crash-{time.time_ns()}.log"
    try:
        _write(path, "".join(traceback.format_exception(error)))
    except OSError:
        return InternalError(f"{what}.", hint="This is a bug in Handrail.")
    return InternalError(f"{what}.", hint=f"This is a bug in Handrail; details are in {path}")


def explained_crash(error: BaseException) -> "ErrorInfo":
    """Keep a bug as `kept_crash` does and return it as the log holds it."""
    from core.events import ErrorInfo

    kept = kept_crash(error)
    return ErrorInfo(code=kept.code, message=kept.message, hint=kept.hint)


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    with os.fdopen(descriptor, "w", encoding="utf-8", errors="backslashreplace") as file:
        file.write(text)

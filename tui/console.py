"""What commands print without the screen: results on stdout, everything else on stderr.

JSON is UTF-8 whatever the locale says; lines for people hold no control characters.
"""

import json
import os
import sys
from collections.abc import Mapping
from typing import Final

from core.errors import HandrailError, StoreError
from tui.safe_text import safe_text

STREAMS: Final = ("stdin", "stdout", "stderr")
"""By number of their file descriptor."""


def open_closed_streams() -> None:
    """Give standard streams that are closed the null device.

    Otherwise the next file that is opened, such as a journal, gets the number of one and is taken for it.
    """
    for number, name in enumerate(STREAMS):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)  # gets the lowest number that is free: this one
        if getattr(sys, name) is None:
            mode = "w" if number else "r"
            setattr(sys, name, open(number, mode, encoding="utf-8", closefd=False))  # noqa: SIM115


def drop_stream(number: int) -> None:
    """Send what is still to be written to a standard stream nowhere: it cannot be written."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, number)
    os.close(nowhere)


def tell(text: str) -> None:
    """Print text on stdout.

    Raises:
        BrokenPipeError: Nobody reads any more.
        StoreError: It cannot be written.
    """
    write_line(safe_text(text))


def say(text: str) -> None:
    """Print one line on stderr; where that cannot be written, nobody is told and nothing else changes."""
    try:
        sys.stderr.write(safe_text(text, single_line=True) + "\n")
        sys.stderr.flush()
    except OSError:
        drop_stream(2)


def report(error: HandrailError) -> None:
    """Print an error as one line on stderr."""
    say(f"handrail: {error.line()}")


def print_object(value: Mapping[str, object]) -> None:
    """Print one JSON object on one line.

    Raises:
        BrokenPipeError: Nobody reads any more.
        StoreError: It cannot be written.
    """
    write_line(json.dumps(value, ensure_ascii=False, separators=(",", ":")))


def write_line(text: str) -> None:
    """Print a line on stdout as it is.

    Raises:
        BrokenPipeError: Nobody reads any more.
        StoreError: It cannot be written.
    """
    try:
        sys.stdout.flush()
        sys.stdout.buffer.write(text.encode("utf-8", "backslashreplace") + b"\n")
        sys.stdout.buffer.flush()
    except BrokenPipeError:
        drop_stream(1)
        raise
    except OSError as error:
        drop_stream(1)
        raise StoreError(f"The output cannot be written: {error.strerror}.") from error

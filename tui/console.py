"""What commands print without the screen: results on stdout, everything else on stderr.

JSON is UTF-8 whatever the locale says; lines for people hold no control characters.
"""

import json
import sys
from collections.abc import Mapping

from core.errors import HandrailError
from tui.safe_text import safe_text


def tell(text: str) -> None:
    """Print text on stdout.

    Raises:
        BrokenPipeError: Nobody reads any more.
    """
    write_line(safe_text(text))


def say(text: str) -> None:
    """Print one line on stderr."""
    sys.stderr.write(safe_text(text, single_line=True) + "\n")
    sys.stderr.flush()


def report(error: HandrailError) -> None:
    """Print an error as one line on stderr."""
    say(f"handrail: {error.line()}")


def print_object(value: Mapping[str, object]) -> None:
    """Print one JSON object on one line.

    Raises:
        BrokenPipeError: Nobody reads any more.
    """
    write_line(json.dumps(value, ensure_ascii=False, separators=(",", ":")))


def write_line(text: str) -> None:
    """Print a line on stdout as it is.

    Raises:
        BrokenPipeError: Nobody reads any more.
    """
    sys.stdout.flush()
    sys.stdout.buffer.write(text.encode("utf-8", "backslashreplace") + b"\n")
    sys.stdout.buffer.flush()

"""What commands print without the screen: results on stdout, everything else on stderr.

JSON is UTF-8 whatever the locale says; lines for people hold no control characters.
"""

import json
import sys
import time
from collections.abc import Mapping

from core.errors import HandrailError
from core.event_log import SystemClock
from core.events import ErrorInfo, RunEnded
from core.record import Record
from tui.safe_text import safe_text


def tell(text: str) -> None:
    """Print text on stdout.

    Raises:
        BrokenPipeError: Nobody reads any more.
    """
    _write_out(safe_text(text))


def say(text: str) -> None:
    """Print one line on stderr."""
    sys.stderr.write(safe_text(text, single_line=True) + "\n")
    sys.stderr.flush()


def report(error: HandrailError) -> None:
    """Print an error as one line on stderr."""
    say(f"handrail: {error.line()}")


def print_record(record: Record) -> None:
    """Print one event as a JSON line.

    Raises:
        BrokenPipeError: Nobody reads any more.
    """
    _write_out(record.json_line())


def print_object(value: Mapping[str, object]) -> None:
    """Print one JSON object on one line.

    Raises:
        BrokenPipeError: Nobody reads any more.
    """
    _write_out(json.dumps(value, ensure_ascii=False, separators=(",", ":")))


def failed_run(error: HandrailError, exit_code: int) -> RunEnded:
    """Return the end of a run that an error ended."""
    info = ErrorInfo(code=error.code, message=error.message, hint=error.hint)
    return RunEnded(reason="failed", exit_code=exit_code, error=info)


def print_failed_run(error: HandrailError, exit_code: int) -> None:
    """Print the `run_ended` of a run that could not begin, as the first and last event."""
    now = SystemClock().now_utc().isoformat(timespec="milliseconds").replace("+00:00", "Z")
    event = failed_run(error, exit_code)
    print_record(Record(n=1, at_utc=now, mono_s=time.monotonic(), run_id="", step=0, event=event))


def _write_out(text: str) -> None:
    sys.stdout.flush()
    sys.stdout.buffer.write(text.encode("utf-8", "backslashreplace") + b"\n")
    sys.stdout.buffer.flush()

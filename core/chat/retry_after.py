"""How long a server wants us to wait before the next request."""

import email.utils
import re
from collections.abc import Mapping
from datetime import UTC, datetime

from core.chat.words import WAIT

LONGEST_S = 1e9
"""A wait that is told to be longer is so long: some thirty years."""
_PART = re.compile(r"(\d+(?:\.\d+)?)\s?(毫秒|[a-z\u4e00-\u9fff]+)", re.IGNORECASE)
_UNIT_SECONDS = {
    **{"ms": 0.001, "milli": 0.001, "毫": 0.001},
    **{"m": 60.0, "分": 60.0, "h": 3600.0, "小": 3600.0, "s": 1.0, "秒": 1.0},
}
"""By how the name of a unit begins; the first that fits counts."""


def asked_wait_s(headers: Mapping[str, str], text: str = "") -> float | None:
    """Return the wait in seconds, None when the server names none.

    Args:
        headers: Of the answer, names in lower case.
        text: Its message, used when no header tells.

    Source: RFC 9110 section 10.2.3 (seconds or a date); retry-after-ms is sent by Azure.
    """
    for name, factor in (("retry-after-ms", 0.001), ("retry-after", 1.0)):
        seconds = _seconds(headers.get(name, ""))
        if seconds is not None:
            return seconds * factor
    date = headers.get("retry-after", "")
    return _until(date) if date else _told(text)


def _seconds(value: str) -> float | None:
    try:
        seconds = float(value)
    except ValueError:
        return None
    return min(seconds, LONGEST_S) if 0 <= seconds < float("inf") else None


def _until(date: str) -> float | None:
    try:
        when = email.utils.parsedate_to_datetime(date)
        if when.tzinfo is None:
            when = when.replace(tzinfo=UTC)
        return max(0.0, (when - datetime.now(UTC)).total_seconds())
    except (ValueError, OverflowError):  # the second for offsets and years no calendar has
        return None


def _told(text: str) -> float | None:
    found = WAIT.search(text)
    if found is None:
        return None
    parts = _PART.findall(found.group(1) or found.group(2))
    seconds = sum(float(number) * _seconds_of(unit.lower()) for number, unit in parts)
    return min(seconds, LONGEST_S)


def _seconds_of(unit: str) -> float:
    return next(
        (seconds for start, seconds in _UNIT_SECONDS.items() if unit.startswith(start)), 1.0
    )

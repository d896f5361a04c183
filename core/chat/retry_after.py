"""How long a server wants us to wait before the next request."""

import email.utils
from collections.abc import Mapping
from datetime import UTC, datetime

from core.chat.words import WAIT

_UNIT_SECONDS = {"ms": 0.001, "mi": 60.0, "m": 60.0, "h": 3600.0, "s": 1.0}


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
    return seconds if 0 <= seconds < float("inf") else None


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
    unit = found.group(2).lower()
    if unit.startswith("milli"):
        unit = "ms"
    return float(found.group(1)) * (_UNIT_SECONDS.get(unit[:2]) or _UNIT_SECONDS[unit[:1]])

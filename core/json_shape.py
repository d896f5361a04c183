"""Reads JSON of unknown shape without trusting it: what is not of the wanted form is simply not there."""

import re
from collections.abc import Mapping, Sequence

_SURROGATE = re.compile("[\ud800-\udfff]")


def mapping_of(value: object) -> Mapping[str, object]:
    """Return `value` when it is an object, else an empty one."""
    return value if isinstance(value, dict) else {}


def items_of(value: object) -> Sequence[object]:
    """Return `value` when it is a list, the value in a list when it is an object, else nothing."""
    if isinstance(value, list):
        return value
    return [value] if isinstance(value, dict) else ()


def text_of(value: object) -> str:
    """Return `value` when it is a string, else ""."""
    return value if isinstance(value, str) else ""


def count_of(value: object) -> int | None:
    """Return a number of at least 0 as a whole one, also when it came as a string; None for anything else."""
    if isinstance(value, str):
        try:
            value = float(value)
        except ValueError:
            return None
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    if not 0 <= value < float("inf"):
        return None
    return int(value)


def whole_text(text: str) -> str:
    """Join surrogate pairs that came in two pieces; a half without its partner becomes U+FFFD.

    JSON may hold half pairs, and a stream may cut a pair in two. Neither may reach the log, which is UTF-8.
    """
    if not _SURROGATE.search(text):
        return text
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")

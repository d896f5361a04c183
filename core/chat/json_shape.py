"""Reads JSON of unknown shape without trusting it: what is not of the wanted form is simply not there."""

import math
import re
from collections.abc import Mapping, Sequence

from core.messages import JsonValue

MAX_KEPT_DEPTH = 64
"""Deepest nesting of what is kept. The journal's reader and writer give up at some hundred levels."""

MAX_COUNT = 10**12
"""No count of tokens is larger; what is makes no sense, and may be more than a float can hold."""

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
    return int(value) if 0 <= value <= MAX_COUNT else None


def whole_text(text: str) -> str:
    """Join surrogate pairs that came in two pieces; a half without its partner becomes U+FFFD.

    JSON may hold half pairs, and a stream may cut a pair in two. Neither may reach the log, which is UTF-8.
    """
    if not _SURROGATE.search(text):
        return text
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


def kept_value(value: object, depth: int = MAX_KEPT_DEPTH) -> JsonValue:
    """Return JSON from outside in a form that can be logged and sent back.

    Args:
        value: Out of `json.loads`.
        depth: Levels below which everything becomes None.

    Returns:
        The same value, but None for what is nested too deep and for numbers JSON has no word for.
    """
    if isinstance(value, str):
        return whole_text(value)
    if isinstance(value, int | float):
        return value if abs(value) < math.inf else None
    if depth <= 0:
        return None
    if isinstance(value, list):
        return [kept_value(item, depth - 1) for item in value]
    if isinstance(value, dict):
        return {whole_text(str(key)): kept_value(item, depth - 1) for key, item in value.items()}
    return None

"""When two calls, results or replies are the same: what differs by chance or by spelling alone does not count."""

import json
import re
from collections.abc import Mapping, Sequence
from typing import Final

from core.messages import JsonValue, ToolCall

MAX_RESULT_CHARS: Final = 4000
"""Results are compared by their beginning."""
EXACT_ARGUMENTS: Final = frozenset({"old_str", "new_str", "file_text"})
"""Arguments in which a blank or a quotation mark is the point of the call."""
MAX_PLAIN_CHARS: Final = 20_000
"""A longer argument counts as it is: a step must not wait for its accidents."""
SHORT_CHARS: Final = 80
_HERE: Final = re.compile(r"""(?<![^\s"'=:(])(?:\./)+(?=[^\s/])""")
_QUOTED_WORD: Final = re.compile(r'"([\w./@:+-]+)"')
_VOLATILE: Final = re.compile(
    r"""
    # a date, and a time of that day
      \d{4}-\d\d-\d\d (?: [T ] \d\d:\d\d (?: :\d\d (?: [.,]\d+ )? )? )? (?: Z | [+-]\d\d:?\d\d )?
    # a time
    | \b \d{1,2}:\d\d (?: :\d\d (?: [.,]\d+ )? )? \b
    # a duration
    | \b (?: \d+m )? \d+ (?: \.\d+ )? \s? (?: [num\u00b5\u03bc]s | s | secs? | seconds? | mins? | minutes? ) \b
    # seconds since 1970
    | \b 1[6-9]\d{8} (?: \d{3} )? (?: \.\d+ )? \b
    # a process
    | (?<= \b pid ) [\s=:\#]* \d+ | (?<= \b process ) [\s=:\#]* \d+ | (?m: ^ \[\d+\] \s+ \d+ $ )
    # a piece of code that was run
    | (?<= <python[ ] ) \d+ (?= > )
    # the mark of text from outside
    | (?<= ---[ ]page[ ] ) [0-9a-f]{6} \b | (?<= ---[ ]end[ ] ) [0-9a-f]{6} \b
    # an address in memory
    | 0x [0-9a-f]{6,}
    """,
    re.VERBOSE | re.IGNORECASE,
)


def call_key(call: ToolCall) -> str:
    """Return what makes two calls the same: all but the order of keys, blanks, quotes and the ./ of paths."""
    arguments: JsonValue = call.arguments if call.arguments is not None else call.raw_arguments
    return f"{call.name} {json.dumps(_normal(arguments), sort_keys=True, ensure_ascii=False)}"


def result_key(result: str) -> str:
    """Return what makes two results the same: all but blanks, times, durations, process ids and addresses."""
    return " ".join(_VOLATILE.sub("~", result[:MAX_RESULT_CHARS]).split())


def reply_key(text: str) -> str:
    """Return what makes two replies the same."""
    return f"reply {' '.join(text[:MAX_RESULT_CHARS].casefold().split())}"


def shown_call(call: ToolCall) -> str:
    """Return a call in short, for people."""
    values = list((call.arguments or {}).values())
    words = " ".join(value if isinstance(value, str) else json.dumps(value) for value in values)
    return cut(f"{call.name} {' '.join(words[:MAX_PLAIN_CHARS].split())}".strip())


def cut(text: str) -> str:
    """Return the beginning of a text that is too long for a row."""
    return text if len(text) <= SHORT_CHARS else text[: SHORT_CHARS - 1] + "…"


def _normal(value: JsonValue, name: str = "") -> JsonValue:
    if isinstance(value, str):
        return value if name in EXACT_ARGUMENTS else _plain(value)
    if isinstance(value, Mapping):
        return {key: _normal(item, key) for key, item in value.items()}
    if isinstance(value, Sequence):
        return [_normal(item) for item in value]
    return value


def _plain(text: str) -> str:
    """Return a text without its accidents; blanks inside a text of several lines, such as code, are none."""
    if len(text) > MAX_PLAIN_CHARS:
        return text
    text = text.strip().replace("'", '"')
    if len(text) > 1 and text[0] == text[-1] == '"':
        text = text[1:-1]
    lines = text.splitlines()
    if len(lines) > 1:
        return "\n".join(line.rstrip() for line in lines)
    return _HERE.sub("", _QUOTED_WORD.sub(r"\1", " ".join(text.split())))

"""Finds calls that a model wrote as text, for servers that do not read them out themselves.

Only a message that is nothing but calls counts, in one of the forms models are trained on. A call in prose, in quotes
or beside other text is text: it may come from a web page the model repeats. Forms with marks of their own may name a
tool that does not exist (the model is told); plain JSON counts only when every name is a tool's.
Arguments beside the name count only when the tool named takes them all and needs no others.
"""

import re

from core.chat.call_reading import RawCall
from core.chat.text_markups import may_be_python_calls, read_python_calls
from core.chat.text_templates import STARTS, read_fences, read_json, read_marked
from core.chat.tool_names import ToolNames

_PLAIN_STARTS = ("```", "{", "[{")
_LEADING = "<|python_tag|>"
_END_TOKEN = re.compile(
    r"\s*(?:<\|(?:im_end|eot_id|eom_id|end|endoftext|return|call)\|>|</s>)\s*\Z"
)
_STRAY_TAG = re.compile(r"\s*</tool_calls?>\s*\Z")


def may_be_call(text: str) -> bool:
    """Return whether a message that begins like this could turn out to be calls; then it is not shown yet."""
    start = text.lstrip()
    marks = (*STARTS, *_PLAIN_STARTS)
    if not start or may_be_python_calls(start):
        return True
    return any(start.startswith(mark) or mark.startswith(start) for mark in marks)


def find_text_calls(text: str, names: ToolNames) -> list[RawCall]:
    """Return the calls a message consists of, none when it is anything else.

    Args:
        text: The whole message, without reasoning.
        names: Tools that were offered.
    """
    message = _END_TOKEN.sub("", text.strip().removeprefix(_LEADING)).strip()
    if not message:
        return []
    marked = read_marked(message, names.takes)
    if marked:
        return marked
    bare = _STRAY_TAG.sub("", message)
    plain = (
        read_fences(message, names.takes)
        or read_json(bare, marked=False, takes=names.takes)
        or read_python_calls(message)
    )
    return plain if all(names.find(call.name) for call in plain) else []

"""Finds calls that a model wrote as text, for servers that do not read them out themselves.

Only a message that is nothing but calls counts, in one of the forms models are trained on. A call in prose, in quotes
or beside other text is text: it may come from a web page the model repeats. Forms with marks of their own may name a
tool that does not exist (the model is told); plain JSON counts only when every name is a tool's.
"""

import html
import json
import re
from collections.abc import Callable

from core.argument_repair import LOOSE_JSON, read_arguments
from core.call_reading import RawCall
from core.json_shape import mapping_of, text_of
from core.messages import JsonValue
from core.tool_names import ToolNames

_TAGS = r"tool_call|tool_calls|function_call|tools"
_TAGGED = re.compile(rf"\s*<({_TAGS})>(.*?)(?:</(?:{_TAGS})>|(?=<(?:{_TAGS})>)|\Z)", re.DOTALL)
_XML_FUNCTION = re.compile(r"\s*<function=([^>\s]+)>(.*?)(?:</function>|\Z)", re.DOTALL)
_XML_PARAMETER = re.compile(r"\s*<parameter=([^>\s]+)>\n?(.*?)\n?</parameter>", re.DOTALL)
_FENCE = re.compile(
    r"\s*```(?:json|jsonc|tool_call|tool_code)?[ \t]*\n(.*?)\n?\s*```(?=\s|\Z)", re.DOTALL
)
_BAR = r"[|\uff5c]"
_DEEPSEEK = re.compile(
    rf"\s*<{_BAR}tool\u2581call\u2581begin{_BAR}>(?:function)?\s*(?:<{_BAR}tool\u2581sep{_BAR}>)?\s*([^\s<]+)\s*"
    rf"(?:<{_BAR}tool\u2581sep{_BAR}>)?(.*?)<{_BAR}tool\u2581call\u2581end{_BAR}>",
    re.DOTALL,
)
_KIMI = re.compile(
    r"\s*<\|tool_call_begin\|>\s*([^\s<]+)\s*<\|tool_call_argument_begin\|>(.*?)<\|tool_call_end\|>",
    re.DOTALL,
)
_MISTRAL = "[TOOL_CALLS]"
_MISTRAL_CALL = re.compile(
    r"\s*(?:\[TOOL_CALLS\])?\s*([\w.:-]+)\s*(?:\[CALL_ID\]\w+)?(?:\[ARGS\])?\s*(?=\{)"
)
_SECTIONS = (
    (
        re.compile(
            rf"<{_BAR}tool\u2581calls\u2581(?:begin|end){_BAR}>|<{_BAR}end\u2581of\u2581sentence{_BAR}>"
        ),
        _DEEPSEEK,
    ),
    (re.compile(r"<\|tool_calls_section_(?:begin|end)\|>"), _KIMI),
)
_STARTS = (
    *("<tool_call", "<function_call", "<tools>", "<function=", "```", "{", "[{", "[TOOL_CALLS]"),
    *("<\uff5ctool", "<|tool", "<|python_tag|>"),
)
_CALL_KEYS = ({"name", "arguments"}, {"name", "parameters"})
_CALL_HEAD = re.compile(
    r'\{\s*"name"\s*:\s*"([^"]+)"\s*(?:,\s*"(?:arguments|parameters)"\s*:\s*|\Z)'
)


def may_be_call(text: str) -> bool:
    """Return whether a message that begins like this could turn out to be calls; then it is not shown yet."""
    start = text.lstrip()
    return not start or any(start.startswith(mark) or mark.startswith(start) for mark in _STARTS)


def find_text_calls(text: str, names: ToolNames) -> list[RawCall]:
    """Return the calls a message consists of, none when it is anything else.

    Args:
        text: The whole message, without reasoning.
        names: Tools that were offered.
    """
    message = text.strip().removeprefix("<|python_tag|>").strip()
    if not message:
        return []
    for reader in (_tagged, _sections, _mistral):
        calls = reader(message)
        if calls:
            return calls
    plain = _fenced(message) or _json_calls(message)
    return plain if all(names.find(call.name) for call in plain) else []


def _tagged(message: str) -> list[RawCall]:
    """Read <tool_call> blocks around JSON or around Qwen's XML functions, and such functions alone."""
    blocks = _all(_TAGGED, message, lambda found: _block(found.group(2)))
    if blocks is not None:
        return blocks
    return _xml_functions(message) or []


def _block(body: str) -> list[RawCall] | None:
    return _xml_functions(body) or _json_calls(body.strip()) or _broken_call(body.strip()) or None


def _xml_functions(text: str) -> list[RawCall] | None:
    return _all(_XML_FUNCTION, text, lambda found: _xml_call(found.group(1), found.group(2)))


def _xml_call(name: str, body: str) -> list[RawCall] | None:
    values = {
        found.group(1): html.unescape(found.group(2)) for found in _XML_PARAMETER.finditer(body)
    }
    rest = _XML_PARAMETER.sub("", body).strip()
    if rest:
        # A parameter without its end was cut off: an open object says so to whoever reads the arguments.
        return [_raw(name, '{"')] if rest.startswith("<parameter=") else None
    return [_raw(name, json.dumps(values, ensure_ascii=False))]


def _sections(message: str) -> list[RawCall]:
    """Read the section tokens of DeepSeek and Kimi."""
    for frame, call in _SECTIONS:
        bare = frame.sub("", message)
        calls = _all(call, bare, lambda found: [_raw(found.group(1), found.group(2).strip())])
        if calls:
            return calls
    return []


def _mistral(message: str) -> list[RawCall]:
    """Read [TOOL_CALLS] with a JSON list, or with names followed by objects."""
    if not message.startswith(_MISTRAL):
        return []
    body = message.removeprefix(_MISTRAL).strip()
    if body.startswith("["):
        return _json_calls(body) or []
    calls: list[RawCall] = []
    while body:
        found = _MISTRAL_CALL.match(body)
        end = _end_of_object(body, found.end()) if found is not None else -1
        if found is None or end < 0:
            return []
        calls.append(_raw(found.group(1), body[found.end() : end]))
        body = body[end:].strip().removesuffix("</s>")
    return calls


def _fenced(message: str) -> list[RawCall]:
    """Read a message of nothing but JSON fences."""
    return _all(_FENCE, message, lambda found: _json_calls(found.group(1).strip())) or []


def _json_calls(text: str) -> list[RawCall]:
    """Read objects of exactly a name and arguments: one, a list of them, or one after the other."""
    calls = [_object_call(item) for item in _json_items(text)]
    return [call for call in calls if call is not None] if all(calls) else []


def _json_items(text: str) -> list[JsonValue]:
    items: list[JsonValue] = []
    at = 0
    while at < len(text):
        try:
            value, at = LOOSE_JSON.raw_decode(text, at)
        except (ValueError, RecursionError):
            return list(read_arguments(text).objects) if text.startswith("{") else []
        items += value if isinstance(value, list) else [value]
        while at < len(text) and text[at] in " \t\r\n,;":
            at += 1
    return items


def _object_call(item: JsonValue) -> RawCall | None:
    fields = mapping_of(item)
    if set(fields) not in _CALL_KEYS or not text_of(fields["name"]):
        return None
    arguments = fields.get("arguments", fields.get("parameters"))
    written = arguments if isinstance(arguments, str) else json.dumps(arguments, ensure_ascii=False)
    return _raw(text_of(fields["name"]), written)


def _broken_call(body: str) -> list[RawCall]:
    """Return a call whose JSON cannot be read as it stands; the reader of arguments says what is wrong with it."""
    head = _CALL_HEAD.match(body)
    return [_raw(head.group(1), body[head.end() :] or '{"')] if head is not None else []


def _all(
    pattern: re.Pattern[str], text: str, read: Callable[[re.Match[str]], list[RawCall] | None]
) -> list[RawCall] | None:
    """Return the calls of a text made of nothing but what the pattern matches, None when there is more to it."""
    calls: list[RawCall] = []
    at = 0
    while text[at:].strip():
        found = pattern.match(text, at)
        made = read(found) if found is not None else None
        if found is None or not made:
            return None
        calls += made
        at = found.end()
    return calls or None


def _end_of_object(text: str, start: int) -> int:
    try:
        return LOOSE_JSON.raw_decode(text, start)[1]
    except (ValueError, RecursionError):
        return -1


def _raw(name: str, arguments: str) -> RawCall:
    return RawCall(name=name.strip(), arguments=arguments, source="text")

"""Forms with marks of their own in which models write calls: each reader takes a whole message or nothing."""

import html
import json
import re
from collections.abc import Callable, Collection, Iterator
from dataclasses import replace
from functools import partial

from core.chat.argument_repair import LOOSE_JSON, read_arguments
from core.chat.call_reading import RawCall
from core.chat.json_shape import items_of, mapping_of, text_of
from core.chat.text_markups import MARKUP_STARTS, bar_call_body, read_harmony, read_invokes
from core.messages import JsonValue

_TAGS = "tool_call|tool_calls|function_call|tools"
_TAG_OPEN = re.compile(rf"\s*<(?:{_TAGS})>\s*")
_TAG_CLOSE = re.compile(rf"\s*</(?:{_TAGS})>")
_TAG_END = re.compile(rf"</(?:{_TAGS})>|(?=<(?:{_TAGS})>)|\Z")
_XML_FUNCTION = re.compile(r"\s*<function=([^>\s]+)>(.*?)(?:</function>|\Z)", re.DOTALL)
_XML_PARAMETER = re.compile(r"\s*<parameter=([^>\s]+)>\n?(.*?)\n?</parameter>", re.DOTALL)
_GLM = re.compile(
    r"\s*([\w.-]+)\s*((?:<arg_key>.*?</arg_key>\s*<arg_value>.*?</arg_value>\s*)*)\Z", re.DOTALL
)
_GLM_PAIR = re.compile(r"<arg_key>(.*?)</arg_key>\s*<arg_value>(.*?)</arg_value>", re.DOTALL)
_BAR = r"[|\uff5c]"
_DEEPSEEK_FRAME = re.compile(
    rf"<{_BAR}tool\u2581calls\u2581(?:begin|end){_BAR}>|<{_BAR}end\u2581of\u2581sentence{_BAR}>"
)
_DEEPSEEK = re.compile(
    rf"\s*<{_BAR}tool\u2581call\u2581begin{_BAR}>(?:function)?\s*(?:<{_BAR}tool\u2581sep{_BAR}>)?\s*([^\s<]+)\s*"
    rf"(?:<{_BAR}tool\u2581sep{_BAR}>)?(.*?)(?:<{_BAR}tool\u2581call\u2581end{_BAR}>|\Z)",
    re.DOTALL,
)
_KIMI_FRAME = re.compile(r"<\|tool_calls_section_(?:begin|end)\|>")
_KIMI = re.compile(
    r"\s*<\|tool_call_begin\|>\s*([^\s<]+)\s*<\|tool_call_argument_begin\|>(.*?)(?:<\|tool_call_end\|>|\Z)",
    re.DOTALL,
)
_MISTRAL = "[TOOL_CALLS]"
_MISTRAL_CALL = re.compile(
    r"\s*(?:\[TOOL_CALLS\])?\s*([\w.:-]+)\s*(?:\[CALL_ID\]\w+)?(?:\[ARGS\])?\s*(?=\{)"
)
_FENCE = re.compile(
    r"\s*```(?:json|jsonc|tool_call|tool_code)?[ \t]*\n(.*?)\n?\s*```(?=\s|\Z)", re.DOTALL
)
_CALL_HEAD = re.compile(
    r'\{\s*"name"\s*:\s*"([^"]+)"\s*(?:,\s*"(?:arguments|parameters)"\s*:\s*|\Z)'
)
_BETWEEN = " \t\r\n,;"
_CALL_KEYS = {"name", "arguments"}
_KEYS = {
    **dict.fromkeys(("function", "tool", "tool_name", "action"), "name"),
    **dict.fromkeys(("parameters", "args", "action_input", "tool_input"), "arguments"),
}
"""Other words for the two keys of a call."""
_ARGUMENT_KEYS = frozenset(("arguments", "parameters"))
_ALSO_IN_MARKS = frozenset(("id", "type"))
"""Keys that may stand beside name and arguments where marks show that a call is meant."""
STARTS = (
    *("<tool_call", "<function_call", "<tools>", "<function=", "[TOOL_CALLS]"),
    *("<\uff5ctool", "<|tool", "<|python_tag|>", *MARKUP_STARTS),
)
"""How messages in these forms begin."""

Takes = Callable[[str, Collection[str]], bool]
"""Whether a tool of this name can be called with arguments of these names."""


def read_marked(message: str, takes: Takes) -> list[RawCall]:
    """Return the calls of a message in a marked form, none when it is not wholly in one.

    Args:
        message: Without blanks around it.
        takes: Decides about arguments that stand beside the name.
    """
    tagged = partial(_tagged, takes=takes)
    for reader in (tagged, _sections, _mistral, _barred, read_harmony, read_invokes):
        calls = reader(message)
        if calls:
            return calls
    return []


def read_json(text: str, *, marked: bool, takes: Takes | None = None) -> list[RawCall]:
    """Read objects of exactly a name and arguments: one, a list of them, or one after the other.

    Small models also write the arguments beside the name; in a list that is too likely to be data.

    Args:
        text: Nothing but JSON.
        marked: Marks around it say that calls are meant, so that an id may stand beside them.
        takes: Decides about arguments that stand beside the name; without it such an object is no call.
    """
    beside = None if text.startswith("[") else takes
    items = [inner for item in _json_items(text) for inner in _listed(item)]
    calls = [_object_call(item, marked=marked) or _flat_call(item, beside) for item in items]
    return [call for call in calls if call is not None] if all(calls) else []


def read_fences(message: str, takes: Takes) -> list[RawCall]:
    """Read a message of nothing but fences around JSON."""
    return _all(
        _FENCE,
        message,
        lambda found: read_json(found.group(1).strip(), marked=False, takes=takes),
    )


def _tagged(message: str, takes: Takes) -> list[RawCall]:
    """Read <tool_call> blocks, closed or not, and Qwen's functions, whose outer tag servers swallow."""
    if not _TAG_OPEN.match(message):
        return _xml_functions(_TAG_CLOSE.sub("", message))
    calls: list[RawCall] = []
    for body in _blocks(message):
        found = _block(body, takes)
        if not found:
            return []
        calls += found
    return calls


def _blocks(message: str) -> Iterator[str]:
    """Yield the bodies of all blocks; text outside of them comes as a body no reader takes."""
    at = 0
    while message[at:].strip():
        opened = _TAG_OPEN.match(message, at)
        if opened is None:
            yield message[at:]
            return
        start = opened.end()
        end = _end_of_json(message, start)
        if end < 0:
            closed = _TAG_END.search(message, start)
            end = closed.start() if closed is not None else len(message)
        yield message[start:end]
        closed = _TAG_CLOSE.match(message, end)
        at = closed.end() if closed is not None else end


def _block(body: str, takes: Takes) -> list[RawCall]:
    bare = body.strip()
    return (
        _xml_functions(bare)
        or read_json(bare, marked=True, takes=takes)
        or read_fences(bare, takes)
        or _broken_call(bare)
        or _glm_call(bare)
    )


def _xml_functions(text: str) -> list[RawCall]:
    return _all(_XML_FUNCTION, text, lambda found: _xml_call(found.group(1), found.group(2)))


def _xml_call(name: str, body: str) -> list[RawCall]:
    values = {
        found.group(1): html.unescape(found.group(2)) for found in _XML_PARAMETER.finditer(body)
    }
    rest = _XML_PARAMETER.sub("", body).strip()
    if rest.startswith("{") and not values:
        return [_raw(name, rest)]  # Llama writes the arguments as JSON
    if rest:
        # A parameter without its end was cut off: an open object says so to whoever reads the arguments.
        return [_raw(name, '{"')] if rest.startswith("<parameter=") else []
    return [_raw(name, json.dumps(values, ensure_ascii=False))]


def _glm_call(body: str) -> list[RawCall]:
    found = _GLM.match(body)
    if found is None:
        return []
    pairs = {key.strip(): value for key, value in _GLM_PAIR.findall(found.group(2))}
    return [_raw(found.group(1), json.dumps(pairs, ensure_ascii=False))]


def _broken_call(body: str) -> list[RawCall]:
    """Return a call whose JSON cannot be read as it stands; the reader of arguments says what is wrong with it."""
    head = _CALL_HEAD.match(body)
    return [_raw(head.group(1), body[head.end() :] or '{"')] if head is not None else []


def _sections(message: str) -> list[RawCall]:
    """Read the section tokens of DeepSeek and Kimi."""
    for frame, call in ((_DEEPSEEK_FRAME, _DEEPSEEK), (_KIMI_FRAME, _KIMI)):
        calls = _all(
            call,
            frame.sub("", message),
            lambda found: [_raw(found.group(1), found.group(2).strip())],
        )
        if calls:
            return calls
    return []


def _mistral(message: str) -> list[RawCall]:
    """Read [TOOL_CALLS] with a JSON list, or with names followed by objects."""
    if not message.startswith(_MISTRAL):
        return []
    body = message.removeprefix(_MISTRAL).strip()
    if body.startswith("["):
        return read_json(body, marked=True)
    calls: list[RawCall] = []
    while body:
        found = _MISTRAL_CALL.match(body)
        end = _end_of_json(body, found.end()) if found is not None else -1
        if found is None or end < 0:
            return []
        calls.append(_raw(found.group(1), body[found.end() : end]))
        body = body[end:].strip()
    return calls


def _barred(message: str) -> list[RawCall]:
    """Read the JSON that Granite and Phi write between <|tool_call|> marks."""
    return read_json(bar_call_body(message), marked=True)


def _listed(item: JsonValue) -> list[JsonValue]:
    """Return the calls of an object that holds nothing but `tool_calls`, each in its inner form."""
    fields = mapping_of(item)
    inner = list(items_of(fields["tool_calls"])) if set(fields) == {"tool_calls"} else [item]
    return [_inner_form(one) for one in inner]


def _inner_form(item: object) -> JsonValue:
    """Return what stands under `function` of an object in the form of the API itself."""
    fields = mapping_of(item)
    if "function" in fields and set(fields) <= {"function", "id", "type", "index"}:
        return dict(mapping_of(fields["function"]))  # type: ignore[arg-type]  # out of a JSON reader
    return item  # type: ignore[return-value]  # out of a JSON reader


def _json_items(text: str) -> list[JsonValue]:
    items: list[JsonValue] = []
    at = 0
    while at < len(text):
        try:
            value, at = LOOSE_JSON.raw_decode(text, at)
        except (ValueError, RecursionError):
            return list(read_arguments(text).objects) if text.startswith("{") else []
        items += value if isinstance(value, list) else [value]
        at = _skipped(text, at)
    return items


def _end_of_json(text: str, start: int) -> int:
    """Return where the JSON values that begin at `start` end, -1 when there are none."""
    if text[start : start + 1] not in ("{", "["):
        return -1
    at = end = start
    while text[at : at + 1] in ("{", "["):
        try:
            _, end = LOOSE_JSON.raw_decode(text, at)
        except (ValueError, RecursionError):
            return end if end > start else -1
        at = _skipped(text, end)
    return end


def _skipped(text: str, at: int) -> int:
    while at < len(text) and text[at] in _BETWEEN:
        at += 1
    return at


def _object_call(item: JsonValue, *, marked: bool) -> RawCall | None:
    fields = {_KEYS.get(key, key): value for key, value in mapping_of(item).items()}
    keys = set(fields) - (_ALSO_IN_MARKS if marked else frozenset())
    if keys != _CALL_KEYS or not text_of(fields["name"]):
        return None
    arguments = fields["arguments"]
    written = arguments if isinstance(arguments, str) else json.dumps(arguments, ensure_ascii=False)
    return _raw(text_of(fields["name"]), written)


def _flat_call(item: JsonValue, takes: Takes | None) -> RawCall | None:
    """Return the call of an object whose other keys, at least one, are arguments of the tool it names."""
    arguments = dict(mapping_of(item))
    name = text_of(arguments.pop("name", None))
    if takes is None or not arguments or _ARGUMENT_KEYS & arguments.keys():
        return None
    if not takes(name, arguments.keys()):
        return None
    return replace(_raw(name, json.dumps(arguments, ensure_ascii=False)), repaired=True)


def _all(
    pattern: re.Pattern[str], text: str, read: Callable[[re.Match[str]], list[RawCall]]
) -> list[RawCall]:
    """Return the calls of a text made of nothing but what the pattern matches, none when there is more to it."""
    calls: list[RawCall] = []
    at = 0
    while text[at:].strip():
        found = pattern.match(text, at)
        made = read(found) if found is not None else []
        if found is None or not made:
            return []
        calls += made
        at = found.end()
    return calls


def _raw(name: str, arguments: str) -> RawCall:
    return RawCall(name=name.strip(), arguments=arguments, source="text")

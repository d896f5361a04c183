"""Judges the bodies that were sent: one function an assertion, each returning what is wrong or ""."""

import itertools
import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

Body = Mapping[str, Any]
Check = Callable[[Body, Any, Mapping[str, Any]], bool]
_STEP = re.compile(r"([^.\[\]]+)|\[(\d+|\*)\]")
_EMPTY_CONTENT: dict[str, str | None] = {
    "null_or_absent": None,
    "empty_string": "",
    "single_space": " ",
}
_KEYED_BY_NAME = ("properties", "$defs", "definitions", "patternProperties")


def judge_request(
    body: Body | None, wanted: Mapping[str, Any], result: Mapping[str, Any]
) -> list[str]:
    """Return the assertions that do not hold for a body."""
    if body is None:
        return ["no such request was sent"]
    wrong = []
    for name, value in wanted.items():
        check = CHECKS.get(name)
        if check is None:
            wrong.append(f"unknown assertion {name}")
        elif not check(body, value, result):
            wrong.append(f"{name}: {value!r}")
    return wrong


def _found(value: Any, path: str) -> Iterator[Any]:
    """Yield what stands at a path; [*] means every item."""
    places = [value]
    for key, index in _STEP.findall(path):
        places = [inner for place in places for inner in _inside(place, key, index)]
    yield from places


def _inside(place: Any, key: str, index: str) -> list[Any]:
    if key:
        return [place[key]] if isinstance(place, Mapping) and key in place else []
    if not isinstance(place, list):
        return []
    if index == "*":
        return list(place)
    return [place[int(index)]] if int(index) < len(place) else []


def _messages(body: Body) -> Sequence[Mapping[str, Any]]:
    messages: Sequence[Mapping[str, Any]] = body["messages"]
    return messages


def _parts(message: Mapping[str, Any]) -> Sequence[Mapping[str, Any]]:
    content = message.get("content")
    return content if isinstance(content, list) else ()


def _text(message: Mapping[str, Any]) -> str:
    content = message.get("content")
    if isinstance(content, str):
        return content
    return "\n".join(part.get("text", "") for part in _parts(message))


def _has_image(message: Mapping[str, Any]) -> bool:
    return any(part.get("type") != "text" for part in _parts(message))


def _calls(body: Body) -> list[Mapping[str, Any]]:
    return [call for message in _messages(body) for call in message.get("tool_calls") or ()]


def _pairing(body: Body) -> bool:
    """Each run of tool messages answers exactly the calls of the assistant message before it."""
    messages = _messages(body)
    at = 0
    while at < len(messages):
        message = messages[at]
        if message["role"] == "tool":
            return False
        wanted = sorted(call["id"] for call in message.get("tool_calls") or ())
        at += 1
        got = []
        while wanted and at < len(messages) and messages[at]["role"] == "tool":
            got.append(messages[at]["tool_call_id"])
            at += 1
        if sorted(got) != wanted:
            return False
    return True


def _order(body: Body, wanted: Sequence[str]) -> bool:
    names = [
        f"tool:{message['tool_call_id']}" if message["role"] == "tool" else message["role"]
        for message in _messages(body)
    ]
    return any(names[at : at + len(wanted)] == list(wanted) for at in range(len(names)))


def _images_last(body: Body) -> bool:
    tools = [at for at, message in enumerate(_messages(body)) if message["role"] == "tool"]
    images = [at for at, message in enumerate(_messages(body)) if _has_image(message)]
    return bool(images) and min(images) > max(tools, default=-1)


def _neighbours(body: Body) -> list[tuple[str, str]]:
    roles = [message["role"] for message in _messages(body)]
    return list(itertools.pairwise(roles))


def _assistant_content(body: Body, wanted: str) -> bool:
    allowed = _EMPTY_CONTENT[wanted]
    turns = [message for message in _messages(body) if message.get("tool_calls")]
    return all(
        message.get("content") == allowed
        for message in turns
        if not (message.get("content") or "").strip()
    )


def _strings(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for key, item in value.items():
            yield key
            yield from _strings(item)
    elif isinstance(value, list):
        for item in value:
            yield from _strings(item)


def _encodable(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _schemas(body: Body) -> Iterator[Mapping[str, Any]]:
    for tool in body.get("tools") or ():
        yield from _inner_schemas(tool["function"]["parameters"])


def _inner_schemas(schema: Any) -> Iterator[Mapping[str, Any]]:
    if isinstance(schema, list):
        for item in schema:
            yield from _inner_schemas(item)
    if not isinstance(schema, Mapping):
        return
    yield schema
    for key, value in schema.items():
        inner = (
            list(value.values()) if key in _KEYED_BY_NAME and isinstance(value, Mapping) else value
        )
        if key not in ("enum", "const", "default", "required"):
            yield from _inner_schemas(inner)


def _one_type(body: Body) -> bool:
    return all(isinstance(schema.get("type"), str) for schema in _schemas(body) if "type" in schema)


def _names(body: Body) -> list[str]:
    return [tool["function"]["name"] for tool in body.get("tools") or ()]


def _round_trip(body: Body, wanted: Sequence[str], result: Mapping[str, Any]) -> bool:
    sent = {result["tool_names"].get(name) for name in _names(body)}
    return set(wanted) <= sent


def _json_objects(body: Body) -> bool:
    return all(isinstance(json.loads(call["function"]["arguments"]), dict) for call in _calls(body))


def _ids_match(body: Body, pattern: str) -> bool:
    ids = [call["id"] for call in _calls(body)]
    ids += [message["tool_call_id"] for message in _messages(body) if message["role"] == "tool"]
    return bool(ids) and all(re.search(pattern, call_id) for call_id in ids)


def _tool_texts(body: Body) -> list[str]:
    return [_text(message) for message in _messages(body) if message["role"] == "tool"]


CHECKS: dict[str, Check] = {
    "absent": lambda body, paths, _: not any(list(_found(body, path)) for path in paths),
    "present": lambda body, paths, _: all(any(list(_found(body, path))) for path in paths),
    "absent_or_auto": lambda body, paths, _: all(
        item == "auto" for path in paths for item in _found(body, path)
    ),
    "valid_pairing": lambda body, _, __: _pairing(body),
    "order": lambda body, wanted, _: _order(body, wanted),
    "no_role": lambda body, role, _: all(message["role"] != role for message in _messages(body)),
    "roles_exclude": lambda body, roles, _: all(
        message["role"] not in roles for message in _messages(body)
    ),
    "inserted_tool_result_contains": lambda body, words, _: any(
        words.lower() in text.lower() for text in _tool_texts(body)
    ),
    "tool_messages_text_only": lambda body, _, __: (
        not any(_has_image(message) for message in _messages(body) if message["role"] == "tool")
    ),
    "image_in_role": lambda body, role, _: (
        {message["role"] for message in _messages(body) if _has_image(message)} == {role}
    ),
    "image_user_message_after_all_tool_messages": lambda body, _, __: _images_last(body),
    "bridge_assistant_between_tool_and_user": lambda body, _, __: (
        ("tool", "user") not in _neighbours(body)
    ),
    "no_images": lambda body, _, __: not any(_has_image(message) for message in _messages(body)),
    "placeholder_text": lambda body, _, __: any(
        "image" in _text(message).lower() for message in _messages(body)
    ),
    "tool_ids_match": lambda body, pattern, _: _ids_match(body, pattern),
    "system_only_first": lambda body, _, __: (
        [at for at, message in enumerate(_messages(body)) if message["role"] == "system"] == [0]
    ),
    "system_count": lambda body, number, _: (
        sum(message["role"] == "system" for message in _messages(body)) == number
    ),
    "contains_text": lambda body, words, _: any(
        words in _text(message) for message in _messages(body)
    ),
    "alternating": lambda body, _, __: all(
        first != second or first == "tool" for first, second in _neighbours(body)
    ),
    "last_role": lambda body, role, _: _messages(body)[-1]["role"] == role,
    "assistant_content": lambda body, wanted, _: _assistant_content(body, wanted),
    "string_content_when_text_only": lambda body, _, __: all(
        _has_image(message) or not isinstance(message.get("content"), list)
        for message in _messages(body)
    ),
    "tool_content_non_empty": lambda body, _, __: all(text.strip() for text in _tool_texts(body)),
    "tool_names_match": lambda body, pattern, _: all(
        re.search(pattern, name) for name in _names(body)
    ),
    "tool_names_unique": lambda body, _, __: len(set(_names(body))) == len(_names(body)),
    "round_trip": _round_trip,
    "tools_max": lambda body, most, _: 0 < len(_names(body)) <= most,
    "schema_excludes": lambda body, keys, _: (
        not any(key in schema for schema in _schemas(body) for key in keys)
    ),
    "type_is_string_everywhere": lambda body, _, __: _one_type(body),
    "parameters": lambda body, wanted, _: body["tools"][0]["function"]["parameters"] == wanted,
    "all_arguments_are_json_objects": lambda body, _, __: _json_objects(body),
    "encodable_utf8": lambda body, _, __: all(map(_encodable, _strings(body))),
    "no_nul": lambda body, _, __: not any("\0" in text for text in _strings(body)),
    "response_format_type": lambda body, allowed, _: (
        (body.get("response_format") or {}).get("type", "absent") in allowed
    ),
    "tool_message_for": lambda body, call_id, _: any(
        message.get("tool_call_id") == call_id for message in _messages(body)
    ),
    "tool_message_contains": lambda body, words, _: any(
        words.lower() in text.lower() for text in _tool_texts(body)
    ),
}
"""By the names the case file uses."""

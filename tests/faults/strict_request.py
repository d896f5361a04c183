"""What a strict server would refuse in a chat request."""

import json
from collections.abc import Mapping
from typing import Any

from tests.conformance.wire_requests import judge_request

ALWAYS: Mapping[str, Any] = {
    "valid_pairing": True,
    "all_arguments_are_json_objects": True,
    "encodable_utf8": True,
    "no_nul": True,
    "tool_content_non_empty": True,
    "tool_messages_text_only": True,
    "string_content_when_text_only": True,
    "tool_names_unique": True,
    "tool_names_match": r"^[a-zA-Z0-9_-]{1,64}$",
    "type_is_string_everywhere": True,
    "no_role": "function",
}
"""Assertions of the wire cases that hold for every request."""
ROLES = {"system", "developer", "user", "assistant", "tool"}


def request_problems(data: bytes) -> list[str]:
    """Return what is wrong with the body of a request, nothing when it is sound."""
    try:
        body = json.loads(data)
        return [*_shape(body), *judge_request(body, ALWAYS, {})]
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        return [f"cannot be read: {type(error).__name__}: {error}"]


def _shape(body: Mapping[str, Any]) -> list[str]:
    messages = body["messages"]
    wrong = []
    if not isinstance(body["model"], str) or not body["model"]:
        wrong.append("no model")
    if unknown := {message["role"] for message in messages} - ROLES:
        wrong.append(f"roles {unknown}")
    if not messages or messages[-1]["role"] not in ("user", "tool"):
        wrong.append("the last message is not for the model to answer")
    if "tools" in body and not body["tools"]:
        wrong.append("an empty list of tools")
    if "tools" not in body and "tool_choice" in body:
        wrong.append("a choice of tools without tools")
    ids = [call["id"] for message in messages for call in message.get("tool_calls") or ()]
    if len(set(ids)) < len(ids):
        wrong.append(f"an id of a call comes twice in {ids}")
    for number, message in enumerate(messages):
        wrong += [f"message {number}: {problem}" for problem in _message(message)]
    return wrong


def _message(message: Mapping[str, Any]) -> list[str]:
    calls = message.get("tool_calls")
    wrong = []
    if calls is not None and not calls:
        wrong.append("an empty list of calls")
    if not calls and not message.get("content"):
        wrong.append("neither content nor calls")
    if any(not call["id"] or not call["function"]["name"] for call in calls or ()):
        wrong.append("a call without a name or an id")
    return wrong

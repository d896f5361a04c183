"""Judges the messages of a request as the strictest servers do; our own repair of histories has not seen them yet."""

from collections.abc import Mapping, Sequence
from typing import Any

Message = Mapping[str, Any]


def problems_of(messages: Sequence[Message]) -> list[str]:
    """Return what a strict server would refuse in the messages of a request, "[]" for nothing.

    It wants a system message only in the first place; then a user message; each call answered by exactly one result,
    the results adjacent to their calls and in their order; no result without a call; every id used once; and something
    in every message.
    """
    found: list[str] = []
    waiting: list[str] = []
    seen: set[str] = set()
    for place, message in enumerate(messages):
        role = message["role"]
        if role == "tool":
            call_id = message["tool_call_id"]
            if not waiting or waiting.pop(0) != call_id:
                found.append(f"{place}: result of {call_id} in the wrong place")
            continue
        if waiting:
            found.append(f"{place}: {role} while {', '.join(waiting)} have no result")
        waiting = [call["id"] for call in message.get("tool_calls", ())]
        found += _problems(place, message, seen)
        seen.update(waiting)
    if waiting:
        found.append(f"end: {', '.join(waiting)} have no result")
    return found + _order(messages)


def _problems(place: int, message: Message, seen: set[str]) -> list[str]:
    found = []
    calls = message.get("tool_calls", ())
    ids = [call["id"] for call in calls]
    if len(set(ids)) < len(ids) or seen & set(ids):
        found.append(f"{place}: an id of a call is used twice")
    if calls and message["role"] != "assistant":
        found.append(f"{place}: {message['role']} with calls")
    if not calls and not str(message["content"]).strip():
        found.append(f"{place}: empty {message['role']}")
    if message["role"] not in ("system", "user", "assistant"):
        found.append(f"{place}: role {message['role']}")
    return found


def _order(messages: Sequence[Message]) -> list[str]:
    roles = [message["role"] for message in messages]
    rest = roles[1:] if roles[:1] == ["system"] else roles
    found = [] if "system" not in rest else ["a system message after the first place"]
    if rest[:1] != ["user"]:
        found.append(f"the first message is of {rest[0] if rest else 'nobody'}")
    return found

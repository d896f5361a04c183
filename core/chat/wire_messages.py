"""The last step before the wire: makes any history one that every server takes.

Works on messages in the form of the chat completions API, so that it also holds for histories that were edited, cut,
or came from elsewhere: results stand straight after their calls, each call has exactly one, there is one system
message in front, pictures are where they may be, nothing is empty that may not be.
"""

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from typing import Any

from core.chat.argument_repair import plain_object
from core.chat.json_shape import mapping_of, text_of
from core.chat.tool_names import ToolNames
from core.provider import ProviderFlags

WireMessage = dict[str, Any]
"""A message as JSON; only this module and its neighbours on the way to the wire see it."""
CANCELLED = "(cancelled: this call has no result)"
NO_OUTPUT = "(no output)"
NO_PICTURE = "[image left out: this model does not take images]"
PICTURES = "Images from the tool results above:"
GO_ON = "Continue."
BRIDGE = "OK."
_ALNUM9_CHARS = "0123456789abcdefghijklmnopqrstuvwxyz"


def clean_messages(
    messages: Sequence[Mapping[str, Any]], flags: ProviderFlags, names: ToolNames
) -> list[WireMessage]:
    """Return the messages as a server takes them; the given ones are not changed.

    Args:
        messages: History in the roles system, developer, user, assistant and tool.
        flags: What the server wants.
        names: Names of tools on the wire.
    """
    system, rest = _system_first(messages, flags)
    results = _matched(rest)
    style = _TurnStyle(flags, names)
    body: list[WireMessage] = []
    for place, message in enumerate(rest):
        role = message.get("role")
        if role == "assistant":
            body += _turn(message, place, results, style)
        elif role != "tool":
            body.append(_user(message, flags))
    if not body or body[-1]["role"] == "assistant":
        body.append({"role": "user", "content": GO_ON})
    if not flags.system_role:
        body = _led(body, system)
        system = []
    if flags.merge_same_role:
        body = _merged(body)
    if flags.bridge_assistant_after_tool:
        body = _bridged(body)
    return [*system, *body]


class _TurnStyle:
    """How the messages of one assistant turn are written."""

    def __init__(self, flags: ProviderFlags, names: ToolNames) -> None:
        self.flags = flags
        self.names = names

    def call_ids(self, calls: Sequence[Mapping[str, Any]]) -> list[str]:
        """Return the ids of the calls of one message as the server wants them, each once."""
        ids: list[str] = []
        for number, call in enumerate(calls):
            call_id = text_of(call.get("id")) or f"call_{number}"
            if call_id in ids:
                call_id = f"{call_id}_{number}"
            ids.append(call_id)
        return [_alnum9(call_id) for call_id in ids] if self.flags.tool_id == "alnum9" else ids


Results = Mapping[tuple[int, int], Mapping[str, Any]]
"""Result by the place of the assistant message and the number of the call in it."""


def _system_first(
    messages: Sequence[Mapping[str, Any]], flags: ProviderFlags
) -> tuple[list[WireMessage], list[Mapping[str, Any]]]:
    """Join leading system messages; later ones become tagged user messages, so that the prefix stays the same."""
    leading: list[Mapping[str, Any]] = []
    rest: list[Mapping[str, Any]] = []
    for message in messages:
        if message.get("role") not in ("system", "developer"):
            rest.append(message)
        elif not rest:
            leading.append(message)
        else:
            rest.append({"role": "user", "content": notice(_plain(message.get("content")))})
    text = "\n\n".join(filter(None, (_plain(message.get("content")) for message in leading)))
    if not text:
        return [], rest
    wanted = {None: leading[0]["role"], True: "developer", False: "system"}
    return [{"role": wanted[flags.developer_role], "content": text}], rest


def _led(body: list[WireMessage], system: list[WireMessage]) -> list[WireMessage]:
    """Put the text of the system message at the start of the first message, one of the user."""
    if not system:
        return body
    first = body[0]
    if first["role"] != "user":
        return [{**system[0], "role": "user"}, *body]
    return [{**first, "content": _joined(system[0]["content"], first["content"])}, *body[1:]]


def notice(text: str) -> str:
    """Return a text of the program as it stands in a user message."""
    return f"<notice>\n{text}\n</notice>"


def _matched(messages: Sequence[Mapping[str, Any]]) -> Results:
    """Find the call each result answers: the first of its id in the latest message that has one without a result."""
    waiting: dict[str, list[tuple[int, int]]] = {}
    found: dict[tuple[int, int], Mapping[str, Any]] = {}
    for place, message in enumerate(messages):
        if message.get("role") == "assistant":
            fresh: dict[str, list[tuple[int, int]]] = {}
            for number, call in enumerate(message.get("tool_calls") or ()):
                fresh.setdefault(text_of(call.get("id")), []).append((place, number))
            waiting |= fresh
        elif message.get("role") == "tool":
            owners = waiting.get(text_of(message.get("tool_call_id")))
            if owners:
                found[owners.pop(0)] = message
    return found


def _turn(
    message: Mapping[str, Any], place: int, results: Results, style: _TurnStyle
) -> list[WireMessage]:
    """Return an assistant message with its results behind it, pictures after them all."""
    calls = message.get("tool_calls") or ()
    ids = style.call_ids(calls)
    head = _assistant(message, list(zip(calls, ids, strict=True)), style)
    if head is None:
        return []
    made = [head]
    pictures: list[Mapping[str, Any]] = []
    for number, call_id in enumerate(ids):
        result = results.get((place, number))
        text, images = (
            (CANCELLED, []) if result is None else _parted(result.get("content"), style.flags)
        )
        pictures += images
        made.append(
            {
                "role": "tool",
                "tool_call_id": call_id,
                "content": text if text.strip() else NO_OUTPUT,
            }
        )
    if pictures:
        made.append({"role": "user", "content": [{"type": "text", "text": PICTURES}, *pictures]})
    return made


def _assistant(
    message: Mapping[str, Any], calls: Sequence[tuple[Mapping[str, Any], str]], style: _TurnStyle
) -> WireMessage | None:
    text = _plain(message.get("content"))
    if not calls:
        # Reasoning alone is no message on the wire, and an empty one is refused.
        return {"role": "assistant", "content": text} if text.strip() else None
    made: WireMessage = {
        "role": "assistant",
        "content": text if text.strip() else style.flags.empty_content,
    }
    made["tool_calls"] = [_call(call, call_id, style) for call, call_id in calls]
    _echo(made, message, style.flags)
    return made


def _call(call: Mapping[str, Any], call_id: str, style: _TurnStyle) -> WireMessage:
    function = mapping_of(call.get("function"))
    arguments = function.get("arguments")
    if not isinstance(arguments, str):
        arguments = json.dumps(arguments or {}, ensure_ascii=False)
    made: WireMessage = {
        "id": call_id,
        "type": "function",
        "function": {
            "name": style.names.wire(text_of(function.get("name"))),
            "arguments": arguments if _is_object(arguments) else "{}",
        },
    }
    if style.flags.echo_extra_content:
        made |= {key: value for key, value in call.items() if key not in made}
    return made


def _echo(made: WireMessage, message: Mapping[str, Any], flags: ProviderFlags) -> None:
    """Send back what the server wants of an earlier turn with calls: its reasoning, its own additions."""
    reasoning = text_of(message.get("reasoning")) or text_of(message.get("reasoning_content"))
    if flags.echo_reasoning == "reasoning_content":
        # Source: Kimi's API refuses an empty string here and takes one space for a turn without reasoning.
        made["reasoning_content"] = reasoning or " "
    elif flags.echo_reasoning == "reasoning_details":
        details = message.get("reasoning_details")
        if details or reasoning:
            made["reasoning_details"] = details or [{"type": "reasoning.text", "text": reasoning}]
    if flags.echo_extra_content and message.get("extra_content"):
        made["extra_content"] = message["extra_content"]


def _user(message: Mapping[str, Any], flags: ProviderFlags) -> WireMessage:
    text, images = _parted(message.get("content"), flags)
    if images:
        return {
            "role": "user",
            "content": [*([{"type": "text", "text": text}] if text else []), *images],
        }
    return {"role": "user", "content": (text.strip() and text) or "(empty)"}


def _parted(content: object, flags: ProviderFlags) -> tuple[str, list[Mapping[str, Any]]]:
    """Part content into its text and its pictures; a model without vision is told where one was."""
    if isinstance(content, str):
        return content, []
    parts = content if isinstance(content, list | tuple) else []
    images = [part for part in parts if part.get("type") in ("image_url", "input_image", "image")]
    texts = [text_of(part.get("text")) for part in parts if part.get("type") == "text"]
    if images and not flags.vision:
        texts += [NO_PICTURE] * len(images)
        images = []
    return "\n".join(filter(None, texts)), images


def _plain(content: object) -> str:
    if isinstance(content, str):
        return content
    parts = content if isinstance(content, list | tuple) else ()
    return "\n".join(filter(None, (text_of(mapping_of(part).get("text")) for part in parts)))


def _bridged(messages: Iterable[WireMessage]) -> list[WireMessage]:
    made: list[WireMessage] = []
    for message in messages:
        if made and made[-1]["role"] == "tool" and message["role"] == "user":
            made.append({"role": "assistant", "content": BRIDGE})
        made.append(message)
    return made


def _merged(messages: Iterable[WireMessage]) -> list[WireMessage]:
    """Join neighbours of one role; a history that does not begin with the person gets a short beginning."""
    made: list[WireMessage] = []
    for message in messages:
        if not made and message["role"] == "assistant":
            made.append({"role": "user", "content": GO_ON})
        last = made[-1] if made else None
        if (
            last is None
            or last["role"] != message["role"]
            or last["role"] == "tool"
            or "tool_calls" in last
        ):
            made.append(message)
        else:
            made[-1] = {**last, **message, "content": _joined(last["content"], message["content"])}
    return made


def _joined(first: object, second: object) -> object:
    """Join two contents as one message: all text first, then the pictures, as messages are built."""
    if not isinstance(first, list) and not isinstance(second, list):
        return "\n\n".join(text for text in (text_of(first), text_of(second)) if text)
    parts = [*_as_parts(first), *_as_parts(second)]
    texts = [text_of(part.get("text")) for part in parts if part.get("type") == "text"]
    pictures = [part for part in parts if part.get("type") != "text"]
    text = "\n\n".join(filter(None, texts))
    return [{"type": "text", "text": text}, *pictures] if text else pictures


def _as_parts(content: object) -> list[Any]:
    return content if isinstance(content, list) else [{"type": "text", "text": text_of(content)}]


@lru_cache(maxsize=16384)
def _is_object(arguments: str) -> bool:
    """Return whether text is a JSON object; servers with chat templates parse the arguments of the history."""
    return plain_object(arguments) is not None


@lru_cache(maxsize=16384)
def _alnum9(call_id: str) -> str:
    if len(call_id) == 9 and call_id.isascii() and call_id.isalnum():
        return call_id
    number = int.from_bytes(
        hashlib.sha256(call_id.encode(errors="surrogatepass")).digest()[:8], "big"
    )
    digits = []
    for _ in range(9):
        number, digit = divmod(number, len(_ALNUM9_CHARS))
        digits.append(_ALNUM9_CHARS[digit])
    return "".join(digits)

"""Writes the messages of a conversation in the form of the chat completions API."""

import base64
import json
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

from core.chat.wire_messages import WireMessage, notice
from core.messages import (
    AssistantMessage,
    Image,
    Message,
    ModelRequest,
    ToolCall,
    ToolMessage,
    UserMessage,
)

MAX_IMAGE_BYTES = 20 << 20
"""Larger pictures are left out. Source: OpenAI vision guide, limit of one image."""
LOST_PICTURE = "[image left out: its file is gone or too large]"


def write_history(request: ModelRequest, *, pictures: bool = True) -> list[WireMessage]:
    """Return the messages of a request, the system message first.

    Args:
        request: What to ask.
        pictures: False: what they show is said in words, and no file is read.
    """
    system: list[WireMessage] = (
        [{"role": "system", "content": request.system}] if request.system else []
    )
    return [*system, *(_written(message, pictures=pictures) for message in request.messages)]


def _written(message: Message, *, pictures: bool) -> WireMessage:
    if isinstance(message, AssistantMessage):
        made: WireMessage = {**message.carry, "role": "assistant", "content": message.text}
        if message.reasoning:
            made["reasoning"] = message.reasoning
        if message.calls:
            made["tool_calls"] = [_call(call) for call in message.calls]
        return made
    if isinstance(message, ToolMessage):
        content = _content(message.text, message.images, pictures=pictures)
        return {"role": "tool", "tool_call_id": message.call_id, "content": content}
    content = _content(user_text(message), message.images, pictures=pictures)
    return {"role": "user", "content": content}


def user_text(message: UserMessage) -> str:
    """Return a message of the person or of the program as a model reads it."""
    return notice(message.text) if message.author == "handrail" else message.text


def _call(call: ToolCall) -> WireMessage:
    arguments = call.raw_arguments
    if call.arguments is None:
        arguments = "{}"
    elif call.repaired or not arguments:
        arguments = json.dumps(call.arguments, ensure_ascii=False)
    return {
        **call.extra,
        "id": call.id,
        "type": "function",
        "function": {"name": call.name, "arguments": arguments},
    }


def _content(text: str, images: Sequence[Image], *, pictures: bool) -> str | list[dict[str, Any]]:
    if not images:
        return text
    if not pictures:
        return "\n".join(filter(None, (text, *(image.in_words() for image in images))))
    return [{"type": "text", "text": text}, *(_picture(image) for image in images)]


def _picture(image: Image) -> dict[str, Any]:
    encoded = _encoded(image.path, image.sha256)
    if not encoded:
        return {"type": "text", "text": LOST_PICTURE}
    return {"type": "image_url", "image_url": {"url": f"data:{image.media_type};base64,{encoded}"}}


@lru_cache(maxsize=16)
def _encoded(path: str, sha256: str) -> str:
    """Return a picture as base64, "" when it cannot be read; the digest only tells files of one name apart."""
    try:
        with Path(path).open("rb") as file:
            data = file.read(MAX_IMAGE_BYTES + 1)
    except OSError:
        return ""
    return base64.b64encode(data).decode() if len(data) <= MAX_IMAGE_BYTES else ""

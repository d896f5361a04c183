"""Scripted answers of a model server: what stands on the wire, piece by piece."""

import json
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

PROOF_TASK = "Call the tool ping"
"""What the product asks of a server of one's own, once."""
EVENT_STREAM = "text/event-stream; charset=utf-8"


@dataclass(frozen=True)
class Pause:
    """Nothing is sent for a while; `math.inf` waits until the client is gone."""

    seconds: float


@dataclass(frozen=True)
class Abort:
    """The connection is reset."""


Piece = bytes | Pause | Abort


@dataclass(frozen=True, kw_only=True)
class Turn:
    """One answer."""

    pieces: Sequence[Piece] = ()
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=lambda: {"content-type": EVENT_STREAM})


@dataclass(frozen=True, kw_only=True)
class Received:
    """One request as it came."""

    method: str
    path: str
    headers: Mapping[str, str]
    body: bytes
    at_s: float
    """Monotonic seconds."""

    @property
    def json(self) -> Any:
        """The body, decoded."""
        return json.loads(self.body)

    @property
    def messages(self) -> list[dict[str, Any]]:
        """The messages of the body."""
        messages: list[dict[str, Any]] = self.json["messages"]
        return messages

    @property
    def is_proof(self) -> bool:
        """Whether it only asks for a call, to see whether the server makes one."""
        return PROOF_TASK.encode() in self.body


Script = Turn | Callable[[Received], Turn]
"""A turn, or what makes one of the request."""


def chunk(delta: Mapping[str, Any] | None = None, finish: str | None = None, **more: Any) -> bytes:
    """One chunk of the stream; `more` are further top-level fields."""
    choice = {"index": 0, "delta": dict(delta or {}), "finish_reason": finish}
    body = {
        "id": "c1",
        "object": "chat.completion.chunk",
        "created": 1,
        "model": "scripted",
        "choices": [choice],
    }
    return event({**body, **more})


def event(data: Any) -> bytes:
    """One event; a string is sent as it is."""
    return b"data: " + (data if isinstance(data, str) else json.dumps(data)).encode() + b"\n\n"


DONE = event("[DONE]")


def usage(input_tokens: int, output_tokens: int) -> bytes:
    """The chunk with token counts."""
    counts = {
        "prompt_tokens": input_tokens,
        "completion_tokens": output_tokens,
        "total_tokens": input_tokens + output_tokens,
    }
    return chunk(choices=[], usage=counts)


def text(answer: str, *, pieces: int = 3, pause_s: float = 0.0, reasoning: str = "") -> Script:
    """An answer of text in so many pieces."""

    def make(request: Received) -> Turn:
        stream: list[Piece] = [chunk({"role": "assistant", "content": ""})]
        if reasoning:
            stream.append(chunk({"reasoning_content": reasoning}))
        for part in _cut(answer, pieces):
            stream += [Pause(pause_s)] if pause_s else []
            stream.append(chunk({"content": part}))
        return _ended(request, stream, "stop", len(answer))

    return make


def calls(
    *wanted: tuple[str, Mapping[str, Any]], text: str = "", ids: Sequence[str] = ()
) -> Script:
    """An answer that calls tools by name and arguments; ids are made up unless given."""

    def make(request: Received) -> Turn:
        stream: list[Piece] = [chunk({"role": "assistant", "content": text or None})]
        turn = sum(message["role"] == "assistant" for message in request.messages)
        for index, (name, arguments) in enumerate(wanted):
            call_id = ids[index] if ids else f"call_{turn}_{index}"
            written = json.dumps(arguments)
            head = {
                "index": index,
                "id": call_id,
                "type": "function",
                "function": {"name": name, "arguments": ""},
            }
            stream.append(chunk({"tool_calls": [head]}))
            for part in _cut(written, 2):
                stream.append(
                    chunk({"tool_calls": [{"index": index, "function": {"arguments": part}}]})
                )
        return _ended(request, stream, "tool_calls", 20)

    return make


def http_error(
    status: int, message: str = "", *, headers: Mapping[str, str] | None = None, **more: Any
) -> Turn:
    """A refusal; `more` are further fields of the error object, such as code."""
    body = json.dumps({"error": {"message": message, **more}}).encode()
    return Turn(
        status=status,
        headers={"content-type": "application/json", **(headers or {})},
        pieces=[body],
    )


def raw(*pieces: Piece, status: int = 200, content_type: str = EVENT_STREAM) -> Turn:
    """Exactly these bytes, pauses and resets."""
    return Turn(status=status, headers={"content-type": content_type}, pieces=pieces)


def hang(answer: str = "") -> Turn:
    """The beginning of an answer, then silence until the client goes."""
    start = [chunk({"role": "assistant", "content": answer})] if answer else []
    return Turn(pieces=[*start, Pause(math.inf)])


def turns_from_json(items: Sequence[Mapping[str, Any]]) -> list[Script]:
    """Read a script: objects with text, calls ([[name, arguments], ...]), or status and error."""
    return [_from_json(item) for item in items]


def _from_json(item: Mapping[str, Any]) -> Script:
    if "status" in item:
        return http_error(item["status"], item.get("error", ""))
    if "calls" in item:
        return calls(
            *((name, arguments) for name, arguments in item["calls"]), text=item.get("text", "")
        )
    if "hang" in item:
        return hang(item["hang"])
    return text(
        item["text"],
        pieces=item.get("pieces", 3),
        pause_s=item.get("pause_s", 0.0),
        reasoning=item.get("reasoning", ""),
    )


def _cut(whole: str, pieces: int) -> list[str]:
    size = max(1, math.ceil(len(whole) / max(1, pieces)))
    return [whole[at : at + size] for at in range(0, len(whole), size)]


def _ended(request: Received, stream: list[Piece], finish: str, output_chars: int) -> Turn:
    end = [chunk(finish=finish), usage(len(request.body) // 4, max(1, output_chars // 4)), DONE]
    return Turn(pieces=[*stream, *end])

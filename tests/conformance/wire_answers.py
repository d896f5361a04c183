"""Makes the scripted answers of a case into what a model server sends."""

import base64
import email.utils
import gzip
import json
import time
from collections.abc import Mapping, Sequence
from typing import Any

from tests.support.model_turns import (
    DONE,
    EVENT_STREAM,
    Abort,
    Pause,
    Piece,
    Received,
    Script,
    Turn,
    chunk,
)

HI = Turn(pieces=[chunk({"role": "assistant", "content": "Hi"}, "stop"), DONE])
"""The answer of a case without any."""
DATE = "*http_date_plus_2s*"


def script_of(case: Mapping[str, Any]) -> list[Script]:
    """Return the turns of a case, one a request; the last one repeats."""
    return [_turn_maker(answer) for answer in case.get("responses") or ()] or [HI]


def _turn_maker(answer: Mapping[str, Any]) -> Script:
    def make(_: Received) -> Turn:
        headers = {name: _header(value) for name, value in (answer.get("headers") or {}).items()}
        headers.setdefault(
            "content-type", EVENT_STREAM if answer["kind"] == "sse" else "application/json"
        )
        return Turn(status=answer.get("status", 200), headers=headers, pieces=_pieces(answer))

    return make


def _header(value: str) -> str:
    return email.utils.formatdate(time.time() + 2, usegmt=True) if value == DATE else value


def _pieces(answer: Mapping[str, Any]) -> Sequence[Piece]:
    if answer["kind"] == "json":
        return [json.dumps(answer["body"]).encode()]
    if answer["kind"] == "raw":
        return [answer["body"].encode()]
    pieces = [
        _event(event, ascii_only=answer.get("ensure_ascii", True))
        for event in answer.get("events") or ()
    ]
    if answer.get("gzip"):
        return [gzip.compress(b"".join(piece for piece in pieces if isinstance(piece, bytes)))]
    if answer.get("split_bytes"):
        return _split(pieces, answer["split_bytes"])
    return pieces


def _split(pieces: Sequence[Piece], size: int) -> list[Piece]:
    made: list[Piece] = []
    for piece in pieces:
        if not isinstance(piece, bytes):
            made.append(piece)
            continue
        for at in range(0, len(piece), size):
            made += (piece[at : at + size], Pause(0.001))
    return made


def _event(event: Mapping[str, Any], *, ascii_only: bool) -> Piece:
    if "sleep_ms" in event:
        return Pause(event["sleep_ms"] / 1000)
    if "abort" in event:
        return Abort()
    if "raw" in event:
        return str(event["raw"]).encode()
    if "raw_b64" in event:
        return base64.b64decode(event["raw_b64"])
    data = event["data"] if "data" in event else _expanded(event["chunk"])
    written = data if isinstance(data, str) else json.dumps(data, ensure_ascii=ascii_only)
    return b"data: " + written.encode() + b"\n\n"


def _expanded(short: Mapping[str, Any]) -> dict[str, Any]:
    choice = {
        "index": short.get("index", 0),
        "delta": short.get("delta", {}),
        "finish_reason": short.get("finish"),
    }
    choices = [] if short.get("choices") == [] else [choice]
    made = {
        "id": "c1",
        "object": "chat.completion.chunk",
        "created": 1,
        "model": "m",
        "choices": choices,
    }
    return {**made, "usage": short["usage"]} if "usage" in short else made

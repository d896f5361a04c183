"""Time to decode one chunk of a streamed answer: bytes to an event on the screen's side."""

import json
import time
from collections.abc import Callable

from bench.figure import Figure
from core.chat.call_reading import CallIds
from core.chat.sse import SseDecoder
from core.chat.tool_names import ToolNames
from core.chat.wire import ReadingRules, ReplyReader

CHUNKS = 4000
RUNS = 5
TARGET_US = 40.0


def measure() -> Figure:
    """Measure all of it for a long answer and, beside it, JSON decoding alone."""
    chunks = [_chunk(f" word{number}") for number in range(CHUNKS)]
    lines = [chunk.removeprefix(b"data: ").strip() for chunk in chunks]
    value_us = _fastest_us(lambda: _read(chunks))
    baseline_us = _fastest_us(lambda: [json.loads(line) for line in lines])
    return Figure(
        value=value_us, unit="us", baseline=baseline_us, target=TARGET_US, ok=value_us <= TARGET_US
    )


def _chunk(words: str) -> bytes:
    choice = {"index": 0, "delta": {"content": words}, "logprobs": None, "finish_reason": None}
    body = {
        "id": "chatcmpl-0123456789abcdef",
        "object": "chat.completion.chunk",
        "created": 1764500000,
        "model": "model-name",
        "system_fingerprint": "fp_0123456789",
        "choices": [choice],
    }
    return b"data: " + json.dumps(body).encode() + b"\n\n"


def _read(chunks: list[bytes]) -> None:
    decoder, reader = SseDecoder(), ReplyReader(ToolNames(()), CallIds(), ReadingRules())
    for data in chunks:
        for event in decoder.feed(data):
            reader.feed(json.loads(event.data))


def _fastest_us(work: Callable[[], object]) -> float:
    times = []
    for _ in range(RUNS):
        started_s = time.perf_counter()
        work()
        times.append(time.perf_counter() - started_s)
    return min(times) / CHUNKS * 1_000_000

"""Time to build a request of 1,000 messages: the event loop waits for it at every step."""

import json
import time
from collections.abc import Callable

from bench.figure import Figure
from core.chat.request_body import BodyBuilder
from core.messages import (
    AssistantMessage,
    JsonObject,
    Message,
    ModelRequest,
    ToolCall,
    ToolMessage,
    ToolSpec,
    UserMessage,
)
from core.provider import ProviderFlags

MESSAGES = 1000
RUNS = 15
TARGET_MS = 10.0


def long_request() -> ModelRequest:
    """Return a request like that of a long run: a task, then calls with their results."""
    messages: list[Message] = [UserMessage(text="Sort the files of this folder by what they hold.")]
    for number in range((MESSAGES - 1) // 2):
        raw = json.dumps({"command": f"head -c 400 notes/{number}.txt && wc -l notes/{number}.txt"})
        call = ToolCall(
            id=f"call_{number}", name="shell", arguments=json.loads(raw), raw_arguments=raw
        )
        messages.append(AssistantMessage(text=f"Looking at file {number}.", calls=(call,)))
        output = f"line {number} of the notes, with some words in it\n" * 10
        messages.append(ToolMessage(call_id=call.id, name="shell", text=output))
    schema: JsonObject = {
        "type": "object",
        "properties": {"command": {"type": "string"}},
        "required": ["command"],
    }
    tools = tuple(
        ToolSpec(name=f"tool_{n}", description="Does something.", parameters=schema)
        for n in range(15)
    )
    return ModelRequest(
        system="You are a careful assistant.\n" * 80, messages=tuple(messages), tools=tools
    )


def measure() -> Figure:
    """Measure the whole request and, beside it, JSON encoding alone."""
    request, flags = long_request(), ProviderFlags()
    builder = BodyBuilder("model", {})
    body = json.loads(builder.build(request, flags, {}).data)
    value_ms = _fastest_ms(lambda: builder.build(request, flags, {}))
    baseline_ms = _fastest_ms(
        lambda: json.dumps(body, ensure_ascii=False, separators=(",", ":")).encode()
    )
    builder_bytes = len(builder.build(request, flags, {}).data)
    return Figure(
        value=value_ms,
        unit="ms",
        baseline=baseline_ms,
        target=TARGET_MS,
        ok=value_ms <= TARGET_MS,
        parts={"size_kib": builder_bytes / 1024, "sdk_transform_ms": _sdk_ms(body)},
    )


def _sdk_ms(body: dict[str, object]) -> float:
    """Return what the SDK's own conversion of the same request takes, which ours goes without."""
    from openai._utils import maybe_transform
    from openai.types.chat.completion_create_params import CompletionCreateParamsStreaming

    return _fastest_ms(lambda: maybe_transform(body, CompletionCreateParamsStreaming), runs=2)


def _fastest_ms(work: Callable[[], object], runs: int = RUNS) -> float:
    times = []
    for _ in range(runs):
        started_s = time.perf_counter()
        work()
        times.append(time.perf_counter() - started_s)
    return min(times) * 1000

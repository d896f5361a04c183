"""A model that says what it is told (`core.ports.Model`)."""

import asyncio
import json
from collections.abc import AsyncGenerator, Callable, Mapping

from core.events import TextStreamed
from core.messages import JsonValue, ModelReply, ModelRequest, ToolCall, Usage
from core.model_piece import ModelPiece


def text(words: str) -> ModelReply:
    """A reply that ends the run."""
    return ModelReply(outcome="message", text=words, usage=Usage(input_tokens=10, output_tokens=5))


def call(name: str, arguments: Mapping[str, JsonValue], words: str = "") -> ModelReply:
    """A reply with one call; its id is given by the model."""
    one = ToolCall(id="", name=name, arguments=arguments, raw_arguments=json.dumps(arguments))
    return ModelReply(
        outcome="tool_calls",
        text=words,
        calls=(one,),
        usage=Usage(input_tokens=10, output_tokens=5),
    )


class ScriptedModel:
    """Gives its replies in order; an exception among them is raised, a callable is called with the request."""

    name = "scripted"
    window = 0

    def __init__(
        self, *replies: ModelReply | Exception | Callable[[ModelRequest], ModelReply]
    ) -> None:
        self.replies = list(replies)
        self.requests: list[ModelRequest] = []

    def body(self, request: ModelRequest) -> bytes:
        return b"{}"

    async def reply(self, request: ModelRequest) -> AsyncGenerator[ModelPiece, None]:
        self.requests.append(request)
        await asyncio.sleep(0)
        reply = self.replies.pop(0)
        if isinstance(reply, Exception):
            raise reply
        if not isinstance(reply, ModelReply):
            reply = reply(request)
        if reply.text:
            yield TextStreamed(text=reply.text)
        yield self._with_ids(reply)

    def cost_usd(self, usage: Usage) -> float | None:
        return 0.001

    def _with_ids(self, reply: ModelReply) -> ModelReply:
        number = len(self.requests)
        calls = tuple(
            ToolCall(
                id=one.id or f"call-{number}-{index}",
                name=one.name,
                arguments=one.arguments,
                raw_arguments=one.raw_arguments,
            )
            for index, one in enumerate(reply.calls)
        )
        return ModelReply(
            outcome=reply.outcome,
            text=reply.text,
            calls=calls,
            usage=reply.usage,
            reasoning=reply.reasoning,
        )


class HangingModel(ScriptedModel):
    """Never answers; sets `asked` when it is asked."""

    def __init__(self) -> None:
        super().__init__()
        self.asked = asyncio.Event()

    async def reply(self, request: ModelRequest) -> AsyncGenerator[ModelPiece, None]:
        self.asked.set()
        yield TextStreamed(text="hm")
        await asyncio.Event().wait()

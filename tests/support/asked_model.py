"""Models over the real SDK and real HTTP, and how tests ask them."""

from dataclasses import replace
from typing import Any

from core.chat.options import ModelOptions, model_options
from core.errors import (
    ModelError,
)
from core.events import ModelRequested
from core.messages import (
    ModelReply,
    ModelRequest,
    UserMessage,
)
from core.model_openai import OpenAIModel
from core.ports import Model
from tests.support.fake_clock import InstantClock
from tests.support.reply_reading import TOOLS

REQUEST = ModelRequest(system="You are Handrail.", messages=(UserMessage(text="go"),), tools=TOOLS)
KEY = "sk-test-0123456789"


def options(base_url: str, **changes: Any) -> ModelOptions:
    return replace(model_options("scripted", base_url, api_key=KEY, provider="generic"), **changes)


def made(base_url: str, clock: InstantClock | None = None, **changes: Any) -> OpenAIModel:
    return OpenAIModel(options(base_url, **changes), clock=clock or InstantClock())


async def pieces_of(model: Model, request: ModelRequest = REQUEST) -> list[Any]:
    """All pieces but the notes of what was sent."""
    return [piece async for piece in model.reply(request) if not isinstance(piece, ModelRequested)]


async def shown_and_raised(
    model: OpenAIModel, kind: type[ModelError]
) -> tuple[list[Any], ModelError]:
    """The pieces that came before the error, and the error."""
    pieces: list[Any] = []
    try:
        async for piece in model.reply(REQUEST):
            pieces += [] if isinstance(piece, ModelRequested) else [piece]
    except kind as error:
        return pieces, error
    raise AssertionError("no error was raised")


async def reply_of(model: Model, request: ModelRequest = REQUEST) -> ModelReply:
    last = (await pieces_of(model, request))[-1]
    assert isinstance(last, ModelReply)
    return last

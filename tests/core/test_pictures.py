"""Pictures on their way to every provider: seen, or in words, and never where a server refuses them."""

import json
from pathlib import Path
from typing import Any

import pytest

from core.chat.options import model_options
from core.chat.request_body import BodyBuilder
from core.chat.wire_messages import NO_PICTURE
from core.events import ModelAdapted, ModelRequested
from core.messages import (
    AssistantMessage,
    Image,
    ModelReply,
    ModelRequest,
    ToolCall,
    ToolMessage,
    UserMessage,
)
from core.model_events import ModelDowngraded
from core.provider import built_in_providers
from tests.conformance.wire_requests import judge_request
from tests.support.asked_model import made, pieces_of
from tests.support.model_server import ModelServer, http_error, text
from tests.support.model_turns import DONE, chunk, raw, usage

PAGE = "url: https://shop.example/a?x=1\ntitle: Shop\n[1] button Buy"
MODELS = {
    "openai": "gpt-5",
    "dashscope": "qwen3-coder-plus",
    "kimi": "kimi-k2-0905",
    "glm": "glm-4.6",
}
"""A model with flags of its own, for providers that have some."""


def request_with(*pictures: Image) -> ModelRequest:
    """A person's picture, then two calls of one turn with a picture each, and a message behind them."""
    calls = tuple(
        ToolCall(id=f"call-{n}", name="look", arguments={}, raw_arguments="{}") for n in "ab"
    )
    return ModelRequest(
        system="s",
        messages=(
            UserMessage(text="see this", images=pictures[:1]),
            AssistantMessage(calls=calls),
            ToolMessage(call_id="call-a", name="look", text=PAGE, images=pictures[1:2]),
            ToolMessage(call_id="call-b", name="look", text="", images=pictures[2:]),
            UserMessage(text="go on"),
        ),
    )


@pytest.fixture
def request_now(tmp_path: Path) -> ModelRequest:
    pictures = []
    for name in ("chart.png", "page.jpg", "other.jpg"):
        (tmp_path / name).write_bytes(b"picture")
        shows = "the page described here, at https://shop.example/a" if name == "page.jpg" else ""
        pictures.append(
            Image(path=str(tmp_path / name), width=640, height=480, sha256=name, shows=shows)
        )
    return request_with(*pictures)


@pytest.mark.parametrize("model", ["any-model", "own"])
@pytest.mark.parametrize("name", sorted(built_in_providers()))
def test_every_provider_gets_pictures_where_it_takes_them_or_words_for_them(
    name: str, model: str, request_now: ModelRequest
) -> None:
    chosen = MODELS.get(name, "m") if model == "own" else "any-model"
    flags = model_options(chosen, provider=name).provider.flags
    body = BodyBuilder("m").build(request_now, flags, {})
    wire: dict[str, Any] = json.loads(body.data)
    wanted: dict[str, Any] = {
        "valid_pairing": True,
        "tool_messages_text_only": True,
        "tool_content_non_empty": True,
        "string_content_when_text_only": True,
        "contains_text": "title: Shop",
    }
    if flags.vision:
        wanted |= {"image_in_role": "user"}
    else:
        wanted |= {"no_images": True, "placeholder_text": True}
    if flags.bridge_assistant_after_tool:
        wanted |= {"bridge_assistant_between_tool_and_user": True}
    if flags.tool_id == "alnum9":
        wanted |= {"tool_ids_match": "^[a-zA-Z0-9]{9}$"}
    if flags.merge_same_role:
        wanted |= {"alternating": True}
    assert judge_request(wire, wanted, {}) == []
    assert body.pictures_in_words is not flags.vision
    assert body.has_images is flags.vision


def test_words_stand_in_for_pictures_and_the_page_stays_as_it_was(
    request_now: ModelRequest,
) -> None:
    flags = model_options("m", provider="deepseek").provider.flags
    wire = json.loads(BodyBuilder("m").build(request_now, flags, {}).data)
    user, _, page, other, _ = wire["messages"][1:]
    assert user["content"] == (
        "see this\n[image not shown, this model sees none: chart.png, 640x480 pixels]"
    )
    assert page["content"].startswith(PAGE)
    assert page["content"].endswith(
        "the page described here, at https://shop.example/a, 640x480 pixels]"
    )
    assert "other.jpg" in other["content"]


def test_no_file_is_read_for_a_model_that_sees_nothing() -> None:
    flags = model_options("m", provider="deepseek").provider.flags
    gone = Image(path="/nowhere/shot.png", width=10, height=20)
    wire = BodyBuilder("m").build(request_with(gone), flags, {}).data.decode()
    assert "shot.png, 10x20 pixels" in wire
    assert "left out" not in wire


async def test_the_downgrade_is_told_once_a_session(request_now: ModelRequest) -> None:
    async with ModelServer([text("a"), text("b")]) as server:
        flags = model_options("m", provider="deepseek").provider
        model = made(server.base_url, provider=flags)
        first = await pieces_of(model, request_now)
        second = await pieces_of(model, request_now)
        await model.close()
    told = [piece for piece in (*first, *second) if isinstance(piece, ModelDowngraded)]
    assert told == [ModelDowngraded(model="scripted", what="pictures")]
    assert told[0].line == "scripted sees no pictures: pages are described in words."


async def test_a_server_that_refuses_pictures_gets_words_at_once_and_from_then_on(
    request_now: ModelRequest,
) -> None:
    refusal = http_error(400, "m is not a multimodal model")
    async with ModelServer([refusal, text("a"), text("b")]) as server:
        model = made(server.base_url)
        pieces = await pieces_of(model, request_now)
        await pieces_of(model, request_now)
        await model.close()
    kinds = [type(piece) for piece in pieces if not isinstance(piece, ModelRequested)][:2]
    assert kinds == [ModelAdapted, ModelDowngraded]
    first, second, third = (request.body.decode() for request in server.requests)
    assert "image_url" in first
    assert "image_url" not in second + third
    assert NO_PICTURE not in second
    assert "chart.png, 640x480 pixels" in second


async def test_pictures_that_are_not_sent_do_not_make_a_server_look_like_it_dropped_something(
    tmp_path: Path,
) -> None:
    pictures = tuple(
        Image(path=str(tmp_path / f"{n}.png"), width=1280, height=800) for n in range(3)
    )
    request = ModelRequest(system="s", messages=(UserMessage(text="word " * 300, images=pictures),))
    turn = raw(chunk({"role": "assistant", "content": "ok"}, "stop"), usage(400, 1), DONE)
    async with ModelServer([turn]) as server:
        model = made(server.base_url, provider=model_options("m", provider="deepseek").provider)
        reply = (await pieces_of(model, request))[-1]
        await model.close()
    assert isinstance(reply, ModelReply)
    assert reply.warnings == ()

import socket
from dataclasses import replace
from typing import Any

import pytest

from core.chat.learned_flags import MemoryFlagStore
from core.chat.options import model_options
from core.errors import (
    ConfigError,
    ContextTooLongError,
    ModelError,
    ModelOverloadedError,
    ModelRefusedError,
    ModelUnreachableError,
)
from core.events import ModelAdapted, ModelRetried
from core.messages import (
    UserMessage,
)
from core.model_openai import OpenAIModel
from core.provider import named_provider
from tests.support.asked_model import (
    KEY,
    REQUEST,
    made,
    options,
    pieces_of,
    reply_of,
    shown_and_raised,
)
from tests.support.fake_clock import InstantClock
from tests.support.model_server import ModelServer, http_error, raw, text
from tests.support.model_turns import DONE, chunk, event, usage


async def test_a_refused_key_is_tried_once_and_never_shown() -> None:
    async with ModelServer([http_error(401, f"Incorrect API key provided: {KEY}")]) as server:
        model = made(server.base_url, key_env="MY_KEY")
        with pytest.raises(ModelRefusedError) as caught:
            await reply_of(model)
        await model.close()
    assert len(server.requests) == 1
    assert caught.value.code == "auth"
    assert KEY not in caught.value.line()
    assert "MY_KEY" in caught.value.hint
    assert str(caught.value) == caught.value.message


async def test_an_unknown_model_is_answered_with_those_the_server_has() -> None:
    async with ModelServer(
        [http_error(404, "model 'scripted' not found")], models=["qwen3:4b", "llama3"]
    ) as server:
        model = made(server.base_url)
        with pytest.raises(ModelRefusedError) as caught:
            await reply_of(model)
        await model.close()
    assert caught.value.code == "model_not_found"
    assert "qwen3:4b, llama3" in caught.value.hint


async def test_throttling_is_waited_out_and_told() -> None:
    clock = InstantClock()
    refusal = http_error(429, "slow down", headers={"retry-after": "7"})
    async with ModelServer([refusal, http_error(503, "loading"), text("Hi")]) as server:
        model = made(server.base_url, clock)
        pieces = await pieces_of(model)
        await model.close()
    retries = [piece for piece in pieces if isinstance(piece, ModelRetried)]
    assert [(retry.attempt, retry.error.code) for retry in retries] == [
        (1, "rate_limited"),
        (2, "server"),
    ]
    assert retries[0].wait_s == clock.slept_s[0] == 7.0
    assert pieces[-1].text == "Hi"


async def test_a_server_that_stays_broken_is_given_up_after_four_requests() -> None:
    async with ModelServer([http_error(500, "boom")], repeat_last=True) as server:
        model = made(server.base_url)
        with pytest.raises(ModelOverloadedError) as caught:
            await reply_of(model)
        await model.close()
    assert len(server.requests) == 4
    assert len(caught.value.line()) <= 300


async def test_a_refused_parameter_is_learned_told_and_remembered() -> None:
    refusal = http_error(
        400, "Unsupported value: 'temperature' does not support 0.2 with this model."
    )
    store = MemoryFlagStore()
    async with ModelServer([refusal, text("Hi"), text("again")]) as server:
        changed = options(server.base_url, parameters={"temperature": 0.2})
        model = OpenAIModel(changed, learned=store)
        pieces = await pieces_of(model)
        await model.close()
        later = OpenAIModel(changed, learned=store)
        await reply_of(later)
        await later.close()
    assert pieces[0] == ModelAdapted(flag="temperature=omit")
    assert ["temperature" in request.json for request in server.requests] == [True, False, False]


async def test_the_same_refusal_twice_is_final() -> None:
    refusal = http_error(400, "Unsupported parameter: 'stream_options'")
    async with ModelServer([refusal], repeat_last=True) as server:
        model = made(server.base_url)
        with pytest.raises(ModelRefusedError):
            await reply_of(model)
        await model.close()
    assert len(server.requests) == 2


async def test_the_window_of_an_overflow_is_learned() -> None:
    refusal = http_error(
        400, "the request exceeds the available context size (2048 tokens)", n_ctx=2048
    )
    async with ModelServer([refusal]) as server:
        model = made(server.base_url, window=32768)
        with pytest.raises(ContextTooLongError):
            await reply_of(model)
        await model.close()
    assert model.window == 2048
    assert len(server.requests) == 1


async def test_a_server_that_drops_part_of_the_prompt_is_noticed() -> None:
    turn = raw(chunk({"content": "What?"}, "stop"), usage(2051, 6), DONE)
    async with ModelServer([turn]) as server:
        model = made(server.base_url)
        request = replace(REQUEST, messages=(UserMessage(text="several words here " * 5000),))
        reply = await reply_of(model, request)
        await model.close()
    assert "prompt_truncated_by_server" in reply.warnings
    assert "2051" in reply.message
    assert model.window == 2051


async def test_the_estimate_learns_from_what_the_server_counts() -> None:
    words = "several plain words in a row " * 200
    request = replace(REQUEST, messages=(UserMessage(text=words),), tools=())
    model = made("http://127.0.0.1:9/v1")
    plain = model.counter.request(request)
    reported = round(plain * 1.4)
    async with ModelServer(
        [raw(chunk({"content": "a"}, "stop"), usage(reported, 1), DONE)], repeat_last=True
    ) as server:
        model = made(server.base_url)
        for _ in range(12):
            await reply_of(model, request)
        await model.close()
    assert model.counter.request(request) == pytest.approx(reported, rel=0.05)


async def test_an_error_before_any_content_is_tried_again_and_one_that_is_final_is_not() -> None:
    passing = raw(event({"error": {"message": "Provider returned error", "code": 524}}), DONE)
    final = raw(event({"error": {"message": "No auth credentials found", "code": 401}}), DONE)
    async with ModelServer([passing, final]) as server:
        model = made(server.base_url)
        with pytest.raises(ModelRefusedError) as caught:
            await reply_of(model)
        await model.close()
    assert caught.value.code == "auth"
    assert len(server.requests) == 2


@pytest.mark.parametrize(
    "turn",
    [
        raw(b"<html><title>Sign in</title></html>", content_type="text/html"),
        raw(b"It works!", content_type="text/plain"),
        raw(b'{"detail": "hello"}', content_type="application/json"),
        http_error(404, "Not Found"),
    ],
)
async def test_what_answers_and_is_no_model_is_a_wrong_address(turn: Any) -> None:
    async with ModelServer([turn]) as server:
        model = made(server.base_url)
        with pytest.raises(ModelUnreachableError) as caught:
            await reply_of(model)
        await model.close()
    assert caught.value.code == "bad_endpoint"
    assert "base_url" in caught.value.line()
    assert len(server.requests) == 1


async def test_nobody_there_is_tried_three_times_and_told_in_one_line() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        clock = InstantClock()
        base_url = f"http://127.0.0.1:{taken.getsockname()[1]}/v1"
        model = made(base_url, clock, provider=named_provider("ollama"))
        pieces, error = await shown_and_raised(model, ModelUnreachableError)
        await model.close()
    assert [piece.attempt for piece in pieces] == [1, 2]
    assert sum(clock.slept_s) < 10
    assert "refused" in error.message
    assert base_url in error.message
    assert "ollama serve" in error.hint


async def test_a_password_in_the_address_is_not_told() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        place = f"127.0.0.1:{taken.getsockname()[1]}/v1"
        model = made(f"http://me:pass@w%C3%B6rd@{place}", InstantClock())
        _, error = await shown_and_raised(model, ModelUnreachableError)
        await model.close()
    assert f"http://{place}" in error.message
    assert "pass" not in error.line()
    assert "rd@" not in error.line()


async def test_a_host_that_does_not_exist_is_told_as_such() -> None:
    model = made("http://no-such-host.invalid/v1")
    with pytest.raises(ModelUnreachableError) as caught:
        await reply_of(model)
    await model.close()
    assert "no host" in caught.value.message


BAD_ADDRESSES = [
    "ftp://127.0.0.1/v1",
    "http://",
    "nonsense",
    "http://127.0.0.1:99999/v1",
    "http://[::1/v1",
]


@pytest.mark.parametrize("base_url", BAD_ADDRESSES)
def test_an_address_that_makes_no_sense_is_refused_when_it_is_set(base_url: str) -> None:
    with pytest.raises(ConfigError, match="base_url"):
        model_options("m", base_url)


@pytest.mark.parametrize("base_url", BAD_ADDRESSES)
async def test_an_address_that_makes_no_sense_is_one_clear_error(base_url: str) -> None:
    model = OpenAIModel(
        replace(options("http://127.0.0.1:9/v1"), base_url=base_url), clock=InstantClock()
    )
    with pytest.raises(ModelError):
        await reply_of(model)
    await model.close()


@pytest.mark.parametrize("key", ["sk-\u5317\u4eac", "sk-a\nb"])
async def test_a_key_with_impossible_characters_is_refused_before_anything_is_sent(
    key: str,
) -> None:
    model = made("http://127.0.0.1:9/v1", api_key=key)
    with pytest.raises(ModelRefusedError) as caught:
        await reply_of(model)
    assert caught.value.code == "auth"

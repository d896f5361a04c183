import asyncio
import gc
import hashlib
import json
import math
import socket
import subprocess
import sys
import time
from collections.abc import AsyncIterator
from contextlib import aclosing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from core.errors import (
    ConfigError,
    ContextTooLongError,
    ModelError,
    ModelOverloadedError,
    ModelRefusedError,
    ModelStreamError,
    ModelUnreachableError,
)
from core.events import ModelAdapted, ModelRequested, ModelRetried, TextStreamed
from core.learned_flags import MemoryFlagStore
from core.messages import (
    AssistantMessage,
    Image,
    ModelReply,
    ModelRequest,
    ToolMessage,
    UserMessage,
)
from core.model_connection import TimeOuts
from core.model_openai import OpenAIModel
from core.model_options import ModelOptions, model_options
from core.ports import Model
from core.provider import named_provider
from tests.support.fake_clock import InstantClock
from tests.support.model_server import ModelServer, calls, hang, http_error, raw, text
from tests.support.model_turns import DONE, Abort, Pause, Piece, chunk, event, usage
from tests.support.reply_reading import TOOLS

REQUEST = ModelRequest(system="You are Handrail.", messages=(UserMessage(text="go"),), tools=TOOLS)
KEEPALIVES: list[Piece] = [b": ping\n\n", Pause(0.1)] * 40
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


@pytest.fixture
async def closing() -> AsyncIterator[list[OpenAIModel]]:
    opened: list[OpenAIModel] = []
    yield opened
    for model in opened:
        await model.close()


async def test_a_reply_streams_and_comes_whole() -> None:
    async with ModelServer([text("Hello there", reasoning="hm")]) as server:
        model = made(server.base_url)
        pieces = await pieces_of(model)
        await model.close()
    assert [piece.kind for piece in pieces[:-1]] == ["reasoning_streamed", *["text_streamed"] * 3]
    assert "".join(piece.text for piece in pieces[1:-1]) == pieces[-1].text == "Hello there"


async def test_what_is_sent_is_to_the_byte_what_was_shown(tmp_path: Path) -> None:
    file = tmp_path / "shot.png"
    file.write_bytes(b"\x89PNG")
    picture = Image(path=str(file), sha256="a")
    async with ModelServer(
        [calls(("read_file", {"path": "\u5317\u4eac \udce4\0"})), text("done")]
    ) as server:
        model = made(server.base_url)
        before = model.body(REQUEST)
        reply = await reply_of(model)
        longer = replace(
            REQUEST,
            messages=(
                *REQUEST.messages,
                AssistantMessage(text=reply.text, calls=reply.calls),
                ToolMessage(
                    call_id=reply.calls[0].id, name="read_file", text="\ud83d", images=(picture,)
                ),
            ),
        )
        shown = model.body(longer)
        await reply_of(model, longer)
        await model.close()
    assert [request.body for request in server.requests] == [before, shown]
    assert json.loads(shown)["messages"][-1]["content"][1]["type"] == "image_url"


async def test_each_try_says_what_it_sends() -> None:
    async with ModelServer([http_error(503, "loading"), text("Hi")]) as server:
        model = made(server.base_url)
        sent = [piece async for piece in model.reply(REQUEST) if isinstance(piece, ModelRequested)]
        await model.close()
    digests = [hashlib.sha256(request.body).hexdigest() for request in server.requests]
    assert [piece.digest for piece in sent] == digests
    assert [piece.size_bytes for piece in sent] == [
        len(request.body) for request in server.requests
    ]


async def test_one_connection_serves_all_steps() -> None:
    async with ModelServer([text("a"), text("b"), text("c")]) as server:
        model = made(server.base_url)
        for _ in range(3):
            await reply_of(model)
        await model.close()
    assert server.connections == 1


async def test_only_the_key_it_was_given_goes_out(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("OPENAI_API_KEY", "OPENAI_ORG_ID", "OPENAI_PROJECT_ID", "OPENAI_ADMIN_KEY"):
        monkeypatch.setenv(name, "sk-from-the-environment")
    lines = "X-Leak: sk-from-the-environment\nauthorization: Bearer sk-from-the-environment"
    monkeypatch.setenv("OPENAI_CUSTOM_HEADERS", lines)
    monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:9/v1")
    async with ModelServer([text("a"), text("b")]) as server:
        for key in (KEY, ""):
            model = made(server.base_url, api_key=key)
            await reply_of(model)
            await model.close()
    sent = [request.headers["authorization"] for request in server.requests]
    assert sent == [f"Bearer {KEY}", "Bearer none"]
    for request in server.requests:
        assert "from-the-environment" not in str(request.headers)
        assert "x-leak" not in request.headers
        assert not {"openai-organization", "openai-project"} & set(request.headers)


async def test_a_proxy_of_the_environment_is_not_used_for_this_machine(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    async with ModelServer([text("a")]) as server:
        model = made(server.base_url)
        assert (await reply_of(model)).text == "a"
        await model.close()


async def test_the_organisation_goes_out_when_one_is_set() -> None:
    async with ModelServer([text("a")]) as server:
        model = made(server.base_url, organization="org-1", project="proj-1")
        await reply_of(model)
        await model.close()
    assert server.requests[0].headers["openai-organization"] == "org-1"
    assert server.requests[0].headers["openai-project"] == "proj-1"


@pytest.mark.parametrize("turn", [hang("Hel"), hang(), raw(Pause(math.inf))])
async def test_cancelling_closes_the_connection_at_once(turn: Any) -> None:
    async with ModelServer([turn]) as server, asyncio.timeout(20):
        model = made(server.base_url)
        task = asyncio.create_task(reply_of(model))
        await server.answering.wait()
        asked_s = time.monotonic()
        task.cancel()
        await server.gone.wait()
        assert time.monotonic() - asked_s < 0.5
        with pytest.raises(asyncio.CancelledError):
            await task
        await model.close()


async def test_closing_the_iterator_closes_the_connection() -> None:
    async with ModelServer([hang("Hel")]) as server:
        model = made(server.base_url)
        async with aclosing(model.reply(REQUEST)) as pieces:
            while not isinstance(await anext(pieces), TextStreamed):
                pass
        async with asyncio.timeout(10):
            await server.gone.wait()
        await model.close()


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


@pytest.mark.parametrize(
    ("turn", "code"),
    [
        (raw(chunk({"content": "Hel"}), Abort()), "disconnect"),
        (raw(chunk({"content": "Hel"})), "incomplete_stream"),
        (
            raw(
                chunk({"content": "Hel"}), b'data: {"choices": [{"del\n\n', chunk({}, "stop"), DONE
            ),
            "corrupt_stream",
        ),
        (
            raw(chunk({"content": "Hel"}), event({"error": {"message": "provider died"}})),
            "upstream_mid_stream",
        ),
        (raw(chunk({"content": "Hel"}), b"event: error\ndata: it died\n\n"), "upstream_mid_stream"),
        (raw(chunk({"content": "Hel"}), Pause(math.inf)), "idle_timeout"),
        (raw(chunk({"content": "Hel"}), *KEEPALIVES), "idle_timeout"),
        (raw(chunk({"content": "Hel"}), b'data: {"choi'), "incomplete_stream"),
    ],
)
async def test_an_answer_that_breaks_off_runs_nothing_and_is_not_asked_for_again_here(
    turn: Any, code: str
) -> None:
    async with ModelServer([turn], repeat_last=True) as server:
        model = made(server.base_url, time_outs=TimeOuts(first_token_s=5, idle_s=0.5))
        pieces, error = await shown_and_raised(model, ModelStreamError)
        await model.close()
    assert error.code == code
    assert "".join(piece.text for piece in pieces) == "Hel"
    assert len(server.requests) == 1


@pytest.mark.parametrize("turn", [hang(), raw(Pause(math.inf))])
async def test_a_server_that_says_nothing_is_not_asked_twice(turn: Any) -> None:
    async with ModelServer([turn], repeat_last=True) as server:
        model = made(server.base_url, time_outs=TimeOuts(first_token_s=0.3))
        with pytest.raises(ModelStreamError) as caught:
            await reply_of(model)
        await model.close()
    assert caught.value.code == "idle_timeout"
    assert len(server.requests) == 1


async def test_a_slow_first_token_has_its_own_limit() -> None:
    turn = raw(Pause(0.3), b": ping\n\n", Pause(0.3), chunk({"content": "Hi"}, "stop"), DONE)
    async with ModelServer([turn]) as server:
        model = made(server.base_url, time_outs=TimeOuts(first_token_s=10, idle_s=0.2))
        assert (await reply_of(model)).text == "Hi"
        await model.close()


@pytest.mark.parametrize("ending", [Abort(), Pause(math.inf)])
async def test_a_complete_answer_counts_even_when_the_stream_ends_badly(ending: Any) -> None:
    turn = raw(chunk({"content": "Hi"}), chunk({}, "stop"), usage(9, 1), ending)
    async with ModelServer([turn]) as server:
        model = made(
            server.base_url, time_outs=TimeOuts(first_token_s=5, idle_s=5, after_finish_s=0.2)
        )
        reply = await reply_of(model)
        await model.close()
    assert (reply.text, reply.usage.input_tokens) == ("Hi", 9)


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


async def test_an_overflow_told_inside_the_stream_is_an_overflow() -> None:
    turn = raw(
        chunk({"role": "assistant", "content": ""}),
        b'event: error\ndata: {"error": {"message": "the request exceeds the available context size"}}\n\n',
    )
    async with ModelServer([turn]) as server:
        model = made(server.base_url)
        with pytest.raises(ContextTooLongError):
            await reply_of(model)
        await model.close()


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


async def test_an_answer_that_is_one_json_document_is_read() -> None:
    message = {"role": "assistant", "content": "Hi"}
    body = {
        "choices": [{"index": 0, "message": message, "finish_reason": "stop"}],
        "usage": {"prompt_tokens": 5},
    }
    async with ModelServer(
        [raw(json.dumps(body).encode(), content_type="application/json")]
    ) as server:
        model = made(server.base_url)
        reply = await reply_of(model)
        await model.close()
    assert (reply.text, reply.usage.input_tokens) == ("Hi", 5)


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


async def test_ids_of_calls_are_used_once_also_across_replies() -> None:
    same = calls(("read_file", {"path": "a"}), ids=["call_0"])
    async with ModelServer([same, same]) as server:
        model = made(server.base_url)
        first, second = (await reply_of(model)).calls[0], (await reply_of(model)).calls[0]
        await model.close()
    assert first.id == "call_0"
    assert second.id not in ("", "call_0")


async def test_an_id_of_the_history_is_not_used_again() -> None:
    async with ModelServer(
        [calls(("read_file", {"path": "a"}), ids=["call_0"])], repeat_last=True
    ) as server:
        first = await reply_of(model := made(server.base_url))
        await model.close()
        resumed = made(server.base_url)
        request = replace(
            REQUEST, messages=(*REQUEST.messages, AssistantMessage(calls=first.calls))
        )
        second = await reply_of(resumed, request)
        await resumed.close()
    assert second.calls[0].id != first.calls[0].id


async def test_the_price_of_a_request_is_told_where_it_is_known() -> None:
    reply = ModelReply(outcome="message")
    assert (
        OpenAIModel(model_options("nobody-knows", "https://models.example.org/v1")).cost_usd(
            reply.usage
        )
        is None
    )
    assert (
        OpenAIModel(model_options("any", "http://127.0.0.1:11434/v1")).cost_usd(reply.usage) == 0.0
    )


def test_importing_the_model_does_not_import_the_sdk() -> None:
    names = "('openai', 'httpx2', 'anyio')"
    script = f"import sys, core.model_openai, core.probe; print([n for n in {names} if n in sys.modules])"
    root = Path(__file__).resolve().parents[2]
    found = subprocess.run(
        [sys.executable, "-c", script], cwd=root, capture_output=True, text=True, check=True
    )
    assert found.stdout.strip() == "[]"


async def test_nothing_of_a_model_stays_open_when_it_is_closed() -> None:
    async with ModelServer([text("a")]) as server:
        model = made(server.base_url)
        await reply_of(model)
        await model.close()
        await model.close()
    gc.collect()
    assert [task for task in asyncio.all_tasks() if task is not asyncio.current_task()] == []

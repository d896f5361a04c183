import asyncio
import gc
import hashlib
import json
import math
import subprocess
import sys
import time
from contextlib import aclosing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from core.chat.learned_flags import MemoryFlagStore
from core.chat.options import model_options
from core.events import ModelRequested, TextStreamed
from core.messages import (
    AssistantMessage,
    Image,
    ModelReply,
    ToolMessage,
)
from core.model_openai import OpenAIModel
from tests.support.asked_model import (
    KEY,
    REQUEST,
    made,
    pieces_of,
    reply_of,
)
from tests.support.model_server import ModelServer, calls, hang, http_error, raw, text
from tests.support.model_turns import DONE, Pause, chunk


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


async def test_a_server_that_counts_beyond_all_measure_is_not_believed() -> None:
    counts = {"prompt_tokens": 10**400, "completion_tokens": 10**400}
    answer = raw(chunk({"content": "Hi"}), chunk(finish="stop"), chunk(usage=counts), DONE)
    async with ModelServer([answer]) as server:
        model = made(server.base_url)
        reply = await reply_of(model)
        await model.close()
    assert reply.usage.estimated
    assert 0 < reply.usage.input_tokens < 10_000


async def test_a_window_in_the_store_that_is_no_number_is_none() -> None:
    store = MemoryFlagStore()
    options = model_options("m", "http://127.0.0.1:9/v1")
    for size in ("\u00b2", "9" * 5000, "-5", "x"):
        store.save(options.base_url, "m", "context_window", size)
        assert OpenAIModel(options, learned=store).window == 0

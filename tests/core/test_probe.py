import asyncio
import json
import time
from dataclasses import replace
from typing import Any

import pytest

from core.chat.options import model_options
from core.errors import ModelRefusedError, ModelStreamError, ModelUnreachableError
from core.probe import find_local_servers, look_at_model, probe_model
from core.small_http import fetch_json
from tests.support.model_server import ModelServer, hang, http_error, raw, text
from tests.support.model_turns import DONE, Pause, chunk


def options(server: ModelServer, provider: str = "generic", model: str = "scripted") -> Any:
    return model_options(model, server.base_url, provider=provider)


async def test_a_model_that_answers_is_described() -> None:
    async with ModelServer([text("ok")], models=["other", "scripted"]) as server:
        facts = await probe_model(options(server))
    assert facts.models == ("other", "scripted")
    assert facts.listed is True
    assert facts.tools is True
    assert facts.window == 0
    assert "context_window" in facts.window_line
    assert len(server.requests) == 1
    assert server.requests[0].json["max_tokens"] == 16
    assert server.requests[0].json["tools"]


async def test_a_model_without_tools_is_usable_and_says_so() -> None:
    async with ModelServer([http_error(400, "scripted does not support tools")]) as server:
        facts = await probe_model(options(server))
    assert facts.tools is False
    assert "no tools" in facts.tools_line


async def test_a_server_without_a_list_of_models_can_be_used() -> None:
    async with ModelServer(
        [text("ok")], routes={"/v1/models": http_error(404, "no")}, models=[]
    ) as server:
        facts = await probe_model(options(server))
    assert facts.listed is None


@pytest.mark.parametrize(
    ("turn", "code"),
    [(http_error(401, "bad key"), "auth"), (http_error(404, "model not found"), "model_not_found")],
)
async def test_a_model_that_cannot_be_used_is_one_clear_error(turn: Any, code: str) -> None:
    async with ModelServer([turn]) as server:
        with pytest.raises(ModelRefusedError) as caught:
            await probe_model(options(server))
    assert caught.value.code == code
    assert caught.value.hint


async def test_nobody_there_is_told_with_what_to_do() -> None:
    with pytest.raises(ModelUnreachableError) as caught:
        await probe_model(model_options("m", "http://127.0.0.1:9/v1", provider="ollama"))
    assert "ollama serve" in caught.value.hint


async def test_ollama_tells_abilities_and_the_window_it_was_given() -> None:
    shown = {
        "capabilities": ["completion", "vision"],
        "parameters": "stop x\nnum_ctx    8192",
        "model_info": {"q.context_length": 40960},
    }
    async with ModelServer(
        [text("ok")], models=["scripted:latest"], routes={"/api/show": shown}
    ) as server:
        facts = await probe_model(options(server, "ollama"))
    asked = next(request for request in server.others if request.path == "/api/show")
    assert asked.json == {"model": "scripted"}
    assert (facts.listed, facts.tools, facts.vision, facts.window) == (True, False, True, 8192)


async def test_llama_cpp_tells_its_window() -> None:
    props = {"default_generation_settings": {"n_ctx": 4096}, "modalities": {"vision": False}}
    async with ModelServer([text("ok")], routes={"/props": props}) as server:
        facts = await probe_model(options(server, "llama_cpp"))
    assert (facts.window, facts.vision) == (4096, False)
    assert facts.window_line == "4,096 tokens"


async def test_lm_studio_tells_what_is_loaded() -> None:
    document = {
        "type": "vlm",
        "loaded_context_length": 8192,
        "max_context_length": 131072,
        "capabilities": ["tool_use"],
    }
    async with ModelServer([text("ok")], routes={"/api/v0/models/scripted": document}) as server:
        facts = await probe_model(options(server, "lmstudio"))
    assert (facts.window, facts.vision, facts.tools) == (8192, True, True)


async def test_the_list_of_models_may_hold_the_window() -> None:
    listed = {"data": [{"id": "scripted", "max_model_len": 16384}]}
    turn = raw(json.dumps(listed).encode(), content_type="application/json")
    async with ModelServer([text("ok")], routes={"/v1/models": turn}) as server:
        facts = await probe_model(options(server, "vllm"))
    assert facts.window == 16384


async def test_looking_for_local_servers_takes_no_time_and_does_not_fail() -> None:
    started_s = time.perf_counter()
    found = await find_local_servers()
    assert time.perf_counter() - started_s < 2
    assert isinstance(found, list)


@pytest.mark.parametrize(
    "turn",
    [
        raw(b"<html></html>", content_type="text/html"),
        raw(b'{"data": "x"', content_type="application/json"),
        http_error(500, "boom"),
    ],
)
async def test_what_is_no_json_document_is_nothing(turn: Any) -> None:
    async with ModelServer([], routes={"/x": turn}) as server:
        root = server.base_url.removesuffix("/v1")
        assert await fetch_json(f"{root}/x") is None


@pytest.mark.parametrize(
    "url", ["https://127.0.0.1:9/x", "http://127.0.0.1:9/x", "nonsense", "http://127.0.0.1:99999/x"]
)
async def test_what_cannot_be_reached_is_nothing(url: str) -> None:
    assert await fetch_json(url) is None


async def test_a_server_that_hangs_costs_only_its_time_limit() -> None:
    async with ModelServer([], routes={"/x": hang()}) as server:
        root = server.base_url.removesuffix("/v1")
        started_s = time.perf_counter()
        assert await fetch_json(f"{root}/x", timeout_s=0.2) is None
        assert time.perf_counter() - started_s < 2


async def test_a_slow_model_is_usable_and_called_slow() -> None:
    turn = raw(Pause(0.2), chunk({"role": "assistant", "content": "ok"}, "stop"), DONE)
    async with ModelServer([turn]) as server:
        facts = await probe_model(options(server, "llama_cpp"), slow_s=0.1)
    assert facts.first_word_s is not None
    assert facts.first_word_s >= 0.2
    assert "answers slowly" in facts.speed_line


async def test_a_local_model_that_says_nothing_in_time_is_slow_and_not_unusable() -> None:
    async with ModelServer([hang()]) as server:
        patient = options(server, "ollama")
        limits = replace(patient.time_outs, first_token_s=0.2)
        facts = await probe_model(replace(patient, time_outs=limits))
        await asyncio.wait_for(server.gone.wait(), 5)
    assert facts.first_word_s is None
    assert "no word within 0.2 s" in facts.speed_line


async def test_a_model_elsewhere_that_says_nothing_in_time_cannot_be_used() -> None:
    async with ModelServer([hang()]) as server:
        elsewhere = options(server, "openai")
        limits = replace(elsewhere.time_outs, first_token_s=0.2)
        with pytest.raises(ModelStreamError):
            await probe_model(replace(elsewhere, time_outs=limits))


async def test_a_probe_that_is_cancelled_lets_the_server_go() -> None:
    async with ModelServer([hang("o")]) as server:
        probing = asyncio.create_task(probe_model(options(server, "ollama")))
        await server.answering.wait()
        probing.cancel()
        with pytest.raises(asyncio.CancelledError):
            await probing
        await asyncio.wait_for(server.gone.wait(), 5)


async def test_to_look_at_a_model_asks_it_nothing() -> None:
    async with ModelServer([], models=["scripted"]) as server:
        facts = await look_at_model(options(server))
        assert server.requests == []
    assert facts.listed is True
    assert facts.first_word_s is None


async def test_the_one_question_is_small() -> None:
    async with ModelServer([text("ok")]) as server:
        await probe_model(options(server))
    assert len(server.requests) == 1
    assert len(server.requests[0].body) < 600

"""What the first screen says of the model, on real servers."""

from typing import Any

import pytest

from core.config_layers import Override
from core.config_load import Configuration, load_configuration
from core.errors import ModelRefusedError
from tests.support.model_server import ModelServer, hang, http_error, text
from tui.findings_model import find_model


def configured(base_url: str, **more: Any) -> Configuration:
    values = {"model.name": "scripted", "model.base_url": base_url, **more}
    return load_configuration(
        [Override(key=key, value=value, option="--test") for key, value in values.items()]
    )


async def test_a_model_is_looked_at_without_asking_it_anything() -> None:
    props = {"default_generation_settings": {"n_ctx": 4096}, "modalities": {"vision": False}}
    async with ModelServer([], routes={"/props": props}) as server:
        found = await find_model(configured(server.base_url, **{"model.provider": "llama_cpp"}))
        assert server.requests == []
    assert found.usable
    assert found.finding.state == "ok"
    assert "window 4,096 tokens" in found.finding.text
    assert "sees no pictures" in found.finding.text


async def test_a_server_that_is_not_there_names_the_command_that_starts_it() -> None:
    found = await find_model(configured("http://127.0.0.1:9/v1", **{"model.provider": "ollama"}))
    assert not found.usable
    assert found.finding.state == "missing"
    assert "ollama serve" in found.finding.fix


async def test_a_refused_key_names_the_variable() -> None:
    async with ModelServer([], routes={"/v1/models": http_error(401, "no")}) as server:
        found = await find_model(configured(server.base_url))
    assert not found.usable
    assert "OPENAI_API_KEY" in found.finding.fix


async def test_a_model_the_server_does_not_list_is_told_with_those_it_lists() -> None:
    async with ModelServer([], models=["qwen", "llama"]) as server:
        found = await find_model(configured(server.base_url))
    assert found.finding.state == "partly"
    assert "qwen, llama" in found.finding.text


async def test_a_server_that_takes_its_time_is_not_called_missing() -> None:
    async with ModelServer([], routes={"/v1/models": hang()}) as server:
        found = await find_model(configured(server.base_url))
    assert found.usable
    assert found.finding.state == "partly"


async def test_a_key_asks_the_model_one_question() -> None:
    async with ModelServer([text("ok"), http_error(401, "bad key")]) as server:
        found = await find_model(configured(server.base_url))
        assert found.finding.key == "p"
        assert found.finding.act is not None
        assert "scripted answers" in await found.finding.act()
        with pytest.raises(ModelRefusedError):
            await found.finding.act()
        assert len(server.requests) == 2


async def test_a_task_can_be_given_where_another_model_stands_in() -> None:
    found = await find_model(configured("http://127.0.0.1:9/v1", **{"model.fallback": ["second"]}))
    assert found.usable
    assert found.finding.state == "partly"
    assert "second stands in" in found.finding.fix


async def test_a_model_without_its_key_is_not_asked_where_another_stands_in() -> None:
    stand_in = [{"name": "second", "base_url": "http://127.0.0.1:9/v1"}]
    configuration = configured("https://api.mistral.ai/v1", **{"model.fallback": stand_in})
    found = await find_model(configuration)
    assert found.usable
    assert "MISTRAL_API_KEY" in found.finding.fix

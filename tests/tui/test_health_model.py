"""What `doctor` says of the model, on real servers."""

import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from core.config_layers import Override
from core.config_load import Configuration, load_configuration
from tests.support.model_server import ModelServerThread, http_error, text
from tests.support.model_turns import Script
from tui.health import HealthRow, Patience, run_checks
from tui.health_model import MODEL, forget_learned, model_rows
from tui.model_choice import learned_store


def configured(base_url: str, **more: Any) -> Configuration:
    values = {"model.name": "scripted", "model.base_url": base_url, **more}
    return load_configuration(
        [Override(key=key, value=value, option="--test") for key, value in values.items()]
    )


@contextmanager
def served(*turns: Script, **options: Any) -> Iterator[ModelServerThread]:
    with ModelServerThread(list(turns), **options) as server:
        yield server


def by_name(rows: Sequence[HealthRow]) -> dict[str, HealthRow]:
    return {row.name: row for row in rows}


def test_each_thing_a_run_needs_of_a_model_has_a_row() -> None:
    with served(text("ok")) as server:
        rows = by_name(model_rows(configured(server.base_url)))
    wanted = ["model server", "key", "model", "tool calls", "context window", "vision", "price"]
    assert list(rows) == wanted
    assert all(rows[name].ok for name in wanted[:4])
    assert "handrail config set model.context_window" in rows["context window"].hint


def test_a_server_that_is_not_there_is_the_row_that_fails() -> None:
    rows = by_name(model_rows(configured("http://127.0.0.1:9/v1", **{"model.provider": "ollama"})))
    assert list(rows) == ["model server", "model"]
    assert not rows["model server"].ok
    assert "ollama serve" in rows["model server"].hint


def test_a_refused_key_is_told_before_anything_is_asked_of_the_model() -> None:
    with served(text("x"), routes={"/v1/models": http_error(401, "bad key")}) as server:
        rows = by_name(model_rows(configured(server.base_url)))
        assert server.requests == []
    assert rows["model server"].ok
    assert not rows["key"].ok
    assert "OPENAI_API_KEY" in rows["key"].hint
    assert not rows["model"].ok


def test_an_unknown_model_is_answered_with_those_there_are() -> None:
    with served(http_error(404, "model 'scripted' not found"), models=["other"]) as server:
        rows = by_name(model_rows(configured(server.base_url)))
    assert rows["key"].ok
    assert not rows["model"].ok
    assert "other" in rows["model"].hint


def test_what_was_learned_is_listed_and_forgotten_for_this_model_only() -> None:
    with served(text("ok"), text("ok")) as server:
        configuration = configured(server.base_url)
        store = learned_store()
        store.save(server.base_url, "scripted", "temperature", "omit")
        store.save(server.base_url, "scripted", "context_window", "8192")
        store.save(server.base_url, "another", "vision", "false")
        row = by_name(model_rows(configuration))["learned"]
        assert row.ok
        assert "no temperature is sent" in row.detail
        assert "8,192 tokens" in row.detail
        assert "2 learned flags" in forget_learned(configuration)
        assert "learned" not in by_name(model_rows(configuration))
        assert store.load(server.base_url, "another") == {"vision": "false"}


def test_a_model_that_works_step_by_step_is_not_said_to_take_tools() -> None:
    with served(text("ok"), text("ok")) as server:
        by_hand = configured(server.base_url, **{"model.tools": "steps"})
        assert "step by step" in by_name(model_rows(by_hand))["tool calls"].detail
        learned_store().save(server.base_url, "scripted", "tool_protocol", "steps")
        row = by_name(model_rows(configured(server.base_url)))["tool calls"]
    assert not row.ok
    assert "step by step" in row.detail


def test_models_that_stand_in_are_named_and_not_asked() -> None:
    with served(text("ok")) as server:
        others = ["second", {"name": "third", "base_url": "https://api.mistral.ai/v1"}]
        rows = model_rows(configured(server.base_url, **{"model.fallback": others}))
        assert len(server.requests) == 1
    second, third = (row for row in rows if row.name == "stand-in")
    assert second.ok
    assert server.base_url in second.detail
    assert not third.ok
    assert "MISTRAL_API_KEY" in third.hint


def test_a_run_would_work_where_a_model_that_stands_in_answers() -> None:
    with served(text("ok")) as server:
        others = [{"name": "second", "base_url": server.base_url}]
        configuration = configured("http://127.0.0.1:9/v1", **{"model.fallback": others})
        rows = model_rows(configuration)
    assert not by_name(rows)["model"].ok
    assert all(row.ok for row in rows if row.needed)
    assert by_name(rows)["stand-in"].detail.endswith("answers")
    gone = model_rows(configuration)
    assert [row.name for row in gone if row.needed and not row.ok] == ["model"]


def test_a_model_without_its_key_is_not_asked_and_another_may_stand_in() -> None:
    with served(text("ok")) as server:
        others = [{"name": "second", "base_url": server.base_url}]
        configuration = configured("https://api.mistral.ai/v1", **{"model.fallback": others})
        rows = model_rows(configuration)
    assert "MISTRAL_API_KEY" in by_name(rows)["key"].hint
    assert all(row.ok for row in rows if row.needed)
    assert by_name(rows)["stand-in"].ok


def test_a_check_that_may_take_longer_is_waited_for() -> None:
    gate = threading.Event()

    def slow() -> list[HealthRow]:
        gate.wait(20)
        return [HealthRow(name="slow", ok=True, detail="came")]

    def last() -> list[HealthRow]:
        gate.set()
        return []

    rows = run_checks({"slow": slow, "late": last}, Patience(deadline_s=0.0, longer={"slow": 20.0}))
    assert rows[0].detail == "came"
    assert not rows[1].ok


def test_without_a_model_the_row_says_how_to_name_one() -> None:
    row = by_name(model_rows(load_configuration([])))[MODEL]
    assert not row.ok
    assert "HANDRAIL_MODEL" in row.hint

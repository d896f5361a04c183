import importlib
import json
import urllib.request

import pytest

from bench import __main__ as bench
from bench import core_step, core_step_growth
from bench.core_session import walk
from bench.figure import Figure
from bench.model_process import running_model
from bench.step import _bare_loop, _gaps_ms

KEYS = {"value", "unit", "baseline", "ratio", "target", "ok"}


def test_an_unknown_figure_is_exit_code_2(capsys: pytest.CaptureFixture[str]) -> None:
    assert bench.main(["--only", "start,speed"]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert "speed" in err
    assert "start, step, idle" in err


def test_every_figure_has_a_module_that_measures_it() -> None:
    for name in bench.FIGURES:
        assert callable(importlib.import_module(f"bench.{name}").measure), name


def test_the_figures_of_core_are_measured_on_whole_runs_with_a_target_and_named_parts() -> None:
    step = core_step.measure(steps=20, synced_steps=5)
    assert step.ok == (step.value <= step.target)
    assert set(step.parts) >= {"median_ms", "with_syncs_ms", "syncs_ms", "syncs_per_step"}
    assert step.value > 0
    assert step.parts["syncs_per_step"] >= 1, "each risky call is on the disk before it runs"
    growth = core_step_growth.measure(early=6, late=20, around=4)
    assert growth.ok == (growth.value <= 1.3)
    assert {"step_6_ms", "step_20_ms"} < set(growth.parts)


def test_a_walk_takes_each_step_once() -> None:
    taken = walk(7)
    assert len(taken.steps_ms) == 7
    assert all(step_ms > 0 for step_ms in taken.steps_ms)


def test_a_figure_is_printed_as_json_with_its_keys(capsys: pytest.CaptureFixture[str]) -> None:
    bench.main(["--json", "--only", "sse_decoding"])
    figures = json.loads(capsys.readouterr().out)
    assert list(figures) == ["sse_decoding"]
    assert set(figures["sse_decoding"]) >= KEYS


def test_a_ratio_is_value_by_baseline() -> None:
    figure = Figure(value=3.0, unit="s", baseline=2.0, target=1.5, ok=True)
    assert figure.fields()["ratio"] == 1.5
    assert Figure(value=3.0, unit="s", baseline=0.0, target=1.5, ok=True).ratio == 0.0


def test_the_instant_model_asks_for_each_step_once_and_logs_when() -> None:
    with running_model(5) as model:
        _bare_loop(model, 5)
        requests = model.wait_for(6, 10.0)
    assert len(requests) == 6
    assert all(gap >= 0 for gap in _gaps_ms(requests))
    assert all(one.done_s >= one.received_s for one in requests)


def test_the_instant_model_calls_a_tool_that_is_offered_alone_and_does_not_count_that() -> None:
    tool = {"type": "function", "function": {"name": "ping", "parameters": {}}}
    body = json.dumps({"model": "instant", "messages": [], "tools": [tool]}).encode()
    with running_model(1) as model:
        request = urllib.request.Request(f"{model.base_url}/chat/completions", data=body)
        with urllib.request.urlopen(request, timeout=10) as answer:
            said = answer.read().decode()
        assert '"name": "ping"' in said
        assert "shell" not in said
        assert model.requests() == []

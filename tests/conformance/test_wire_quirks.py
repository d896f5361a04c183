"""All wire quirks against the real model layer over real HTTP; and the judge itself."""

import asyncio
import copy
import functools
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.conformance.wire import load, main, run_cases, verdict

FILE = Path(__file__).parent / "data" / "wire_quirks.yaml"
MORE = FILE.with_name("more_quirks.yaml")
DOCUMENTS = [load(FILE), load(MORE)]
CASES: dict[str, dict[str, Any]] = {
    case["id"]: case for document in DOCUMENTS for case in document["cases"]
}


@functools.cache
def results() -> Mapping[str, dict[str, Any]]:
    """Run all cases beside each other, once."""
    found = [
        result
        for document in DOCUMENTS
        for result in asyncio.run(run_cases(document["cases"], document["meta"]))
    ]
    return {result["id"]: result for result in found}


@pytest.fixture(scope="module")
def result_of() -> Mapping[str, dict[str, Any]]:
    return results()


@pytest.mark.parametrize("case_id", CASES)
def test_a_quirk_comes_out_as_expected(
    case_id: str, result_of: Mapping[str, dict[str, Any]]
) -> None:
    assert verdict(CASES[case_id], result_of[case_id]) == []


def test_the_files_are_whole_and_name_each_case_once() -> None:
    sizes = [len(document["cases"]) for document in DOCUMENTS]
    assert sizes[0] == 180
    assert sizes[1] >= 60
    assert len(CASES) == sum(sizes)


def test_a_file_without_expectations_gives_the_same_results_as_json(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    read = ("id", "phase", "provider", "given", "responses")
    cases = [{key: case[key] for key in read if key in case} for case in CASES.values()][::30]
    bare = tmp_path / "bare.yaml"
    bare.write_text(
        yaml.safe_dump({"meta": DOCUMENTS[0]["meta"], "cases": cases}), encoding="utf-8"
    )
    assert main([str(bare), "--json"]) == 0
    rows = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [row["id"] for row in rows] == [case["id"] for case in cases]
    assert [wrong for row in rows if (wrong := verdict(CASES[row["id"]], row))] == []
    assert main([str(bare)]) == 1
    assert capsys.readouterr().out.endswith(f"0 passed, {len(cases)} failed\n")


def test_a_case_of_an_unknown_provider_fails_and_the_others_still_count(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    good, odd = CASES["delta-baseline"], {**CASES["delta-baseline"], "id": "odd"}
    file = tmp_path / "two.yaml"
    cases = [{**odd, "provider": "nobody"}, good]
    file.write_text(
        yaml.safe_dump({"meta": DOCUMENTS[0]["meta"], "cases": cases}), encoding="utf-8"
    )
    assert main([str(file)]) == 1
    assert capsys.readouterr().out.splitlines()[-1] == "1 passed, 1 failed"


def test_the_judge_refuses_results_that_differ(result_of: Mapping[str, dict[str, Any]]) -> None:
    """Each expectation is turned into its opposite, one at a time; the judge must notice every one."""
    unnoticed = []
    for case_id, case in CASES.items():
        for name in case["expect"]:
            changed = copy.deepcopy(case)
            changed["expect"] = {name: _opposite(name, case["expect"][name])}
            if verdict(changed, result_of[case_id]) == []:
                unnoticed.append(f"{case_id}: {name}")
    assert unnoticed == []


def _opposite(name: str, value: Any) -> Any:
    if name in ("message_max_chars", "within_s", "max_executions"):
        return -1
    if name == "min_wait_s":
        return 1e9
    if name == "message_not_contains":
        return ""
    return {"outcome": "nonsense"}.get(name, _changed(value))


def _changed(value: Any) -> Any:
    if isinstance(value, bool):
        return not value
    if isinstance(value, int | float):
        return value + 1
    if isinstance(value, str):
        return f"{value} nonsense"
    if isinstance(value, list):
        return [*value, "nonsense"]
    return {"nonsense": True}


def test_the_command_counts_and_exits_by_what_failed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([str(FILE), "--only", "delta-baseline"]) == 0
    assert capsys.readouterr().out == "1 passed, 0 failed\n"
    broken = FILE.read_text(encoding="utf-8").replace("outcome: tool_calls", "outcome: message", 1)
    file = tmp_path / "broken.yaml"
    file.write_text(broken, encoding="utf-8")
    assert main([str(file), "--only", "delta-baseline"]) == 1
    lines = capsys.readouterr().out.splitlines()
    assert lines[-1] == "0 passed, 1 failed"
    assert lines[0].startswith("delta-baseline: outcome")


def test_the_json_form_prints_one_result_a_case(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([str(FILE), "--only", "delta-[bi]*", "--json"]) == 0
    rows = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert "delta-baseline" in {row["id"] for row in rows}
    assert {
        "outcome",
        "text",
        "tool_calls",
        "usage",
        "requests",
        "second_request",
        "learned_window",
    } <= set(rows[0])

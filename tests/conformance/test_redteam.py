import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conformance.redteam import load, main, run

FILE = Path(__file__).parent / "data" / "redteam.yaml"
CASES = load(FILE)
JUDGED = [
    case for case in CASES if case["kind"] in ("shell", "path", "url") and case["judged"] == "file"
]


def with_calls(case):
    return ("call" in case or "calls" in case) and "events" not in case and case["judged"] == "file"


def test_the_file_holds_all_its_cases():
    assert len(CASES) == 149
    assert len({case["id"] for case in CASES}) == 149


@pytest.mark.parametrize(
    "case", [case for case in CASES if with_calls(case)], ids=lambda case: case["id"]
)
def test_every_call_gets_a_decision_at_least_as_strict_as_expected(case):
    (result,) = run([case])
    assert result["passed"], result["detail"]


def test_every_case_of_shell_path_and_address_is_judged():
    results = {result["id"]: result for result in run(JUDGED)}
    assert len(results) >= 65
    assert all(result["judged"] for result in results.values())


@pytest.mark.parametrize("case", JUDGED, ids=lambda case: case["id"])
def test_what_a_case_expects_is_not_looked_at_when_deciding(case):
    blind = {key: value for key, value in case.items() if key not in ("expected", "source")}
    (result,), (seen,) = run([blind]), run([case])
    assert result["passed"] is None
    assert result["got"] == seen["got"]


def test_a_weaker_decision_is_a_failure():
    case = {
        "id": "X-1",
        "kind": "shell",
        "judged": "file",
        "call": {"tool": "shell", "args": {"command": "ls"}},
        "expected": {"decision": "ask"},
    }
    (result,) = run([case])
    assert result["passed"] is False
    assert result["detail"] == "expected ask, got allow"


def test_the_command_prints_failures_and_a_last_line(capsys, tmp_path):
    assert main([str(FILE), "--only", "SH-*"]) == 0
    assert capsys.readouterr().out.splitlines()[-1] == "41 passed, 0 failed, 0 not judged"
    weak = tmp_path / "weak.yaml"
    call = "{tool: shell, args: {command: ls}}"
    weak.write_text(
        f"cases:\n- {{id: A-1, kind: shell, judged: file, call: {call}, expected: {{decision: deny}}}}\n"
        "- {id: A-2, kind: dialog, judged: scenario, input: x, expected: {decision: pending}}\n"
    )
    assert main([str(weak)]) == 1
    assert capsys.readouterr().out.splitlines() == [
        "A-1: expected deny, got allow",
        "0 passed, 1 failed, 1 not judged",
    ]


def test_json_gives_one_object_a_case_and_nothing_else():
    command = [
        sys.executable,
        "-m",
        "tests.conformance.redteam",
        str(FILE),
        "--json",
        "--only",
        "NX-*",
    ]
    done = subprocess.run(
        command, capture_output=True, text=True, cwd=Path(__file__).parents[2], check=True
    )
    results = [json.loads(line) for line in done.stdout.splitlines()]
    assert len(results) == 23
    keys = {"id", "judged", "got", "outcome", "call_decision", "passed", "detail"}
    assert all(set(result) == keys for result in results)

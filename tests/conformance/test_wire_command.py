"""The command that runs a file of cases, given files that are not quite right."""

import json
from pathlib import Path

import pytest

from tests.conformance.wire import main

CASES = Path(__file__).parent / "data" / "wire_quirks.yaml"


def test_cases_without_a_name_or_with_a_number_for_one_do_not_stop_the_others(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    meta = CASES.read_text(encoding="utf-8").partition("\ncases:")[0]
    file = tmp_path / "odd.yaml"
    file.write_text(f"{meta}\ncases:\n- id: 7\n- phase: response\n- id: fine\n", encoding="utf-8")
    assert main([str(file), "--json"]) == 0
    results = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [result["id"] for result in results] == [7, None, "fine"]
    assert [result["outcome"] for result in results] == ["message", "crashed", "message"]
    assert main([str(file)]) == 1
    assert capsys.readouterr().out.splitlines()[-1] == "0 passed, 3 failed"

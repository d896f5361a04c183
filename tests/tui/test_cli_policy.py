import json
from pathlib import Path

import pytest

from tui.__main__ import run_command


@pytest.mark.parametrize(
    ("call", "ask", "auto"),
    [
        ("shell ls -la", "allow", "allow"),
        ("shell rm -rf build", "ask_strong", "ask_strong"),
        ("python print(1)", "ask", "allow"),
        ('edit_file {"command": "create", "path": "a.txt", "file_text": "x"}', "ask", "allow"),
        (
            'edit_file {"command": "create", "path": ".git/hooks/x", "file_text": "x"}',
            "block",
            "block",
        ),
        ("browser https://example.org/", "allow", "allow"),
        ("browser http://127.0.0.1/", "deny", "deny"),
        ("finish done", "allow", "allow"),
    ],
)
def test_a_call_is_judged_in_every_mode(
    call: str, ask: str, auto: str, capfd: pytest.CaptureFixture[str]
) -> None:
    assert run_command(["policy", "check", call, "--json"]) == 0
    found = json.loads(capfd.readouterr().out)
    assert (found["verdicts"]["ask"], found["verdicts"]["auto"]) == (ask, auto)
    assert found["reasons"]


@pytest.mark.parametrize("call", ["", "edit_file a.txt", "shell {broken", "nothing"])
def test_a_call_that_cannot_be_read_is_one_line(
    call: str, capfd: pytest.CaptureFixture[str]
) -> None:
    assert run_command(["policy", "check", call]) == 2
    assert capfd.readouterr().err.count("\n") == 1


def test_the_table_is_listed(capfd: pytest.CaptureFixture[str]) -> None:
    assert run_command(["policy", "list", "--json"]) == 0
    rows = [json.loads(line) for line in capfd.readouterr().out.splitlines()]
    assert {"write", "final_action"} <= {row["row"] for row in rows}
    assert run_command(["policy", "list"]) == 0
    assert run_command(["policy", "check", "shell rm x"]) == 0
    assert "risk" in capfd.readouterr().out


RULES = """version = 1
[[rule]]
id = "pytest"
tool = "shell"
argv = ["pytest", "{-q,-x}", "path:tests/**"]
decision = "allow"
[[rule]]
id = "no-prod"
decision = "deny"
text = "prod-db"
"""


@pytest.mark.parametrize(
    ("call", "ask", "rule"),
    [
        ("shell pytest -q tests/test_a.py", "allow", "pytest"),
        ("shell pytest -q tests/test_a.py; rm x", "ask", ""),
        ("shell ls prod-db", "deny", "no-prod"),
    ],
)
def test_the_rules_of_the_person_count(
    call: str, ask: str, rule: str, home: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    (home / "config").mkdir()
    (home / "config" / "policy.toml").write_text(RULES, encoding="utf-8")
    (home / "config" / "policy.toml").chmod(0o600)
    assert run_command(["policy", "check", call, "--json"]) == 0
    found = json.loads(capfd.readouterr().out)
    assert found["verdicts"]["ask"] == ask
    assert rule in " ".join(found["reasons"])


def test_a_broken_rule_file_names_its_line(home: Path, capfd: pytest.CaptureFixture[str]) -> None:
    (home / "config").mkdir()
    (home / "config" / "policy.toml").write_text("version = 2\n", encoding="utf-8")
    assert run_command(["policy", "check", "shell ls"]) == 2
    assert "policy.toml, line 1: version" in capfd.readouterr().err

import json
from pathlib import Path

import pytest

from tui.__main__ import run_command


def config_file(home: Path) -> Path:
    return home / "config" / "config.toml"


def test_the_path_is_printed_whether_the_file_is_there_or_not(
    home: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    assert run_command(["config", "path"]) == 0
    assert capfd.readouterr().out == f"{config_file(home)}\n"


def test_a_value_is_set_and_shown_with_its_origin(
    home: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HANDRAIL_MODEL", "from-env")
    assert run_command(["config", "set", "limits.max_steps", "9"]) == 0
    capfd.readouterr()
    assert run_command(["config", "show", "--json", "--mode", "auto"]) == 0
    shown = json.loads(capfd.readouterr().out)
    assert shown["limits.max_steps"] == {"value": 9, "origin": f"{config_file(home)} line 2"}
    assert shown["model.name"] == {"value": "from-env", "origin": "HANDRAIL_MODEL"}
    assert shown["mode"] == {"value": "auto", "origin": "--mode"}
    assert shown["ui.theme"]["origin"] == "default"


def test_every_setting_is_shown_with_what_it_is_and_may_be(
    capfd: pytest.CaptureFixture[str],
) -> None:
    assert run_command(["config", "show"]) == 0
    lines = capfd.readouterr().out.splitlines()
    settings = [line for line in lines if not line.startswith(" ")]
    abouts = [line for line in lines if line.startswith(" ")]
    assert len(settings) == len(abouts) > 15
    assert all("(default)" in line for line in settings)
    assert all("Allowed: " in line and ". Allowed" in line for line in abouts)


@pytest.mark.parametrize(
    ("words", "part"),
    [
        (["config", "set", "limits.max_stps", "9"], "Did you mean limits.max_steps?"),
        (["config", "set", "limits.max_steps"], "VALUE"),
        (["config", "destroy"], "destroy"),
        (["config", "edit"], "terminal"),
    ],
)
def test_a_mistake_is_one_line_on_stderr_and_exit_code_2(
    words: list[str], part: str, capfd: pytest.CaptureFixture[str]
) -> None:
    assert run_command(words) == 2
    out, err = capfd.readouterr()
    assert out == ""
    assert err.startswith("handrail: ")
    assert err.count("\n") == 1
    assert part in err


def test_a_broken_file_is_shown_as_file_line_and_key(
    home: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    config_file(home).parent.mkdir()
    config_file(home).write_text("[limits]\nmax_steps = '\x1b[31mx'\n", encoding="utf-8")
    assert run_command(["config", "show"]) == 2
    config_file(home).write_text('[limits]\nmax_steps = "\\u001b[31mx"\n', encoding="utf-8")
    capfd.readouterr()
    assert run_command(["config", "show"]) == 2
    err = capfd.readouterr().err
    assert f"{config_file(home)} line 2: limits.max_steps" in err
    assert "\x1b" not in err

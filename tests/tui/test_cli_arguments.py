from pathlib import Path
from types import ModuleType

import pytest

from core.errors import ConfigError
from tui.__main__ import COMMANDS
from tui.arguments import common_overrides, new_parser, split_command, workspace_of
from tui.commands import app, resume, run

NAMES = frozenset(COMMANDS)


@pytest.mark.parametrize(
    ("words", "command", "rest"),
    [
        ([], "app", []),
        (["do this"], "app", ["do this"]),
        (["run", "x"], "run", ["x"]),
        (["--workspace", "run", "doctor"], "doctor", ["--workspace", "run"]),
        (["--workspace=run", "x"], "app", ["--workspace=run", "x"]),
        (["--no-browser", "run", "x"], "run", ["--no-browser", "x"]),
        (["--model", "doctor"], "app", ["--model", "doctor"]),
        (["--allow-private", "run", "x"], "app", ["--allow-private", "run", "x"]),
        (["--", "run"], "app", ["--", "run"]),
        (["tell", "run"], "app", ["tell", "run"]),
    ],
)
def test_the_first_free_word_is_the_command(
    words: list[str], command: str, rest: list[str]
) -> None:
    assert split_command(words, NAMES) == (command, rest)


def test_only_given_options_override_settings() -> None:
    options = new_parser("x", "about").parse_args(["--max-steps", "3", "--no-browser"])
    found = {given.key: (given.value, given.option) for given in common_overrides(options)}
    assert found == {
        "limits.max_steps": (3, "--max-steps"),
        "browser.enabled": (False, "--no-browser"),
    }


@pytest.mark.parametrize("command", [app, run, resume])
def test_hosts_to_open_are_collected_by_every_command_that_opens_a_session(
    command: ModuleType,
) -> None:
    parser = new_parser("x", "about")
    command.add_arguments(parser)
    options = parser.parse_args(["x", "--allow-private", "::1", "--allow-private", "127.0.0.1:80"])
    (given,) = common_overrides(options)
    assert given.key == "browser.allow_private"
    assert (given.value, given.option) == (["::1", "127.0.0.1:80"], "--allow-private")


@pytest.mark.parametrize(
    ("words", "part"),
    [
        (["--max-steps", "many"], "--max-steps"),
        (["--mode", "sometimes"], "--mode"),
        (["--model"], "--model"),
        (["--max-step", "3"], "--max-step 3"),
        (["--wat"], "--wat"),
    ],
)
def test_a_wrong_option_is_one_line_with_code_usage(words: list[str], part: str) -> None:
    with pytest.raises(ConfigError) as caught:
        new_parser("x", "about").parse_args(words)
    assert caught.value.code == "usage"
    assert part in caught.value.line()
    assert "\n" not in caught.value.line()


def test_the_workspace_is_resolved(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "real")
    options = new_parser("x", "about").parse_args(["--workspace", str(tmp_path / "link")])
    assert workspace_of(options) == tmp_path / "real"


def test_a_workspace_that_cannot_be_used_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("", encoding="utf-8")
    (tmp_path / "loop").symlink_to(tmp_path / "loop")
    codes = {}
    for name in ("gone", "file", "loop"):
        options = new_parser("x", "about").parse_args(["--workspace", str(tmp_path / name)])
        with pytest.raises(ConfigError) as caught:
            workspace_of(options)
        assert str(tmp_path / name) in caught.value.message
        codes[name] = caught.value.code
    assert codes == {"gone": "workspace_missing", "file": "workspace", "loop": "workspace"}


@pytest.mark.parametrize("variable", ["HANDRAIL_CONFIG_DIR", "HANDRAIL_STATE_DIR"])
@pytest.mark.parametrize("place", [".", "below/it", "link/to/it"])
def test_a_workspace_that_holds_our_own_files_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, variable: str, place: str
) -> None:
    workspace = tmp_path / "workspace"
    workspace.mkdir()
    (tmp_path / "link").symlink_to(workspace)
    ours = tmp_path / place if place.startswith("link") else workspace / place
    monkeypatch.setenv(variable, str(ours))
    options = new_parser("x", "about").parse_args(["--workspace", str(workspace)])
    with pytest.raises(ConfigError, match="own"):
        workspace_of(options)
    monkeypatch.setenv(variable, str(tmp_path / "workspace-beside"))
    assert workspace_of(options) == workspace


def test_a_home_folder_is_no_workspace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("HANDRAIL_CONFIG_DIR", "HANDRAIL_STATE_DIR", "XDG_CONFIG_HOME", "XDG_STATE_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    (tmp_path / "project").mkdir()
    for folder in (tmp_path, Path("/")):
        with pytest.raises(ConfigError, match=r"own settings|read-only"):
            workspace_of(new_parser("x", "about").parse_args(["--workspace", str(folder)]))
    options = new_parser("x", "about").parse_args(["--workspace", str(tmp_path / "project")])
    assert workspace_of(options) == tmp_path / "project"

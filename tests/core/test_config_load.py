import random
import time
from pathlib import Path

import pytest

from core.config_layers import Override, config_dir, first_look, state_dir
from core.config_load import load_configuration, load_or_excuse
from core.errors import ConfigError

GOOD = """# my settings
mode = "read"

[limits]
max_steps = 7          # few
max_cost_usd = 0.5

[model]
name = "from-file"
base_url = "http://127.0.0.1:1/v1"

[ui.keys]
"app.quit" = "ctrl+x"
"""


def environment(folder: Path, text: str | bytes | None = None, **more: str) -> dict[str, str]:
    if text is not None:
        raw = text if isinstance(text, bytes) else text.encode()
        (folder / "config.toml").write_bytes(raw)
    return {"HANDRAIL_CONFIG_DIR": str(folder), **more}


def problem(folder: Path, text: str | bytes) -> ConfigError:
    with pytest.raises(ConfigError) as caught:
        load_configuration(environment=environment(folder, text))
    return caught.value


def test_without_any_file_the_defaults_hold(tmp_path: Path) -> None:
    loaded = load_configuration(environment=environment(tmp_path))
    assert loaded.settings.limits.max_steps == 30
    assert loaded.settings.mode == "ask"
    assert loaded.origin("limits.max_steps") == "default"


def test_later_layers_win_and_each_value_knows_where_it_came_from(tmp_path: Path) -> None:
    variables = environment(
        tmp_path, GOOD, HANDRAIL_MODEL="from-env", OPENAI_BASE_URL="http://b/v1"
    )
    given = [Override(key="model.base_url", value="http://c/v1", option="--base-url")]
    loaded = load_configuration(given, variables)
    assert loaded.settings.mode == "read"
    assert loaded.settings.limits.max_steps == 7
    assert loaded.settings.model.name == "from-env"
    assert loaded.settings.model.base_url == "http://c/v1"
    assert loaded.settings.ui.keys == {"app.quit": "ctrl+x"}
    assert loaded.origin("limits.max_steps") == f"{tmp_path / 'config.toml'} line 5"
    assert loaded.origin("model.name") == "HANDRAIL_MODEL"
    assert loaded.origin("model.base_url") == "--base-url"
    assert loaded.origin("model.temperature") == "default"


def test_an_empty_variable_sets_nothing(tmp_path: Path) -> None:
    loaded = load_configuration(environment=environment(tmp_path, GOOD, HANDRAIL_MODEL=""))
    assert loaded.settings.model.name == "from-file"


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        (
            "[limits]\nmax_step = 3\n",
            ["line 2", "limits.max_step ", "Did you mean limits.max_steps?"],
        ),
        (
            '[limits]\n\nmax_steps = "3"\n',
            ["line 3", "limits.max_steps", '"3"', "whole number from 1"],
        ),
        ("[limits]\nmax_steps = true\n", ["line 2", "limits.max_steps", "whole number"]),
        ("[limits]\nmax_minutes = 0\n", ["line 2", "limits.max_minutes", "above 0"]),
        ('mode = "sometimes"\n', ["line 1", "mode", "read, ask, auto"]),
        ('mode = "full"\n', ["line 1", "mode full"]),
        ("limits = 3\n", ["line 1", "limits", "group"]),
        ('[model]\nfallback = "small"\n', ["line 2", "model.fallback", 'list of names: ["small"]']),
        (
            '[[model.fallback]]\nname = "a"\n[[model.fallback]]\nname = "b"\nbase_url = "c"\n',
            ["line 5", "model.fallback.1.base_url", "http://"],
        ),
        ("[browzer]\nenabled = true\n", ["line 1", "browzer", "Did you mean browser?"]),
        ('[model]\nbase_url = "localhost:80"\n', ["line 2", "model.base_url", "http://"]),
        ("[ui.keys]\n'app.quit' = 3\n", ["line 2", "ui.keys.app.quit", "a text"]),
        ("a = [1,\n", ["config.toml line"]),
        ("[limits]\nmax_steps = 1\nmax_steps = 2\n", ["line 3"]),
        (b'mode = "ask"\nprofile = "\xff"\n', ["line 2", "UTF-8"]),
        ("a = " + "[" * 30_000, ["config.toml", "nested"]),
        ("a = " + "9" * 30_000, ["config.toml", "too long"]),
        ("a = 1\n" * 400_000, ["larger than 1 MiB"]),
    ],
)
def test_a_mistake_names_file_line_key_and_what_is_allowed(
    tmp_path: Path, text: str | bytes, parts: list[str]
) -> None:
    line = problem(tmp_path, text).line()
    assert str(tmp_path / "config.toml") in line
    assert "\n" not in line
    for part in parts:
        assert part in line


def test_a_key_in_the_file_is_refused_without_being_repeated(tmp_path: Path) -> None:
    line = problem(tmp_path, '[model]\napi_key = "sk-secret-secret"\n').line()
    assert "sk-secret" not in line
    assert "OPENAI_API_KEY" in line


def test_a_wrong_option_is_named_as_it_was_typed(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"--max-steps: limits\.max_steps cannot be 0"):
        load_configuration(
            [Override(key="limits.max_steps", value=0, option="--max-steps")], environment(tmp_path)
        )


def test_mode_full_comes_from_the_command_line_only(tmp_path: Path) -> None:
    full = [Override(key="mode", value="full", option="--mode")]
    assert load_configuration(full, environment(tmp_path)).settings.mode == "full"
    assert load_configuration(full, environment(tmp_path, 'mode = "ask"')).settings.mode == "full"


def test_the_app_starts_in_read_mode_when_the_file_is_wrong(tmp_path: Path) -> None:
    variables = environment(tmp_path, "mode = 3\n", HANDRAIL_MODEL="m")
    loaded = load_or_excuse([Override(key="mode", value="auto", option="--mode")], variables)
    assert loaded.settings.mode == "read"
    assert loaded.settings.model.name == "m"
    assert loaded.problem is not None
    assert "line 1" in loaded.problem.message


def test_200_mutated_files_are_refused_or_read_quickly_and_stay_untouched(tmp_path: Path) -> None:
    dice = random.Random(7)
    started = time.monotonic()
    for _ in range(200):
        raw = bytearray(GOOD.encode())
        for _ in range(dice.randrange(1, 6)):
            at = dice.randrange(len(raw))
            raw[at : at + dice.randrange(4)] = bytes(
                dice.randrange(256) for _ in range(dice.randrange(4))
            )
        (tmp_path / "config.toml").write_bytes(raw)
        loaded = load_or_excuse(environment={"HANDRAIL_CONFIG_DIR": str(tmp_path)})
        assert loaded.problem is None or loaded.settings.mode == "read"
        assert (tmp_path / "config.toml").read_bytes() == raw
    assert time.monotonic() - started < 20


def test_the_folders_come_from_the_environment_or_the_platform(tmp_path: Path) -> None:
    named = {"HANDRAIL_CONFIG_DIR": str(tmp_path / "c"), "HANDRAIL_STATE_DIR": str(tmp_path / "s")}
    assert config_dir(named) == tmp_path / "c"
    assert state_dir(named) == tmp_path / "s"
    assert config_dir({}).name == "handrail"
    assert state_dir({}).is_absolute()


def test_the_first_look_takes_theme_and_keys_and_no_offence(tmp_path: Path) -> None:
    text = '[ui]\ntheme = "light"\n[ui.keys]\n"app.quit" = "ctrl+x"\n"app.help" = 3\n'
    look = first_look(environment(tmp_path, text))
    assert (look.theme, look.keys) == ("light", {"app.quit": "ctrl+x"})
    for broken in ("[ui\n", "ui = 3\n", "[ui]\ntheme = 3\n"):
        assert first_look(environment(tmp_path, broken)).theme == ""


def test_a_file_that_never_ends_is_refused(tmp_path: Path) -> None:
    (tmp_path / "config.toml").symlink_to("/dev/zero")
    with pytest.raises(ConfigError, match="larger than 1 MiB"):
        load_configuration(environment={"HANDRAIL_CONFIG_DIR": str(tmp_path)})

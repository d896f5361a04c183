from pathlib import Path

import pytest

from core.errors import ConfigError
from core.profile import load_profile, profile_names


def user_profile(folder: Path, name: str, toml: str, prompt: str = "Hello, it is $today.") -> None:
    for part in ("profiles", "prompts"):
        (folder / part).mkdir(exist_ok=True)
    (folder / "profiles" / f"{name}.toml").write_text(toml, encoding="utf-8")
    (folder / "prompts" / "mine.md").write_text(prompt, encoding="utf-8")


def test_every_built_in_profile_loads_and_its_prompt_is_short() -> None:
    names = profile_names()
    assert "general" in names
    for name in names:
        text = load_profile(name).system_prompt({"today": "2026-01-31"})
        assert "$" not in text
        assert "2026-01-31" in text
        assert len(text.split()) <= 700


def test_a_profile_of_the_user_comes_first(tmp_path: Path) -> None:
    user_profile(tmp_path, "general", 'title = "Mine"\nprompt = "mine.md"\nmax_steps = 3\n')
    profile = load_profile("general", tmp_path)
    assert profile.file.max_steps == 3
    assert profile.system_prompt({"today": "now"}) == "Hello, it is now."


def test_an_unknown_profile_names_the_nearest() -> None:
    with pytest.raises(ConfigError) as caught:
        load_profile("genral")
    assert "Did you mean general?" in caught.value.line()


@pytest.mark.parametrize(
    "toml",
    [
        'title = "x"',
        'title = "x"\nprompt = "mine.md"\nmax_stps = 3',
        'title = "x"\nprompt = "gone.md"',
        "title = ",
    ],
)
def test_a_wrong_profile_file_is_named(tmp_path: Path, toml: str) -> None:
    user_profile(tmp_path, "own", toml)
    with pytest.raises(ConfigError, match=r"own\.toml"):
        load_profile("own", tmp_path)


@pytest.mark.parametrize("prompt", ["$tomorrow", "cost 5$ "])
def test_a_slot_that_does_not_exist_is_refused(tmp_path: Path, prompt: str) -> None:
    user_profile(tmp_path, "own", 'title = "x"\nprompt = "mine.md"', prompt)
    with pytest.raises(ConfigError, match="slot"):
        load_profile("own", tmp_path).system_prompt({"today": "now"})


def test_a_prompt_cannot_come_from_outside_its_folder(tmp_path: Path) -> None:
    (tmp_path / "secret.md").write_text("secret", encoding="utf-8")
    user_profile(tmp_path, "own", 'title = "x"\nprompt = "../secret.md"')
    with pytest.raises(ConfigError):
        load_profile("own", tmp_path)

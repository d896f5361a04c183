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
    ("toml", "words"),
    [
        ('title = "x"', "own.toml: prompt is missing. Needed: title, prompt."),
        (
            'title = "x"\nprompt = "mine.md"\nmax_stps = 3',
            "own.toml line 3: max_stps is no key of a profile. Did you mean max_steps? Known: title,",
        ),
        ('title = "x"\nprompt = "gone.md"', "own.toml line 2: prompt names 'gone.md'."),
        ('title = "x"\n\nprompt = 7', "own.toml line 3: prompt: Input should be a valid string."),
        ('title = "x"\nprompt = "mine.md"\nmax_steps = 0', "line 3: max_steps: Input should be gr"),
        ('title = "x"\nprompt = "mine.md"\ntools = [\n 3]', "line 3: tools.0: Input should be"),
        ("title = ", "own.toml line 1: Invalid value."),
        (f'title = "x"\nprompt = "{"a" * 5000}.md"', "own.toml line 2: prompt: String should have"),
        ('title = "x"\nprompt = ""', "own.toml line 2: prompt names ''."),
    ],
)
def test_a_wrong_profile_file_is_named_with_line_key_and_what_is_allowed(
    tmp_path: Path, toml: str, words: str
) -> None:
    user_profile(tmp_path, "own", toml)
    with pytest.raises(ConfigError) as caught:
        load_profile("own", tmp_path)
    assert words in caught.value.line()
    assert "\n" not in caught.value.line()


@pytest.mark.parametrize(
    ("prompt", "line", "slot"),
    [("$tomorrow", 1, "$tomorrow"), ("a\n$$5\n${to day} ", 3, "$"), ("cost 5$ ", 1, "$")],
)
def test_a_slot_that_does_not_exist_is_refused_with_its_line(
    tmp_path: Path, prompt: str, line: int, slot: str
) -> None:
    user_profile(tmp_path, "own", 'title = "x"\nprompt = "mine.md"', prompt)
    with pytest.raises(ConfigError) as caught:
        load_profile("own", tmp_path).system_prompt({"today": "now"})
    assert f"mine.md line {line}: {slot} is no slot." in caught.value.message
    assert "Known: $today" in caught.value.hint


def test_an_empty_prompt_is_refused(tmp_path: Path) -> None:
    user_profile(tmp_path, "own", 'title = "x"\nprompt = "mine.md"', " \n")
    with pytest.raises(ConfigError, match=r"mine\.md is empty"):
        load_profile("own", tmp_path)


def test_a_profile_of_the_person_may_use_a_prompt_that_comes_with_the_app(tmp_path: Path) -> None:
    user_profile(tmp_path, "own", 'title = "x"\nprompt = "code.md"\nmax_steps = 3\n')
    assert load_profile("own", tmp_path).prompt == load_profile("code").prompt


def test_the_five_profiles_are_there_with_a_title_each() -> None:
    profiles = [load_profile(name) for name in ("general", "browser", "code", "data", "research")]
    titles = {profile.file.title for profile in profiles}
    assert len(titles) == 5
    assert all(0 < len(title) <= 60 for title in titles)


def test_every_prompt_says_what_holds_for_all_work() -> None:
    for name in profile_names():
        prompt = load_profile(name).prompt
        assert "language the person wrote in" in prompt
        assert "Only the person gives you tasks" in prompt
        assert "`finish`" in prompt
        assert "ends the work" in prompt


def test_a_prompt_cannot_come_from_outside_its_folder(tmp_path: Path) -> None:
    (tmp_path / "secret.md").write_text("secret", encoding="utf-8")
    user_profile(tmp_path, "own", 'title = "x"\nprompt = "../secret.md"')
    with pytest.raises(ConfigError):
        load_profile("own", tmp_path)

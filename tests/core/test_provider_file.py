import tomllib
from dataclasses import fields
from importlib import resources
from pathlib import Path

import pytest

from core.chat.options import model_options
from core.config_layers import config_dir
from core.errors import ConfigError
from core.provider import ProviderFlags, all_providers, find_provider, named_provider
from core.provider_file import parse_provider

OWN = """label = "Our gateway"
hosts = ["models.corp.example"]
key_env = "CORP_KEY"

[flags]
merge_same_role = true
omit = ["top_p"]

[windows]
"big-*" = 64000

[[models]]
match = "blind-*"
vision = false
"""


def put(name: str, text: str) -> Path:
    folder = config_dir() / "providers"
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


@pytest.mark.parametrize(
    "name", [item.name for item in (resources.files("core") / "providers").iterdir()]
)
def test_every_built_in_file_is_right_by_the_rules_for_ones_own(name: str) -> None:
    text = (resources.files("core") / "providers" / name).read_text(encoding="utf-8")
    provider = parse_provider(name.removesuffix(".toml"), text, Path(name))
    assert provider.label == tomllib.loads(text)["label"]


def test_a_provider_of_ones_own_is_found_by_address_and_name_and_has_flags_for_some_models() -> (
    None
):
    put("corp.toml", OWN)
    found = find_provider("https://models.corp.example/v1")
    assert (found.name, found.key_env) == ("corp", "CORP_KEY")
    assert found.flags.merge_same_role
    assert found.flags.omit == ("top_p",)
    assert named_provider("corp") == found
    seeing = model_options("big-1", "https://models.corp.example/v1")
    assert (seeing.window, seeing.provider.flags.vision) == (64000, True)
    blind = model_options("Blind-2", "https://models.corp.example/v1")
    assert not blind.provider.flags.vision
    assert blind.provider.flags.merge_same_role


def test_a_file_of_ones_own_replaces_the_built_in_provider_of_its_name() -> None:
    put("mistral.toml", 'label = "Mine"\nhosts = ["api.mistral.ai"]\nkey_env = "X"\n')
    assert named_provider("mistral").label == "Mine"
    assert find_provider("https://api.mistral.ai/v1").key_env == "X"
    assert len(all_providers()) == 16


@pytest.mark.parametrize(
    ("old", "new", "line", "said"),
    [
        ("merge_same_role = true", "merge_same_roles = true", 6, "flags.merge_same_roles"),
        ("merge_same_role = true", 'merge_same_role = "yes"', 6, "flags.merge_same_role"),
        ('omit = ["top_p"]', 'tool_id = "short"', 7, "flags.tool_id"),
        ('"big-*" = 64000', '"big-*" = "64k"', 10, "windows.big-*"),
        ('"big-*" = 64000', '"big-*" = -5', 10, "windows.big-*"),
        ('"big-*" = 64000', f'"big-*" = {10**30}', 10, "windows.big-*"),
        ("vision = false", "visions = false", 14, "models.0.visions"),
        ('label = "Our gateway"', "", 0, "label is missing"),
        ('key_env = "CORP_KEY"', "key_env = CORP_KEY", 3, "Invalid value"),
    ],
)
def test_a_mistake_in_a_file_is_told_with_file_line_and_key(
    old: str, new: str, line: int, said: str
) -> None:
    path = put("corp.toml", OWN.replace(old, new))
    with pytest.raises(ConfigError) as caught:
        find_provider("https://api.openai.com/v1")
    assert str(path) in caught.value.message
    assert said in caught.value.message
    if line:
        assert f"line {line}" in caught.value.message


def test_an_unknown_key_is_answered_with_the_known_ones() -> None:
    put("corp.toml", OWN.replace("omit =", "omits ="))
    with pytest.raises(ConfigError) as caught:
        named_provider("corp")
    assert all(item.name in caught.value.hint for item in fields(ProviderFlags))
    assert caught.value.hint.startswith("Did you mean flags.omit? ")


def test_a_file_that_is_no_toml_is_not_said_to_be_what_config_edit_opens() -> None:
    put("corp.toml", 'label = "Our gateway\n')
    with pytest.raises(ConfigError) as caught:
        named_provider("corp")
    assert "config edit" not in caught.value.hint
    assert "Mend that line" in caught.value.hint


@pytest.mark.parametrize(
    ("alias", "name"), [("qwen", "dashscope"), ("moonshot", "kimi"), ("llama.cpp", "llama_cpp")]
)
def test_a_provider_answers_to_its_other_names(alias: str, name: str) -> None:
    assert named_provider(alias).name == name


@pytest.mark.parametrize(
    ("provider", "model", "flag", "value"),
    [
        ("openai", "gpt-5-mini", "temperature", "omit"),
        ("openai", "gpt-4o", "temperature", "send"),
        ("dashscope", "qwen3-coder-plus", "vision", False),
        ("dashscope", "qwen3-vl-plus", "vision", True),
        ("dashscope", "qwen-max", "vision", False),
        ("kimi", "kimi-k2-0905-preview", "vision", False),
        ("kimi", "kimi-k2.5", "vision", True),
        ("glm", "glm-4.6", "vision", False),
        ("glm", "glm-4.5v", "vision", True),
        ("glm", "glm-4.5-air", "vision", False),
        ("deepseek", "deepseek-chat", "tool_choice_forced", False),
    ],
)
def test_flags_depend_on_the_model_where_a_providers_models_differ(
    provider: str, model: str, flag: str, value: object
) -> None:
    flags = model_options(model, provider=provider).provider.flags
    assert getattr(flags, flag) == value


def test_the_documentation_names_every_provider_and_every_flag() -> None:
    text = (Path(__file__).parents[2] / "docs" / "providers.md").read_text(encoding="utf-8")
    assert [item.name for item in fields(ProviderFlags) if f"| `{item.name}` |" not in text] == []
    assert [name for name in all_providers() if name not in text] == []

from collections.abc import Mapping
from pathlib import Path

import pytest

from core.config_layers import Override
from core.config_load import Configuration, load_configuration
from core.errors import ConfigError
from tui.model_choice import (
    built_model,
    check_model,
    choose_fallbacks,
    choose_model,
    options_of,
)

DEEPSEEK = "https://api.deepseek.com/v1"
LOCAL = "http://127.0.0.1:11434/v1"


def configured(environment: Mapping[str, str], **overrides: object) -> Configuration:
    given = [
        Override(key=key.replace("__", "."), value=value, option=f"--{key}")
        for key, value in overrides.items()
    ]
    return load_configuration(given, environment)


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    return {"HANDRAIL_CONFIG_DIR": str(tmp_path)}


class NoKeyring:
    def __init__(self) -> None:
        self.asked: list[str] = []

    def __call__(self, service: str, name: str, /) -> str | None:
        self.asked.append(name)
        return None


def test_the_key_of_openai_goes_to_openai(environment: dict[str, str]) -> None:
    environment |= {"OPENAI_API_KEY": "sk-1"}
    configuration = configured(environment, model__name="gpt-x")
    choice = choose_model(configuration, environment, None)
    assert choice.key.value == "sk-1"
    check_model(configuration, choice)
    options = options_of(configuration, choice)
    assert (options.api_key, options.key_env) == ("sk-1", "OPENAI_API_KEY")


def test_the_key_of_openai_does_not_go_to_another_provider(environment: dict[str, str]) -> None:
    environment |= {"OPENAI_API_KEY": "sk-1"}
    configuration = configured(environment, model__name="m", model__base_url=DEEPSEEK)
    choice = choose_model(configuration, environment, None)
    assert choice.key.value == ""
    with pytest.raises(ConfigError) as caught:
        check_model(configuration, choice)
    assert caught.value.code == "no_key"
    assert "DEEPSEEK_API_KEY" in caught.value.line()


def test_key_and_address_from_the_environment_belong_together(environment: dict[str, str]) -> None:
    environment |= {"OPENAI_API_KEY": "sk-1", "OPENAI_BASE_URL": DEEPSEEK}
    configuration = configured(environment, model__name="m")
    assert choose_model(configuration, environment, None).key.value == "sk-1"


def test_the_providers_own_variable_comes_first(environment: dict[str, str]) -> None:
    environment |= {
        "OPENAI_API_KEY": "sk-1",
        "DEEPSEEK_API_KEY": "sk-2",
        "OPENAI_BASE_URL": DEEPSEEK,
    }
    configuration = configured(environment, model__name="m")
    assert choose_model(configuration, environment, None).key.value == "sk-2"


def test_a_named_variable_is_the_only_one(environment: dict[str, str]) -> None:
    environment |= {"OPENAI_API_KEY": "sk-1", "OPENAI_BASE_URL": DEEPSEEK, "MINE": "sk-3"}
    configuration = configured(environment, model__name="m", model__api_key_env="MINE")
    assert choose_model(configuration, environment, None).key.value == "sk-3"
    del environment["MINE"]
    assert choose_model(configuration, environment, None).key.value == ""


def test_a_server_on_this_machine_needs_no_key_and_no_keyring(environment: dict[str, str]) -> None:
    keyring = NoKeyring()
    configuration = configured(environment, model__name="m", model__base_url=LOCAL)
    choice = choose_model(configuration, environment, keyring)
    check_model(configuration, choice)
    assert keyring.asked == []


def test_the_key_of_openai_does_not_go_to_a_server_on_this_machine(
    environment: dict[str, str],
) -> None:
    environment |= {"OPENAI_API_KEY": "sk-1", "MINE": "sk-2"}
    configuration = configured(environment, model__name="m", model__base_url=LOCAL)
    assert choose_model(configuration, environment, None).key.value == ""
    named = configured(
        environment, model__name="m", model__base_url=LOCAL, model__api_key_env="MINE"
    )
    assert choose_model(named, environment, None).key.value == "sk-2"


def test_without_a_name_there_is_no_model(environment: dict[str, str]) -> None:
    configuration = configured(environment, model__base_url=LOCAL)
    with pytest.raises(ConfigError) as caught:
        check_model(configuration, choose_model(configuration, environment, None))
    assert caught.value.code == "no_model"


def test_what_the_settings_say_of_the_model_reaches_its_options(
    environment: dict[str, str],
) -> None:
    configuration = configured(
        environment,
        model__name="m",
        model__base_url=LOCAL,
        model__context_window=4096,
        model__temperature=0.5,
        model__max_output_tokens=77,
    )
    options = options_of(configuration, choose_model(configuration, environment, None))
    assert options.window == 4096
    assert options.parameters == {"temperature": 0.5, "max_tokens": 77}


def test_a_model_of_the_same_server_stands_in_with_its_key_and_provider(
    environment: dict[str, str],
) -> None:
    environment |= {"CORP": "sk-c"}
    configuration = configured(
        environment,
        model__name="big",
        model__base_url="https://models.corp.example/v1",
        model__api_key_env="CORP",
        model__provider="mistral",
        model__temperature=0.5,
        model__fallback=["small"],
    )
    (other,) = choose_fallbacks(configuration, environment, None)
    options = options_of(configuration, other)
    assert (options.model, options.api_key, options.provider.name) == ("small", "sk-c", "mistral")
    assert options.base_url == "https://models.corp.example/v1"
    assert options.parameters == {"temperature": 0.5}


def test_a_model_elsewhere_never_gets_the_key_of_the_first(environment: dict[str, str]) -> None:
    environment |= {"OPENAI_API_KEY": "sk-1", "CORP": "sk-c", "DEEPSEEK_API_KEY": "sk-d"}
    configuration = configured(
        environment,
        model__name="big",
        model__base_url="https://models.corp.example/v1",
        model__api_key_env="CORP",
        model__provider="mistral",
        model__fallback=[
            {"name": "deepseek-chat", "base_url": DEEPSEEK},
            {"name": "local", "base_url": LOCAL},
            {"name": "gemini-x", "provider": "gemini", "api_key_env": "NONE_SUCH"},
        ],
    )
    deepseek, local, gemini = choose_fallbacks(configuration, environment, None)
    assert (deepseek.key.value, deepseek.provider.name) == ("sk-d", "deepseek")
    assert (local.key.value, local.provider.name, local.problem) == ("", "ollama", None)
    assert (gemini.key.value, gemini.provider.name) == ("", "gemini")
    assert gemini.problem is not None
    assert "NONE_SUCH" in gemini.problem.hint


async def test_a_model_without_its_key_is_left_out_and_named(tmp_path: Path) -> None:
    configuration = configured(
        {"HANDRAIL_CONFIG_DIR": str(tmp_path)},
        model__name="first",
        model__base_url=LOCAL,
        model__fallback=[{"name": "d", "base_url": DEEPSEEK}, "second"],
    )
    model = built_model(configuration, choose_model(configuration, {}, None))
    assert [one.name for one in model.models] == ["first", "second"]
    (left_out,) = model.left_out
    assert "d is left out" in left_out.message
    assert "DEEPSEEK_API_KEY" in left_out.hint
    await model.close()


@pytest.mark.parametrize(
    ("fallback", "said"),
    [
        ("b", "model.fallback"),
        ([3], "model.fallback.0"),
        ([{"name": ""}], "model.fallback.0.name"),
        ([{"nam": "b"}], "model.fallback.0.nam"),
        ([{"name": "b", "base_url": "ftp://x"}], "model.fallback.0.base_url"),
    ],
)
def test_a_mistake_in_a_model_that_stands_in_is_told(
    environment: dict[str, str], fallback: object, said: str
) -> None:
    with pytest.raises(ConfigError) as caught:
        configured(environment, model__fallback=fallback)
    assert said in caught.value.message


async def test_a_model_that_stands_in_is_enough_where_the_first_has_no_key(tmp_path: Path) -> None:
    environment = {"HANDRAIL_CONFIG_DIR": str(tmp_path)}
    stand_in = [{"name": "local", "base_url": LOCAL}]
    configuration = configured(environment, model__name="gpt-x", model__fallback=stand_in)
    choice = choose_model(configuration, environment, None)
    check_model(configuration, choice)
    model = built_model(configuration, choice)
    assert model.name == "local"
    assert "gpt-x is left out" in model.left_out[0].message
    await model.close()

from dataclasses import fields

import pytest

from core.chat.connection import LOCAL_TIME_OUTS
from core.chat.options import OPENAI_BASE_URL, model_options
from core.errors import ConfigError
from core.provider import (
    ProviderFlags,
    find_provider,
    is_loopback,
    is_private_host,
    named_provider,
    provider_names,
    with_learned,
)

EXPECTED = {
    "anthropic", "azure", "bedrock", "dashscope", "deepseek", "gemini", "generic", "glm", "kimi", "llama_cpp",
    "lmstudio", "mistral", "ollama", "openai", "openrouter", "vllm",
}  # fmt: skip


def test_all_providers_are_there_and_can_be_read() -> None:
    assert set(provider_names()) >= EXPECTED
    for name in provider_names():
        provider = named_provider(name)
        assert provider.label
        assert all(size > 0 for size in provider.windows.values())
        assert provider.local == bool(provider.ports)
        assert provider.local or provider.key_env


@pytest.mark.parametrize(
    ("base_url", "name"),
    [
        (OPENAI_BASE_URL, "openai"),
        ("https://me.openai.azure.com/openai/v1", "azure"),
        ("https://api.deepseek.com/v1", "deepseek"),
        ("https://dashscope-intl.aliyuncs.com/compatible-mode/v1", "dashscope"),
        ("https://api.moonshot.cn/v1", "kimi"),
        ("https://open.bigmodel.cn/api/paas/v4", "glm"),
        ("https://api.mistral.ai/v1", "mistral"),
        ("https://generativelanguage.googleapis.com/v1beta/openai", "gemini"),
        ("https://api.anthropic.com/v1", "anthropic"),
        ("https://bedrock-runtime.us-west-2.amazonaws.com/openai/v1", "bedrock"),
        ("https://openrouter.ai/api/v1", "openrouter"),
        ("http://127.0.0.1:11434/v1", "ollama"),
        ("http://localhost:1234/v1", "lmstudio"),
        ("http://192.168.1.5:8000/v1", "vllm"),
        ("http://[::1]:8080/v1", "llama_cpp"),
        ("http://127.0.0.1:9999/v1", "generic"),
        ("https://models.example.org:11434/v1", "generic"),
        ("https://api.openai.com.evil.example/v1", "generic"),
        ("http://[broken", "generic"),
    ],
)
def test_a_provider_is_found_by_its_address(base_url: str, name: str) -> None:
    assert find_provider(base_url).name == name


def test_a_name_wins_over_the_address_and_a_wrong_one_is_told() -> None:
    assert find_provider(OPENAI_BASE_URL, "mistral").name == "mistral"
    with pytest.raises(ConfigError) as caught:
        find_provider(OPENAI_BASE_URL, "nobody")
    assert "ollama" in caught.value.hint


@pytest.mark.parametrize(
    "base_url", ["http://127.0.0.1:9999/v1", "http://127.0.0.1:11434/v1", "http://gpu.lan:8000/v1"]
)
def test_calls_in_the_text_count_only_for_servers_of_ones_own(base_url: str) -> None:
    assert find_provider(base_url).flags.text_tool_calls
    assert find_provider(base_url).local
    for name in provider_names():
        assert named_provider(name).flags.text_tool_calls == named_provider(name).local


@pytest.mark.parametrize(
    ("base_url", "loopback"),
    [
        ("http://127.0.0.1:1/v1", True),
        ("http://localhost/v1", True),
        ("http://[::1]/v1", True),
        ("http://127.1.2.3/v1", True),
        ("http://192.168.0.1/v1", False),
        ("http://localhost.example.org/v1", False),
        ("https://api.openai.com/v1", False),
    ],
)
def test_only_this_machine_is_loopback(base_url: str, loopback: bool) -> None:
    assert is_loopback(base_url) is loopback


def test_private_networks_are_told_from_public_ones() -> None:
    assert is_private_host("10.1.2.3")
    assert is_private_host("host.docker.internal")
    assert not is_private_host("8.8.8.8")
    assert not is_private_host("example.org")


def test_learned_flags_change_the_flags_and_nonsense_does_not() -> None:
    learned = {
        "vision": "false",
        "max_tokens_field": "max_completion_tokens",
        "omit.top_p": "true",
        "strict": "false",
    }
    flags = with_learned(ProviderFlags(), learned)
    assert (flags.vision, flags.max_tokens_field, flags.omit) == (
        False,
        "max_completion_tokens",
        ("top_p",),
    )
    assert with_learned(flags, {"context_window": "4096", "unknown": "x"}) is flags


def test_the_window_of_a_model_is_found_by_pattern() -> None:
    assert named_provider("openai").window("gpt-4o-mini-2024-07-18") == 128000
    assert named_provider("openai").window("nobody") == 0


def test_options_are_filled_in_from_the_address() -> None:
    local = model_options("qwen3", "http://127.0.0.1:11434/v1/")
    assert (local.base_url, local.provider.name, local.time_outs) == (
        "http://127.0.0.1:11434/v1",
        "ollama",
        LOCAL_TIME_OUTS,
    )
    cloud = model_options("gpt-4o", api_key=" sk-x\n")
    assert (cloud.base_url, cloud.api_key, cloud.window) == (OPENAI_BASE_URL, "sk-x", 128000)
    assert model_options("gpt-4o", window=5).window == 5
    assert "sk-x" not in repr(cloud)


def test_a_name_typed_wrongly_is_answered_with_the_nearest_one_and_the_setting_it_stands_in() -> (
    None
):
    with pytest.raises(ConfigError) as caught:
        named_provider("opnai")
    assert "model.provider" in caught.value.message
    assert caught.value.hint.startswith("Did you mean openai? ")


def test_every_flag_is_documented_where_it_stands() -> None:
    names = {item.name for item in fields(ProviderFlags)}
    assert {"text_tool_calls", "tool_id", "echo_reasoning", "developer_role"} <= names

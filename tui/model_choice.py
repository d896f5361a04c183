"""Settings in, model out: which server, which key, which limits of its own."""

import os
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from core.chat.learned_flags import FileFlagStore
from core.chat.options import OPENAI_BASE_URL, ModelOptions, model_options
from core.config import ModelSettings
from core.config_layers import config_dir, state_dir
from core.config_load import Configuration
from core.errors import ConfigError
from core.pricing import Price, find_price, own_prices
from core.provider import Provider, find_provider
from core.secrets import ApiKey, Keyring, find_api_key, system_keyring

if TYPE_CHECKING:
    from core.fallback import FallbackModel
    from core.messages import JsonValue

USUAL_KEY = "OPENAI_API_KEY"
ENVIRONMENT_ADDRESS = "OPENAI_BASE_URL"
LEARNED_NAME = "learned_flags.json"
_OWN = ("base_url", "provider", "api_key_env")
"""What a stand-in may have of its own beside its name and window."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelChoice:
    """A model server and its key, as the settings name them."""

    base_url: str
    provider: Provider
    key: ApiKey
    key_name: str
    """Variable the key is looked for in first."""
    settings: ModelSettings
    """Name and limits of the model."""

    @property
    def problem(self) -> ConfigError | None:
        """Why no run can work with it, None where nothing speaks against it."""
        if self.key.value or self.provider.local:
            return None
        return ConfigError(
            f"There is no key for {self.provider.label}.",
            hint=f"Set {self.key_name}, or give --base-url for a server that needs none.",
            code="no_key",
        )


def choose_model(
    configuration: Configuration,
    environment: Mapping[str, str] = os.environ,
    keyring: Keyring | None = system_keyring,
) -> ModelChoice:
    """Find out which server is meant, and its key. Blocks where the keyring is asked.

    A key is sent only to the server it is meant for: the usual variable of a known provider, the one the settings name,
    or OPENAI_API_KEY beside OPENAI_BASE_URL.

    Raises:
        ConfigError: The provider does not exist, or the file with keys cannot be used.
    """
    usual = configuration.origin("model.base_url") == ENVIRONMENT_ADDRESS
    return _chosen(configuration.settings.model, environment, keyring, usual_key=usual)


def choose_fallbacks(
    configuration: Configuration,
    environment: Mapping[str, str] = os.environ,
    keyring: Keyring | None = system_keyring,
) -> list[ModelChoice]:
    """Find the servers and keys of the models that stand in for the first one, in order, as `choose_model` does.

    Raises:
        ConfigError: A provider does not exist, or the file with keys cannot be used.
    """
    first = configuration.settings.model
    usual = configuration.origin("model.base_url") == ENVIRONMENT_ADDRESS
    found = []
    for one in first.fallback:
        changes: dict[str, object] = {"name": one.name, "context_window": one.context_window}
        elsewhere = bool(one.base_url)
        if elsewhere:
            changes |= {"base_url": one.base_url, "provider": "", "api_key_env": ""}
        changes |= {key: getattr(one, key) for key in _OWN if getattr(one, key)}
        settings = first.model_copy(update=changes)
        found.append(_chosen(settings, environment, keyring, usual_key=usual and not elsewhere))
    return found


def _chosen(
    model: ModelSettings,
    environment: Mapping[str, str],
    keyring: Keyring | None,
    *,
    usual_key: bool,
) -> ModelChoice:
    base_url = model.base_url or OPENAI_BASE_URL
    provider = find_provider(base_url, model.provider)
    # A server of one's own has no usual variable: the key of OpenAI is none of its business.
    names = [name for name in (model.api_key_env or provider.key_env,) if name]
    if usual_key and not model.api_key_env:
        names.append(USUAL_KEY)
    asked = None if provider.local else keyring
    found = (find_api_key(name, config_dir(environment), environment, asked) for name in names)
    key = next((one for one in found if one.value), ApiKey(value="", origin=""))
    return ModelChoice(
        base_url=base_url,
        provider=provider,
        key=key,
        key_name=names[0] if names else USUAL_KEY,
        settings=model,
    )


def check_model(configuration: Configuration, choice: ModelChoice) -> None:
    """Refuse settings no run can work with.

    Raises:
        ConfigError: No model is named, or its server needs a key, there is none, and no other model stands in.
    """
    if not configuration.settings.model.name:
        raise ConfigError(
            "No model is configured.",
            hint="Set HANDRAIL_MODEL or give --model; for a server of your own also OPENAI_BASE_URL or --base-url.",
            code="no_model",
        )
    if choice.problem is not None and all(
        one.problem is not None for one in choose_fallbacks(configuration)
    ):
        raise choice.problem


def price_of(configuration: Configuration) -> Price | None:
    """Return the price of the model the settings name, None where it is not known; asks nobody.

    Raises:
        ConfigError: The provider does not exist.
    """
    settings = configuration.settings
    provider = find_provider(settings.model.base_url or OPENAI_BASE_URL, settings.model.provider)
    own = own_prices(settings.prices)
    return find_price(provider.name, settings.model.name, local=provider.local, overrides=own)


def price_line(model: str, price: Price | None) -> str:
    """Return a price for people; where it is not known, how to tell it."""
    if price is not None:
        return price.line()
    return f'unknown; a limit of money cannot be kept without it: set it under [prices."{model}"]'


def learned_store() -> FileFlagStore:
    """Return what keeps the flags that servers taught us."""
    return FileFlagStore(state_dir() / LEARNED_NAME)


def built_model(configuration: Configuration, choice: ModelChoice) -> "FallbackModel":
    """Return the model with those that stand in for it; nothing is sent yet.

    A model without its key is left out, and named in `left_out`.

    Raises:
        ConfigError: A provider does not exist.
        ValueError: No model has its key; call `check_model` before.
    """
    from core.fallback import FallbackModel, SwitchingCounter
    from core.model_openai import OpenAIModel

    others = choose_fallbacks(configuration)
    counter, store = SwitchingCounter(), learned_store()
    models = [
        OpenAIModel(options_of(configuration, one), learned=store, counter=counter)
        for one in (choice, *others)
        if one.problem is None
    ]
    left_out = [
        ConfigError(f"{one.settings.name} is left out: {problem.message}", hint=problem.hint)
        for one in (choice, *others)
        if (problem := one.problem) is not None
    ]
    return FallbackModel(models, counter, left_out)


def options_of(configuration: Configuration, choice: ModelChoice) -> ModelOptions:
    """Return what the model layer needs to know."""
    model = choice.settings
    options = model_options(
        model.name,
        choice.base_url,
        api_key=choice.key.value,
        provider=model.provider,
        window=model.context_window,
        prices=own_prices(configuration.settings.prices),
    )
    parameters: dict[str, JsonValue] = {}
    if model.temperature is not None:
        parameters["temperature"] = model.temperature
    if model.max_output_tokens:
        parameters[options.provider.flags.max_tokens_field] = model.max_output_tokens
    return replace(
        options,
        key_env=choice.key_name,
        parameters=parameters,
        tools=model.tools,
        prove_tools=model.tools == "auto" and choice.provider.local,
    )

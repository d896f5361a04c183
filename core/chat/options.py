"""Which model answers, where, and with which limits: plain values."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal
from urllib.parse import urlsplit

from core.chat.connection import LOCAL_TIME_OUTS, TimeOuts
from core.errors import ConfigError
from core.messages import JsonObject
from core.pricing import Price, find_price
from core.provider import Provider, find_provider

OPENAI_BASE_URL = "https://api.openai.com/v1"
NO_KEY = "none"
"""Sent where a server needs no key; the SDK refuses an empty one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelOptions:
    """All about one model that is fixed while a session runs."""

    model: str
    """Its name on the server."""
    base_url: str = OPENAI_BASE_URL
    api_key: str = field(default="", repr=False)
    """"" for servers that need none."""
    key_env: str = "OPENAI_API_KEY"
    """Variable a missing or refused key is told to be set in."""
    organization: str = ""
    project: str = ""
    provider: Provider
    """The server's ways."""
    time_outs: TimeOuts = field(default_factory=TimeOuts)
    window: int = 0
    """Context window in tokens, 0 where unknown."""
    parameters: JsonObject = field(default_factory=dict)
    """Further request parameters, such as temperature."""
    price: Price | None = None
    """None where it is not known."""
    repeat_chunks: int = 400
    """This many equal pieces of text in a row end a stream."""
    tools: Literal["auto", "native", "steps"] = "auto"
    """How tools are offered, whatever was learned; auto: as the provider's flags and what was learned say."""
    prove_tools: bool = False
    """Finds out before the first run whether the server really calls tools."""
    lists_models: bool = True
    """Asks the server for its models when it does not know ours, to name them."""


def model_options(
    model: str,
    base_url: str = "",
    *,
    api_key: str = "",
    provider: str = "",
    window: int = 0,
    prices: Mapping[str, Price] | None = None,
) -> ModelOptions:
    """Return options with what the address says filled in; use `dataclasses.replace` for the rest.

    Args:
        model: Name of the model.
        base_url: Address of the API, "" for OpenAI's own.
        api_key: Key, "" for none.
        provider: Name of the provider, "" to find it by the address.
        window: Context window in tokens, 0 to take what the provider's table says.
        prices: The person's own prices by model name.

    Raises:
        ConfigError: There is no provider of that name, or the address is none.
    """
    base_url = checked_address(base_url or OPENAI_BASE_URL)
    found = find_provider(base_url, provider).for_model(model)
    return ModelOptions(
        model=model,
        base_url=base_url,
        api_key=api_key.strip(),
        key_env=found.key_env or "OPENAI_API_KEY",
        provider=found,
        time_outs=LOCAL_TIME_OUTS if found.local else TimeOuts(),
        window=window or found.window(model),
        price=find_price(found.name, model, local=found.local, overrides=prices),
    )


def checked_address(base_url: str) -> str:
    """Return the address of an API without blanks and slashes at its end.

    Raises:
        ConfigError: It is none.
    """
    address = base_url.strip().rstrip("/")
    try:
        parts = urlsplit(address)
        usable = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        usable = False
    if not usable or not address.isprintable() or " " in address:
        raise ConfigError(
            f"base_url is no address of a model server: {base_url!r}.",
            hint="It looks like http://127.0.0.1:11434/v1.",
            code="base_url",
        )
    return address

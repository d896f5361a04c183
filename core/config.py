"""Settings: what each one is, and what it is when nobody says otherwise.

The string under a field is its documentation: `handrail config show` and the reference are made from it. Where
values come from, and in which order, is `core.config_load`.
"""

from typing import Annotated, Literal

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field

from core.private_hosts import parse_private_host
from core.vocabulary import Mode, SandboxKind


class SettingsGroup(BaseModel):
    """Base of all groups: fixed once loaded, no unknown keys, no silent conversions."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)


class FallbackSettings(SettingsGroup):
    """A model that answers where the ones before it cannot be used."""

    name: str = Field(min_length=1)
    """Name of the model as its server knows it."""
    base_url: str = Field(default="", pattern=r"^(https?://[^\s/]\S*)?$")
    """Address of its server; "" means: that of the first model, with its provider and key."""
    api_key_env: str = ""
    """Environment variable that holds the key; "" means the usual one of the server."""
    provider: str = ""
    """Name of the provider flags to use; "" means: found from the address."""
    context_window: int = Field(default=0, ge=0, le=100_000_000)
    """Tokens the model can take in; 0 means: as the provider flags say."""


def _as_tables(value: object) -> object:
    """Return a list in which a name alone stands for a model of the first one's server."""
    if isinstance(value, str):
        raise ValueError(f'Write a list of names: ["{value}"].')
    if not isinstance(value, list):
        return value
    return [{"name": item} if isinstance(item, str) else item for item in value]


class ModelSettings(SettingsGroup):
    """Which model answers, and where."""

    name: str = ""
    """Name of the model as its server knows it; "" means none is configured."""
    base_url: str = Field(default="", pattern=r"^(https?://[^\s/]\S*)?$")
    """Address of an OpenAI-compatible API, such as http://127.0.0.1:11434/v1; "" means OpenAI's own."""
    api_key_env: str = ""
    """Environment variable that holds the key; "" means the usual one of the server. The key never stands here."""
    provider: str = ""
    """Name of the provider flags to use; "" means: found from the address."""
    context_window: int = Field(default=0, ge=0, le=100_000_000)
    """Tokens the model can take in; 0 means: as the provider flags say."""
    max_output_tokens: int = Field(default=0, ge=0, le=10_000_000)
    """Longest reply in tokens; 0 leaves it to the server."""
    tools: Literal["auto", "native", "steps"] = "auto"
    """native: the server calls tools; steps: it does not, so the model works step by step; auto: found out."""
    temperature: float | None = Field(default=None, ge=0, le=2)
    """Sampling temperature from 0 to 2; left out of the request when not set."""
    fallback: Annotated[list[FallbackSettings], BeforeValidator(_as_tables)] = Field(
        default_factory=list
    )
    """Models that answer, in order, where the one before cannot be used: names, or tables with name and base_url."""


class LimitSettings(SettingsGroup):
    """What ends a run at the latest."""

    max_steps: int = Field(default=30, ge=1, le=100_000)
    """Model replies a run may use."""
    max_minutes: float = Field(default=30.0, gt=0, le=10_080)
    """Minutes a run may take; waiting for the person does not count."""
    max_cost_usd: float = Field(default=1.0, ge=0, le=100_000)
    """US dollars a run may cost, where the price is known; 0 means no limit."""
    max_cost_per_day_usd: float = Field(default=0.0, ge=0, le=100_000)
    """US dollars all sessions on this machine may cost in a day, where the price is known; 0 means no limit."""
    max_calls: dict[str, Annotated[int, Field(ge=1, le=100_000)]] = Field(default_factory=dict)
    """Calls of a tool in one run: name of the tool = number, as in [limits.max_calls]."""


class PriceSettings(SettingsGroup):
    """What a model costs, in US dollars for a million tokens; wins over the list of prices that comes with Handrail."""

    input_usd_per_mtok: float = Field(ge=0, le=100_000)
    """Price of a million tokens of input."""
    output_usd_per_mtok: float = Field(ge=0, le=100_000)
    """Price of a million tokens of output."""
    cached_usd_per_mtok: float | None = Field(default=None, ge=0, le=100_000)
    """Price of a million tokens of input the server had cached; the same as other input when not set."""


class SandboxSettings(SettingsGroup):
    """Where commands and code run."""

    kind: SandboxKind = "auto"
    """auto (Docker, else the local cage), docker, local (bubblewrap) or none (shell and python are not offered)."""
    image: str = "handrail-sandbox:base"
    """Image of the container."""


def _checked_host(text: str) -> str:
    parse_private_host(text)
    return text


class BrowserSettings(SettingsGroup):
    """The browser the agent uses."""

    enabled: bool = True
    """Whether the browser tool is offered."""
    executable: str = ""
    """Chromium to start; "" means: the one that is found."""
    hosts: Literal["open", "listed"] = "open"
    """open: public sites need no question; listed: only sites a rule or an answer of the session names."""
    allow_private: list[Annotated[str, AfterValidator(_checked_host)]] = Field(default_factory=list)
    """Private or loopback hosts that pages may be opened from, as HOST or HOST:PORT, such as ["127.0.0.1:8000"]."""
    os_sandbox: bool = True
    """Use Chromium's own sandbox; false only where the system forbids it and you trust the pages that are opened."""


class UiSettings(SettingsGroup):
    """How the screen looks and which keys it takes."""

    theme: str = "dark"
    """Name of the theme."""
    keys: dict[str, str] = Field(default_factory=dict)
    """Other keys for actions: binding id = "key" or "key,key"."""


class Settings(SettingsGroup):
    """All settings of a session."""

    profile: str = "general"
    """Prompt, tools and limits to start with."""
    mode: Mode = "ask"
    """read, ask or auto: how much runs without a question. full is for the command line only."""
    model: ModelSettings = Field(default_factory=ModelSettings)
    """Which model answers, and where."""
    limits: LimitSettings = Field(default_factory=LimitSettings)
    """What ends a run at the latest."""
    prices: dict[str, PriceSettings] = Field(default_factory=dict)
    """What models cost: a table [prices."NAME OF THE MODEL"] each, * in the name stands for anything."""
    sandbox: SandboxSettings = Field(default_factory=SandboxSettings)
    """Where commands and code run."""
    browser: BrowserSettings = Field(default_factory=BrowserSettings)
    """The browser the agent uses."""
    ui: UiSettings = Field(default_factory=UiSettings)
    """How the screen looks and which keys it takes."""

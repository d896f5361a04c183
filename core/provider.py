"""Model servers and their ways, as data: one TOML file a provider, found by the address of the server.

The person's own files, in the folder `providers` beside their settings, come before the built-in ones.
"""

import difflib
import fnmatch
import functools
import ipaddress
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from importlib import resources
from typing import Any, Literal, get_args, get_type_hints
from urllib.parse import urlsplit

from core.config_layers import config_dir
from core.errors import ConfigError

GENERIC = "generic"
"""Provider of an address that nobody knows."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ProviderFlags:
    """How requests to a server are written and its answers are read."""

    tool_protocol: Literal["native", "steps"] = "native"
    """native: tools have fields of their own; steps: every reply is one JSON object that names one call."""
    schema_choice: Literal["anyOf", "oneOf"] = "anyOf"
    """Keyword for alternatives in a response format."""
    text_tool_calls: bool = False
    """Calls in the text of an answer are accepted."""
    bridge_assistant_after_tool: bool = False
    """A user message may not follow a tool message; a short assistant message goes between."""
    tool_id: Literal["any", "alnum9"] = "any"
    """Form of call ids in the history; alnum9 is exactly nine letters or digits."""
    tool_content: Literal["any", "string"] = "any"
    """Form of the content of tool messages."""
    schema: Literal["full", "openapi_subset"] = "full"
    """openapi_subset: no $ref, anyOf, const and the like, and one type each."""
    echo_extra_content: bool = False
    """What the server added to a call goes back with it."""
    echo_reasoning: Literal["none", "reasoning_content", "reasoning_details"] = "none"
    """Field in which reasoning goes back with a turn that has calls."""
    vision: bool = True
    """False: pictures are left out."""
    merge_same_role: bool = False
    """Neighbouring messages of one role become one."""
    empty_content: str | None = None
    """Content of an assistant message with calls and no text."""
    max_tokens_field: Literal["max_tokens", "max_completion_tokens"] = "max_tokens"
    """Field for the longest answer."""
    temperature: Literal["send", "omit"] = "send"
    """Whether a temperature may be sent."""
    developer_role: bool | None = None
    """True: the system message has the role developer; False: never; None: as written."""
    system_role: bool = True
    """False: there is no system message; its text stands at the start of the first message of the user."""
    stream_usage: bool = True
    """Token counts may be asked for while streaming."""
    parallel_calls: bool = True
    """`parallel_tool_calls` may be sent."""
    tool_choice: Literal["send", "omit"] = "send"
    """Whether a tool choice may be sent."""
    tool_choice_forced: bool = True
    """A tool choice may demand a call; False where a thinking model refuses that."""
    response_format: Literal["json_schema", "json_object", "omit"] = "json_schema"
    """The strictest response format the server takes."""
    strict: bool = True
    """`strict` may stand in a tool."""
    omit: tuple[str, ...] = ()
    """Other parameters the server refused."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelRule:
    """Flags of some of a provider's models."""

    match: str
    """Names of models, * allowed, in lower case."""
    flags: Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Provider:
    """A kind of model server."""

    name: str
    label: str
    """Its name for people."""
    aliases: tuple[str, ...] = ()
    """Other names it may be called by in the settings."""
    hosts: tuple[str, ...] = ()
    """Host names, * allowed."""
    ports: tuple[int, ...] = ()
    """Ports on the loopback interface."""
    key_env: str = ""
    """Environment variable that usually holds the key, "" where none is needed."""
    start_hint: str = ""
    """How to start it where it does not answer, one line."""
    local: bool = False
    """It runs on the person's own machine or network and costs nothing."""
    flags: ProviderFlags = field(default_factory=ProviderFlags)
    windows: Mapping[str, int] = field(default_factory=dict)
    """Context windows in tokens by model name, * allowed; the first that fits counts."""
    models: tuple[ModelRule, ...] = ()
    """Flags of some models; all that fit count, later ones more."""

    def for_model(self, model: str) -> "Provider":
        """Return the provider with the flags of one of its models."""
        name = model.lower()
        changes = [rule.flags for rule in self.models if fnmatch.fnmatchcase(name, rule.match)]
        if not changes:
            return self
        merged = {key: value for flags in changes for key, value in flags.items()}
        return replace(self, flags=replace(self.flags, **merged), models=())

    def window(self, model: str) -> int:
        """Return the context window of a model in tokens, 0 where unknown."""
        name = model.lower()
        return next(
            (size for pattern, size in self.windows.items() if fnmatch.fnmatchcase(name, pattern)),
            0,
        )


def provider_names() -> tuple[str, ...]:
    """Return the names of all providers, sorted.

    Raises:
        ConfigError: A file of the person's own is wrong.
    """
    return tuple(sorted(all_providers()))


def named_provider(name: str) -> Provider:
    """Return the provider of this name.

    Raises:
        ConfigError: There is none, the hint lists the names; or a file of the person's own is wrong.
    """
    known = all_providers()
    found = known.get(name)
    found = found or next((one for one in known.values() if name in one.aliases), None)
    if found is None:
        near = difflib.get_close_matches(name.casefold(), known, n=1)
        guess = f"Did you mean {near[0]}? " if near else ""
        raise ConfigError(
            f"There is no provider {name!r} (model.provider).",
            hint=f"{guess}Providers: {', '.join(sorted(known))}.",
        )
    return found


def find_provider(base_url: str, name: str = "") -> Provider:
    """Return the provider behind an address.

    Args:
        base_url: Address of the API.
        name: Overrides what the address says; "" for none.

    Raises:
        ConfigError: There is no provider of that name, or a file of the person's own is wrong.
    """
    if name:
        return named_provider(name)
    host, port = _host_and_port(base_url)
    private = is_private_host(host)
    known = all_providers()
    for provider in known.values():
        if any(fnmatch.fnmatchcase(host, pattern) for pattern in provider.hosts):
            return provider
        if private and port in provider.ports:
            return provider
    generic = known[GENERIC]
    if not private:
        return generic
    # A server of one's own rarely reads the calls out of a small model's text: then we do.
    own = replace(generic.flags, text_tool_calls=True, schema_choice="oneOf")
    return replace(generic, local=True, flags=own)


def is_loopback(base_url: str) -> bool:
    """Return whether an address is on this machine."""
    host, _ = _host_and_port(base_url)
    if host == "localhost" or host.endswith(".localhost"):
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def is_private_host(host: str) -> bool:
    """Return whether a host is this machine or one of a private network."""
    if host in ("localhost", "host.docker.internal") or host.endswith(
        (".localhost", ".local", ".lan")
    ):
        return True
    try:
        return ipaddress.ip_address(host).is_private
    except ValueError:
        return False


def _host_and_port(base_url: str) -> tuple[str, int | None]:
    try:
        parts = urlsplit(base_url)
        return (parts.hostname or "").lower(), parts.port
    except ValueError:
        return "", None


def with_learned(flags: ProviderFlags, learned: Mapping[str, str]) -> ProviderFlags:
    """Return the flags with what was learned from refusals; unknown names and values are ignored.

    Args:
        flags: As the provider's file says.
        learned: Values by flag, as text: true, false, or the value itself.
    """
    values = (
        (name, {"true": True, "false": False}.get(value, value)) for name, value in learned.items()
    )
    changes: dict[str, Any] = {name: value for name, value in values if _is_value_of(name, value)}
    extra = tuple(name.removeprefix("omit.") for name in learned if name.startswith("omit."))
    if not changes and not extra:
        return flags
    return replace(flags, **changes, omit=(*flags.omit, *extra))


def _is_value_of(flag: str, value: object) -> bool:
    """Return whether a flag may have this value; False for unknown flags and for `omit`."""
    kind = _flag_kinds().get(flag)
    choices = get_args(kind) or (kind,)
    return value in choices or type(value) in choices


@functools.cache
def _flag_kinds() -> Mapping[str, Any]:
    hints = get_type_hints(ProviderFlags)
    return {name: kind for name, kind in hints.items() if name != "omit"}


def all_providers() -> Mapping[str, Provider]:
    """Return all providers by name, the person's own first; one of theirs replaces a built-in one of its name.

    Raises:
        ConfigError: A file of the person's own is wrong.
    """
    folder = config_dir()
    if not (folder / "providers").is_dir():
        return built_in_providers()
    from core.provider_file import load_own_providers

    own = load_own_providers(folder)
    return {**own, **{key: one for key, one in built_in_providers().items() if key not in own}}


@functools.cache
def built_in_providers() -> Mapping[str, Provider]:
    """Return the providers that come with the program, by name."""
    from core.provider_file import provider_of

    folder = resources.files("core") / "providers"
    found = {}
    for item in sorted(folder.iterdir(), key=lambda item: item.name):
        if item.name.endswith(".toml"):
            name = item.name.removesuffix(".toml")
            found[name] = provider_of(name, tomllib.loads(item.read_text(encoding="utf-8")))
    return found

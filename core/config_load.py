"""Loads settings in layers: defaults, then `config.toml`, then the environment, then the command line.

Reads only: a file with a mistake stays as it is. Every value knows where it came from.
"""

import difflib
import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from pydantic import ValidationError
from pydantic_core import ErrorDetails

from core.config import Settings
from core.config_layers import CONFIG_NAME, Override, Tree, config_dir, parse_toml, read_text
from core.config_reference import allowed_text, group_names
from core.errors import ConfigError
from core.toml_lines import key_lines, line_of

ENVIRONMENT_KEYS: Mapping[str, str] = {
    "OPENAI_BASE_URL": "model.base_url",
    "HANDRAIL_MODEL": "model.name",
}
"""Environment variables that set something, and what."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Configuration:
    """Settings, with where each value came from."""

    settings: Settings
    path: Path
    """The configuration file, there or not."""
    origins: Mapping[str, str] = field(default_factory=dict)
    """By dotted key; what is not listed is the default."""
    problem: ConfigError | None = None
    """Set where the file could not be used and the app starts in mode read without it."""

    def origin(self, key: str) -> str:
        """Return where the value of a dotted key came from."""
        return self.origins.get(key, "default")


def load_configuration(
    overrides: Sequence[Override] = (), environment: Mapping[str, str] = os.environ
) -> Configuration:
    """Load all layers.

    Raises:
        ConfigError: With file, line, key and what is allowed; show it and end with exit code 2.
    """
    path = config_dir(environment) / CONFIG_NAME
    return _layered(path, read_text(path), overrides, environment)


def load_or_excuse(
    overrides: Sequence[Override] = (), environment: Mapping[str, str] = os.environ
) -> Configuration:
    """Load all layers; a file with a mistake is left out, and the mode is read.

    Raises:
        ConfigError: The environment or the command line is wrong.
    """
    try:
        return load_configuration(overrides, environment)
    except ConfigError as problem:
        path = config_dir(environment) / CONFIG_NAME
        rest = _layered(path, "", overrides, environment)
        return Configuration(
            settings=rest.settings.model_copy(update={"mode": "read"}),
            path=path,
            origins={**rest.origins, "mode": f"{path} cannot be used"},
            problem=problem,
        )


def check_settings(tree: Mapping[str, object], places: Mapping[str, str]) -> Settings:
    """Turn a tree of values into settings.

    Args:
        tree: Nested by group.
        places: Where a dotted key or group stands, for the message.

    Raises:
        ConfigError: With place, key and what is allowed.
    """
    try:
        return Settings.model_validate(tree)
    except ValidationError as error:
        # A name typed wrongly also leaves the right one missing: the name typed is what is to be mended.
        found = error.errors(include_url=False)
        problems = sorted(found, key=lambda problem: problem["type"] == "missing")
        raise _problem(problems[0], places, len(problems) - 1) from error


def file_places(text: str, tree: Tree, path: Path) -> dict[str, str]:
    """Return where each key of a parsed file stands, by dotted key."""
    lines = key_lines(text)
    found: dict[str, str] = {}
    for key in _leaves(tree):
        line = line_of(lines, key)
        found[".".join(key)] = f"{path} line {line}" if line else str(path)
    return found


def _layered(
    path: Path, text: str, overrides: Sequence[Override], environment: Mapping[str, str]
) -> Configuration:
    tree = parse_toml(text, path)
    places = file_places(text, tree, path)
    if check_settings(tree, places).mode == "full":
        raise ConfigError(
            f"{places['mode']}: mode full cannot be set in a file.",
            hint="Allowed: read, ask, auto.",
        )
    for variable, key in ENVIRONMENT_KEYS.items():
        if value := environment.get(variable):
            _put(tree, key, value)
            places[key] = variable
    for override in overrides:
        _put(tree, override.key, override.value)
        places[override.key] = override.option
    return Configuration(settings=check_settings(tree, places), path=path, origins=places)


def _put(tree: Tree, key: str, value: object) -> None:
    *groups, name = key.split(".")
    for group in groups:
        inner = tree.setdefault(group, {})
        if not isinstance(inner, dict):
            raise TypeError(f"{group} is no group of settings")
        tree = inner
    tree[name] = value


def _leaves(tree: Mapping[str, object], prefix: tuple[str, ...] = ()) -> list[tuple[str, ...]]:
    found: list[tuple[str, ...]] = []
    for name, value in tree.items():
        key = (*prefix, name)
        found.append(key)
        if isinstance(value, list):
            value = {str(number): item for number, item in enumerate(value)}
        if isinstance(value, dict) and len(key) < 8:
            found.extend(_leaves(value, key))
    return found


def _problem(detail: ErrorDetails, places: Mapping[str, str], more: int) -> ConfigError:
    key = tuple(str(part) for part in detail["loc"])
    dotted = ".".join(key)
    place = _place(key, places)
    others = f" (and {more} more)" if more else ""
    if detail["type"] == "extra_forbidden":
        return ConfigError(f"{place}: {dotted} is not a setting{others}.", hint=_unknown_hint(key))
    if detail["type"] == "missing":
        allowed = allowed_text(key)
        return ConfigError(f"{place}: {dotted} is missing{others}.", hint=f"Allowed: {allowed}.")
    hint = f"Allowed: {allowed_text(key)}."
    if detail["type"] == "value_error":
        hint = str(detail["ctx"]["error"])
    value = json.dumps(detail["input"], ensure_ascii=True, default=str)
    shown = value if len(value) <= 40 else value[:37] + "..."
    return ConfigError(f"{place}: {dotted} cannot be {shown}{others}.", hint=hint)


def _place(key: tuple[str, ...], places: Mapping[str, str]) -> str:
    for length in range(len(key), 0, -1):
        if place := places.get(".".join(key[:length])):
            return place
    return "configuration"


def _unknown_hint(key: tuple[str, ...]) -> str:
    name = key[-1]
    if "key" in name and "api" in name:
        return "Keys never stand in this file: set OPENAI_API_KEY, or write secrets.toml beside it."
    known = group_names(key[:-1])
    near = difflib.get_close_matches(name, known, n=1)
    suggestion = f"Did you mean {'.'.join((*key[:-1], near[0]))}? " if near else ""
    return f"{suggestion}Known here: {', '.join(known)}."

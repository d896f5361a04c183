"""The form of a provider file: checks it strictly, and names file, line and key of what is wrong in it."""

import difflib
import json
from collections.abc import Mapping
from dataclasses import fields, make_dataclass
from functools import cache
from pathlib import Path
from typing import Annotated, Any, get_type_hints

from pydantic import ConfigDict, Field, TypeAdapter, ValidationError

from core.config_layers import parse_toml, read_text
from core.errors import ConfigError
from core.provider import ModelRule, Provider, ProviderFlags
from core.toml_lines import key_lines, line_of

FOLDER = "providers"
"""Folder of the person's own files, in the folder of the configuration."""
MAX_WINDOW = 1_000_000_000
"""Largest context window in tokens that is taken for one."""


_CLOSED = {"__pydantic_config__": ConfigDict(extra="forbid")}


@cache
def _file_form() -> type:
    """Return the form of a file, made from the flags themselves so that none is named twice."""
    hints = get_type_hints(ProviderFlags)
    given = [(item.name, hints[item.name], item) for item in fields(ProviderFlags)]
    flags = make_dataclass("Flags", [(n, k, i.default) for n, k, i in given], namespace=_CLOSED)
    optional = [(name, kind, None) for name, kind, _ in given]
    some = make_dataclass("ModelFlags", [("match", str), *optional], namespace=_CLOSED)
    own: list[tuple[str, Any, Any]] = [
        ("aliases", tuple[str, ...], ()),
        ("hosts", tuple[str, ...], ()),
        ("ports", tuple[int, ...], ()),
        ("key_env", str, ""),
        ("start_hint", str, ""),
        ("local", bool, False),
        ("flags", flags, None),
        ("windows", dict[str, Annotated[int, Field(ge=1, le=MAX_WINDOW)]], None),
        ("models", tuple[some, ...], ()),  # type: ignore[valid-type]  # made above
    ]
    return make_dataclass("ProviderFile", [("label", str), *own], namespace=_CLOSED)


def parse_provider(name: str, text: str, place: Path) -> Provider:
    """Return the provider a file describes.

    Args:
        name: Name of the provider: that of the file without .toml.
        text: What the file holds.
        place: The file, for messages.

    Raises:
        ConfigError: With file, line and key of the first mistake.
    """
    tree = parse_toml(text, place)
    try:
        # As JSON: there pydantic takes a list for a tuple and an object for a class, and is strict all the same.
        TypeAdapter(_file_form()).validate_json(json.dumps(tree, default=str), strict=True)
    except ValidationError as error:
        raise _problem(error, text, place) from error
    return provider_of(name, tree)


def load_own_providers(folder: Path) -> dict[str, Provider]:
    """Return the person's own providers by name, sorted; none where the folder is not there.

    Args:
        folder: The folder of the configuration.

    Raises:
        ConfigError: A file is wrong.
    """
    return {
        path.stem: parse_provider(path.stem, read_text(path), path)
        for path in sorted((folder / FOLDER).glob("*.toml"))
    }


def provider_of(name: str, table: Mapping[str, Any]) -> Provider:
    """Return the provider of a table that is known to be right."""
    return Provider(
        name=name,
        label=table["label"],
        aliases=tuple(table.get("aliases", ())),
        hosts=tuple(table.get("hosts", ())),
        ports=tuple(table.get("ports", ())),
        key_env=table.get("key_env", ""),
        start_hint=table.get("start_hint", ""),
        local=table.get("local", False),
        flags=ProviderFlags(**_frozen(table.get("flags", {}))),
        windows=table.get("windows", {}),
        models=tuple(_rule(row) for row in table.get("models", ())),
    )


def _rule(row: Mapping[str, Any]) -> ModelRule:
    flags = {key: value for key, value in row.items() if key != "match"}
    return ModelRule(match=row["match"], flags=_frozen(flags))


def _frozen(flags: Mapping[str, Any]) -> dict[str, Any]:
    return {key: tuple(value) if isinstance(value, list) else value for key, value in flags.items()}


def _problem(error: ValidationError, text: str, place: Path) -> ConfigError:
    first = error.errors(include_url=False)[0]
    parts = tuple(str(part) for part in first["loc"])
    line = line_of(key_lines(text), parts)
    where = f"{place} line {line}" if line else str(place)
    key = ".".join(parts)
    if first["type"] in ("extra_forbidden", "unexpected_keyword_argument"):
        known = _known(parts[:-1])
        near = difflib.get_close_matches(parts[-1], known, n=1)
        guess = f"Did you mean {'.'.join((*parts[:-1], near[0]))}? " if near else ""
        return ConfigError(
            f"{where}: {key} is no key of a provider.",
            hint=f"{guess}Known here: {', '.join(known)}.",
        )
    if first["type"] == "missing":
        return ConfigError(f"{where}: {key} is missing.", hint="Every provider has a label.")
    return ConfigError(f"{where}: {key}: {first['msg']}.", hint="See docs/providers.md.")


def _known(group: tuple[str, ...]) -> list[str]:
    if group[:1] in (("flags",), ("models",)):
        names = sorted(item.name for item in fields(ProviderFlags))
        return [*(["match"] if group[0] == "models" else []), *names]
    return [item.name for item in fields(_file_form())]

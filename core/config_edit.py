"""Writes single settings into `config.toml`, keeping comments and order; the only module that uses tomlkit."""

import os
import tempfile
import tomllib
from pathlib import Path
from typing import TYPE_CHECKING

import tomlkit
from tomlkit.exceptions import TOMLKitError
from tomlkit.items import Table

from core.config_layers import parse_toml, read_text
from core.config_load import check_settings, file_places
from core.errors import ConfigError

if TYPE_CHECKING:
    from collections.abc import MutableMapping

NEW_FILE_TEXT = (
    "# Settings of Handrail. `handrail config show` lists them all, with what each may be.\n"
)


def set_value(path: Path, key: str, raw: str) -> object:
    """Write one setting; nothing is written when the result would not load.

    Args:
        path: The configuration file; made, with its folder, where missing.
        key: Dotted, such as limits.max_steps.
        raw: As typed; read as a TOML value, else taken as a text.

    Returns:
        The value as it was written.

    Raises:
        ConfigError: The file or the value is wrong, or the file changed meanwhile; say so and stop.
    """
    before = read_text(path)
    parse_toml(before, path)
    typed = _typed(raw)
    candidates = (typed,) if isinstance(typed, str) else (typed, raw)
    first_problem: ConfigError | None = None
    for value in candidates:
        after = _with_value(before, key, value, path)
        try:
            _check(after, path, key)
        except ConfigError as problem:
            first_problem = first_problem or problem
            continue
        _write(path, before, after)
        return value
    raise first_problem or ConfigError(f"{key} cannot be set.")


def make_file(path: Path) -> bool:
    """Make the configuration file with a line of explanation where there is none.

    Returns:
        Whether it was made.
    """
    if path.exists():
        return False
    _write(path, "", NEW_FILE_TEXT)
    return True


def _typed(raw: str) -> object:
    try:
        return tomllib.loads(f"value = {raw}")["value"]
    except (ValueError, RecursionError):
        return raw


def _with_value(before: str, key: str, value: object, path: Path) -> str:
    *groups, name = key.split(".")
    if not name or not all(groups):
        raise ConfigError(f"{key!r} is no setting.", hint="Write it as group.name.")
    try:
        document = tomlkit.parse(before)
        table: MutableMapping[str, object] = document
        for group in groups:
            table = _subtable(table, group)
        table[name] = value
        return tomlkit.dumps(document)
    except (TOMLKitError, ValueError) as error:
        raise ConfigError(f"{path}: {key} cannot be written: {error}.") from error


def _subtable(table: "MutableMapping[str, object]", group: str) -> "MutableMapping[str, object]":
    if group not in table:
        fresh = tomlkit.table()
        table[group] = fresh
    inner = table[group]
    if not isinstance(inner, Table | dict):
        raise ConfigError(
            f"{group} is a value in this file, not a group.", hint=f"Write [{group}]."
        )
    return inner


def _check(text: str, path: Path, key: str) -> None:
    tree = parse_toml(text, path)
    places = file_places(text, tree, path)
    places[key] = "the new value"
    if check_settings(tree, places).mode == "full":
        raise ConfigError("Mode full cannot be set in a file.", hint="Allowed: read, ask, auto.")


def _write(path: Path, before: str, after: str) -> None:
    """Replace the file in one go, keeping its mode; a new one is for its owner only."""
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        mode = path.stat().st_mode & 0o777 if path.exists() else 0o600
        handle, name = tempfile.mkstemp(prefix=".config-", dir=path.parent)
        try:
            with os.fdopen(handle, "w", encoding="utf-8", newline="") as file:
                file.write(after)
                file.flush()
                os.fchmod(file.fileno(), mode)
                os.fsync(file.fileno())
            if read_text(path) != before:
                raise ConfigError(
                    f"{path} changed meanwhile.", hint="Nothing was written; try again."
                )
            Path(name).replace(path)
        finally:
            Path(name).unlink(missing_ok=True)
    except OSError as error:
        raise ConfigError(
            f"{path} cannot be written: {error.strerror}.",
            hint="Check the folder's owner and rights.",
        ) from error

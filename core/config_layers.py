"""Where settings come from: the folders, the file as text, and values of the command line; imports nothing heavy.

The start of the app waits for this module, not for `core.config_load`, which checks the values.
"""

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

from core.errors import ConfigError

MAX_SIZE_BYTES = 1 << 20
"""Largest configuration file that is read; more is a mistake, and would make the start slow."""
CONFIG_NAME = "config.toml"

Tree: TypeAlias = dict[str, object]


@dataclass(frozen=True, slots=True, kw_only=True)
class Override:
    """A value from the command line."""

    key: str
    """Dotted, such as limits.max_steps."""
    value: object
    option: str
    """As typed, such as --max-steps."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FirstLook:
    """What the first paint needs of the settings, unchecked."""

    theme: str = ""
    """"" where the file says nothing."""
    keys: Mapping[str, str] | None = None


def config_dir(environment: Mapping[str, str] = os.environ) -> Path:
    """Return the folder of the configuration, there or not."""
    return _folder(environment, "HANDRAIL_CONFIG_DIR", "user_config_dir")


def state_dir(environment: Mapping[str, str] = os.environ) -> Path:
    """Return the folder of sessions and other state, there or not."""
    return _folder(environment, "HANDRAIL_STATE_DIR", "user_state_dir")


def first_look(environment: Mapping[str, str] = os.environ) -> FirstLook:
    """Return theme and keys as the file has them; nothing of a file that cannot be read, which is reported later."""
    path = config_dir(environment) / CONFIG_NAME
    try:
        ui = parse_toml(read_text(path), path).get("ui")
    except ConfigError:
        return FirstLook()
    if not isinstance(ui, dict):
        return FirstLook()
    theme, keys = ui.get("theme"), ui.get("keys")
    pairs = keys.items() if isinstance(keys, dict) else ()
    return FirstLook(
        theme=theme if isinstance(theme, str) else "",
        keys={str(name): value for name, value in pairs if isinstance(value, str)},
    )


def read_text(path: Path) -> str:
    """Return the text of a configuration file, "" where there is none.

    Raises:
        ConfigError: It cannot be read, is no UTF-8 text, or is too large.
    """
    try:
        with path.open("rb") as stream:  # a pipe or a device does not tell its size
            raw = stream.read(MAX_SIZE_BYTES + 1)
        if len(raw) > MAX_SIZE_BYTES:
            raise ConfigError(f"{path} is larger than 1 MiB.", hint="Move it away and start anew.")
    except FileNotFoundError:
        return ""
    except OSError as error:
        raise ConfigError(
            f"{path} cannot be read: {error.strerror}.", hint="Check its owner and rights."
        ) from error
    try:
        return raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = raw.count(b"\n", 0, error.start) + 1
        raise ConfigError(
            f"{path} line {line}: not UTF-8 text.", hint="Save it as UTF-8."
        ) from error


def parse_toml(text: str, path: Path) -> Tree:
    """Return the tables of a TOML text.

    Raises:
        ConfigError: With file and line.
    """
    if not text:
        return {}
    import tomllib  # off the start path of a person without a file

    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        from core.toml_lines import error_line

        line = error_line(error) or text.count("\n") + 1
        what = str(error).split(" (at ")[0]
        edit = "`handrail config edit` opens it." if path.name == CONFIG_NAME else ""
        raise ConfigError(
            f"{path} line {line}: {what}.", hint=edit or "Mend that line or the one before it."
        ) from error
    except (ValueError, RecursionError) as error:
        raise ConfigError(f"{path}: a value is too long or nested too deep.") from error


def _folder(environment: Mapping[str, str], variable: str, finder: str) -> Path:
    if given := environment.get(variable):
        return Path(given).expanduser().absolute()
    import platformdirs

    return Path(getattr(platformdirs, finder)("handrail", appauthor=False))

"""Finds the key of a model server: in the environment, in the system keyring, or in a file of the owner's alone.

Keys are never written to the log, the journal, the workspace or a message.
"""

import os
import stat
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from core.errors import ConfigError

SECRETS_NAME = "secrets.toml"
KEYRING_SERVICE = "handrail"


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class ApiKey:
    """A key and where it was found; its text never shows in a repr."""

    value: str
    origin: str
    """For people: "$OPENAI_API_KEY", "keyring", or the path of the file; "" when none was found."""


class Keyring(Protocol):
    """Reads one password; None where there is none."""

    def __call__(self, service: str, name: str, /) -> str | None:
        """Look it up; may block."""
        ...


def find_api_key(
    name: str,
    folder: Path,
    environment: Mapping[str, str] = os.environ,
    keyring: Keyring | None = None,
) -> ApiKey:
    """Look for a key in order: environment, `secrets.toml`, keyring.

    Args:
        name: Name of the variable, which is also the entry in the keyring and in the file.
        folder: Configuration folder.
        environment: Variables to look in.
        keyring: Reads the system keyring; slow (up to 0.4 s), so give None where that would be felt.

    Returns:
        The key, with empty fields when there is none.

    Raises:
        ConfigError: `secrets.toml` is there and others can read it, or it is not readable.
    """
    if value := environment.get(name, "").strip():
        return ApiKey(value=value, origin=f"${name}")
    path = folder / SECRETS_NAME
    if value := _from_file(path, name):
        return ApiKey(value=value, origin=str(path))
    if keyring is not None and (value := (keyring(KEYRING_SERVICE, name) or "").strip()):
        return ApiKey(value=value, origin="keyring")
    return ApiKey(value="", origin="")


def system_keyring(service: str, name: str, /) -> str | None:
    """Read the system keyring; None without an entry, or without a keyring. Blocks."""
    import keyring
    import keyring.errors

    try:
        return keyring.get_password(service, name)
    except (keyring.errors.KeyringError, OSError):
        return None


def _from_file(path: Path, name: str) -> str:
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC)
    except FileNotFoundError:
        return ""
    except OSError as error:
        raise ConfigError(f"{path} cannot be read: {error.strerror}.") from error
    with os.fdopen(descriptor, "rb") as file:
        status = os.fstat(file.fileno())
        if not stat.S_ISREG(status.st_mode) or status.st_mode & 0o077:
            raise ConfigError(
                f"{path} can be read by others and is not used.", hint=f"Run: chmod 600 {path}"
            )
        try:
            entries = tomllib.loads(file.read(65_536).decode("utf-8"))
        except ValueError as error:
            raise ConfigError(
                f"{path} is no TOML text.", hint=f'Write one line a key: {name} = "..."'
            ) from error
    value = entries.get(name, "")
    return value.strip() if isinstance(value, str) else ""

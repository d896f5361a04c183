"""Remembers what a model server refused, so that no request is wasted on it twice."""

import json
import os
import tempfile
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Protocol


class FlagStore(Protocol):
    """Keeps learned flags for each server and model."""

    def load(self, base_url: str, model: str) -> Mapping[str, str]:
        """Return what is known, by flag."""
        ...

    def save(self, base_url: str, model: str, flag: str, value: str) -> None:
        """Keep one flag; must not fail."""
        ...


class MemoryFlagStore:
    """Keeps learned flags while the program runs."""

    def __init__(self) -> None:
        self._known: dict[tuple[str, str], dict[str, str]] = {}

    def load(self, base_url: str, model: str) -> Mapping[str, str]:
        """Return what is known, by flag."""
        return dict(self._known.get((base_url, model), {}))

    def save(self, base_url: str, model: str, flag: str, value: str) -> None:
        """Keep one flag."""
        self._known.setdefault((base_url, model), {})[flag] = value


class FileFlagStore:
    """Keeps learned flags in a JSON file of the state folder.

    A file that cannot be read or written costs a refused request more, never a run.

    Args:
        path: The file; its folder is made, the file gets mode 0600.
    """

    def __init__(self, path: Path) -> None:
        self._path = path

    def load(self, base_url: str, model: str) -> Mapping[str, str]:
        """Return what is known, by flag."""
        return self._read().get(f"{base_url} {model}", {})

    def save(self, base_url: str, model: str, flag: str, value: str) -> None:
        """Keep one flag."""
        known = self._read()
        known.setdefault(f"{base_url} {model}", {})[flag] = value
        with suppress(OSError):
            self._write(known)

    def forget(self, base_url: str, model: str) -> int:
        """Forget all of one server and model; return how many flags that were.

        Raises:
            OSError: The file cannot be written.
        """
        known = self._read()
        flags = known.pop(f"{base_url} {model}", {})
        if flags:
            self._write(known)
        return len(flags)

    def _read(self) -> dict[str, dict[str, str]]:
        try:
            found = json.loads(self._path.read_text(encoding="utf-8"))
        except (OSError, ValueError, RecursionError):
            return {}
        if not isinstance(found, dict):
            return {}
        return {
            str(key): {str(flag): str(value) for flag, value in flags.items()}
            for key, flags in found.items()
            if isinstance(flags, dict)
        }

    def _write(self, known: Mapping[str, Mapping[str, str]]) -> None:
        self._path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        descriptor, name = tempfile.mkstemp(dir=self._path.parent, prefix=".learned")
        with os.fdopen(descriptor, "w", encoding="utf-8") as file:
            json.dump(known, file, indent=1, sort_keys=True)
        Path(name).replace(self._path)

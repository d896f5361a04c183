"""Which files of which workspace the person has trusted to tell the agent something.

Trust belongs to a folder (its real path, device and inode) and to the exact bytes of each file. It is kept in the
folder of state, which no tool can write and no workspace may hold.
"""

import hashlib
import json
import os
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from core.errors import ConfigError
from core.instructions import GuideFile

STORE_NAME: Final = "trust.json"


class TrustedFolder(BaseModel):
    """A workspace whose files are trusted."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    path: str
    device: int
    inode: int
    files: dict[str, str] = Field(default_factory=dict)
    """SHA-256 of each trusted file by its path."""
    at_utc: str = ""


class _StoreFile(BaseModel):
    """The whole file."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    version: int = 1
    workspaces: list[TrustedFolder] = Field(default_factory=list)


@dataclass(frozen=True, slots=True, kw_only=True)
class Sorted:
    """Files by what the person thinks of them."""

    trusted: Sequence[GuideFile] = ()
    others: Sequence[GuideFile] = ()
    """New, or changed since."""


class TrustStore:
    """Reads and writes what is trusted."""

    def __init__(self, path: Path) -> None:
        """Use the file at `path`, there or not."""
        self._path = path

    def sort(self, workspace: Path, files: Iterable[GuideFile]) -> Sorted:
        """Tell trusted files from others; where the store cannot be read, nothing is trusted."""
        known = self.known(workspace)
        trusted: list[GuideFile] = []
        others: list[GuideFile] = []
        for file in files:
            (trusted if known.get(file.path) == file.sha256 else others).append(file)
        return Sorted(trusted=tuple(trusted), others=tuple(others))

    def known(self, workspace: Path) -> Mapping[str, str]:
        """Return the digest of each trusted file of a workspace by its path."""
        if why_never_trusted(workspace):
            return {}
        with suppress(ConfigError, OSError):
            key = _key(workspace)
            for folder in self._load().workspaces:
                if (folder.path, folder.device, folder.inode) == key:
                    return folder.files
        return {}

    def trust(self, workspace: Path, files: Iterable[GuideFile]) -> None:
        """Trust exactly these files of a workspace from now on.

        Raises:
            ConfigError: The folder is never trusted, or the store cannot be written; say so and stop.
        """
        if reason := why_never_trusted(workspace):
            raise ConfigError(reason, code="never_trusted")
        path, device, inode = _key(workspace)
        now = datetime.now(UTC).isoformat(timespec="seconds").replace("+00:00", "Z")
        entry = TrustedFolder(
            path=path,
            device=device,
            inode=inode,
            files={file.path: file.sha256 for file in files},
            at_utc=now,
        )
        others = [folder for folder in self._load().workspaces if folder.path != path]
        self._save(_StoreFile(workspaces=[*others, entry]))

    def forget(self, workspace: Path) -> bool:
        """Trust nothing of a workspace any more; return whether anything was.

        Raises:
            ConfigError: The store cannot be read or written; say so and stop.
        """
        path = _as_text(os.path.realpath(workspace))
        folders = self._load().workspaces
        others = [folder for folder in folders if folder.path != path]
        if len(others) < len(folders):
            self._save(_StoreFile(workspaces=others))
        return len(others) < len(folders)

    def _load(self) -> _StoreFile:
        try:
            return _StoreFile.model_validate_json(self._path.read_bytes())
        except FileNotFoundError:
            return _StoreFile()
        except ValidationError as error:
            raise ConfigError(
                f"{self._path} cannot be read as what is trusted.",
                hint="Move it away; then trust anew.",
            ) from error
        except OSError as error:
            raise ConfigError(f"{self._path} cannot be read: {error.strerror}.") from error

    def _save(self, file: _StoreFile) -> None:
        """Write the whole file anew, mode 0600, and put it in the place of the old one."""
        name = ""
        try:
            self._path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            opened, name = tempfile.mkstemp(prefix=".trust-", dir=self._path.parent)
            with os.fdopen(opened, "w", encoding="utf-8") as stream:
                stream.write(json.dumps(file.model_dump(), ensure_ascii=False, indent=1) + "\n")
                stream.flush()
                os.fsync(stream.fileno())
            Path(name).replace(self._path)
        except OSError as error:
            if name:
                Path(name).unlink(missing_ok=True)
            raise ConfigError(f"{self._path} cannot be written: {error.strerror}.") from error


def why_never_trusted(workspace: Path) -> str:
    """Return why no file of this folder is ever trusted, "" where it can be: the root and the home folder."""
    real = os.path.realpath(workspace)
    if real == "/":
        return "The root folder is never trusted."
    if real == os.path.realpath(Path.home()):
        return "The home folder is never trusted: anything may be put there. Work in a folder below it."
    return ""


def digest_of(files: Iterable[GuideFile]) -> str:
    """Return one digest of paths and contents: what an approval holds for."""
    pairs = sorted((file.path, file.sha256) for file in files)
    return hashlib.sha256(json.dumps(pairs).encode("utf-8", "surrogatepass")).hexdigest()


def _key(workspace: Path) -> tuple[str, int, int]:
    real = os.path.realpath(workspace)
    status = Path(real).stat()
    return _as_text(real), status.st_dev, status.st_ino


def _as_text(path: str) -> str:
    """Return a path as JSON can hold it: names need not be UTF-8."""
    return path.encode("utf-8", "backslashreplace").decode("utf-8")

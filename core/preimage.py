"""What files held before the agent changed them, kept in the session's folder so that an edit can be undone."""

import asyncio
import errno
import hashlib
import json
import os
from dataclasses import asdict, dataclass
from pathlib import Path

import aiofiles

from core.errors import StoreError

ABSENT = "absent"
"""Stands for the digest of a file that is not there."""
_INDEX = "preimages.jsonl"
_BLOBS = "preimages"


@dataclass(frozen=True, slots=True, kw_only=True)
class Preimage:
    """One change of one file."""

    path: str
    """Relative to the workspace."""
    before: str
    """SHA-256 of what the file held, or `ABSENT`."""
    after: str
    """SHA-256 of what was written, or `ABSENT` when it was removed."""


def digest(data: bytes | None) -> str:
    """Return the SHA-256 of a file's bytes, `ABSENT` for None."""
    return ABSENT if data is None else hashlib.sha256(data).hexdigest()


class PreimageStore:
    """Changes in the order they were made; the newest of a path can be taken back.

    The index is append-only: each line is a change, or the mark that the newest change of a path was undone.
    """

    def __init__(self, folder: Path) -> None:
        """Keep everything in `folder` (the session's, 0700)."""
        self._folder = folder
        self._changes: dict[str, list[Preimage]] | None = None
        self._lock = asyncio.Lock()

    async def save(self, path: str, before: bytes | None, after: bytes | None) -> Preimage:
        """Keep what a file holds before it is changed; call it before the change.

        Args:
            path: Relative to the workspace.
            before: Its bytes now, None when it is not there.
            after: What will be written, None for a removal.

        Raises:
            StoreError: The session's folder cannot be written; do not make the change.
        """
        change = Preimage(path=path, before=digest(before), after=digest(after))
        async with self._lock:
            try:
                changes = await self._load()
                if before is not None:
                    await self._keep(change.before, before)
                await self._append(asdict(change))
            except OSError as error:
                raise StoreError(
                    f"The state before the edit of {path} cannot be kept: {error.strerror}."
                ) from error
            changes.setdefault(path, []).append(change)
        return change

    async def newest(self, path: str) -> Preimage | None:
        """Return the newest change of a path that is not undone, None when there is none."""
        async with self._lock:
            changes = (await self._load()).get(path)
            return changes[-1] if changes else None

    async def content(self, change: Preimage) -> bytes | None:
        """Return what the file held before `change`, None when it was not there.

        Raises:
            StoreError: The kept copy cannot be read.
        """
        if change.before == ABSENT:
            return None
        try:
            async with aiofiles.open(self._folder / _BLOBS / change.before, "rb") as stream:
                data = await stream.read()
        except OSError as error:
            raise StoreError(
                f"The kept copy of {change.path} cannot be read: {error.strerror}."
            ) from error
        if digest(data) != change.before:
            raise StoreError(f"The kept copy of {change.path} is damaged.")
        return data

    async def undone(self, change: Preimage) -> None:
        """Note that `change`, the newest of its path, was taken back."""
        async with self._lock:
            changes = await self._load()
            await self._append({"undone": change.path})
            changes[change.path].remove(change)

    async def _load(self) -> dict[str, list[Preimage]]:
        if self._changes is None:
            self._changes = {}
            for line in await self._lines():
                row = json.loads(line)
                if "undone" in row:
                    self._changes[row["undone"]].pop()
                else:
                    self._changes.setdefault(row["path"], []).append(Preimage(**row))
        return self._changes

    async def _lines(self) -> list[bytes]:
        try:
            async with aiofiles.open(self._folder / _INDEX, "rb") as stream:
                text = await stream.read()
        except FileNotFoundError:
            return []
        whole, newline, torn = text.rpartition(b"\n")
        if torn:  # by a crash, before its edit began
            os.truncate(self._folder / _INDEX, len(whole) + len(newline))
        return whole.split(b"\n") if whole else []

    async def _append(self, row: dict[str, str]) -> None:
        line = json.dumps(row, ensure_ascii=False).encode("utf-8", "surrogateescape") + b"\n"
        opened = os.open(
            self._folder / _INDEX, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600
        )
        try:
            written = os.write(opened, line)
            if written != len(line):  # the disk is full: nothing of the line may stay
                os.ftruncate(opened, os.fstat(opened).st_size - written)
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        finally:
            os.close(opened)

    async def _keep(self, name: str, data: bytes) -> None:
        folder = self._folder / _BLOBS
        folder.mkdir(mode=0o700, exist_ok=True)
        kept = folder / name
        if kept.exists():
            return
        partial = folder / f"{name}.part"
        opened = os.open(
            partial, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600
        )
        async with aiofiles.open(opened, "wb") as stream:
            await stream.write(data)
            await stream.flush()
            await asyncio.to_thread(os.fsync, opened)
        await asyncio.to_thread(os.replace, partial, kept)

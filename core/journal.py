"""The journal: one JSON line a record, appended with one `os.write`, so that a kill loses nothing acknowledged.

A line is the object of `run --json` plus `mono_s`, `prev` (the checksum of the line before) and `crc`, the CRC-32 of
the line without that last field. A torn end is cut off when the journal is opened and kept beside it.
"""

import fcntl
import itertools
import json
import os
import re
import threading
import time
import zlib
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path

from core.errors import StoreError
from core.events import EVENT_ADAPTER
from core.record import Record

FILE_NAME = "journal.jsonl"
ENVELOPE = ("n", "at_utc", "run_id", "step", "mono_s", "prev", "crc")
_LINE_END = re.compile(rb',"crc":\d+\}')


@dataclass(frozen=True, slots=True, kw_only=True)
class LoadedJournal:
    """What an existing journal holds."""

    records: Sequence[Record]
    torn_bytes: int = 0
    """Bytes cut off at the end, 0 when it was whole."""
    torn_file: str = ""
    """File name they were kept under."""
    damaged_line: int = 0
    """First line in the middle that cannot be trusted, 0 when there is none; the records end before it."""


class Journal:
    """Appends records to a session's file; one process at a time."""

    def __init__(self, folder: Path) -> None:
        """Open the journal in `folder`, making both when they are not there.

        Raises:
            StoreError: It cannot be opened, or another process has it open.
        """
        self.path = folder / FILE_NAME
        self._crc = 0
        self._end = 0
        """Where the last whole line ends."""
        self._broken = False
        """Whether half a line may stand after `_end`."""
        self._unsynced = False
        self._is_named = False
        """Whether the folder's own entry for the file has reached the disk."""
        self._sync_lock = threading.Lock()
        try:
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC | os.O_NOFOLLOW
            self._fd = os.open(self.path, flags, 0o600)
            os.fchmod(self._fd, 0o600)
            self._end = os.fstat(self._fd).st_size
        except OSError as error:
            hint = "Set HANDRAIL_STATE_DIR to a folder that can be written."
            raise StoreError(
                f"Cannot write the journal {self.path}: {error.strerror}.", hint=hint
            ) from error
        try:
            fcntl.flock(self._fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            os.close(self._fd)
            raise StoreError(
                "This session is open in another Handrail.",
                hint="Close that one first.",
                code="session_open",
            ) from error

    def load(self) -> LoadedJournal:
        """Read what is there and cut off a torn end; later lines are chained to the last good one.

        Raises:
            StoreError: It cannot be read, or its torn end cannot be set aside; nothing was changed.
        """
        try:
            data = self.path.read_bytes()
        except OSError as error:
            raise StoreError(f"{self.path} cannot be read: {error.strerror}.") from error
        records, good_bytes, self._crc = read_lines(data)
        loaded = _judged(records, data[good_bytes:])
        self._end = good_bytes if loaded.torn_bytes else len(data)
        if not loaded.torn_bytes:
            return loaded
        kept = self._set_aside(data[good_bytes:])
        os.ftruncate(self._fd, good_bytes)
        return replace(loaded, torn_file=kept)

    def write(self, record: Record) -> None:
        """Append one record with one write.

        Raises:
            StoreError: The disk is full or the file cannot be written; no part of the line stays.
        """
        line, crc = encode(record, self._crc)
        try:
            written = self._append(line)
        except OSError as error:
            raise StoreError(
                f"Cannot write the journal: {error.strerror}.", hint="Free some space."
            ) from error
        if written != len(line):
            # Where cutting fails too, the next write cuts first: a line must never follow half a line.
            with suppress(OSError):
                os.ftruncate(self._fd, self._end)
            raise StoreError("Cannot write the journal: the disk is full.", hint="Free some space.")
        self._end += written
        self._crc, self._unsynced = crc, True

    def sync(self) -> None:
        """Make all that was written survive a power loss; blocks for some milliseconds.

        Raises:
            StoreError: The disk did not take it.
        """
        with self._sync_lock:
            if not self._unsynced or self._fd < 0:
                return
            self._unsynced = False
            try:
                self._sync_file()
            except OSError as error:
                self._unsynced = True
                raise StoreError(
                    f"The journal cannot be brought to the disk: {error.strerror}.",
                    hint="Look at the disk.",
                ) from error

    def close(self) -> None:
        """Sync and close; safe to call twice.

        Raises:
            StoreError: The disk did not take the last records; the journal is closed all the same.
        """
        try:
            self.sync()
        finally:
            with self._sync_lock:
                if self._fd >= 0:
                    os.close(self._fd)
                    self._fd = -1

    def _append(self, line: bytes) -> int:
        """Write once and return how much was taken, after cutting off what a failed write may have left."""
        if self._broken:
            os.ftruncate(self._fd, self._end)
        self._broken = True
        written = self._put(line)
        self._broken = written != len(line)
        return written

    def _put(self, data: bytes) -> int:
        """Write once; the one place where bytes leave for the file."""
        return os.write(self._fd, data)

    def _sync_file(self) -> None:
        os.fdatasync(self._fd)
        if self._is_named:
            return
        folder = os.open(self.path.parent, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)
        self._is_named = True

    def _set_aside(self, torn: bytes) -> str:
        """Keep the torn end beside the journal and return the name of its file."""
        path = self.path.with_name(f"journal.torn-{time.time_ns()}")
        try:
            flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC
            with os.fdopen(os.open(path, flags, 0o600), "wb") as file:
                file.write(torn)
        except OSError as error:
            path.unlink(missing_ok=True)
            raise StoreError(
                f"The torn end of {self.path} cannot be set aside: {error.strerror}.",
                hint="Free some space.",
            ) from error
        return path.name


def read_journal(path: Path) -> LoadedJournal:
    """Read a journal without opening it for writing; nothing is changed, and another process may have it open.

    Raises:
        StoreError: It cannot be read.
    """
    try:
        data = path.read_bytes()
    except OSError as error:
        raise StoreError(f"{path} cannot be read: {error.strerror}.") from error
    records, good_bytes, _ = read_lines(data)
    return _judged(records, data[good_bytes:])


def damage(path: Path, line: int) -> StoreError:
    """Return the error for a journal that is damaged in the middle.

    Args:
        path: Of the journal, in the folder that is named after the session.
        line: The first one that cannot be trusted, from 1.
    """
    return StoreError(
        f"The journal {path} is damaged at line {line}, so this session cannot be gone on with.",
        hint=f"It is kept as it is; what stands before: handrail sessions export {path.parent.name}",
        code="journal_damaged",
    )


def is_sound(data: bytes) -> bool:
    """Return whether the checksum of each line fits: quicker than reading them, for a look before opening."""
    return all(_sealed(line) is not None for line in data.split(b"\n") if line)


def encode(record: Record, prev: int) -> tuple[bytes, int]:
    """Return the line of a record, newline included, and its checksum."""
    body = {**record.fields(), "mono_s": record.mono_s, "prev": prev}
    text = json.dumps(body, ensure_ascii=False, separators=(",", ":"))
    data = text.encode("utf-8", "backslashreplace")
    crc = zlib.crc32(data)
    return data[:-1] + b',"crc":%d}\n' % crc, crc


def read_lines(data: bytes) -> tuple[list[Record], int, int]:
    """Read whole lines up to the first one that cannot be trusted.

    Returns:
        The records, the number of bytes they take, and the checksum of the last one.
    """
    records: list[Record] = []
    position, prev = 0, 0
    while (end := data.find(b"\n", position)) >= 0:
        decoded = _decode(data[position:end])
        if decoded is None or decoded[1] != prev:
            break
        records.append(decoded[0])
        prev = decoded[2]
        position = end + 1
    return records, position, prev


def _decode(line: bytes) -> tuple[Record, int, int] | None:
    """Return record, `prev` and `crc` of a line, None when it cannot be trusted."""
    sealed = _sealed(line)
    if sealed is None:
        return None
    text, crc = sealed
    try:
        body = json.loads(text)
        fields = {key: body.pop(key) for key in ENVELOPE if key in body}
        record = Record(
            n=fields["n"],
            at_utc=fields["at_utc"],
            mono_s=fields["mono_s"],
            run_id=fields["run_id"],
            step=fields["step"],
            event=EVENT_ADAPTER.validate_python(body),
        )
    except (ValueError, KeyError, TypeError):
        return None
    return record, fields["prev"], crc


def _sealed(line: bytes) -> tuple[bytes, int] | None:
    """Return the object a line's checksum is of, and the checksum; None when they do not fit."""
    head, mark, tail = line.rpartition(b',"crc":')
    digits = tail[:-1]
    if not mark or not digits.isdigit() or tail != b"%d}" % int(digits):
        return None
    text = head + b"}"
    crc = int(digits)
    return (text, crc) if zlib.crc32(text) == crc else None


def _judged(records: Sequence[Record], rest: bytes) -> LoadedJournal:
    """Tell a torn end, which is what one write left unfinished, from damage that has good records after it."""
    if not rest:
        return LoadedJournal(records=records)
    if _has_good_line(rest):
        return LoadedJournal(records=records, damaged_line=len(records) + 1)
    return LoadedJournal(records=records, torn_bytes=len(rest))


def _has_good_line(data: bytes) -> bool:
    """Return whether a record begins after the first one; the newline between may be what was damaged."""
    if any(_decode(line) is not None for line in data.split(b"\n")[1:]):
        return True
    ends = [match.end() for match in _LINE_END.finditer(data)]
    return any(
        _decode(data[start + 1 : end]) is not None for start, end in itertools.pairwise(ends)
    )

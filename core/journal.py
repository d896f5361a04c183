"""The journal: one JSON line a record, appended with one `os.write`, so that a kill loses nothing acknowledged.

A line is the object of `run --json` plus `mono_s`, `prev` (the checksum of the line before) and `crc`, the CRC-32 of
the line without that last field. A torn end is cut off when the journal is opened and kept beside it.
"""

import fcntl
import json
import os
import threading
import time
import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from core.errors import StoreError
from core.events import EVENT_ADAPTER
from core.record import Record

FILE_NAME = "journal.jsonl"
ENVELOPE = ("n", "at_utc", "run_id", "step", "mono_s", "prev", "crc")


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
        self._unsynced = False
        self._sync_lock = threading.Lock()
        try:
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC | os.O_NOFOLLOW
            self._fd = os.open(self.path, flags, 0o600)
            os.fchmod(self._fd, 0o600)
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
                "This session is open in another Handrail.", hint="Close that one first."
            ) from error

    def load(self) -> LoadedJournal:
        """Read what is there and cut off a torn end; later lines are chained to the last good one."""
        data = self.path.read_bytes()
        records, good_bytes, self._crc = read_lines(data)
        rest = data[good_bytes:]
        if not rest:
            return LoadedJournal(records=records)
        if _has_good_line(rest):
            return LoadedJournal(records=records, damaged_line=len(records) + 1)
        torn = self.path.with_name(f"journal.torn-{time.time_ns()}")
        descriptor = os.open(torn, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
        with os.fdopen(descriptor, "wb") as file:
            file.write(rest)
        os.ftruncate(self._fd, good_bytes)
        return LoadedJournal(records=records, torn_bytes=len(rest), torn_file=torn.name)

    def write(self, record: Record) -> None:
        """Append one record with one write.

        Raises:
            StoreError: The disk is full or the file cannot be written; no part of the line stays.
        """
        line, crc = encode(record, self._crc)
        size = os.fstat(self._fd).st_size
        try:
            written = os.write(self._fd, line)
        except OSError as error:
            raise StoreError(
                f"Cannot write the journal: {error.strerror}.", hint="Free some space."
            ) from error
        if written != len(line):
            os.ftruncate(self._fd, size)
            raise StoreError("Cannot write the journal: the disk is full.", hint="Free some space.")
        self._crc, self._unsynced = crc, True

    def sync(self) -> None:
        """Make all that was written survive a power loss; blocks for some milliseconds."""
        with self._sync_lock:
            if self._unsynced and self._fd >= 0:
                self._unsynced = False
                os.fdatasync(self._fd)

    def close(self) -> None:
        """Sync and close; safe to call twice."""
        self.sync()
        with self._sync_lock:
            if self._fd >= 0:
                os.close(self._fd)
                self._fd = -1


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
    head, mark, tail = line.rpartition(b',"crc":')
    try:
        crc = int(tail[:-1])
        if not mark or tail != b"%d}" % crc or zlib.crc32(head + b"}") != crc:
            return None
        body = json.loads(head + b"}")
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


def _has_good_line(data: bytes) -> bool:
    return any(_decode(line) is not None for line in data.split(b"\n")[1:])

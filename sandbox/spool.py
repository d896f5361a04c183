"""Output of any length within bounds: head and tail in memory, all up to a limit in a file, some of it live."""

import asyncio
import codecs
import os
from pathlib import Path
from typing import BinaryIO, Literal

from core.ports import OutputSink

HEAD_BYTES = 32 << 10
TAIL_BYTES = 32 << 10
SPILL_BYTES = 64 << 20
"""What is written to the file at most."""
LIVE_INTERVAL_S = 1 / 30
LIVE_PIECE_CHARS = 16 << 10
"""Passed on at once; of more that came between two times only the end is."""


class Spool:
    """Keeps the head and the tail of a stream; once it is longer, a file holds the whole."""

    def __init__(self, spill: Path) -> None:
        """Use the file `spill` when it becomes necessary."""
        self._spill = spill
        self._file: BinaryIO | None = None
        self._filed_bytes = 0
        self._head = bytearray()
        self._tail = bytearray()
        self.total_bytes = 0

    @property
    def spill_path(self) -> str:
        """The file with the whole output, "" when nothing was left out."""
        return str(self._spill) if self._file is not None else ""

    def feed(self, data: bytes) -> None:
        """Take in the next bytes."""
        self.total_bytes += len(data)
        if self.total_bytes > HEAD_BYTES + TAIL_BYTES:
            self._to_file(data)
        room = HEAD_BYTES - len(self._head)
        if room > 0:
            self._head += data[:room]
            data = data[room:]
        self._tail += data[-TAIL_BYTES:]
        if len(self._tail) > 2 * TAIL_BYTES:
            del self._tail[:-TAIL_BYTES]

    def _to_file(self, data: bytes) -> None:
        if self._file is None:
            flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW | os.O_CLOEXEC
            self._file = os.fdopen(os.open(self._spill, flags, 0o600), "wb", buffering=0)
            self._append(bytes(self._head + self._tail))
        self._append(data)

    def _append(self, data: bytes) -> None:
        assert self._file is not None
        room = SPILL_BYTES - self._filed_bytes
        if room > 0:
            self._filed_bytes += self._file.write(data[:room])

    def close(self) -> None:
        """Close the file."""
        if self._file is not None:
            self._file.close()

    def text(self) -> str:
        """Return head and tail, with a line between them that says what is missing."""
        tail = bytes(self._tail[-TAIL_BYTES:])
        left_out = self.total_bytes - len(self._head) - len(tail)
        if not left_out:
            return (bytes(self._head) + tail).decode("utf-8", "backslashreplace")
        head = _without_cut_end(bytes(self._head)).decode("utf-8", "backslashreplace")
        mark = f"\n[... {left_out:,} bytes left out ...]\n"
        return head + mark + _without_cut_start(tail).decode("utf-8", "backslashreplace")


def _without_cut_end(data: bytes) -> bytes:
    """Drop the beginning of a character that was cut."""
    for length in range(1, min(4, len(data)) + 1):
        if data[-length] >= 0xC0:
            whole = 2 + (data[-length] >= 0xE0) + (data[-length] >= 0xF0)
            return data[:-length] if length < whole else data
        if data[-length] < 0x80:
            break
    return data


def _without_cut_start(data: bytes) -> bytes:
    """Drop the end of a character that was cut."""
    start = 0
    while start < min(3, len(data)) and 0x80 <= data[start] < 0xC0:
        start += 1
    return data[start:]


class LiveFeed:
    """Passes decoded output on, at most 30 times a second and in bounded pieces."""

    def __init__(self, stream: Literal["stdout", "stderr"], sink: OutputSink) -> None:
        """Pass on to `sink` as `stream`."""
        self._stream = stream
        self._sink = sink
        self._decoder = codecs.getincrementaldecoder("utf-8")("backslashreplace")
        self._waiting = ""
        self._left_out = 0
        self._timer: asyncio.TimerHandle | None = None

    def feed(self, data: bytes) -> None:
        """Take in the next bytes."""
        self._waiting += self._decoder.decode(data)
        if len(self._waiting) > LIVE_PIECE_CHARS:
            self._left_out += len(self._waiting) - LIVE_PIECE_CHARS
            self._waiting = self._waiting[-LIVE_PIECE_CHARS:]
        if self._timer is None:
            self._pass_on()
            self._timer = asyncio.get_running_loop().call_later(LIVE_INTERVAL_S, self._due)

    def close(self) -> None:
        """Pass on what is left."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        self._waiting += self._decoder.decode(b"", final=True)
        self._pass_on()

    def _due(self) -> None:
        self._timer = None
        if self._waiting:
            self._pass_on()
            self._timer = asyncio.get_running_loop().call_later(LIVE_INTERVAL_S, self._due)

    def _pass_on(self) -> None:
        text, self._waiting = self._waiting, ""
        if self._left_out:
            text = f"\n[... {self._left_out:,} characters not shown live ...]\n{text}"
            self._left_out = 0
        if text:
            self._sink(self._stream, text)

"""stdout and stderr of one command, forwarded to the host as long as it keeps up."""

from __future__ import annotations

import os

from sandbox.runner.frames import WINDOW_BYTES, Kind
from sandbox.runner.loop import Link, Loop

_PIECE_BYTES = 65536
_LAST_PIECES = 16
"""Pieces read from a pipe that background processes keep filling, before the command counts as ended."""


class Outputs:
    """Two pipes: the command writes into `out_writer` and `err_writer`, the host gets what comes out."""

    def __init__(self, loop: Loop, link: Link, channel: int) -> None:
        self._loop = loop
        self._link = link
        self._channel = channel
        self._unacknowledged = 0
        self._paused = False
        self._discarding = False
        self.totals = {Kind.OUT: 0, Kind.ERR: 0}
        """Bytes forwarded."""
        out_reader, self.out_writer = os.pipe()
        err_reader, self.err_writer = os.pipe()
        self._readers = {out_reader: Kind.OUT, err_reader: Kind.ERR}
        self._writers_open = True
        for reader in self._readers:
            os.set_blocking(reader, False)
            self._watch(reader)

    @property
    def ended(self) -> bool:
        """Whether nobody can write any more and everything was forwarded."""
        return not self._readers

    @property
    def paused(self) -> bool:
        """Whether the host has to take in what was sent first."""
        return self._paused

    def acknowledge(self, count: int) -> None:
        """Note that the host took in `count` bytes."""
        self._unacknowledged -= count
        if self._paused and self._unacknowledged < WINDOW_BYTES // 2:
            self._paused = False
            for reader in self._readers:
                self._watch(reader)

    def close_writers(self) -> None:
        """Close our own ends, so that a pipe ends when the last process that writes to it does."""
        if self._writers_open:
            self._writers_open = False
            os.close(self.out_writer)
            os.close(self.err_writer)

    def forward_rest(self) -> None:
        """Forward what the pipes hold now, within bounds."""
        for reader in list(self._readers):
            for _ in range(_LAST_PIECES):
                if self._paused or reader not in self._readers or not self._read(reader):
                    break

    def discard(self) -> None:
        """From now on read and drop what background processes still write, until they end."""
        self._discarding = True
        self._paused = False
        for reader in self._readers:
            self._watch(reader)

    def close(self) -> None:
        """Close all ends."""
        self.close_writers()
        for reader in list(self._readers):
            self._end(reader)

    def _watch(self, reader: int) -> None:
        self._loop.on_readable(reader, lambda: self._readable(reader))

    def _readable(self, reader: int) -> None:
        if not self._paused:
            self._read(reader)

    def _read(self, reader: int) -> bool:
        """Read a piece; return whether there may be more."""
        try:
            piece = os.read(reader, _PIECE_BYTES)
        except BlockingIOError:
            return False
        except OSError:
            piece = b""
        if not piece:
            self._end(reader)
            return False
        if not self._discarding:
            self._forward(self._readers[reader], piece)
        return True

    def _forward(self, kind: Kind, piece: bytes) -> None:
        self.totals[kind] += len(piece)
        self._unacknowledged += len(piece)
        self._link.send(kind, self._channel, piece)
        if self._unacknowledged >= WINDOW_BYTES and not self._paused:
            self._paused = True
            for reader in self._readers:
                self._loop.forget(reader)

    def _end(self, reader: int) -> None:
        self._loop.forget(reader)
        os.close(reader)
        del self._readers[reader]

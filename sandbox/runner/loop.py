"""Waiting on descriptors, and the link to the host over two of them."""

from __future__ import annotations

import os
import selectors
from collections import deque
from collections.abc import Callable

from sandbox.runner.frames import Decoder, encode, encode_json

_READ_BYTES = 1 << 20


class Loop:
    """Calls back when a descriptor can be read or written; one callback a descriptor."""

    def __init__(self) -> None:
        self._selector = selectors.DefaultSelector()

    def on_readable(self, fd: int, callback: Callable[[], None]) -> None:
        """Call back whenever `fd` can be read."""
        self._watch(fd, selectors.EVENT_READ, callback)

    def on_writable(self, fd: int, callback: Callable[[], None]) -> None:
        """Call back whenever `fd` can be written."""
        self._watch(fd, selectors.EVENT_WRITE, callback)

    def _watch(self, fd: int, events: int, callback: Callable[[], None]) -> None:
        if fd in self._selector.get_map():
            self._selector.modify(fd, events, callback)
        else:
            self._selector.register(fd, events, callback)

    def forget(self, fd: int) -> None:
        """Stop watching `fd`; it may be unwatched already. Call it before closing."""
        if fd in self._selector.get_map():
            self._selector.unregister(fd)

    def wait(self, timeout_s: float) -> None:
        """Wait for descriptors, at most so long, and call back for those that are ready."""
        for key, _ in self._selector.select(timeout_s):
            # an earlier callback of this round may have closed the descriptor, and another may have its number now
            if self._selector.get_map().get(key.fd) is key:
                key.data()


class Link:
    """Frames from and to the host."""

    def __init__(
        self,
        loop: Loop,
        incoming: int,
        outgoing: int,
        on_frame: Callable[[int, int, bytes], None],
        on_end: Callable[[], None],
    ) -> None:
        """Take over two descriptors.

        Args:
            loop: Watches them.
            incoming: Frames of the host are read from it.
            outgoing: Frames for the host are written to it.
            on_frame: Called with each frame: kind, channel, payload.
            on_end: Called when the host is gone.
        """
        self._loop = loop
        self._incoming = incoming
        self._outgoing = outgoing
        self._on_frame = on_frame
        self._on_end = on_end
        self._decoder = Decoder()
        self._unsent: deque[memoryview] = deque()
        os.set_blocking(incoming, False)
        os.set_blocking(outgoing, False)
        loop.on_readable(incoming, self._read)

    def send(self, kind: int, channel: int, payload: bytes = b"") -> None:
        """Send a frame; what cannot be written now is kept and written later."""
        self._unsent.append(memoryview(encode(kind, channel, payload)))
        self._write()

    def send_json(self, kind: int, channel: int, value: object) -> None:
        """Send a frame that holds JSON."""
        self._unsent.append(memoryview(encode_json(kind, channel, value)))
        self._write()

    def _write(self) -> None:
        while self._unsent:
            try:
                written = os.write(self._outgoing, self._unsent[0])
            except BlockingIOError:
                self._loop.on_writable(self._outgoing, self._write)
                return
            except OSError:
                self._on_end()
                return
            if written == len(self._unsent[0]):
                self._unsent.popleft()
            else:
                self._unsent[0] = self._unsent[0][written:]
        self._loop.forget(self._outgoing)

    def _read(self) -> None:
        try:
            data = os.read(self._incoming, _READ_BYTES)
        except BlockingIOError:
            return
        except OSError:
            data = b""
        if not data:
            self._on_end()
            return
        for kind, channel, payload in self._decoder.feed(data):
            self._on_frame(kind, channel, payload)

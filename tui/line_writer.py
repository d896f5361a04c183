"""Writes lines to stdout from a thread, so that a reader that does not read cannot stop the program from ending."""

import os
import queue
import threading


class LineWriter:
    """Lines in order, written as they come."""

    def __init__(self, descriptor: int) -> None:
        """Write to a file descriptor, which stays open."""
        self._descriptor = descriptor
        self._lines: queue.SimpleQueue[bytes | None] = queue.SimpleQueue()
        self._reader_gone = threading.Event()
        self._thread = threading.Thread(target=self._work, name="stdout", daemon=True)
        self._thread.start()

    @property
    def reader_gone(self) -> bool:
        """Whether nobody can read what is written any more."""
        return self._reader_gone.is_set()

    def write(self, text: str) -> None:
        """Add one line; never blocks."""
        self._lines.put(text.encode("utf-8", "backslashreplace") + b"\n")

    def close(self, timeout_s: float | None = None) -> None:
        """Wait until all is written, at most `timeout_s` where it is given."""
        self._lines.put(None)
        self._thread.join(timeout_s)

    def _work(self) -> None:
        while (line := self._lines.get()) is not None:
            if not self.reader_gone:
                self._write(line)

    def _write(self, data: bytes) -> None:
        view = memoryview(data)
        try:
            while view:
                view = view[os.write(self._descriptor, view) :]
        except OSError:
            self._reader_gone.set()

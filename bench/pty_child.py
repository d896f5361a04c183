"""A program in a pseudo-terminal of its own, whose output is read all the time and timed."""

import fcntl
import os
import re
import signal
import struct
import subprocess
import sys
import tempfile
import termios
import threading
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Self

COLUMNS, ROWS = 160, 45
_ESCAPES = re.compile(
    rb"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)|[PX^_].*?\x1b\\|[ -/]*[0-~])", re.S
)
KEPT_BYTES = 1 << 20
"""Output kept for searching; older output is forgotten."""
END_TIMEOUT_S = 10.0


class PtyChild:
    """Runs a program on a terminal of 160x45; leaving the `with` block ends it."""

    def __init__(
        self, words: Sequence[str], folder: Path, environment: Mapping[str, str] | None = None
    ) -> None:
        """Start the program.

        Args:
            words: Program and arguments.
            folder: Its current folder.
            environment: Added to ours.
        """
        ours, theirs = os.openpty()
        fcntl.ioctl(ours, termios.TIOCSWINSZ, struct.pack("HHHH", ROWS, COLUMNS, 0, 0))
        self.started_s = time.monotonic()
        self._process = subprocess.Popen(
            ["setsid", "--ctty", *words],
            stdin=theirs,
            stdout=theirs,
            stderr=theirs,
            cwd=folder,
            env={
                **os.environ,
                "TERM": "xterm-256color",
                "COLORTERM": "truecolor",
                **(environment or {}),
            },
        )
        os.close(theirs)
        self.terminal = ours
        self._output = bytearray()
        self._grown = threading.Condition()
        self.total_bytes = 0
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def __enter__(self) -> Self:
        """Return itself."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """End the program: politely, then not."""
        for number in (signal.SIGTERM, signal.SIGKILL):
            if self._process.poll() is None:
                self._process.send_signal(number)
                self.wait_for_end()
        self._reader.join(END_TIMEOUT_S)
        os.close(self.terminal)

    @property
    def pid(self) -> int:
        """Process id of the program."""
        return self._process.pid

    def type(self, text: str) -> None:
        """Press keys."""
        os.write(self.terminal, text.encode())

    def wait_for(self, text: str, timeout_s: float, after: int = 0) -> float:
        """Wait until the output, without its escape sequences, holds `text`.

        Args:
            text: What is looked for.
            timeout_s: Above 0.
            after: Only output beyond this many bytes counts.

        Returns:
            Seconds since the start of the program.

        Raises:
            TimeoutError: With the end of what was seen.
        """
        wanted, end_s = text.encode(), time.monotonic() + timeout_s
        with self._grown:
            while wanted not in self._plain(after):
                left_s = end_s - time.monotonic()
                if left_s <= 0 or self._process.poll() is not None:
                    seen = self._plain(0)[-1500:].decode(errors="replace")
                    raise TimeoutError(f"{text!r} did not appear; seen last:\n{seen}")
                self._grown.wait(min(left_s, 0.5))
            return time.monotonic() - self.started_s

    def wait_for_end(self, timeout_s: float = END_TIMEOUT_S) -> int | None:
        """Wait until the program has ended and return its exit code, None when it has not."""
        try:
            return self._process.wait(timeout_s)
        except subprocess.TimeoutExpired:
            return None

    def _plain(self, after: int) -> bytes:
        skipped = max(0, after - (self.total_bytes - len(self._output)))
        return _ESCAPES.sub(b"", bytes(self._output[skipped:]))

    def _read(self) -> None:
        while data := self._next_piece():
            with self._grown:
                self._output += data
                self.total_bytes += len(data)
                self.took(data)
                del self._output[: max(0, len(self._output) - KEPT_BYTES)]
                self._grown.notify_all()

    def _next_piece(self) -> bytes:
        try:
            return os.read(self.terminal, 65536)
        except OSError:
            return b""

    def took(self, data: bytes) -> None:
        """Take a piece of output as it comes, in the reader's thread; for subclasses."""


class Handrail(PtyChild):
    """The app on a fresh workspace, with its own empty configuration."""

    def __init__(self, base_url: str) -> None:
        """Start the app with the model server at `base_url`."""
        self._home = tempfile.TemporaryDirectory(prefix="handrail-bench-")
        home = Path(self._home.name)
        (home / "workspace").mkdir()
        launcher = Path(__file__).resolve().parent.parent / "handrail.py"
        words = [sys.executable, str(launcher), "--base-url", base_url, "--model", "instant"]
        words += ["--mode", "auto", "--no-browser", "--max-steps", "1000"]
        environment = {
            "OPENAI_API_KEY": "bench",
            "HANDRAIL_CONFIG_DIR": str(home / "config"),
            "HANDRAIL_STATE_DIR": str(home / "state"),
        }
        super().__init__(words, home / "workspace", environment)

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """End the app and remove its folders."""
        super().__exit__(kind, error, trace)
        self._home.cleanup()

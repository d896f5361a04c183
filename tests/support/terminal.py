"""A program on a real pseudo-terminal, with what a person would see on it."""

import fcntl
import os
import re
import select
import signal
import struct
import sys
import termios
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import pyte

from bench.pty_child import COLUMNS, ROWS, PtyChild

REPOSITORY = Path(__file__).resolve().parent.parent.parent
LAUNCHER = REPOSITORY / "handrail.py"
DEADLINE_S = 30.0
_KITTY_KEYS = re.compile(rb"\x1b\[[<>=][0-9;]*u")
"""Asks for another form of key reports; the emulator would draw its last letter."""
ENTER, ESCAPE, CTRL_C, CTRL_Q = "\r", "\x1b", "\x03", "\x11"


class Terminal(PtyChild):
    """Runs a program and keeps its screen."""

    def __init__(
        self, words: Sequence[str], folder: Path, environment: Mapping[str, str] | None = None
    ) -> None:
        """Start the program on 160x45."""
        self.raw = bytearray()
        self._is_closing = False
        self._screen = pyte.Screen(COLUMNS, ROWS)
        self._stream = pyte.ByteStream(self._screen)
        self._lock = threading.Lock()
        super().__init__(words, folder, environment)
        self.first_modes = self.modes()

    def _next_piece(self) -> bytes:
        """Wait for output, but not while the terminal is closed: a read that waits keeps it open."""
        while not self._is_closing:
            if select.select([self.terminal], [], [], 0.1)[0]:
                return super()._next_piece()
        return b""

    def took(self, data: bytes) -> None:
        """Draw a piece of output."""
        with self._lock:
            self.raw += data
            self._stream.feed(_KITTY_KEYS.sub(b"", data))

    @property
    def screen(self) -> str:
        """The screen as lines of text."""
        with self._lock:
            return "\n".join(line.rstrip() for line in self._screen.display)

    def see(self, text: str, timeout_s: float = DEADLINE_S) -> str:
        """Wait until the screen shows `text`; return the screen."""
        return self._watch(lambda screen: text in screen, f"{text!r} to appear", timeout_s)

    def see_gone(self, text: str, timeout_s: float = DEADLINE_S) -> str:
        """Wait until the screen shows `text` no more; return the screen."""
        return self._watch(lambda screen: text not in screen, f"{text!r} to go", timeout_s)

    def press_until_gone(self, key: str, text: str) -> str:
        """Press a key, again where it came too early to count, until the screen shows `text` no more."""
        end_s = time.monotonic() + DEADLINE_S
        while True:
            self.type(key)
            try:
                return self.see_gone(text, 1.0)
            except AssertionError:
                if time.monotonic() > end_s:
                    raise

    def resize(self, columns: int, rows: int) -> None:
        """Change the size of the terminal, as a window manager does."""
        with self._lock:
            self._screen.resize(rows, columns)
        fcntl.ioctl(self.terminal, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
        os.kill(self.pid, signal.SIGWINCH)

    def hang_up(self) -> None:
        """Close the terminal, as a window that is closed or a connection that is lost does."""
        self._is_closing = True
        self._reader.join(DEADLINE_S)
        gone = os.open(os.devnull, os.O_RDWR)
        os.dup2(gone, self.terminal)
        os.close(gone)

    def modes(self) -> list[object]:
        """Return the line discipline's settings."""
        return termios.tcgetattr(self.terminal)

    def is_restored(self) -> bool:
        """Whether the program has left the terminal as it found it: line discipline, cursor, screen, mouse, paste."""
        with self._lock:
            raw = bytes(self.raw)
        on_off = [
            (b"\x1b[?1049h", b"\x1b[?1049l"),
            (b"\x1b[?25l", b"\x1b[?25h"),
            (b"\x1b[?1000h", b"\x1b[?1000l"),
            (b"\x1b[?2004h", b"\x1b[?2004l"),
        ]
        return self.modes() == self.first_modes and all(
            raw.rfind(on) < raw.rfind(off) for on, off in on_off if on in raw
        )

    def _watch(self, holds: Callable[[str], bool], what: str, timeout_s: float) -> str:
        end_s = time.monotonic() + timeout_s
        while not holds(screen := self.screen):
            if time.monotonic() > end_s or (
                self.wait_for_end(0.02) is not None and not holds(self.screen)
            ):
                raise AssertionError(f"waited for {what}; the screen:\n{screen}")
        return screen


def handrail(*words: str) -> list[str]:
    """Return the command line of the app in this tree."""
    return [sys.executable, str(LAUNCHER), *words]

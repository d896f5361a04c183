"""The terminal the app writes to and reads from: it may be gone at any time, and send anything."""

import os
import select
from codecs import getincrementaldecoder
from collections.abc import Iterable
from typing import IO, TYPE_CHECKING, Final, cast

from textual._xterm_parser import XTermParser
from textual.drivers.linux_driver import LinuxDriver

from tui.console import drop_stream

if TYPE_CHECKING:
    from io import TextIOWrapper

    from textual.app import App
    from textual.message import Message

POLL_S: Final = 0.1
"""How often the parser may give up on an escape sequence that does not go on."""
READ_BYTES: Final = 4096


class LosableOutput:
    """Writes to a terminal; once it is gone, what is written goes nowhere."""

    def __init__(self, file: IO[str]) -> None:
        """Write to `file`."""
        self._file = file

    def write(self, text: str) -> None:
        """Write text."""
        try:
            self._file.write(text)
        except OSError:
            drop_stream(self._file.fileno())

    def flush(self) -> None:
        """Bring out what was written."""
        try:
            self._file.flush()
        except OSError:
            drop_stream(self._file.fileno())

    def fileno(self) -> int:
        """Return the number of the file descriptor."""
        return self._file.fileno()


class TerminalDriver(LinuxDriver):
    """Textual's driver for terminals as they are.

    Textual's own thread for output dies of the first write that fails. The app then waits for ever for room in the
    queue of that thread, and a closed window leaves a process behind. Its thread for input dies of bytes that are no
    UTF-8 or no key, such as a paste in another encoding, and the app ends with a traceback.
    """

    def __init__(
        self,
        app: "App[object]",
        *,
        debug: bool = False,
        mouse: bool = True,
        size: tuple[int, int] | None = None,
    ) -> None:
        """Draw `app`; the rest is Textual's."""
        super().__init__(app, debug=debug, mouse=mouse, size=size)
        if self._file is not None:
            self._file = cast("TextIOWrapper", LosableOutput(self._file))

    def run_input_thread(self) -> None:
        """Hand on what the person types until the app ends."""
        decode = getincrementaldecoder("utf-8")("replace").decode
        parser = XTermParser(self._debug)
        while not self.exit_event.is_set():
            data = self._read() if self._has_input() else None
            if data == b"":  # the terminal is gone; reading on would only burn time
                self.exit_event.wait()
                return
            text = decode(data) if data else ""
            try:
                if text:
                    self._take(parser.feed(text))
                self._take(parser.tick())
            except (ValueError, OverflowError):
                # What comes at once belongs to it, perhaps to a paste: none of it may count as keys.
                parser = XTermParser(self._debug)
                while self._has_input() and self._read():
                    pass

    def _take(self, found: "Iterable[Message]") -> None:
        for message in found:
            self.process_message(message)

    def _has_input(self) -> bool:
        return bool(select.select([self.fileno], [], [], POLL_S)[0])

    def _read(self) -> bytes:
        """Return what was typed, b"" when the terminal is gone."""
        try:
            return os.read(self.fileno, READ_BYTES)
        except OSError:
            return b""

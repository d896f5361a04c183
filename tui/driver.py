"""The terminal as the app writes to it, which may be gone at any time: a window closed, a connection lost."""

from typing import IO, TYPE_CHECKING, cast

from textual.drivers.linux_driver import LinuxDriver

from tui.console import drop_stream

if TYPE_CHECKING:
    from io import TextIOWrapper

    from textual.app import App


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
    """Textual's driver for a terminal that can be lost.

    Textual's own thread for output dies of the first write that fails. The app then waits for ever for room in the
    queue of that thread, and a closed window leaves a process behind.
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

"""Results too long for a request: head and tail go to the model, all of it into a file of the session to be paged.

The file is named by a handle, `result:7`, which `read_file` takes as a path.
"""

import io
import os
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from core.errors import StoreError
from core.messages import ToolResult

RESULT_BYTES = 14 << 10
"""Longest result that goes to the model whole, where its window is large enough."""
LEAST_BYTES = 2000
WINDOW_SHARE = 0.12
"""Part of the window one result may take."""
BYTES_PER_TOKEN = 4
"""About, for English and code; other text has more tokens and so takes a little more of the window."""
HEAD_SHARE = 0.6
"""The rest is the tail, where commands say what went wrong."""
LINE_BYTES = 1000
"""Longer lines are paged in pieces of this length."""
VIEWED_BYTES = 4 << 20
"""A person is shown this much of a stored result."""
_HANDLE = re.compile(r"result:([1-9][0-9]{0,8})")
_FOLDER = "results"


@dataclass(frozen=True, slots=True, kw_only=True)
class KeptResult:
    """A result as it goes to the model."""

    text: str
    path: str = ""
    """File that holds all of it, "" where `text` does."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    """Lines of a stored result."""

    lines: tuple[str, ...]
    first: int
    total: int
    """Lines of the whole result."""
    size_bytes: int


class StoredResults:
    """The long results of one session."""

    def __init__(
        self, session: Path, limit_bytes: Callable[[], int] = lambda: RESULT_BYTES
    ) -> None:
        """Keep them below the session's folder.

        Args:
            session: Folder of the session, 0700.
            limit_bytes: Says how long a result may be now to go to the model whole.
        """
        self._folder = session / _FOLDER
        self._limit_bytes = limit_bytes
        self._newest = 0

    @property
    def limit_bytes(self) -> int:
        """Longest result that goes to the model whole."""
        return max(LEAST_BYTES, self._limit_bytes())

    def keep(self, result: ToolResult) -> KeptResult:
        """Return a result as it goes to the model, with all of it in a file where it is too long.

        A file that a tool has made already (`ToolResult.whole_path`) is taken over. Where nothing can be written, the
        model is told that the middle is lost.
        """
        data = result.output.encode("utf-8", "backslashreplace")
        if len(data) <= self.limit_bytes and not result.whole_path:
            return KeptResult(text=result.output)
        try:
            path = self._take_over(result.whole_path) if result.whole_path else self._write(data)
        except OSError as error:
            return KeptResult(
                text=_cut(data, self.limit_bytes, f"could not be kept: {error.strerror}")
            )
        name = f'read_file(path="{handle_of(path)}"'
        if result.whole_path:
            size = f"all {path.stat().st_size:,} bytes of output are kept: {name}, offset=1) pages them"
            return KeptResult(text=_cut(data, self.limit_bytes, size), path=str(path))
        first = _head(data, self.limit_bytes).count(b"\n") + 1
        pages = f"all of it is kept: {name}, offset={first}) shows it from here on"
        return KeptResult(text=_cut(data, self.limit_bytes, pages), path=str(path))

    def page(self, handle: str, offset: int, limit: int) -> Page:
        """Return lines of a stored result, as many as go to the model whole; blocks.

        Args:
            handle: As in `is_handle`.
            offset: First line, from 1.
            limit: Most lines.

        Raises:
            StoreError: There is no such result.
        """
        try:
            file = self._open(handle)
        except OSError as error:
            raise StoreError(f"There is no stored {handle}.", hint=self._known()) from error
        with file:
            return _page(file, offset, limit, self.limit_bytes - LEAST_BYTES // 4)

    def _open(self, handle: str) -> BinaryIO:
        flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC
        return os.fdopen(os.open(self._path(number_of(handle)), flags), "rb")

    def _known(self) -> str:
        newest = self._last_number()
        return f"Known: result:1 to result:{newest}." if newest else "No result was stored yet."

    def _path(self, number: int) -> Path:
        return self._folder / f"{number}.txt"

    def _last_number(self) -> int:
        if not self._newest and self._folder.is_dir():
            numbers = (path.stem for path in self._folder.glob("*.txt"))
            self._newest = max((int(name) for name in numbers if name.isdigit()), default=0)
        return self._newest

    def _next_path(self) -> Path:
        self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        self._newest = self._last_number() + 1
        return self._path(self._newest)

    def _write(self, data: bytes) -> Path:
        path = self._next_path()
        partial = path.with_suffix(".part")
        flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW | os.O_CLOEXEC
        with os.fdopen(os.open(partial, flags, 0o600), "wb") as file:
            file.write(data)
        partial.rename(path)
        return path

    def _take_over(self, whole_path: str) -> Path:
        path = self._next_path()
        Path(whole_path).rename(path)
        return path


def _page(file: BinaryIO, offset: int, limit: int, room_bytes: int) -> Page:
    lines: list[str] = []
    total = 0
    for total, piece in enumerate(_pieces(file), start=1):
        if not offset <= total < offset + limit or room_bytes <= 0:
            continue
        line = piece.decode("utf-8", "backslashreplace")
        room_bytes -= len(line.encode()) + 1
        if room_bytes >= 0 or not lines:
            lines.append(line)
    size_bytes = os.fstat(file.fileno()).st_size
    return Page(lines=tuple(lines), first=offset, total=total, size_bytes=size_bytes)


def window_limit(window: int) -> int:
    """Return how many bytes of a result go to a model whole.

    Args:
        window: Of the model in tokens, 0 where unknown.
    """
    share = int(window * WINDOW_SHARE * BYTES_PER_TOKEN)
    return min(RESULT_BYTES, share) if window else RESULT_BYTES


def is_handle(path: str) -> bool:
    """Whether a path given to a tool names a stored result; "./result:7" names a file."""
    return _HANDLE.fullmatch(path) is not None


def number_of(handle: str) -> int:
    """Return the number in a handle, 0 where it is none."""
    match = _HANDLE.fullmatch(handle)
    return int(match[1]) if match else 0


def handle_of(path: Path | str) -> str:
    """Return the handle of a stored result's file, "" for no file."""
    return f"result:{Path(path).stem}" if str(path) else ""


def whole_text(path: str) -> str:
    """Return a stored result for a person, "" where it cannot be read; of a very long one the beginning."""
    try:
        with Path(path).open("rb") as file:
            data = file.read(VIEWED_BYTES + 1)
    except OSError:
        return ""
    text = data[:VIEWED_BYTES].decode("utf-8", "backslashreplace")
    return (
        f"{text}\n[only the first {VIEWED_BYTES:,} bytes are shown: {path}]"
        if len(data) > VIEWED_BYTES
        else text
    )


def _pieces(file: BinaryIO) -> Iterator[bytes]:
    """Yield lines without their ends, long ones in pieces that cut no character."""
    while piece := file.readline(LINE_BYTES):
        if not piece.endswith(b"\n") and len(piece) == LINE_BYTES:
            whole = _whole_characters(piece)
            file.seek(whole - len(piece), io.SEEK_CUR)
            piece = piece[:whole]
        yield piece.removesuffix(b"\n")


def _whole_characters(data: bytes) -> int:
    """Return the length of `data` without the character that is cut at its end, if one is."""
    for back in range(1, 4):
        byte = data[-back]
        if byte >= 0xC0:
            return len(data) - back if back < 2 + (byte >= 0xE0) + (byte >= 0xF0) else len(data)
        if byte < 0x80:
            break
    return len(data)


def _head(data: bytes, limit_bytes: int) -> bytes:
    """Return the beginning that is kept, in whole lines as they are paged."""
    room, kept = int(limit_bytes * HEAD_SHARE), []
    for line in _pieces(io.BytesIO(data)):
        room -= len(line) + 1
        if room < 0:
            break
        kept.append(line + b"\n")
    return b"".join(kept)


def _tail(data: bytes, limit_bytes: int) -> bytes:
    tail = data[-int(limit_bytes * (1 - HEAD_SHARE)) :]
    start = 0
    while start < min(3, len(tail)) and 0x80 <= tail[start] < 0xC0:
        start += 1
    line_start = tail.find(b"\n", start) + 1
    return tail[line_start:] if 0 < line_start < len(tail) // 2 else tail[start:]


def _cut(data: bytes, limit_bytes: int, note: str) -> str:
    """Return head and tail with a line between that says what is missing and where it is."""
    if len(data) <= limit_bytes:
        return f"{data.decode('utf-8', 'backslashreplace')}\n[{note}]"
    head, tail = _head(data, limit_bytes), _tail(data, limit_bytes)
    left_out = len(data) - len(head) - len(tail)
    mark = f"[... {left_out:,} bytes left out; {note} ...]\n"
    return (head + mark.encode() + tail).decode("utf-8", "backslashreplace")

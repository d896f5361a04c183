"""A window of lines taken from bytes that come in pieces, with memory for the window only."""

CLIPPED_LINE_BYTES = 4000
"""Longer lines are cut here, with a mark."""


class LineWindow:
    """Lines `first` to `first + count - 1` (from 1) of what is fed, as long as they fit a budget."""

    def __init__(self, first: int, count: int, budget_bytes: int) -> None:
        """Keep lines until `budget_bytes` are used up."""
        self._first = first
        self._count = count
        self._left_bytes = budget_bytes
        self._part = b""
        self._part_bytes = 0
        self._full = False
        self.lines: list[str] = []
        self.total = 0
        """Whole lines seen so far."""

    @property
    def last(self) -> int:
        """Number of the last line kept, `first - 1` when there is none."""
        return self._first - 1 + len(self.lines)

    def feed(self, piece: bytes) -> None:
        """Take the next bytes."""
        *whole, rest = piece.split(b"\n")
        for line in whole:
            self._extend(line)
            self._end_line()
        self._extend(rest)

    def close(self) -> None:
        """Take what is left as the last line."""
        if self._part_bytes:
            self._end_line()

    def _extend(self, piece: bytes) -> None:
        room = CLIPPED_LINE_BYTES - len(self._part)
        if room > 0:
            self._part += piece[:room]
        self._part_bytes += len(piece)

    def _end_line(self) -> None:
        self.total += 1
        if self._first <= self.total < self._first + self._count and not self._full:
            self._keep(self._text())
        self._part, self._part_bytes = b"", 0

    def _keep(self, line: str) -> None:
        size_bytes = len(line.encode()) + 1
        if size_bytes > self._left_bytes and self.lines:
            self._full = True
            return
        self._left_bytes -= size_bytes
        self.lines.append(line)

    def _text(self) -> str:
        text = self._part.decode("utf-8", "backslashreplace")
        left_out = self._part_bytes - len(self._part)
        return f"{text} [... {left_out:,} bytes of this line left out]" if left_out else text

"""Decodes server-sent events from the bytes of a response, forgiving what real servers get wrong.

Source: https://html.spec.whatwg.org/multipage/server-sent-events.html section 9.2.6. Differences on purpose: comments
never make an event, the last event counts without the blank line after it, a line that is a whole object is an event
of its own, the lines of an event stay apart, and bytes that are no UTF-8 become U+FFFD instead of an error.
"""

import re
from dataclasses import dataclass

MAX_EVENT_BYTES = 16 << 20
"""No event of a chat stream comes near it; more means that something else answers."""
_ESCAPED_BYTE = re.compile("[\udc80-\udcff]")
_BOM = b"\xef\xbb\xbf"


@dataclass(frozen=True, slots=True)
class ServerEvent:
    """One event of the stream."""

    name: str
    """Its event field, "" where there is none."""
    lines: tuple[str, ...]
    """Its data fields in order; never empty, though a line may be."""

    @property
    def data(self) -> str:
        """All data as the standard joins it."""
        return self.lines[0] if len(self.lines) == 1 else "\n".join(self.lines)


class EventTooLongError(ValueError):
    """A line or an event is longer than `MAX_EVENT_BYTES`."""


class SseDecoder:
    """Turns pieces of bytes, cut anywhere, into events.

    Args:
        max_event_bytes: Longest event that is read, above 0.
    """

    def __init__(self, max_event_bytes: int = MAX_EVENT_BYTES) -> None:
        self._max_bytes = max_event_bytes
        self._tail: list[bytes] = []
        self._size_bytes = 0
        self._name = ""
        self._lines: list[str] = []
        self._at_start = True
        self.invalid_utf8 = False
        """Whether some bytes were no UTF-8 and became U+FFFD."""
        self.saw_field = False
        """Whether anything looked like an event stream at all."""

    def feed(self, data: bytes) -> list[ServerEvent]:
        """Take the next bytes and return the events they complete.

        Raises:
            EventTooLongError: An event is too long; give the stream up.
        """
        self._size_bytes += len(data)
        if self._size_bytes > self._max_bytes:
            raise EventTooLongError(f"an event is longer than {self._max_bytes} bytes")
        if b"\n" not in data and b"\r" not in data:
            self._tail.append(data)
            return []
        self._tail.append(data)
        lines = self._take_tail().splitlines(keepends=True)
        # A lone CR at the very end may be half of a CR LF: it waits for the next bytes.
        if not lines[-1].endswith(b"\n"):
            self._tail.append(lines.pop())
        return self._read(lines)

    def flush(self) -> list[ServerEvent]:
        """Return what the end of the stream completes: the last event, even without its blank line."""
        events = self._read(self._take_tail().splitlines())
        return [*events, *self._dispatch()]

    def _take_tail(self) -> bytes:
        whole = b"".join(self._tail)
        self._tail.clear()
        if self._at_start and len(whole) >= len(_BOM):
            self._at_start = False
            whole = whole.removeprefix(_BOM)
        return whole

    def _read(self, lines: list[bytes]) -> list[ServerEvent]:
        events: list[ServerEvent] = []
        for line in lines:
            stripped = line.rstrip(b"\r\n")
            if not stripped or (stripped.startswith(b"data:") and self._is_whole()):
                events.extend(self._dispatch())
            if stripped:
                self._field(stripped)
        return events

    def _is_whole(self) -> bool:
        """Return whether the line before is an object of its own: some servers leave the blank line out."""
        return (
            len(self._lines) == 1
            and self._lines[0][:1] == "{"
            and self._lines[0].rstrip()[-1:] == "}"
        )

    def _field(self, line: bytes) -> None:
        name, _, value = line.partition(b":")
        if name == b"data":
            self._lines.append(self._decoded(value.removeprefix(b" ")))
        elif name == b"event":
            self._name = self._decoded(value.strip())
        elif name not in (b"", b"id", b"retry"):
            return
        self.saw_field = True

    def _dispatch(self) -> list[ServerEvent]:
        self._size_bytes = 0
        name, lines = self._name, self._lines
        self._name, self._lines = "", []
        return [ServerEvent(name, tuple(lines))] if lines else []

    def _decoded(self, value: bytes) -> str:
        try:
            return value.decode()
        except UnicodeDecodeError:
            self.invalid_utf8 = True
            return _ESCAPED_BYTE.sub("\ufffd", value.decode(errors="surrogateescape"))

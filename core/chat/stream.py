"""Follows the body of one answer: bytes to events to chunks to pieces, with limits on silence."""

import asyncio
import json
from collections.abc import AsyncGenerator, AsyncIterator, Mapping
from contextlib import suppress
from enum import Enum

from core.chat.connection import ConnectionFailedError, TimeOuts
from core.chat.json_shape import items_of, mapping_of
from core.chat.sse import EventTooLongError, ServerEvent, SseDecoder
from core.chat.text_stream import StreamedPiece
from core.chat.wire import ErrorObjectError, ReplyReader, error_payload
from core.errors import ModelStreamError

DRAIN_S = 0.02
"""For the last bytes of an answer that is complete."""
MAX_JSON_BYTES = 32 << 20
"""Longest answer that comes as one JSON document."""
_DONE = "[DONE]"
_KEEPALIVE_EVENTS = frozenset(("ping", "keepalive", "keep-alive", "heartbeat"))


class BodyKind(Enum):
    """What the body of a success turns out to be."""

    UNKNOWN = 0
    EVENTS = 1
    JSON = 2
    HTML = 3


class NotAModelError(Exception):
    """What answers is no model API; the text says what it is."""


class AnswerStream:
    """Reads the body of one answer into a `ReplyReader`.

    Args:
        reader: Takes the chunks.
        time_outs: Limits on silence.
    """

    def __init__(self, reader: ReplyReader, time_outs: TimeOuts) -> None:
        self._reader = reader
        self._time_outs = time_outs
        self._sse = SseDecoder()
        self._kind = BodyKind.UNKNOWN
        self._head: list[bytes] = []
        self._head_bytes = 0
        self._got_data = False
        self._deadline = 0.0
        self._broken: ErrorObjectError | ModelStreamError | None = None
        self.invalid_utf8 = False
        """Whether some bytes were no UTF-8."""

    async def pieces(
        self, chunks: AsyncIterator[bytes], first_deadline: float
    ) -> AsyncGenerator[StreamedPiece, None]:
        """Yield what can be shown until the answer is complete or its stream ends.

        Args:
            chunks: The body of a success.
            first_deadline: Time of the event loop by which the first data must have come.

        Raises:
            ErrorObjectError: The server reports an error.
            ModelStreamError: The stream is broken.
            NotAModelError: No model API answers.
        """
        self._deadline = first_deadline
        while not self._reader.done:
            data = await self._next(chunks)
            if data is None:
                break
            for piece in self._take(data):
                yield piece
            if self._broken is not None:
                raise self._broken
            self._move_deadline()
        if self._reader.done:
            await self._drain(chunks)
        for piece in self._end():
            yield piece
        if self._broken is not None:
            raise self._broken
        self.invalid_utf8 = self._sse.invalid_utf8

    async def _next(self, chunks: AsyncIterator[bytes]) -> bytes | None:
        """Return the next bytes, None at the end; a broken end does not hurt a complete answer."""
        try:
            async with asyncio.timeout_at(self._deadline):
                return await anext(chunks, None)
        except TimeoutError as error:
            broken = ConnectionFailedError("timeout", "no data came for too long")
            cause: Exception = error
        except ConnectionFailedError as error:
            broken, cause = error, error
        if self._reader.finished:
            return None
        raise _broken(broken) from cause

    async def _drain(self, chunks: AsyncIterator[bytes]) -> None:
        """Read the end of a body that is complete, so that the connection can be used again."""
        with suppress(TimeoutError, ConnectionFailedError):
            async with asyncio.timeout(DRAIN_S):
                while await anext(chunks, None) is not None:
                    pass

    def _move_deadline(self) -> None:
        if not self._got_data:
            return
        self._got_data = False
        limit_s = (
            self._time_outs.after_finish_s if self._reader.finished else self._time_outs.idle_s
        )
        self._deadline = asyncio.get_running_loop().time() + limit_s

    def _take(self, data: bytes) -> list[StreamedPiece]:
        if self._kind is BodyKind.UNKNOWN:
            data = self._sniff(data)
        if self._kind is BodyKind.EVENTS:
            try:
                return self._events(self._sse.feed(data), at_end=False)
            except EventTooLongError as error:
                raise ModelStreamError(
                    "The model server's stream makes no sense.", code="corrupt_stream"
                ) from error
        if self._kind is not BodyKind.UNKNOWN:
            self._keep(data)
        return []

    def _sniff(self, data: bytes) -> bytes:
        """Tell from the first visible character what the body is; return what is to be read now."""
        whole = b"".join((*self._head, data))
        start = whole.removeprefix(b"\xef\xbb\xbf").lstrip()[:1]
        if not start:
            self._head = [whole]
            return b""
        self._kind = {b"{": BodyKind.JSON, b"[": BodyKind.JSON, b"<": BodyKind.HTML}.get(
            start, BodyKind.EVENTS
        )
        self._head = []
        return whole

    def _keep(self, data: bytes) -> None:
        self._got_data = True
        self._head.append(data)
        self._head_bytes += len(data)
        if self._head_bytes > MAX_JSON_BYTES:
            raise ModelStreamError("The model server's answer does not end.", code="corrupt_stream")

    def _end(self) -> list[StreamedPiece]:
        if self._kind is BodyKind.HTML:
            raise NotAModelError("it answers with an HTML page")
        if self._kind is BodyKind.JSON:
            return self._json_body(b"".join(self._head))
        pieces = [] if self._reader.done else self._events(self._sse.flush(), at_end=True)
        if self._kind is BodyKind.EVENTS and not self._sse.saw_field:
            raise NotAModelError("it answers with plain text")
        return pieces

    def _json_body(self, data: bytes) -> list[StreamedPiece]:
        try:
            body = json.loads(data.decode("utf-8-sig", errors="replace"))
        except (ValueError, RecursionError):
            return self._json_lines(data)
        chunks = [mapping_of(item) for item in items_of(body)] or [{}]
        error = error_payload(chunks[0])
        if error is not None:
            raise ErrorObjectError(error, begun=False)
        if not chunks[0].get("choices"):
            raise NotAModelError("it answers with JSON that is no chat completion")
        pieces = [piece for chunk in chunks for piece in self._reader.feed(chunk)]
        self._reader.done = True
        return pieces

    def _json_lines(self, data: bytes) -> list[StreamedPiece]:
        """Read one object a line, which is how some servers stream."""
        lines = data.decode("utf-8-sig", errors="replace").splitlines()
        events = [ServerEvent("", (line,)) for line in lines if line.strip()]
        if len(events) < 2:
            raise _incomplete()
        return self._events(events, at_end=True)

    def _events(self, events: list[ServerEvent], *, at_end: bool) -> list[StreamedPiece]:
        pieces: list[StreamedPiece] = []
        for event in events:
            if self._reader.done or self._broken is not None:
                break
            try:
                pieces += self._event(event, at_end=at_end)
            except (ErrorObjectError, ModelStreamError) as error:
                self._broken = error  # raised once what came before it in the same bytes is shown
        return pieces

    def _event(self, event: ServerEvent, *, at_end: bool) -> list[StreamedPiece]:
        if event.name in _KEEPALIVE_EVENTS:
            return []
        data = event.data.strip()
        if not data or data.startswith(":"):
            return []
        self._got_data = True
        if data == _DONE:
            self._reader.done = True
            return []
        if event.name == "error":
            raise ErrorObjectError(_error_of(data), begun=self._reader.begun)
        try:
            chunk = json.loads(data)
        except (ValueError, RecursionError):
            return self._unreadable(event, at_end=at_end)
        return self._reader.feed(chunk) if isinstance(chunk, dict) else []

    def _unreadable(self, event: ServerEvent, *, at_end: bool) -> list[StreamedPiece]:
        """Read an event that is no JSON: several in one, for some servers end events with one line break."""
        if len(event.lines) == 1:
            raise _incomplete() if at_end else _corrupt()
        lines = [ServerEvent(event.name, (line,)) for line in event.lines]
        return self._events(lines, at_end=at_end)


def _error_of(data: str) -> Mapping[str, object]:
    """Return what an error event reports, as an object."""
    try:
        payload = json.loads(data)
    except (ValueError, RecursionError):
        return {"message": data}
    if not isinstance(payload, dict):
        return {"message": str(payload)}
    return error_payload({**payload, "choices": None}, "error") or payload


def _corrupt() -> ModelStreamError:
    return ModelStreamError(
        "The model server's stream is damaged.",
        hint="Nothing of the answer was run.",
        code="corrupt_stream",
    )


def _incomplete() -> ModelStreamError:
    return ModelStreamError(
        "The model's answer broke off before it was complete.",
        hint="Nothing of it was run.",
        code="incomplete_stream",
    )


def _broken(error: ConnectionFailedError) -> ModelStreamError:
    code = "idle_timeout" if error.kind == "timeout" else "disconnect"
    return ModelStreamError(
        f"The connection to the model server broke: {error.reason}.",
        hint="Nothing of the answer was run.",
        code=code,
    )

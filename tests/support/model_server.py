"""A scripted OpenAI-compatible server: real HTTP on loopback, answers by script, and it keeps what it was asked.

In a test: `async with ModelServer([text("Hi")]) as server`, then `server.base_url` and `server.requests`. Beside a
program under test: `with ModelServerThread([...]) as server`, or
`python -m tests.support.model_server --script FILE` with a JSON list (see `turns_from_json`), which
prints the base URL.
"""

import argparse
import asyncio
import json
import sys
import threading
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, Self

from tests.support.model_turns import (
    Abort,
    Pause,
    Received,
    Script,
    Turn,
    calls,
    hang,
    http_error,
    raw,
    text,
    turns_from_json,
)

__all__ = [
    "Abort",
    "ModelServer",
    "ModelServerThread",
    "Pause",
    "Received",
    "Turn",
    "calls",
    "hang",
    "http_error",
    "raw",
    "text",
    "turns_from_json",
]

MAX_REQUEST_BYTES = 1 << 26
OVER = http_error(400, "the script is over: no turn is left for this request")


class ModelServer:
    """Answers chat requests by a script, one turn each.

    Args:
        script: Turns in order; a request after the last one is refused.
        repeat_last: The last turn answers all later requests.
        models: Names for GET /models.
        routes: JSON answers by path for anything else, such as "/api/show".
        calls_tools: Asked whether it calls tools, it does, as most servers do; that is no turn of the script.
    """

    def __init__(
        self,
        script: Sequence[Script],
        *,
        repeat_last: bool = False,
        models: Sequence[str] = ("scripted",),
        routes: Mapping[str, Any] | None = None,
        calls_tools: bool = True,
    ) -> None:
        self._calls_tools = calls_tools
        self._script = list(script)
        self._repeat_last = repeat_last
        self._models = models
        self._routes = dict(routes or {})
        self._server: asyncio.Server | None = None
        self._tasks: set[asyncio.Task[None]] = set()
        self.base_url = ""
        """Address of the API, once started."""
        self.requests: list[Received] = []
        """Chat requests, in order."""
        self.others: list[Received] = []
        """All other requests."""
        self.gone = asyncio.Event()
        """Set when a client closes its connection while it is answered."""
        self.answering = asyncio.Event()
        """Set when the pieces of a chat answer that come at once have been sent."""
        self.connections = 0

    async def __aenter__(self) -> Self:
        await self.start()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.stop()

    async def start(self, port: int = 0) -> None:
        """Listen on loopback."""
        self._server = await asyncio.start_server(
            self._serve, "127.0.0.1", port, limit=MAX_REQUEST_BYTES
        )
        self.base_url = f"http://127.0.0.1:{self._server.sockets[0].getsockname()[1]}/v1"

    async def stop(self) -> None:
        """Stop listening and drop all clients."""
        if self._server is not None:
            self._server.close()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._tasks.add(task)
        self.connections += 1
        peer = _Peer(reader, writer)
        try:
            await self._serve_peer(peer)
        except (ConnectionError, asyncio.IncompleteReadError, asyncio.CancelledError):
            pass
        finally:
            peer.close()
            self._tasks.discard(task)

    async def _serve_peer(self, peer: "_Peer") -> None:
        while (request := await peer.request()) is not None:
            turn = self._turn(request)
            if not await peer.answer(turn, self.answering):
                self.gone.set()
                return

    def _turn(self, request: Received) -> Turn:
        path = request.path.split("?")[0]
        if path.endswith("/chat/completions"):
            if self._calls_tools and request.is_proof:
                self.others.append(request)
                made = calls(("ping", {"text": "hi"}))
                return made if isinstance(made, Turn) else made(request)
            self.requests.append(request)
            number = len(self.requests) - 1
            if self._repeat_last:
                number = min(number, len(self._script) - 1)
            script = self._script[number] if number < len(self._script) else OVER
            return script if isinstance(script, Turn) else script(request)
        self.others.append(request)
        if path in self._routes:
            found = self._routes[path]
            return found if isinstance(found, Turn) else _json(found)
        if path.endswith("/models"):
            return _json(
                {
                    "object": "list",
                    "data": [{"id": name, "object": "model"} for name in self._models],
                }
            )
        return http_error(404, "no such path")


class _Peer:
    """One connection; notices at once when the client closes it."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._writer = writer
        self._input = asyncio.StreamReader(limit=MAX_REQUEST_BYTES)
        self._closed = asyncio.Event()
        self._pump = asyncio.ensure_future(self._feed(reader))

    async def _feed(self, reader: asyncio.StreamReader) -> None:
        with suppress(ConnectionError):
            while data := await reader.read(1 << 16):
                self._input.feed_data(data)
        self._input.feed_eof()
        self._closed.set()

    async def request(self) -> Received | None:
        line = (await self._input.readline()).decode("latin-1").strip()
        if not line:
            return None
        method, path, _ = line.split(" ", 2)
        headers: dict[str, str] = {}
        while header := (await self._input.readline()).decode("latin-1").strip():
            name, value = header.split(":", 1)
            headers[name.lower()] = value.strip()
        body = await self._input.readexactly(int(headers.get("content-length", "0")))
        return Received(method=method, path=path, headers=headers, body=body, at_s=time.monotonic())

    async def answer(self, turn: Turn, answering: asyncio.Event) -> bool:
        """Send a turn; False when the connection is over."""
        lines = "".join(f"{name}: {value}\r\n" for name, value in turn.headers.items())
        self._writer.write(
            f"HTTP/1.1 {turn.status} X\r\n{lines}transfer-encoding: chunked\r\n\r\n".encode(
                "latin-1"
            )
        )
        for piece in turn.pieces:
            if isinstance(piece, bytes) and not piece:
                continue
            if isinstance(piece, Pause):
                answering.set()
            if not await self._send(piece):
                return False
        self._writer.write(b"0\r\n\r\n")
        await self._writer.drain()
        return True

    async def _send(self, piece: bytes | Pause | Abort) -> bool:
        if isinstance(piece, bytes):
            self._writer.write(f"{len(piece):x}\r\n".encode() + piece + b"\r\n")
            await self._writer.drain()
            return not self._closed.is_set()
        await self._writer.drain()
        if isinstance(piece, Abort):
            await self._wait(0.05)
            self._writer.transport.abort()
            return False
        return not await self._wait(piece.seconds)

    async def _wait(self, seconds: float) -> bool:
        """Wait; True as soon as the client is gone."""
        try:
            async with asyncio.timeout(None if seconds == float("inf") else seconds):
                await self._closed.wait()
        except TimeoutError:
            return False
        return True

    def close(self) -> None:
        self._pump.cancel()
        self._writer.close()


class ModelServerThread:
    """The same server on a thread of its own, for tests that have no event loop."""

    def __init__(self, script: Sequence[Script], *, port: int = 0, **options: Any) -> None:
        self.server = ModelServer(script, **options)
        self._port = port
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)

    @property
    def base_url(self) -> str:
        return self.server.base_url

    @property
    def requests(self) -> list[Received]:
        return self.server.requests

    def __enter__(self) -> Self:
        self._thread.start()
        asyncio.run_coroutine_threadsafe(self.server.start(self._port), self._loop).result(10)
        return self

    def __exit__(self, *_: object) -> None:
        asyncio.run_coroutine_threadsafe(self.server.stop(), self._loop).result(10)
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(10)
        self._loop.close()


def _json(body: Any) -> Turn:
    return Turn(headers={"content-type": "application/json"}, pieces=[json.dumps(body).encode()])


async def _main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--script", type=Path, required=True, help="JSON file with the turns")
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--repeat-last", action="store_true")
    options = parser.parse_args()
    script = turns_from_json(json.loads(options.script.read_text(encoding="utf-8")))
    server = ModelServer(script, repeat_last=options.repeat_last)
    await server.start(options.port)
    sys.stdout.write(f"{server.base_url}\n")
    sys.stdout.flush()
    await asyncio.Event().wait()


if __name__ == "__main__":
    with suppress(KeyboardInterrupt):
        asyncio.run(_main())

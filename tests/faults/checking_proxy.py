"""A loopback proxy in front of a model server that looks at every chat request as a strict server would."""

import asyncio
from contextlib import suppress
from typing import Self
from urllib.parse import urlsplit

from tests.faults.strict_request import request_problems

LINE_BYTES = 1 << 20


class CheckingProxy:
    """Passes requests on, each over a connection of its own, and keeps what was wrong with them.

    Args:
        base_url: Of the server behind it, on this machine: http://HOST:PORT/PATH.
    """

    def __init__(self, base_url: str) -> None:
        parts = urlsplit(base_url)
        assert parts.scheme == "http"
        assert parts.hostname is not None
        self._host, self._port = parts.hostname, parts.port or 80
        self._path = parts.path
        self._server: asyncio.Server | None = None
        self._tasks: set[asyncio.Task[None]] = set()
        self.requests = 0
        """Chat requests so far."""
        self.problems: list[str] = []
        """What was wrong with them."""

    @property
    def base_url(self) -> str:
        """Where a client finds the server through this proxy."""
        assert self._server is not None
        return f"http://127.0.0.1:{self._server.sockets[0].getsockname()[1]}{self._path}"

    async def __aenter__(self) -> Self:
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", 0, limit=LINE_BYTES)
        return self

    async def __aexit__(self, *_: object) -> None:
        assert self._server is not None
        self._server.close()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._tasks.add(task)
        try:
            with suppress(ConnectionError, asyncio.IncompleteReadError, OSError):
                await self._pass_on(reader, writer)
        except asyncio.CancelledError:
            pass
        finally:
            writer.close()
            self._tasks.discard(task)

    async def _pass_on(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = await reader.readuntil(b"\r\n\r\n")
        lines = head.decode("latin-1").split("\r\n")
        headers = [line for line in lines[1:] if line]
        named = dict(line.lower().split(":", 1) for line in headers)
        body = await reader.readexactly(int(named.get("content-length", "0")))
        if "/chat/completions" in lines[0]:
            self.requests += 1
            self.problems += [
                f"request {self.requests}: {problem}" for problem in request_problems(body)
            ]
        kept = [line for line in headers if not line.lower().startswith(("host:", "connection:"))]
        sent = [lines[0], f"Host: {self._host}:{self._port}", "Connection: close", *kept, "", ""]
        answer, server = await asyncio.open_connection(self._host, self._port)
        gone = asyncio.ensure_future(reader.read(1))
        try:
            server.write("\r\n".join(sent).encode("latin-1") + body)
            await server.drain()
            await self._pump(answer, writer, gone)
        finally:
            gone.cancel()
            server.close()

    async def _pump(
        self,
        answer: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
        gone: "asyncio.Future[bytes]",
    ) -> None:
        """Send what comes until the server or the client is gone."""
        while not gone.done():
            piece = asyncio.ensure_future(answer.read(1 << 16))
            await asyncio.wait({piece, gone}, return_when=asyncio.FIRST_COMPLETED)
            if not piece.done():
                piece.cancel()
                return
            data = piece.result()
            if not data:
                return
            writer.write(data)
            await writer.drain()

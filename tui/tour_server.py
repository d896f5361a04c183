"""Serves the pages of the tour on loopback, from inside this process, for as long as the tour lasts."""

import asyncio
from collections.abc import Mapping
from pathlib import Path

SITE = Path(__file__).resolve().parent / "tour_site"
TYPES: Mapping[str, str] = {
    ".html": "text/html; charset=utf-8",
    ".css": "text/css; charset=utf-8",
}
"""Files that are served, by ending; nothing else is."""
READ_TIMEOUT_S = 10.0
MAX_HEAD_BYTES = 16_384


class TourServer:
    """A tiny web server for a fixed set of files."""

    def __init__(self) -> None:
        """Prepare; nothing listens before `start`."""
        self._pages = {f"/{path.name}": path for path in SITE.iterdir() if path.suffix in TYPES}
        self._server: asyncio.Server | None = None
        self.host = "127.0.0.1"
        self.port = 0

    @property
    def url(self) -> str:
        """Address of the first page."""
        return f"http://{self.host}:{self.port}/index.html"

    async def start(self) -> None:
        """Listen on a free port.

        Raises:
            OSError: This machine has no loopback.
        """
        self._server = await asyncio.start_server(self._serve, self.host, 0, limit=MAX_HEAD_BYTES)
        self.port = self._server.sockets[0].getsockname()[1]

    async def close(self) -> None:
        """Stop listening; safe to call twice."""
        if self._server is not None:
            self._server.close()
            self._server = None

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            async with asyncio.timeout(READ_TIMEOUT_S):
                head = await reader.readuntil(b"\r\n\r\n")
            writer.write(self._answer(head.decode("latin-1")))
            await writer.drain()
        except (TimeoutError, asyncio.IncompleteReadError, asyncio.LimitOverrunError, OSError):
            return
        finally:
            writer.close()

    def _answer(self, head: str) -> bytes:
        words = head.split(" ", 2)
        path = words[1].partition("?")[0] if len(words) > 2 else ""
        file = self._pages.get("/index.html" if path == "/" else path)
        if words[0] != "GET" or file is None:
            return b"HTTP/1.1 404 Not Found\r\ncontent-length: 0\r\nconnection: close\r\n\r\n"
        body = file.read_bytes()
        kind = TYPES[file.suffix]
        lines = ("HTTP/1.1 200 OK", f"content-type: {kind}", f"content-length: {len(body)}")
        return "\r\n".join([*lines, "connection: close", "", ""]).encode() + body

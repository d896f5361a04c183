"""An engine's socket that answers as a script says, for errors a real engine does not make on demand."""

import asyncio
import json
import re
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType

VERSION = {"ApiVersion": "1.41", "Version": "20.10.24", "MinAPIVersion": "1.12"}
INFO = {"SecurityOptions": ["name=seccomp,profile=default"]}


def error(message: str) -> dict[str, str]:
    """The body of an engine's error."""
    return {"message": message}


class StubEngine:
    """Answers requests by the end of their path; `None` hangs, `b""` closes the connection."""

    def __init__(
        self, folder: Path, answers: Mapping[str, tuple[int, object] | bytes | None] | None = None
    ) -> None:
        self.path = folder / "engine.sock"
        self.answers: dict[str, tuple[int, object] | bytes | None] = {
            "/version": (200, VERSION),
            "/info": (200, INFO),
            **(answers or {}),
        }
        self.asked: list[str] = []
        self._server: asyncio.Server | None = None
        self._over = asyncio.Event()

    @property
    def host(self) -> str:
        return f"unix://{self.path}"

    async def __aenter__(self) -> "StubEngine":
        self._server = await asyncio.start_unix_server(self._serve, self.path)
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        raised: BaseException | None,
        frames: TracebackType | None,
    ) -> None:
        self._over.set()
        assert self._server is not None
        self._server.close()
        await self._server.wait_closed()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while head := await reader.readuntil(b"\r\n\r\n"):
                await self._body(reader, head)
                method, target, _ = head.decode().split(" ", 2)
                self.asked.append(f"{method} {target}")
                if not await self._answer(target, writer):
                    break
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        finally:
            writer.close()

    async def _body(self, reader: asyncio.StreamReader, head: bytes) -> None:
        length = re.search(rb"content-length: (\d+)", head, re.IGNORECASE)
        if length:
            await reader.readexactly(int(length[1]))

    async def _answer(self, target: str, writer: asyncio.StreamWriter) -> bool:
        path = target.partition("?")[0]
        matching = (answer for end, answer in self.answers.items() if path.endswith(end))
        answer = next(matching, (404, error(f"page not found: {path}")))
        if answer is None:
            await self._over.wait()
            return False
        if isinstance(answer, bytes):
            writer.write(answer)
            return False
        status, value = answer
        body = json.dumps(value).encode()
        head = f"HTTP/1.1 {status} X\r\nContent-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
        writer.write(head.encode() + body)
        await writer.drain()
        return True

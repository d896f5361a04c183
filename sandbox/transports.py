"""Byte streams to a runner: a child process, or a container attached over the engine's socket."""

import asyncio
import contextlib
import os
import re
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Protocol

from core.errors import SandboxUnavailableError

_READ_BYTES = 1 << 18
_DOCTOR_HINT = "`handrail doctor` shows what can be used."
_STDERR_BYTES = 1 << 16
"""Kept of what the other side says on stderr, to explain a failure."""


class Transport(Protocol):
    """A byte stream to a runner and back."""

    async def open(self) -> None:
        """Connect.

        Raises:
            SandboxUnavailableError: The other side cannot be started.
        """
        ...

    async def read(self) -> bytes:
        """Return the next bytes, b"" when the stream has ended."""
        ...

    def write(self, data: bytes) -> None:
        """Send bytes; they are buffered when the other side is slow."""
        ...

    async def drain(self) -> None:
        """Wait until the buffer is small again.

        Raises:
            ConnectionError: The stream has ended.
        """
        ...

    async def close(self) -> None:
        """End the stream, and with it the runner; safe to call twice."""
        ...

    def stderr_text(self) -> str:
        """Return what the other side said on stderr, at most 64 KiB."""
        ...


class ProcessTransport:
    """The stdin and stdout of a child process."""

    def __init__(
        self,
        command: Sequence[str],
        environment: Mapping[str, str],
        descriptors: Sequence[int] = (),
    ) -> None:
        """Make a transport.

        Args:
            command: Program with its arguments.
            environment: Its whole environment.
            descriptors: Open descriptors it inherits; closed here once it has them.
        """
        self._command = command
        self._environment = dict(environment)
        self._descriptors = descriptors
        self._process: asyncio.subprocess.Process | None = None
        self._stderr = bytearray()
        self._listening: asyncio.Task[None] | None = None

    async def open(self) -> None:
        """Start the process.

        Raises:
            SandboxUnavailableError: It cannot be started.
        """
        try:
            self._process = await asyncio.create_subprocess_exec(
                *self._command,
                stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.PIPE,
                env=self._environment,
                pass_fds=self._descriptors,
                start_new_session=True,
                limit=1 << 20,
            )
        except OSError as error:
            text = f"{self._command[0]} does not start: {error.strerror}."
            raise SandboxUnavailableError(text) from error
        finally:
            for descriptor in self._descriptors:
                os.close(descriptor)
        self._listening = asyncio.create_task(self._listen(self._process))

    async def _listen(self, process: asyncio.subprocess.Process) -> None:
        assert process.stderr is not None
        while piece := await process.stderr.read(4096):
            self._stderr += piece[: _STDERR_BYTES - len(self._stderr)]

    async def read(self) -> bytes:
        """Return the next bytes, b"" when the process has ended or closed its stdout."""
        assert self._process is not None
        assert self._process.stdout is not None
        piece = await self._process.stdout.read(_READ_BYTES)
        if not piece and self._listening is not None:
            await asyncio.wait([self._listening], timeout=1)
        return piece

    def write(self, data: bytes) -> None:
        """Send bytes."""
        assert self._process is not None
        assert self._process.stdin is not None
        self._process.stdin.write(data)

    async def drain(self) -> None:
        """Wait until the process has read what was sent.

        Raises:
            ConnectionError: It has ended.
        """
        assert self._process is not None
        assert self._process.stdin is not None
        await self._process.stdin.drain()

    async def wait(self) -> int:
        """Wait for the end of the process and return its exit code."""
        assert self._process is not None
        return await self._process.wait()

    async def close(self) -> None:
        """Close its stdin, on which a runner ends; kill it when it does not end soon."""
        process = self._process
        if process is None:
            return
        assert process.stdin is not None
        process.stdin.close()
        try:
            await asyncio.wait_for(process.wait(), 2)
        except TimeoutError:
            with contextlib.suppress(ProcessLookupError):
                process.kill()
            await process.wait()
        if self._listening is not None:
            self._listening.cancel()
            await asyncio.wait([self._listening])

    def stderr_text(self) -> str:
        """Return what the process said on stderr."""
        return self._stderr.decode("utf-8", "replace").strip()


class AttachTransport:
    """The streams of a container's first process, attached over the engine's unix socket.

    The engine multiplexes stdout and stderr into blocks of an 8-byte header (stream number, 3 zero bytes, length in 4
    bytes, big endian) and a payload. It closes stdin when this connection ends, however it does.
    Source: https://docs.docker.com/reference/api/engine/version/v1.41/#tag/Container/operation/ContainerAttach
    """

    def __init__(
        self,
        socket_path: str,
        api_version: str,
        container_id: str,
        start: Callable[[], Awaitable[None]],
    ) -> None:
        """Attach to a container that was made with an open stdin and is not started.

        Args:
            socket_path: The engine's socket.
            api_version: Such as "1.41".
            container_id: Id of the container.
            start: Starts it; called once attached, so that nothing it says is lost.
        """
        self._socket_path = socket_path
        self._target = (
            f"/v{api_version}/containers/{container_id}/attach?stream=1&stdin=1&stdout=1&stderr=1"
        )
        self._start = start
        self._reader: asyncio.StreamReader | None = None
        self._writer: asyncio.StreamWriter | None = None
        self._stderr = bytearray()

    async def open(self) -> None:
        """Attach, and start the container.

        Raises:
            SandboxUnavailableError: The engine refuses.
        """
        head = (
            f"POST {self._target} HTTP/1.1\r\nHost: engine\r\nContent-Length: 0\r\n"
            "Connection: Upgrade\r\nUpgrade: tcp\r\n\r\n"
        )
        try:
            self._reader, self._writer = await asyncio.open_unix_connection(
                self._socket_path, limit=1 << 20
            )
            self._writer.write(head.encode())
            reply = await self._reader.readuntil(b"\r\n\r\n")
        except (OSError, asyncio.IncompleteReadError, asyncio.LimitOverrunError) as error:
            await self.close()
            text = "The container engine closed the connection."
            raise SandboxUnavailableError(text, hint=_DOCTOR_HINT) from error
        if not re.match(rb"HTTP/1\.[01] (?:101|200)\b", reply):
            said = (await self._reader.read(4096)).decode("utf-8", "replace").strip()
            await self.close()
            text = f"The container engine does not attach: {said}"
            raise SandboxUnavailableError(text, hint=_DOCTOR_HINT)
        await self._start()

    async def read(self) -> bytes:
        """Return the next bytes of stdout, b"" when the stream has ended."""
        assert self._reader is not None
        while True:
            try:
                header = await self._reader.readexactly(8)
                payload = await self._reader.readexactly(int.from_bytes(header[4:], "big"))
            except (asyncio.IncompleteReadError, ConnectionError):
                return b""
            if header[0] == 1:
                return payload
            self._stderr += payload[: _STDERR_BYTES - len(self._stderr)]

    def write(self, data: bytes) -> None:
        """Send bytes to stdin."""
        assert self._writer is not None
        self._writer.write(data)

    async def drain(self) -> None:
        """Wait until the engine has taken what was sent.

        Raises:
            ConnectionError: The stream has ended.
        """
        assert self._writer is not None
        await self._writer.drain()

    async def close(self) -> None:
        """Close the connection; the engine then closes the runner's stdin, on which it ends."""
        if self._writer is not None:
            self._writer.close()
            with contextlib.suppress(OSError):
                await self._writer.wait_closed()

    def stderr_text(self) -> str:
        """Return what the runner said on stderr."""
        return self._stderr.decode("utf-8", "replace").strip()

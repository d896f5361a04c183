"""The host's end of the link to a runner: commands and file operations over one stream."""

import asyncio
import itertools
import json
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from core.errors import SandboxGoneError, SandboxUnavailableError
from core.ports import OutputSink
from sandbox.api import Exit
from sandbox.bundle import Bundle
from sandbox.runner.frames import (
    VERSION,
    WINDOW_BYTES,
    Decoder,
    GarbledStreamError,
    Kind,
    encode,
    encode_count,
    encode_json,
    join,
    part,
)
from sandbox.spool import LiveFeed, Spool
from sandbox.transports import Transport

START_S = 20.0
"""A runner that has not said HELLO by then does not run."""
PING_S = 5.0
MAX_UNANSWERED = 6
"""A runner that said nothing after so many pings in a row is lost."""
STOP_S = 4.0
"""A command must be ended so long after it was asked to stop; else the whole runner is given up."""
LATE_S = 10.0
"""The runner ends a command at its time limit; so long after it, it must have said so."""


@dataclass(slots=True)
class Output:
    """Both streams of a command."""

    stdout: Spool
    stderr: Spool
    live: tuple[LiveFeed, LiveFeed]

    @classmethod
    def into(cls, stdout: Spool, stderr: Spool, sink: OutputSink) -> "Output":
        """Keep output in two spools and pass it on to `sink` as it comes."""
        return cls(stdout, stderr, (LiveFeed("stdout", sink), LiveFeed("stderr", sink)))

    def feed(self, kind: int, data: bytes) -> None:
        """Take in a piece."""
        first = kind == Kind.OUT
        (self.stdout if first else self.stderr).feed(data)
        self.live[0 if first else 1].feed(data)

    def close(self) -> None:
        """Pass on what is left and close the files."""
        for feed in self.live:
            feed.close()
        self.stdout.close()
        self.stderr.close()


@dataclass(slots=True)
class _Command:
    """A command that runs."""

    output: Output
    ended: asyncio.Future[Exit]
    unacknowledged: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Order:
    """A command to run."""

    interpreter: str
    """"python", or the name of a shell."""
    code: str
    timeout_s: float
    cwd: str = ""
    """Folder to change to first, "" to stay."""
    start_in: str = ""
    """Folder for the interpreter to begin in should it not run yet, "" for the workspace."""


@dataclass(slots=True)
class _Link:
    """What is open on a link."""

    commands: dict[int, _Command] = field(default_factory=dict)
    files: dict[int, asyncio.Future[tuple[Any, bytes]]] = field(default_factory=dict)


class RunnerClient:
    """Speaks to one runner until the stream ends."""

    def __init__(self, transport: Transport, bundle: Bundle, *, ping_s: float = PING_S) -> None:
        """Make a client.

        Args:
            transport: On its other side `bundle.command()` waits for the bundle.
            bundle: What to send.
            ping_s: Seconds between pings.
        """
        self._ping_s = ping_s
        self._transport = transport
        self._bundle = bundle
        self._channels = itertools.count(1)
        self._open = _Link()
        self._hello: asyncio.Future[dict[str, Any]] | None = None
        self._tasks: list[asyncio.Task[None]] = []
        self._heard = False
        self._gone = ""
        self._closing = False
        self.facts: dict[str, Any] = {}
        """What the runner said of itself in HELLO."""
        self.on_gone: Callable[[str], None] | None = None
        """Called once, with the reason, when the runner is gone though nobody closed it."""

    @property
    def gone(self) -> str:
        """Why the runner is gone, "" while it is there."""
        return self._gone

    async def open(self) -> None:
        """Start the runner.

        Raises:
            SandboxUnavailableError: It does not come up.
        """
        await self._transport.open()
        self._hello = asyncio.get_running_loop().create_future()
        self._tasks = [asyncio.create_task(self._listen()), asyncio.create_task(self._ping())]
        self._transport.write(self._bundle.data)
        try:
            async with asyncio.timeout(START_S):
                self.facts = await self._hello
        except (TimeoutError, SandboxGoneError) as error:
            said = self._transport.stderr_text() or str(error) or "it says nothing"
            await self.close()
            raise SandboxUnavailableError(
                f"The runner does not start: {_last_line(said)}"
            ) from error
        except asyncio.CancelledError:
            await self.close()
            raise
        if self.facts.get("version") != VERSION:
            await self.close()
            raise SandboxUnavailableError("The runner speaks another version.")

    async def run(self, order: Order, output: Output) -> Exit:
        """Run a command; cancelling ends it and all it started.

        Raises:
            SandboxGoneError: The runner ended meanwhile.
        """
        channel = next(self._channels)
        command = _Command(output, asyncio.get_running_loop().create_future())
        self._require()
        self._open.commands[channel] = command
        request = {
            "interpreter": order.interpreter,
            "code": order.code,
            "timeout_s": order.timeout_s,
            "cwd": order.cwd,
            "start_in": order.start_in,
        }
        try:
            await self._send(encode_json(Kind.RUN, channel, request))
            return await self._end(channel, command, order.timeout_s + STOP_S + LATE_S)
        finally:
            self._open.commands.pop(channel, None)
            output.close()

    async def _end(self, channel: int, command: _Command, limit_s: float) -> Exit:
        try:
            async with asyncio.timeout(limit_s):
                return await asyncio.shield(command.ended)
        except TimeoutError as error:
            self._lose("it did not end a command in time")
            raise SandboxGoneError(self._gone) from error
        except asyncio.CancelledError:
            await self._stop(channel, command)
            raise

    async def _stop(self, channel: int, command: _Command) -> None:
        self._post(encode(Kind.STOP, channel))
        await asyncio.wait([command.ended], timeout=STOP_S)
        if not command.ended.done():
            self._lose("it did not stop a command in time")
        elif not command.ended.cancelled():
            command.ended.exception()  # seen: nobody waits for it any more

    async def file(
        self, request: dict[str, Any], data: bytes = b""
    ) -> tuple[dict[str, Any], bytes]:
        """Do a file operation (`sandbox.runner.file_operations`).

        Raises:
            SandboxGoneError: The runner ended meanwhile.
        """
        self._require()
        channel = next(self._channels)
        reply: asyncio.Future[tuple[Any, bytes]] = asyncio.get_running_loop().create_future()
        self._open.files[channel] = reply
        try:
            await self._send(encode(Kind.FILE, channel, join(request, data)))
            return await reply
        finally:
            self._open.files.pop(channel, None)

    async def close(self) -> None:
        """End the runner and all that runs in it; safe to call twice."""
        self._closing = True
        self._fail("it was closed")
        await self._transport.close()
        for task in self._tasks:
            task.cancel()
        if self._tasks:
            await asyncio.wait(self._tasks)

    def _require(self) -> None:
        if self._gone:
            raise SandboxGoneError(f"The sandbox is gone: {self._gone}.")

    def _post(self, frame: bytes) -> None:
        """Send a small frame without waiting: a runner that does not read must not hold up its own end."""
        if not self._gone:
            self._transport.write(frame)

    async def _send(self, frame: bytes) -> None:
        self._require()
        self._transport.write(frame)
        try:
            await self._transport.drain()
        except ConnectionError as error:
            self._lose("the stream broke")
            raise SandboxGoneError(f"The sandbox is gone: {self._gone}.") from error

    async def _listen(self) -> None:
        decoder = Decoder()
        try:
            while data := await self._transport.read():
                self._heard = True
                for kind, channel, payload in decoder.feed(data):
                    self._frame(kind, channel, payload)
        except (GarbledStreamError, ValueError, KeyError, ConnectionError) as error:
            self._lose(f"the stream is garbled ({error})")
            return
        self._lose(_last_line(self._transport.stderr_text()) or "the stream ended")

    async def _ping(self) -> None:
        unanswered = 0
        while unanswered < MAX_UNANSWERED:
            self._heard = False
            self._post(encode(Kind.PING, 0))
            await asyncio.sleep(self._ping_s)
            # counted, not timed: this process may have been stopped (Ctrl+Z) meanwhile
            unanswered = 0 if self._heard else unanswered + 1
        self._lose("it does not answer any more")

    def _frame(self, kind: int, channel: int, payload: bytes) -> None:
        command = self._open.commands.get(channel)
        if kind in (Kind.OUT, Kind.ERR):
            if command is not None:
                self._output(kind, channel, command, payload)
        elif kind == Kind.EXIT:
            if command is not None and not command.ended.done():
                command.ended.set_result(_exit(json.loads(payload)))
        elif kind == Kind.FILE_REPLY:
            reply = self._open.files.get(channel)
            if reply is not None and not reply.done():
                reply.set_result(part(payload))
        elif kind == Kind.HELLO and self._hello is not None and not self._hello.done():
            self._hello.set_result(json.loads(payload))

    def _output(self, kind: int, channel: int, command: _Command, payload: bytes) -> None:
        command.output.feed(kind, payload)
        command.unacknowledged += len(payload)
        if command.unacknowledged >= WINDOW_BYTES // 4:
            self._post(encode_count(Kind.ACK, channel, command.unacknowledged))
            command.unacknowledged = 0

    def _lose(self, reason: str) -> None:
        if not self._gone and not self._closing:
            self._fail(reason)
            if self.on_gone is not None:
                self.on_gone(reason)

    def _fail(self, reason: str) -> None:
        self._gone = self._gone or reason
        waiting: list[asyncio.Future[Any]] = [*self._open.files.values()]
        waiting += [command.ended for command in self._open.commands.values()]
        if self._hello is not None:
            waiting.append(self._hello)
        for future in waiting:
            if not future.done():
                future.set_exception(SandboxGoneError(f"The sandbox is gone: {self._gone}."))
                future.exception()  # it may be that nobody waits for it


def _exit(report: dict[str, Any]) -> Exit:
    return Exit(
        exit_code=report["exit_code"],
        cause=report["cause"],
        limits=tuple(report.get("limits", ())),
        restarted=report.get("restarted", False),
        cwd=report.get("cwd", ""),
        duration_s=report.get("duration_s", 0.0),
        background=tuple(report.get("background", ())),
        error=report.get("error", ""),
    )


def _last_line(text: str) -> str:
    return text.strip().rsplit("\n", 1)[-1]

"""The sandbox of a session: brings a cage up when first needed, gives it commands, and replaces it when it is lost."""

import asyncio
import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

from core.errors import SandboxGoneError, SandboxUnavailableError
from core.ports import CommandResult, EventSink, Files, OutputSink, SandboxInfo
from core.surroundings import SandboxChanged
from sandbox.api import Cage
from sandbox.choice import CageChoice, SandboxSettings, State, cages
from sandbox.client import Order, Output, RunnerClient
from sandbox.results import command_result, quiet
from sandbox.runner_files import RunnerFiles
from sandbox.spool import Spool
from sandbox.switching_files import SwitchingFiles


@dataclass(slots=True)
class _Running:
    """What runs now."""

    cage: Cage
    client: RunnerClient
    files: RunnerFiles
    locks: dict[str, asyncio.Lock] = field(default_factory=dict)
    """One command at a time in each interpreter."""


class SandboxManager:
    """Gives commands to one sandbox at a time (`core.ports.Sandbox`).

    Nothing is started before it is needed, and nothing ever runs outside a cage: when none can be made, every call says
    why and what to do.
    """

    def __init__(
        self,
        settings: SandboxSettings,
        host_files: Files,
        record: EventSink,
        make: Callable[[SandboxSettings], Sequence[Cage]] = cages,
    ) -> None:
        """Serve a session.

        Args:
            settings: Its folders and what was chosen.
            host_files: The workspace as the host sees it, for when nothing runs.
            record: Takes `SandboxChanged`.
            make: Makes the cages to try, for tests.
        """
        self._settings = settings
        self._record = record
        self._choice = CageChoice(settings, self._tell, make)
        self._files = SwitchingFiles(host_files)
        self._running: _Running | None = None
        self._starting: asyncio.Task[_Running] | None = None
        self._losing: asyncio.Task[str] | None = None
        self._closed = False
        self._numbers = itertools.count(1)
        self._folders: dict[str, str] = {}
        """Where each interpreter was: should the sandbox be replaced, it begins there again."""

    @property
    def info(self) -> SandboxInfo:
        """What runs, or would run as far as `prepare` has found out."""
        return self._choice.info

    @property
    def files(self) -> Files:
        """Files of the workspace: by the runner while one runs, else by the host."""
        return self._files

    def unavailable(self) -> str:
        """Return why nothing can run, "" when it can or was not tried yet."""
        return self._choice.unavailable

    async def prepare(self) -> None:
        """Find out what could be used, starting nothing; what is wrong is told by `unavailable`."""
        if self._running is not None or self._starting is not None or self._closed:
            return
        await self._choice.check()

    async def start(self) -> None:
        """Bring it up; safe to call again and at once from several tasks.

        Raises:
            SandboxUnavailableError: No cage can be made; the hint says what to do.
        """
        await self._started()

    async def shell(
        self,
        command: str,
        *,
        on_output: OutputSink,
        timeout_s: float = 120.0,
        cwd: str | None = None,
        session: str = "main",
    ) -> CommandResult:
        """Run a command in the persistent shell `session`; cancelling ends all it started.

        Raises:
            SandboxUnavailableError: No cage can be made.
            SandboxGoneError: The sandbox ended meanwhile.
        """
        order = Order(
            interpreter=f"shell:{session}", code=command, timeout_s=timeout_s, cwd=cwd or ""
        )
        return await self._run(order, on_output)

    async def python(
        self, code: str, *, on_output: OutputSink, timeout_s: float = 120.0
    ) -> CommandResult:
        """Run code in the persistent interpreter; cancelling ends all it started.

        Raises:
            SandboxUnavailableError: No cage can be made.
            SandboxGoneError: The sandbox ended meanwhile.
        """
        return await self._run(
            Order(interpreter="python", code=code, timeout_s=timeout_s), on_output
        )

    async def close(self) -> None:
        """End it and all that runs in it; safe to call twice."""
        self._closed = True
        if self._starting is not None:
            self._starting.cancel()
            await asyncio.wait([self._starting])
        if self._losing is not None:
            await asyncio.wait([self._losing])
        running, self._running = self._running, None
        self._files.use_host()
        if running is not None:
            await running.cage.close()
            self._tell("closed", self.info)

    async def _run(self, order: Order, on_output: OutputSink) -> CommandResult:
        running = await self._started()
        name = order.interpreter
        async with running.locks.setdefault(name, asyncio.Lock()):
            order = replace(order, start_in=self._folders.get(name, ""))
            stdout, stderr = self._spools()
            output = Output.into(stdout, stderr, quiet(on_output, order.code))
            try:
                end = await running.client.run(order, output)
            except SandboxGoneError as error:
                raise await self._gone(error) from error
            self._folders[name] = end.cwd
        return command_result(end, order.code, stdout, stderr)

    def _spools(self) -> tuple[Spool, Spool]:
        """Return a spool for each stream, with files that an earlier part of the session has not used."""
        folder = self._settings.session
        for number in self._numbers:
            paths = [folder / f"{stream}-{number}.txt" for stream in ("stdout", "stderr")]
            if not any(path.exists() for path in paths):
                break
        return Spool(paths[0]), Spool(paths[1])

    async def _gone(self, error: SandboxGoneError) -> SandboxGoneError:
        reason = await asyncio.shield(self._losing) if self._losing is not None else error.message
        text = f"The sandbox was lost: {reason}. The command may have done a part of its work."
        hint = (
            "Files in the workspace are kept; the next call starts a new sandbox with fresh shells."
        )
        return SandboxGoneError(text, hint=hint)

    async def _started(self) -> _Running:
        if self._closed:
            raise SandboxUnavailableError("The sandbox of this session is closed.")
        if self._running is not None:
            return self._running
        if self._starting is None:
            self._starting = asyncio.create_task(self._start())
            self._starting.add_done_callback(self._start_ended)
        # one waiter that is cancelled must not take the start away from the others
        return await asyncio.shield(self._starting)

    def _start_ended(self, starting: asyncio.Task[_Running]) -> None:
        self._starting = None
        if not starting.cancelled():
            starting.exception()  # it may be that nobody waits for it any more

    async def _start(self) -> _Running:
        if self._losing is not None:
            await asyncio.wait([self._losing])
            self._losing = None
        cage, client, passed_over = await self._choice.open()
        running = _Running(cage, client, RunnerFiles(client, self._settings.workspace))
        client.on_gone = lambda reason: self._on_gone(running, reason)
        self._running = running
        self._files.use(running.files)
        self._tell("ready", self.info, passed_over)
        return running

    def _on_gone(self, running: _Running, reason: str) -> None:
        if self._running is running:
            self._running = None
            self._files.use_host()
            self._losing = asyncio.create_task(self._lose(running, reason))

    async def _lose(self, running: _Running, reason: str) -> str:
        """Clean up after a lost sandbox, say so, and return why it was lost."""
        why = await running.cage.why_ended() or reason
        await running.cage.close()
        self._tell("lost", self.info, f"{why}; the next call starts a new one")
        return why

    def _tell(self, state: State, info: SandboxInfo, detail: str = "") -> None:
        self._record(
            SandboxChanged(
                state=state,
                label=info.label,
                tier=info.tier,
                image=info.image,
                limits=dict(info.limits),
                network=info.network,
                workspace=info.workspace,
                detail=detail,
            )
        )

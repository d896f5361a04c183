"""A real sandbox with what a test wants to know of it."""

import asyncio
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Literal

from core.ports import CommandResult
from core.surroundings import SandboxChanged
from core.workspace import WorkspaceFiles
from sandbox.api import Cage, Choice
from sandbox.choice import SandboxSettings, cages
from sandbox.manager import SandboxManager

TIME_S = 20.0
"""A command of a test that takes longer has failed."""


class OpenedSandbox:
    """Runs commands in a `SandboxManager` and keeps what it told."""

    def __init__(
        self,
        choice: Choice,
        folder: Path,
        make: Callable[[SandboxSettings], Sequence[Cage]] = cages,
    ) -> None:
        self.choice = choice
        self.workspace = folder / "workspace"
        self.session = folder / "session"
        for path in (self.workspace, self.session):
            path.mkdir(exist_ok=True)
        # a repository, as most workspaces are: some of its files are read-only inside
        (self.workspace / ".git/hooks").mkdir(parents=True)
        (self.workspace / ".git/config").write_text("[core]\n", encoding="utf-8")
        (self.workspace / ".bashrc").write_text("alias ll=ls\n", encoding="utf-8")
        self.told: list[SandboxChanged] = []
        self.live: list[tuple[str, str]] = []
        self.heard = asyncio.Event()
        """Set when the running command has put anything out."""
        settings = SandboxSettings(workspace=self.workspace, session=self.session, choice=choice)
        self.manager = SandboxManager(settings, WorkspaceFiles(self.workspace), self._tell, make)

    async def shell(
        self, command: str, timeout_s: float = TIME_S, session: str = "main", cwd: str | None = None
    ) -> CommandResult:
        self.live.clear()
        self.heard.clear()
        return await self.manager.shell(
            command, on_output=self._output, timeout_s=timeout_s, session=session, cwd=cwd
        )

    async def python(self, code: str, timeout_s: float = TIME_S) -> CommandResult:
        self.live.clear()
        self.heard.clear()
        return await self.manager.python(code, on_output=self._output, timeout_s=timeout_s)

    async def out(self, command: str) -> str:
        """Run a command that must succeed and say nothing on stderr; return its stdout."""
        result = await self.shell(command)
        assert (result.exit_code, result.stderr) == (0, ""), result
        return result.stdout

    def _tell(self, event: object) -> None:
        assert isinstance(event, SandboxChanged)
        self.told.append(event)

    def _output(self, stream: Literal["stdout", "stderr"], text: str) -> None:
        self.live.append((stream, text))
        self.heard.set()

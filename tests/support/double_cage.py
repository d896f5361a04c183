"""Cages that are no cages: a runner on this machine, or only an error."""

import sys
from pathlib import Path

from core.errors import SandboxUnavailableError
from core.ports import SandboxInfo
from sandbox.bundle import Bundle
from sandbox.client import RunnerClient
from sandbox.transports import ProcessTransport


class MissingCage:
    """Cannot be opened."""

    info = SandboxInfo(tier="docker", label="Docker")

    def __init__(self, message: str, hint: str = "Start it.", code: str = "engine_absent") -> None:
        self.error = SandboxUnavailableError(message, hint=hint, code=code)
        self.closed = 0

    async def check(self) -> None:
        raise self.error

    async def open(self) -> RunnerClient:
        raise self.error

    async def why_ended(self) -> str:
        return ""

    async def close(self) -> None:
        self.closed += 1


class BareCage:
    """A runner without walls, for tests of what is around it."""

    info = SandboxInfo(tier="fake", label="Bare runner")

    def __init__(self, workspace: Path, *, why: str = "") -> None:
        self.workspace = workspace
        self.why = why
        self.transport: ProcessTransport | None = None
        self.client: RunnerClient | None = None
        self.opened = 0
        self.closed = 0

    async def check(self) -> None:
        return

    async def open(self) -> RunnerClient:
        self.opened += 1
        bundle = Bundle({"workspace": str(self.workspace)})
        self.transport = ProcessTransport(bundle.command(sys.executable), {"PATH": "/usr/bin:/bin"})
        self.client = RunnerClient(self.transport, bundle)
        await self.client.open()
        return self.client

    @property
    def pid(self) -> int:
        """Process id of the runner."""
        assert self.client is not None
        pid: int = self.client.facts["pid"]
        return pid

    async def why_ended(self) -> str:
        return self.why

    async def close(self) -> None:
        self.closed += 1
        if self.client is not None:
            await self.client.close()

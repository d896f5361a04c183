"""A sandbox and files that live in memory and do what a script says."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, TypeAlias

from core.ports import CommandResult, FileContent, FileEntry, Files, OutputSink, SandboxInfo
from core.workspace import relative_path, require_writable_name, workspace_error

WORKSPACE = Path("/workspace")


class MemoryFiles:
    """Files in a dict (`core.ports.Files`)."""

    def __init__(self, contents: dict[str, bytes] | None = None) -> None:
        """Begin with `contents` (path -> bytes)."""
        self.contents = dict(contents or {})

    async def read(self, path: str, offset: int = 0, limit: int = 1 << 20) -> FileContent:
        """Read a part."""
        name = relative_path(path, WORKSPACE)
        if name in self.contents:
            data = self.contents[name]
            return FileContent(data=data[offset : offset + limit], size_bytes=len(data))
        folder = not name or any(other.startswith(name + "/") for other in self.contents)
        raise workspace_error(path, 21 if folder else 2)

    async def write(self, path: str, data: bytes) -> None:
        """Write a whole file."""
        name = relative_path(path, WORKSPACE)
        require_writable_name(name)
        self.contents[name] = data

    async def remove(self, path: str) -> None:
        """Remove a file."""
        if self.contents.pop(relative_path(path, WORKSPACE), None) is None:
            raise workspace_error(path, 2)

    async def list(self, path: str = "", depth: int = 1, limit: int = 1000) -> Sequence[FileEntry]:
        """List a folder."""
        top = relative_path(path, WORKSPACE)
        prefix = f"{top}/" if top else ""
        found: dict[str, FileEntry] = {}
        for name, data in self.contents.items():
            if not name.startswith(prefix):
                continue
            parts = name.removeprefix(prefix).split("/")
            for count in range(1, min(depth, len(parts)) + 1):
                here = prefix + "/".join(parts[:count])
                whole = count == len(parts)
                size_bytes = len(data) if whole else 0
                found[here] = FileEntry(
                    path=here, kind="file" if whole else "folder", size_bytes=size_bytes
                )
        if prefix and not found:
            raise workspace_error(path, 2)
        return sorted(found.values(), key=lambda entry: entry.path)[:limit]


@dataclass(frozen=True, slots=True, kw_only=True)
class FakeRun:
    """What a fake sandbox was asked to run."""

    kind: Literal["shell", "python"]
    text: str
    timeout_s: float
    cwd: str | None = None
    session: str = "main"


@dataclass(slots=True)
class Hang:
    """A scripted command that runs until it is cancelled; `started` is set when it begins."""

    started: asyncio.Event = field(default_factory=asyncio.Event)
    output: str = ""
    """Written to stdout before it hangs."""


Script: TypeAlias = CommandResult | BaseException | Hang


def ran(
    stdout: str = "",
    *,
    stderr: str = "",
    exit_code: int = 0,
    note: str = "",
    duration_s: float = 0.01,
) -> CommandResult:
    """Return the result of an ordinary command."""
    return CommandResult(
        outcome="ok" if exit_code == 0 else "failed",
        exit_code=exit_code,
        stdout=stdout,
        stderr=stderr,
        stdout_bytes=len(stdout.encode()),
        stderr_bytes=len(stderr.encode()),
        duration_s=duration_s,
        cwd="/workspace",
        note=note,
    )


class FakeSandbox:
    """Gives out scripted results in order and remembers what it was asked (`core.ports.Sandbox`).

    When the script is used up, every further command succeeds without output.
    """

    def __init__(
        self, script: Sequence[Script] = (), *, files: Files | None = None, unavailable: str = ""
    ) -> None:
        """Make one.

        Args:
            script: Results to return, errors to raise, or `Hang`.
            files: Files inside; an empty `MemoryFiles` when None.
            unavailable: Why nothing can run, "" when it can.
        """
        self._script = list(script)
        self._files = files if files is not None else MemoryFiles()
        self._unavailable = unavailable
        self.runs: list[FakeRun] = []
        self.cancelled: list[FakeRun] = []
        self.starts = 0
        self.closed = False

    @property
    def info(self) -> SandboxInfo:
        """What it is."""
        return SandboxInfo(
            tier="fake", label="Fake sandbox", image="fake:base", limits={"memory": "1 GB"}
        )

    @property
    def files(self) -> Files:
        """Files inside."""
        return self._files

    def unavailable(self) -> str:
        """Return why nothing can run."""
        return self._unavailable

    async def start(self) -> None:
        """Count the starts."""
        self.starts += 1

    async def shell(
        self,
        command: str,
        *,
        on_output: OutputSink,
        timeout_s: float = 120.0,
        cwd: str | None = None,
        session: str = "main",
    ) -> CommandResult:
        """Play the next entry of the script."""
        run = FakeRun(kind="shell", text=command, timeout_s=timeout_s, cwd=cwd, session=session)
        return await self._play(run, on_output)

    async def python(
        self, code: str, *, on_output: OutputSink, timeout_s: float = 120.0
    ) -> CommandResult:
        """Play the next entry of the script."""
        return await self._play(FakeRun(kind="python", text=code, timeout_s=timeout_s), on_output)

    async def close(self) -> None:
        """Remember that it was closed."""
        self.closed = True

    async def _play(self, run: FakeRun, on_output: OutputSink) -> CommandResult:
        self.runs.append(run)
        entry = self._script.pop(0) if self._script else ran()
        if isinstance(entry, BaseException):
            raise entry
        if isinstance(entry, Hang):
            return await self._hang(run, entry, on_output)
        for stream, text in (("stdout", entry.stdout), ("stderr", entry.stderr)):
            if text:
                on_output("stdout" if stream == "stdout" else "stderr", text)
        return entry

    async def _hang(self, run: FakeRun, entry: Hang, on_output: OutputSink) -> CommandResult:
        if entry.output:
            on_output("stdout", entry.output)
        entry.started.set()
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            self.cancelled.append(run)
            raise
        raise AssertionError("a hanging command never ends by itself")

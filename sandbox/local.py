"""A sandbox without an engine: this machine's own programs in namespaces of their own, by bubblewrap."""

import asyncio
import platform
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from core.errors import SandboxUnavailableError
from core.ports import SandboxInfo
from sandbox import bubblewrap, privileges, seccomp
from sandbox.api import FILE_BYTES, INSIDE, MEMORY_BYTES, OPEN_FILES, PROCESSES
from sandbox.bundle import Bundle
from sandbox.cgroup import ControlGroup
from sandbox.client import RunnerClient
from sandbox.transports import ProcessTransport

INSTALL_HINT = "Install bubblewrap, or start Docker; `handrail doctor` shows what is there."
TRY_S = 10.0
AS_ROOT = "as root, without capabilities"
_LABELS: dict[bubblewrap.Way, str] = {
    "user namespace": "Isolated: bubblewrap",
    "root": f"Isolated: bubblewrap ({AS_ROOT})",
}
_ENVIRONMENT = {"PATH": "/usr/bin:/bin"}
"""Of bubblewrap itself, nothing of the app's: its /proc/1/environ can be read inside."""


class BubblewrapCage:
    """One sandbox made by bubblewrap; it ends with this process."""

    def __init__(self, workspace: Path, ways: Sequence[bubblewrap.Way] | None = None) -> None:
        """Show `workspace` (absolute, there) inside.

        Args:
            workspace: The folder.
            ways: The ways to make it, the best first; all there are when None.
        """
        self._workspace = workspace
        self._ways = tuple(_ways() if ways is None else ways)
        self._way = self._ways[0]
        self._client: RunnerClient | None = None
        self._group: ControlGroup | None = None

    @property
    def info(self) -> SandboxInfo:
        """What it is."""
        return SandboxInfo(
            tier="bubblewrap",
            label=_LABELS[self._way],
            limits={
                "memory": f"{MEMORY_BYTES >> 20} MB",
                "processes": str(PROCESSES),
                "file size": f"{FILE_BYTES >> 20} MB",
            },
            workspace=INSIDE,
        )

    async def check(self) -> None:
        """Find out whether it could be opened.

        Raises:
            SandboxUnavailableError: bubblewrap is not installed or does not work here.
        """
        trial = await try_out(self._ways)
        if trial.problem:
            raise SandboxUnavailableError(f"No bubblewrap: {trial.problem}.", hint=INSTALL_HINT)
        self._way = trial.way

    async def open(self) -> RunnerClient:
        """Start bubblewrap with the runner in it.

        Raises:
            SandboxUnavailableError: It is not installed or may not make namespaces.
        """
        program = bubblewrap.find()
        if program is None:
            raise SandboxUnavailableError("bubblewrap is not installed.", hint=INSTALL_HINT)
        problems: list[str] = []
        for way in self._ways:
            try:
                self._client = await self._open(program, way)
            except SandboxUnavailableError as error:
                await self.close()
                said = error.message.removeprefix("The runner does not start: ")
                problems.append(bubblewrap.reason(said))
                if problems[-1] not in bubblewrap.NEEDS_NO_USER_NAMESPACE:
                    break
            else:
                self._way = way
                return self._client
        text = f"bubblewrap does not work here: {_told(problems)}."
        raise SandboxUnavailableError(text, hint=INSTALL_HINT)

    async def _open(self, program: str, way: bubblewrap.Way) -> RunnerClient:
        """Start it in one way.

        Raises:
            SandboxUnavailableError: It does not start; `close` removes what is left.
        """
        self._group = await asyncio.to_thread(ControlGroup.make, MEMORY_BYTES, PROCESSES)
        bundle = Bundle(_settings(counted=self._group is not None))
        made = bubblewrap.arguments(program, self._workspace, way)
        if self._group is not None:
            made += self._group.mounts()
        command, descriptors = _sealed(made, way)
        command += bundle.command(bubblewrap.python()[0])
        if self._group is not None:
            command = self._group.enter(command)
        client = RunnerClient(ProcessTransport(command, _ENVIRONMENT, descriptors), bundle)
        await client.open()
        return client

    async def why_ended(self) -> str:
        """Return why it ended; bubblewrap tells nothing beyond the stream."""
        return ""

    async def close(self) -> None:
        """End it."""
        if self._client is not None:
            await self._client.close()
        if self._group is not None:
            await asyncio.to_thread(self._group.remove)


def _ways() -> list[bubblewrap.Way]:
    """Return the ways that are open to this user here, the best first."""
    made: list[bubblewrap.Way] = ["user namespace"]
    # no user namespace of its own that forbids others: the filter has to, so there must be one
    if privileges.is_root() and not privileges.missing_tool() and seccomp.is_known():
        made.append("root")
    return made


def _told(problems: Sequence[str]) -> str:
    first, *rest = problems
    return "; ".join([first, *(f"{AS_ROOT}: {problem}" for problem in rest)])


def _settings(*, counted: bool) -> dict[str, object]:
    """Return the runner's settings; it watches over what no control group limits."""
    limits = {"DATA": MEMORY_BYTES, "FSIZE": FILE_BYTES, "NOFILE": OPEN_FILES, "CORE": 0}
    settings: dict[str, object] = {"workspace": INSIDE, "limits": limits}
    if not counted:
        settings |= {"memory_bytes": MEMORY_BYTES, "processes": PROCESSES}
        if _counts_processes_per_namespace():
            # a little more than the runner lets pass, so that it is the runner that ends and reports them
            limits["NPROC"] = PROCESSES + 32
    return settings


def _counts_processes_per_namespace() -> bool:
    """Return whether RLIMIT_NPROC counts the sandbox alone; before, it counted all processes of the user.

    Source: Linux 5.14, "Reimplement RLIMIT_NPROC on top of ucounts"
    """
    release = re.match(r"(\d+)\.(\d+)", platform.release())
    return release is not None and (int(release[1]), int(release[2])) >= (5, 14)


def _sealed(made: list[str], way: bubblewrap.Way) -> tuple[list[str], list[int]]:
    """Complete arguments of bubblewrap, and put them where code inside cannot read them.

    Args:
        made: The program and its arguments so far.
        way: As given to `bubblewrap.arguments`.

    Returns:
        The command, up to the "--" that the command inside follows, and the descriptors bubblewrap reads from.
    """
    program, *rest = made
    rest, descriptors = bubblewrap.with_files(rest, bubblewrap.accounts(way))
    filter_from = seccomp.filter_descriptor()
    if filter_from is not None:
        descriptors.append(filter_from)
        rest += ["--seccomp", str(filter_from)]
    rest += ["--remount-ro", "/"]
    # its command line, like its environment, can be read inside: /proc/1/cmdline
    arguments = bubblewrap.memory_file("\0".join(rest))
    command = privileges.with_fixed_devices([program, "--args", str(arguments), "--"])
    if way == "root":
        command = privileges.without_way_back(command)
    return command, [*descriptors, arguments]


@dataclass(frozen=True, slots=True)
class Trial:
    """What came of trying."""

    problem: str
    """Why it does not work, "" when it does."""
    way: bubblewrap.Way = "user namespace"
    """The one that works."""


async def try_out(ways: Sequence[bubblewrap.Way] | None = None) -> Trial:
    """Run `true` in a sandbox as `BubblewrapCage` makes it.

    Args:
        ways: Those to try, as for `BubblewrapCage`.
    """
    program = bubblewrap.find()
    if program is None:
        return Trial("bubblewrap is not installed")
    problems: list[str] = []
    for way in _ways() if ways is None else ways:
        problem = await _try(program, way)
        if not problem:
            return Trial("", way)
        problems.append(problem)
        if problem not in bubblewrap.NEEDS_NO_USER_NAMESPACE:
            break
    return Trial(_told(problems))


async def _try(program: str, way: bubblewrap.Way) -> str:
    command, descriptors = _sealed(bubblewrap.arguments(program, None, way), way)
    transport = ProcessTransport([*command, "true"], _ENVIRONMENT, descriptors)
    try:
        async with asyncio.timeout(TRY_S):
            await transport.open()
            await transport.read()
            code = await transport.wait()
    except SandboxUnavailableError as error:
        return error.message
    except TimeoutError:
        return "it does not answer"
    finally:
        await transport.close()
    return "" if code == 0 else bubblewrap.reason(transport.stderr_text())

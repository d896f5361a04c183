"""A sandbox without an engine: this machine's own programs in namespaces of their own, by bubblewrap."""

import asyncio
import platform
import re
from pathlib import Path

from core.errors import SandboxUnavailableError
from core.ports import SandboxInfo
from sandbox import bubblewrap, seccomp
from sandbox.api import FILE_BYTES, INSIDE, MEMORY_BYTES, OPEN_FILES, PROCESSES
from sandbox.bundle import Bundle
from sandbox.cgroup import ControlGroup
from sandbox.client import RunnerClient
from sandbox.transports import ProcessTransport

INSTALL_HINT = "Install bubblewrap, or start Docker; `handrail doctor` shows what is there."
TRY_S = 10.0
_ENVIRONMENT = {"PATH": "/usr/bin:/bin"}
"""Of bubblewrap itself, nothing of the app's: its /proc/1/environ can be read inside."""


class BubblewrapCage:
    """One sandbox made by bubblewrap; it ends with this process."""

    def __init__(self, workspace: Path) -> None:
        """Show `workspace` (absolute, there) inside."""
        self._workspace = workspace
        self._client: RunnerClient | None = None
        self._group: ControlGroup | None = None

    @property
    def info(self) -> SandboxInfo:
        """What it is."""
        return SandboxInfo(
            tier="bubblewrap",
            label="Isolated: bubblewrap",
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
        if problem := await try_out():
            raise SandboxUnavailableError(f"No bubblewrap: {problem}.", hint=INSTALL_HINT)

    async def open(self) -> RunnerClient:
        """Start bubblewrap with the runner in it.

        Raises:
            SandboxUnavailableError: It is not installed or may not make namespaces.
        """
        program = bubblewrap.find()
        if program is None:
            raise SandboxUnavailableError("bubblewrap is not installed.", hint=INSTALL_HINT)
        self._group = await asyncio.to_thread(ControlGroup.make, MEMORY_BYTES, PROCESSES)
        bundle = Bundle(_settings(counted=self._group is not None))
        made = bubblewrap.arguments(program, self._workspace)
        if self._group is not None:
            made += self._group.mounts()
        command, descriptors = _sealed(made)
        command += bundle.command(bubblewrap.python()[0])
        if self._group is not None:
            command = self._group.enter(command)
        client = RunnerClient(ProcessTransport(command, _ENVIRONMENT, descriptors), bundle)
        try:
            await client.open()
        except SandboxUnavailableError as error:
            await self.close()
            said = bubblewrap.reason(error.message.removeprefix("The runner does not start: "))
            text = f"bubblewrap does not work here: {said}."
            raise SandboxUnavailableError(text, hint=INSTALL_HINT) from error
        self._client = client
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


def _sealed(made: list[str]) -> tuple[list[str], list[int]]:
    """Complete arguments of bubblewrap, and put them where code inside cannot read them.

    Args:
        made: The program and its arguments so far.

    Returns:
        The command, up to the "--" that the command inside follows, and the descriptors bubblewrap reads from.
    """
    program, *rest = made
    rest, descriptors = bubblewrap.with_files(
        rest, {"/etc/passwd": bubblewrap.PASSWD, "/etc/group": bubblewrap.GROUP}
    )
    filter_from = seccomp.filter_descriptor()
    if filter_from is not None:
        descriptors.append(filter_from)
        rest += ["--seccomp", str(filter_from)]
    rest += ["--remount-ro", "/"]
    # its command line, like its environment, can be read inside: /proc/1/cmdline
    arguments = bubblewrap.memory_file("\0".join(rest))
    return [program, "--args", str(arguments), "--"], [*descriptors, arguments]


async def try_out() -> str:
    """Run `true` in a sandbox as `BubblewrapCage` makes it; return why that does not work, "" when it does."""
    program = bubblewrap.find()
    if program is None:
        return "bubblewrap is not installed"
    command, descriptors = _sealed(bubblewrap.arguments(program, None))
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

"""What the parts of a sandbox agree on: cages that hold a runner, and what a runner reports."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, Protocol

from core.ports import SandboxInfo

if TYPE_CHECKING:
    from sandbox.client import RunnerClient

Choice = Literal["auto", "docker", "local", "none"]
"""Which cage to use: the best there is, Docker only, the best without an engine, or no cage."""

DEFAULT_IMAGE = "handrail-sandbox:base"
INSIDE = "/workspace"
"""Where the workspace is inside."""
HOME = "/home/agent"
MEMORY_BYTES = 1 << 30
PROCESSES = 256
OPEN_FILES = 4096
FILE_BYTES = 2 << 30
SCRATCH_BYTES = 256 << 20
"""Size of /tmp and of the home folder, each."""
ENVIRONMENT: Mapping[str, str] = {
    "PATH": "/run/bin:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
    "HOME": HOME,
    "USER": "agent",
    "LANG": "C.UTF-8",
    "TERM": "dumb",
    "TMPDIR": "/tmp",
    "CI": "1",
    "PAGER": "cat",
    "GIT_PAGER": "cat",
    "GIT_TERMINAL_PROMPT": "0",
    "MPLBACKEND": "Agg",
    "PYTHONIOENCODING": "utf-8:backslashreplace",
    "PYTHONDONTWRITEBYTECODE": "1",
    "TAR_OPTIONS": "--no-same-owner",
    "PIP_ROOT_USER_ACTION": "ignore",
}
"""The whole environment inside; nothing of the app's own. The last two are for where the user is root without
capabilities: these programs take root for one who may do anything."""


class Cage(Protocol):
    """A place that holds one runner."""

    @property
    def info(self) -> SandboxInfo:
        """What it is, for the screen; complete after `check` or `open`."""
        ...

    async def check(self) -> None:
        """Find out whether it could be opened, making nothing.

        Raises:
            SandboxUnavailableError: It cannot; the hint says what to do.
        """
        ...

    async def open(self) -> "RunnerClient":
        """Make the place and start the runner in it.

        Raises:
            SandboxUnavailableError: It cannot be made; nothing of it is left.
        """
        ...

    async def why_ended(self) -> str:
        """Return in one line why the place ended, "" when that is not known."""
        ...

    async def close(self) -> None:
        """End the place and all that runs in it; safe to call twice. Raises nothing."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Exit:
    """How a command ended, as the runner reports it."""

    exit_code: int | None
    cause: str = ""
    """Why it was ended: timed_out, cancelled, failed (it could not be started); "" when it ended by itself."""
    limits: tuple[str, ...] = ()
    """memory, processes: limits that were hit meanwhile."""
    restarted: bool = False
    cwd: str = ""
    duration_s: float = 0.0
    background: tuple[int, ...] = ()
    """Processes of it that still run and hold its output open."""
    error: str = ""
    """Why it could not be started."""

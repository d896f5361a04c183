"""A process with an open sandbox, to be killed without warning."""

import asyncio
import os
import signal
import subprocess
import sys
from pathlib import Path

from sandbox import owner
from sandbox.api import Choice
from tests.support.opened_sandbox import OpenedSandbox

ROOT = Path(__file__).resolve().parent.parent.parent


class AppToKill:
    """Starts the process and waits until a command with daemons runs in its sandbox."""

    def __init__(self, choice: Choice, folder: Path) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-m", __name__, choice, str(folder)],
            cwd=ROOT,
            stdout=subprocess.PIPE,
            text=True,
        )
        assert self._process.stdout is not None
        self.label = self._process.stdout.readline().strip()
        """Owner label of its containers."""

    @property
    def pid(self) -> int:
        return self._process.pid

    def kill(self) -> None:
        """End it with SIGKILL."""
        os.kill(self._process.pid, signal.SIGKILL)
        self._process.wait()
        assert self._process.stdout is not None
        self._process.stdout.close()


async def main(choice: Choice, folder: Path) -> None:
    """Run a command for a minute and print the owner label once it has begun."""
    sandbox = OpenedSandbox(choice, folder)
    command = "setsid sleep 6001 & sleep 6002 & echo go; sleep 6003"
    running = asyncio.create_task(sandbox.shell(command, timeout_s=60))
    await asyncio.sleep(0)
    await sandbox.heard.wait()
    sys.stdout.write(owner.own() + "\n")
    sys.stdout.flush()
    await running


if __name__ == "__main__":
    asyncio.run(main("docker" if sys.argv[1] == "docker" else "local", Path(sys.argv[2])))

"""Limits that the runner itself enforces where no control group does."""

import sys
from collections.abc import AsyncIterator
from pathlib import Path

import pytest_asyncio

from sandbox.api import Exit
from sandbox.bundle import Bundle
from sandbox.client import Order, Output, RunnerClient
from sandbox.spool import Spool
from sandbox.transports import ProcessTransport

MEMORY_BYTES = 150 << 20
PROCESSES = 30


class Watched:
    """A runner without walls that watches over its limits."""

    def __init__(self, tmp_path: Path) -> None:
        settings: dict[str, object] = {
            "workspace": str(tmp_path),
            "memory_bytes": MEMORY_BYTES,
            "processes": PROCESSES,
        }
        bundle = Bundle(settings)
        transport = ProcessTransport(bundle.command(sys.executable), {"PATH": "/usr/bin:/bin"})
        self.client = RunnerClient(transport, bundle)
        self._folder = tmp_path

    async def run(self, code: str, interpreter: str = "shell") -> tuple[Exit, str]:
        stdout = Spool(self._folder / "o")
        output = Output.into(stdout, Spool(self._folder / "e"), lambda *_: None)
        end = await self.client.run(Order(interpreter=interpreter, code=code, timeout_s=20), output)
        return end, stdout.text()


@pytest_asyncio.fixture
async def watched(tmp_path: Path) -> AsyncIterator[Watched]:
    made = Watched(tmp_path)
    await made.client.open()
    yield made
    await made.client.close()


async def test_too_many_processes_are_ended_and_counted(watched: Watched) -> None:
    end, _ = await watched.run("for i in {1..60}; do sleep 7001 & done; wait")
    assert end.limits == ("processes",)
    assert (await watched.run("pgrep -f 'sleep 700[1]' | wc -l"))[1] == "0\n"
    assert (await watched.run("for i in {1..5}; do sleep 0 & done; wait"))[0].limits == ()


async def test_processes_left_in_the_background_are_watched_too(watched: Watched) -> None:
    await watched.run("(sleep 0.3; for i in {1..60}; do sleep 7002 & done; wait) >/dev/null 2>&1 &")
    end, out = await watched.run("sleep 1.5; pgrep -f 'sleep 700[2]' | wc -l")
    assert (end.exit_code, out) == (137, "") or out == "0\n"


async def test_too_much_memory_is_ended_and_counted(watched: Watched) -> None:
    hungry = f"{sys.executable} -c \"x = b'x' * {3 * MEMORY_BYTES}; import time; time.sleep(20)\""
    end, _ = await watched.run(f"X=kept; {hungry}")
    assert (end.exit_code, end.limits, end.restarted) == (137, ("memory",), False)
    assert (await watched.run("echo $X"))[1] == "kept\n"


async def test_an_interpreter_that_uses_the_memory_goes_itself(watched: Watched) -> None:
    code = f"x = b'x' * {3 * MEMORY_BYTES}\nimport time; time.sleep(20)"
    end, _ = await watched.run(code, "python")
    assert (end.exit_code, end.limits, end.restarted) == (137, ("memory",), True)
    assert (await watched.run("1", "python"))[1] == "1\n"

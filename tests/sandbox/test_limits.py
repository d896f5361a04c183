"""Limits on memory, processes, disk and output, the same in every kind of sandbox."""

import asyncio
import time
from collections.abc import AsyncIterator
from pathlib import Path

import psutil
import pytest
import pytest_asyncio

from sandbox.spool import HEAD_BYTES, SPILL_BYTES, TAIL_BYTES
from tests.support.opened_sandbox import OpenedSandbox

pytestmark = [pytest.mark.asyncio(loop_scope="module"), pytest.mark.timeout(120)]

MB = 1 << 20


def size_and_mode(path: str) -> tuple[int, int]:
    status = Path(path).stat()
    return status.st_size, status.st_mode & 0o777


def text_of(path: str) -> str:
    return Path(path).read_text(encoding="utf-8")


def descriptors() -> int:
    return len(list(Path("/proc/self/fd").iterdir()))


class LoopLag:
    """Measures how long the event loop is kept from its work."""

    def __init__(self) -> None:
        self.worst_s = 0.0

    async def measure(self) -> None:
        while True:
            before_s = time.monotonic()
            await asyncio.sleep(0.005)
            self.worst_s = max(self.worst_s, time.monotonic() - before_s - 0.005)


@pytest_asyncio.fixture(loop_scope="module")
async def lag() -> AsyncIterator[LoopLag]:
    measuring = LoopLag()
    task = asyncio.create_task(measuring.measure())
    yield measuring
    task.cancel()


async def test_a_flood_of_200_mb_does_not_grow_memory(sandbox: OpenedSandbox, lag: LoopLag) -> None:
    await sandbox.out(
        "head -c 5000000 /dev/zero | tr '\\0' x"
    )  # once, so that buffers have their size
    process = psutil.Process()
    before_bytes = process.memory_info().rss
    result = await sandbox.shell(
        "head -c 200000000 /dev/zero | tr '\\0' x; printf end", timeout_s=100
    )
    grown_bytes = process.memory_info().rss - before_bytes
    assert result.stdout_bytes == 200_000_003
    assert grown_bytes < 20 * MB
    assert lag.worst_s < 0.5
    assert result.stdout.endswith("xend")
    assert len(result.stdout) < HEAD_BYTES + TAIL_BYTES + 100
    assert sum(len(text) for _, text in sandbox.live) < 60 * MB
    assert Path(result.spill_path).parent == sandbox.session
    assert size_and_mode(result.spill_path) == (SPILL_BYTES, 0o600)


async def test_output_that_fits_is_kept_whole_and_longer_output_is_in_the_file(
    sandbox: OpenedSandbox,
) -> None:
    fits = await sandbox.shell(f"head -c {HEAD_BYTES + TAIL_BYTES} /dev/zero | tr '\\0' y")
    assert (fits.stdout, fits.spill_path) == ("y" * (HEAD_BYTES + TAIL_BYTES), "")
    longer = await sandbox.shell("seq 1 50000; echo oops >&2")
    whole = "".join(f"{number}\n" for number in range(1, 50_001))
    assert text_of(longer.spill_path) == whole
    assert longer.stderr == "oops\n"
    head, _, tail = longer.stdout.partition("\n[... ")
    assert whole.startswith(head)
    assert whole.endswith(tail.partition(" ...]\n")[2])


async def test_an_endless_flood_ends_at_its_time_limit(sandbox: OpenedSandbox) -> None:
    started_s = time.monotonic()
    result = await sandbox.shell("yes", timeout_s=1)
    assert result.outcome == "timed_out"
    assert time.monotonic() - started_s < 6
    assert result.stdout.startswith("y\ny\n")
    assert await sandbox.out("echo fine") == "fine\n"


async def test_other_commands_are_answered_during_a_flood(sandbox: OpenedSandbox) -> None:
    flood = asyncio.create_task(sandbox.shell("yes", session="flood", timeout_s=3))
    for _ in range(5):
        started_s = time.monotonic()
        assert (await sandbox.shell("echo x", session="other")).stdout == "x\n"
        assert time.monotonic() - started_s < 2
    await flood


async def test_a_background_flood_neither_blocks_nor_grows(sandbox: OpenedSandbox) -> None:
    assert (await sandbox.shell("yes & sleep 0.2; echo now", session="bg")).stdout.startswith("y\n")
    before_bytes = psutil.Process().memory_info().rss
    assert (await sandbox.shell("sleep 0.5; echo next", session="bg")).stdout == "next\n"
    assert psutil.Process().memory_info().rss - before_bytes < 20 * MB
    await sandbox.shell("kill %1; wait", session="bg")


async def test_a_fork_bomb_is_ended_and_said(sandbox: OpenedSandbox) -> None:
    result = await sandbox.shell(":(){ :|:& };:", timeout_s=10, session="bomb")
    assert result.outcome == "too_many_processes"
    assert "limit of 256 processes" in result.note
    after = await sandbox.shell("echo fine; ps ax | wc -l", session="bomb")
    assert after.stdout.startswith("fine\n")
    assert int(after.stdout.split()[1]) < 30


async def test_running_out_of_memory_is_said_and_the_session_lives(sandbox: OpenedSandbox) -> None:
    await sandbox.shell("export KEPT=1", session="hungry")
    result = await sandbox.shell("tail /dev/zero", timeout_s=40, session="hungry")
    assert (result.outcome, result.exit_code) == ("out_of_memory", 137)
    assert "memory limit of 1024 MB" in result.note
    assert (await sandbox.shell("echo $KEPT", session="hungry")).stdout == "1\n"


async def test_a_full_scratch_disk_and_a_file_too_large_are_said(sandbox: OpenedSandbox) -> None:
    full = await sandbox.shell("head -c 400M /dev/zero > /tmp/big; r=$?; rm /tmp/big; exit $r")
    assert full.outcome == "disk_full"
    large = await sandbox.shell("truncate -s 3G /tmp/large; r=$?; rm -f /tmp/large; (exit $r)")
    assert large.outcome == "disk_full"


async def test_no_descriptor_and_no_process_is_left_after_many_commands(
    sandbox: OpenedSandbox,
) -> None:
    measure = "ls /proc/$PPID/fd | wc -l; ps ax | wc -l"
    await sandbox.out("true")
    before_inside = await sandbox.out(measure)
    before_here = descriptors()
    for number in range(60):
        await sandbox.shell("(exit 1)" if number % 2 else "echo x >&2; sleep 0 &")
    assert await sandbox.out(measure) == before_inside
    assert abs(descriptors() - before_here) <= 1

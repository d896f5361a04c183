"""Streams to a runner."""

import asyncio
import sys
from pathlib import Path

import pytest

from core.errors import SandboxUnavailableError
from sandbox.transports import AttachTransport, ProcessTransport
from tests.support.stub_engine import StubEngine

UPGRADED = b"HTTP/1.1 101 UPGRADED\r\nConnection: Upgrade\r\nUpgrade: tcp\r\n\r\n"


def block(stream: int, payload: bytes) -> bytes:
    return bytes([stream, 0, 0, 0]) + len(payload).to_bytes(4, "big") + payload


async def attached(tmp_path: Path, answer: bytes) -> AttachTransport:
    """Attach to an engine that answers with these bytes."""
    started: list[bool] = []

    async def start() -> None:
        started.append(True)

    async with StubEngine(tmp_path, {"/attach": answer}) as engine:
        transport = AttachTransport(str(engine.path), "1.41", "c1", start)
        await transport.open()
        assert started == [True]
        assert engine.asked == [
            "POST /v1.41/containers/c1/attach?stream=1&stdin=1&stdout=1&stderr=1"
        ]
    return transport


async def test_stdout_and_stderr_of_a_container_are_taken_apart(tmp_path: Path) -> None:
    answer = (
        UPGRADED + block(1, b"one") + block(2, b"oops") + block(1, b"two") + block(2, b" again\n")
    )
    transport = await attached(tmp_path, answer)
    assert [await transport.read() for _ in range(3)] == [b"one", b"two", b""]
    assert transport.stderr_text() == "oops again"
    await transport.close()
    await transport.close()


@pytest.mark.parametrize(
    "cut", [block(1, b"whole") + b"\x01\x00", block(1, b"whole") + block(1, b"cut")[:-1]]
)
async def test_a_stream_cut_in_a_block_ends_after_the_last_whole_one(
    tmp_path: Path, cut: bytes
) -> None:
    transport = await attached(tmp_path, UPGRADED + cut)
    assert [await transport.read(), await transport.read()] == [b"whole", b""]
    await transport.close()


@pytest.mark.parametrize(
    "answer", [b"", b"HTTP/1.1 404 Not Found\r\n\r\nno such container", b"nonsense\r\n\r\n"]
)
async def test_an_engine_that_does_not_attach_is_said(tmp_path: Path, answer: bytes) -> None:
    with pytest.raises(SandboxUnavailableError, match="container engine"):
        await attached(tmp_path, answer)


async def test_a_program_that_is_not_there_is_said() -> None:
    transport = ProcessTransport(["/no/such/program"], {})
    with pytest.raises(
        SandboxUnavailableError, match="/no/such/program does not start: No such file"
    ):
        await transport.open()
    await transport.close()


async def test_a_process_that_does_not_end_is_killed(tmp_path: Path) -> None:
    program = "import os, time\nos.write(1, b'x')\nwhile True: time.sleep(60)"
    transport = ProcessTransport([sys.executable, "-c", program], {})
    await transport.open()
    assert await transport.read() == b"x"
    async with asyncio.timeout(10):
        await transport.close()
        assert await transport.wait() == -9


async def test_a_flood_on_stderr_neither_blocks_nor_grows(tmp_path: Path) -> None:
    program = "import os\nfor _ in range(300): os.write(2, b'x' * 65536)\nos.write(1, b'end')"
    transport = ProcessTransport([sys.executable, "-c", program], {})
    await transport.open()
    assert await transport.read() == b"end"
    await transport.close()
    assert len(transport.stderr_text()) == 1 << 16

"""The wire between host and runner, and the runner as it is sent."""

import ast
import asyncio
import json
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.errors import SandboxGoneError, SandboxUnavailableError
from sandbox.bundle import _MODULES, _WORKER, Bundle, source
from sandbox.client import Order, Output, RunnerClient
from sandbox.runner.frames import Decoder, GarbledStreamError, Kind, encode, encode_json, join, part
from sandbox.spool import Spool
from sandbox.transports import ProcessTransport

FRAMES = st.lists(
    st.tuples(st.sampled_from(Kind), st.integers(0, 2**32 - 1), st.binary(max_size=300)), max_size=8
)


@given(frames=FRAMES, cuts=st.lists(st.integers(1, 40), min_size=1))
def test_frames_come_out_as_they_went_in_however_the_stream_is_cut(
    frames: list[tuple[Kind, int, bytes]], cuts: list[int]
) -> None:
    stream = b"".join(encode(*frame) for frame in frames)
    decoder = Decoder()
    got = []
    at = turn = 0
    while at < len(stream):
        size = cuts[turn % len(cuts)]
        got += decoder.feed(stream[at : at + size])
        at, turn = at + size, turn + 1
    assert got == frames


@given(head=st.dictionaries(st.text(), st.integers() | st.text()), data=st.binary())
def test_json_and_data_share_a_payload(head: dict[str, object], data: bytes) -> None:
    assert part(join(head, data)) == (head, data)


def test_garbage_is_noticed() -> None:
    with pytest.raises(GarbledStreamError):
        Decoder().feed(b"HTTP/1.1 200 OK")


@pytest.mark.parametrize("module", [*_MODULES, _WORKER])
def test_the_runner_is_python_3_7_and_needs_only_the_standard_library(module: str) -> None:
    tree = ast.parse(source(module), feature_version=(3, 7))
    imported = {
        name.split(".")[0]
        for node in ast.walk(tree)
        if isinstance(node, ast.Import | ast.ImportFrom)
        for name in (
            [node.module or ""]
            if isinstance(node, ast.ImportFrom)
            else [alias.name for alias in node.names]
        )
    }
    assert imported <= set(sys.stdlib_module_names) | {"core", "sandbox"}
    ours = [
        f"{node.module}.{alias.name}" if f"{node.module}.{alias.name}" in _MODULES else node.module
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith(("core", "sandbox"))
        for alias in node.names
    ]
    before = _MODULES[: _MODULES.index(module)] if module in _MODULES else ()
    assert set(ours) <= set(before), "each module may import only those sent before it"


@pytest.mark.parametrize("module", [*_MODULES, _WORKER])
def test_nothing_of_python_3_8_and_later_is_written(module: str) -> None:
    """Parsing with an older grammar lets some newer things pass."""
    for node in ast.walk(ast.parse(source(module))):
        assert not isinstance(node, ast.NamedExpr | ast.Match | ast.TryStar)
        if isinstance(node, ast.FunctionDef):
            assert not node.args.posonlyargs


async def opened(program: str, tmp_path: Path, ping_s: float = 5.0) -> RunnerClient:
    """Open a client to a program that is no runner."""
    bundle = Bundle({"workspace": str(tmp_path)})
    transport = ProcessTransport([sys.executable, "-c", program], {})
    client = RunnerClient(transport, bundle, ping_s=ping_s)
    await client.open()
    return client


HELLO = encode_json(Kind.HELLO, 0, {"version": 1, "pid": 1})


@pytest.mark.parametrize(
    ("program", "said"),
    [
        ("raise SystemExit('no python here')", "no python here"),
        ("print('Welcome to this machine!' * 99)", "garbled"),
        ("import sys; sys.stdin.read(10)", "the stream ended"),
        (
            f"import os; os.write(1, {encode_json(Kind.HELLO, 0, {'version': 99})!r}); os.read(0, 1)",
            "another version",
        ),
    ],
)
async def test_what_is_no_runner_is_refused_in_one_line(
    tmp_path: Path, program: str, said: str
) -> None:
    with pytest.raises(SandboxUnavailableError, match=said) as caught:
        await opened(program, tmp_path)
    assert "\n" not in caught.value.line()


async def test_a_runner_that_stops_answering_is_lost(tmp_path: Path) -> None:
    program = f"import os; os.write(1, {HELLO!r})\nwhile os.read(0, 1 << 20): pass"
    client = await opened(program, tmp_path, ping_s=0.05)
    gone = asyncio.Event()
    client.on_gone = lambda reason: gone.set()
    async with asyncio.timeout(20):
        await gone.wait()
    assert client.gone == "it does not answer any more"
    await client.close()


@pytest.mark.parametrize(
    "garbage",
    [b"\xff" * 50, encode(Kind.EXIT, 1, b"{not json"), encode_json(Kind.EXIT, 1, {}), b""],
)
async def test_a_runner_that_turns_to_garbage_is_lost_not_fatal(
    tmp_path: Path, garbage: bytes
) -> None:
    size = len(Bundle({"workspace": str(tmp_path)}).data)
    program = (
        "import os, sys\n"
        f"os.write(1, {HELLO!r})\n"
        f"got = 0\nwhile got < {size} + 20: got += len(os.read(0, 1 << 20))\n"
        f"os.write(1, {garbage!r})\n"
    )
    client = await opened(program, tmp_path)
    reasons: list[str] = []
    client.on_gone = reasons.append
    output = Output.into(Spool(tmp_path / "o"), Spool(tmp_path / "e"), lambda *_: None)
    with pytest.raises(SandboxGoneError):
        await client.run(Order(interpreter="x", code="true", timeout_s=20), output)
    assert len(reasons) == 1
    await client.close()


def test_the_bundle_is_small_and_holds_its_settings() -> None:
    bundle = Bundle({"workspace": "/w"})
    assert json.loads(bundle.data)["settings"] == {"workspace": "/w"}
    assert len(bundle.data) < 100_000

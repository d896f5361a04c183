"""What an engine's errors become: one clear line each, with what to do."""

import asyncio
import time
from pathlib import Path

import pytest

from core.errors import SandboxUnavailableError
from sandbox.docker import DockerCage
from sandbox.engine import engine_error, find_host
from sandbox.probe import look
from tests.support.stub_engine import StubEngine, error

IMAGE = "handrail-sandbox:base"


async def refusal(workspace: Path, host: str) -> SandboxUnavailableError:
    """Try to open a cage at this engine and return why it does not work."""
    cage = DockerCage(workspace, IMAGE, host)
    with pytest.raises(SandboxUnavailableError) as caught:
        await cage.open()
    assert "\n" not in caught.value.line()
    assert caught.value.hint
    return caught.value


async def test_no_socket_means_no_engine(workspace: Path, tmp_path: Path) -> None:
    refused = await refusal(workspace, f"unix://{tmp_path}/nothing.sock")
    assert (refused.code, refused.message) == ("engine_absent", "No container engine runs here.")


async def test_a_socket_nobody_listens_on_means_not_running(
    workspace: Path, tmp_path: Path
) -> None:
    async with StubEngine(tmp_path) as engine:
        pass
    if not engine.path.exists():
        import socket

        with socket.socket(socket.AF_UNIX) as dead:
            dead.bind(str(engine.path))
    refused = await refusal(workspace, engine.host)
    assert (refused.code, refused.message) == ("engine_absent", "Docker is not running.")


def test_a_forbidden_socket_names_the_group() -> None:
    refused = engine_error(PermissionError(13, "Permission denied"))
    assert (refused.code, refused.message) == ("engine_permission", "This user may not use Docker.")
    assert "docker group" in refused.hint


async def test_an_engine_that_hangs_is_given_up_after_5_s(workspace: Path, tmp_path: Path) -> None:
    async with StubEngine(tmp_path, {"/version": None}) as engine:
        started_s = time.monotonic()
        ticks = asyncio.create_task(_ticks())
        refused = await refusal(workspace, engine.host)
        ticks.cancel()
        assert refused.code == "engine_hung"
        assert time.monotonic() - started_s < 8
        with pytest.raises(asyncio.CancelledError):
            await ticks


async def _ticks() -> None:
    """Fail when the event loop stands still."""
    while True:
        before_s = time.monotonic()
        await asyncio.sleep(0.05)
        assert time.monotonic() - before_s < 2


@pytest.mark.parametrize(
    ("answer", "code", "said"),
    [
        (
            (404, error(f"No such image: {IMAGE}")),
            "image_missing",
            "has no image handrail-sandbox:base",
        ),
        (
            (500, error("something broke\nbadly")),
            "engine_error",
            "The container engine says: something broke badly",
        ),
        ((500, error("write /x: no space left on device")), "engine_full", "no disk space left"),
        ((400, error("client version 1.41 is too new")), "engine_version", "too old for Handrail"),
        (b"", "engine_error", "The container engine says:"),
        (
            b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{",
            "engine_error",
            "The container engine says:",
        ),
        (b"garbage\r\n\r\n", "engine_error", "The container engine says:"),
    ],
)
async def test_an_answer_that_is_no_use_is_one_line(
    workspace: Path, tmp_path: Path, answer: tuple[int, object] | bytes, code: str, said: str
) -> None:
    async with StubEngine(tmp_path, {f"/images/{IMAGE}/json": answer}) as engine:
        refused = await refusal(workspace, engine.host)
    assert refused.code == code
    assert said in refused.message


async def test_a_missing_image_is_never_pulled_unasked(workspace: Path, tmp_path: Path) -> None:
    async with StubEngine(
        tmp_path, {f"/images/{IMAGE}/json": (404, error("No such image"))}
    ) as engine:
        refused = await refusal(workspace, engine.host)
        assert "make setup" in refused.hint
        assert not [request for request in engine.asked if request.startswith("POST")]


async def test_a_container_that_does_not_start_is_removed(workspace: Path, tmp_path: Path) -> None:
    answers: dict[str, tuple[int, object] | bytes | None] = {
        f"/images/{IMAGE}/json": (200, {"Id": "sha256:1"}),
        "/containers/json": (200, []),
        "/containers/create": (201, {"Id": "c1", "Warnings": []}),
        "/containers/c1/json": (200, {"Id": "c1", "Name": "/x", "State": {}}),
        "/containers/c1/attach": b"HTTP/1.1 101 UPGRADED\r\nConnection: Upgrade\r\n\r\n",
        "/containers/c1/start": (500, error("OCI runtime create failed")),
        "/containers/c1": (204, ""),
    }
    async with StubEngine(tmp_path, answers) as engine:
        refused = await refusal(workspace, engine.host)
        assert "OCI runtime create failed" in refused.message
        assert any(
            request.startswith("DELETE") and "/containers/c1?" in request
            for request in engine.asked
        )


@pytest.mark.parametrize(
    "host", ["tcp://192.0.2.1:2375", "ssh://user@192.0.2.1", "npipe:////./pipe/docker_engine"]
)
async def test_an_engine_elsewhere_is_refused_without_a_connection(
    workspace: Path, host: str
) -> None:
    refused = await refusal(workspace, host)
    assert refused.code == "engine_remote"
    assert "--sandbox local" in refused.hint


def test_the_environment_names_the_engine_first(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DOCKER_HOST", "unix:///somewhere/else.sock")
    assert find_host() == "unix:///somewhere/else.sock"
    monkeypatch.delenv("DOCKER_HOST")
    assert find_host() == "unix:///var/run/docker.sock"


async def test_a_look_around_never_raises(tmp_path: Path) -> None:
    async with StubEngine(
        tmp_path, {f"/images/{IMAGE}/json": (404, error("No such image"))}
    ) as engine:
        facts = (await look(IMAGE, engine.host)).engine
        assert (facts.answers, facts.version, facts.has_image, facts.code) == (
            True,
            "20.10.24",
            False,
            "image_missing",
        )
        engine.answers["/info"] = (500, error("broken"))
        broken = (await look(IMAGE, engine.host)).engine
        assert (broken.answers, broken.code) == (False, "engine_error")
    gone = (await look(IMAGE, f"unix://{tmp_path}/nothing.sock")).engine
    assert (gone.answers, gone.code) == (False, "engine_absent")


@pytest.mark.docker
@pytest.mark.bubblewrap
async def test_a_look_finds_what_is_here() -> None:
    facts = await look(IMAGE)
    assert facts.usable
    assert (facts.engine.answers, facts.engine.has_image, facts.engine.problem) == (True, True, "")
    assert (facts.bubblewrap.works, facts.bubblewrap.problem) == (True, "")
    assert facts.bubblewrap.version

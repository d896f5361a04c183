"""The sandbox of a session: which cage it takes, when it starts, and what happens when it is lost."""

import asyncio
import os
import signal
from collections.abc import AsyncIterator, Sequence
from pathlib import Path

import psutil
import pytest
import pytest_asyncio

from core.errors import SandboxGoneError, SandboxUnavailableError
from core.surroundings import SandboxChanged
from core.workspace import WorkspaceFiles
from sandbox.api import Cage, Choice
from sandbox.choice import SandboxSettings, cages
from sandbox.docker import DockerCage
from sandbox.local import BubblewrapCage
from sandbox.manager import SandboxManager
from tests.support.double_cage import BareCage, MissingCage


class Managed:
    """A manager over doubles, with what it told."""

    def __init__(self, tmp_path: Path) -> None:
        self.workspace = tmp_path / "workspace"
        self.session = tmp_path / "session"
        self.workspace.mkdir()
        self.session.mkdir()
        self.told: list[SandboxChanged] = []
        self.changed = asyncio.Event()
        self.cages: list[Cage] = []
        settings = SandboxSettings(workspace=self.workspace, session=self.session)
        files = WorkspaceFiles(self.workspace)
        self.manager = SandboxManager(settings, files, self._tell, self._make)

    @property
    def states(self) -> list[str]:
        return [event.state for event in self.told]

    def _make(self, settings: SandboxSettings) -> Sequence[Cage]:
        assert settings.workspace == self.workspace
        return self.cages

    def _tell(self, event: object) -> None:
        assert isinstance(event, SandboxChanged)
        self.told.append(event)
        self.changed.set()

    async def until(self, state: str) -> None:
        """Wait until it tells of this state."""
        async with asyncio.timeout(10):
            while state not in self.states:
                self.changed.clear()
                await self.changed.wait()

    async def out(self, command: str) -> str:
        result = await self.manager.shell(command, on_output=lambda *_: None, timeout_s=20)
        return result.stdout


@pytest_asyncio.fixture
async def managed(tmp_path: Path) -> AsyncIterator[Managed]:
    made = Managed(tmp_path)
    yield made
    await made.manager.close()


@pytest.mark.parametrize(
    ("choice", "kinds"),
    [
        ("auto", [DockerCage, BubblewrapCage]),
        ("docker", [DockerCage]),
        ("local", [BubblewrapCage]),
        ("none", []),
    ],
)
def test_a_choice_names_the_cages_to_try(tmp_path: Path, choice: Choice, kinds: list[type]) -> None:
    settings = SandboxSettings(workspace=tmp_path, session=tmp_path, choice=choice)
    assert [type(cage) for cage in cages(settings)] == kinds


async def test_nothing_starts_before_it_is_needed(managed: Managed) -> None:
    cage = BareCage(managed.workspace)
    managed.cages = [cage]
    await managed.manager.prepare()
    assert (cage.opened, managed.told) == (0, [])
    assert managed.manager.info.label == "Bare runner"
    assert await managed.out("echo hi") == "hi\n"
    assert managed.states == ["starting", "ready"]


async def test_several_tasks_at_once_start_it_once(managed: Managed) -> None:
    cage = BareCage(managed.workspace)
    managed.cages = [cage]
    await asyncio.gather(*(managed.manager.start() for _ in range(5)))
    assert cage.opened == 1


async def test_the_next_cage_is_taken_and_it_is_said_why(managed: Managed) -> None:
    managed.cages = [MissingCage("Docker is not running."), BareCage(managed.workspace)]
    await managed.manager.prepare()
    assert managed.manager.unavailable() == ""
    await managed.manager.start()
    assert managed.states == ["starting", "starting", "ready"]
    assert (managed.told[-1].label, managed.told[-1].detail) == (
        "Bare runner",
        "Docker is not running. Start it.",
    )


async def test_without_any_cage_every_call_says_what_to_do(managed: Managed) -> None:
    managed.cages = [MissingCage("No engine."), MissingCage("No bubblewrap.", hint="Install it.")]
    await managed.manager.prepare()
    await managed.manager.prepare()
    assert managed.manager.unavailable() == "No engine. No bubblewrap. Start it."
    assert managed.states == ["unavailable"]
    with pytest.raises(SandboxUnavailableError) as caught:
        await managed.out("true")
    assert (caught.value.code, caught.value.hint) == ("engine_absent", "Start it.")
    assert managed.manager.info.tier == "none"


async def test_with_no_cage_chosen_nothing_runs_on_the_host(tmp_path: Path) -> None:
    settings = SandboxSettings(workspace=tmp_path, session=tmp_path, choice="none")
    manager = SandboxManager(settings, WorkspaceFiles(tmp_path), lambda event: None)
    with pytest.raises(SandboxUnavailableError, match="without a sandbox is not offered"):
        await manager.shell("touch ran", on_output=lambda *_: None)
    with pytest.raises(SandboxUnavailableError):
        await manager.python("open('ran', 'w')", on_output=lambda *_: None)
    assert not (tmp_path / "ran").exists()
    await manager.close()


async def test_what_becomes_available_is_found_later(managed: Managed) -> None:
    managed.cages = [MissingCage("No engine.")]
    await managed.manager.prepare()
    managed.cages = [BareCage(managed.workspace)]
    await managed.manager.prepare()
    assert managed.manager.unavailable() == ""
    assert await managed.out("echo hi") == "hi\n"


async def test_a_missing_workspace_is_said(managed: Managed) -> None:
    managed.cages = [BareCage(managed.workspace)]
    (managed.workspace).rmdir()
    await managed.manager.prepare()
    assert "is not there" in managed.manager.unavailable()
    managed.workspace.mkdir()


async def test_a_lost_sandbox_is_said_and_replaced(managed: Managed) -> None:
    cage = BareCage(managed.workspace, why="the container ran out of memory")
    managed.cages = [cage]
    assert await managed.out("X=1; mkdir sub; cd sub; echo kept > file; echo $X") == "1\n"
    running = asyncio.create_task(managed.out("kill -9 $PPID; sleep 20"))
    with pytest.raises(SandboxGoneError, match="the container ran out of memory") as caught:
        await running
    assert "Files in the workspace are kept" in caught.value.hint
    assert managed.states == ["starting", "ready", "lost"]
    assert await managed.out("cat file; echo [$X]") == "kept\n[]\n", "in the folder it was in"
    assert managed.states == ["starting", "ready", "lost", "starting", "ready"]
    assert cage.opened == 2


async def test_one_lost_while_idle_is_replaced_without_an_error(managed: Managed) -> None:
    cage = BareCage(managed.workspace)
    managed.cages = [cage]
    await managed.manager.start()
    os.kill(cage.pid, signal.SIGKILL)
    await managed.until("lost")
    assert await managed.out("echo again") == "again\n"


async def test_a_waiter_that_is_cancelled_does_not_stop_the_start_of_others(
    managed: Managed,
) -> None:
    cage = BareCage(managed.workspace)
    managed.cages = [cage]
    first = asyncio.create_task(managed.manager.start())
    second = asyncio.create_task(managed.out("echo hi"))
    await asyncio.sleep(0)
    first.cancel()
    assert await second == "hi\n"
    assert cage.opened == 1


async def test_a_failed_start_is_tried_again(managed: Managed) -> None:
    managed.cages = [MissingCage("Not yet.")]
    with pytest.raises(SandboxUnavailableError):
        await managed.manager.start()
    managed.cages = [BareCage(managed.workspace)]
    assert await managed.out("echo hi") == "hi\n"


async def test_files_go_by_the_runner_while_one_runs(managed: Managed) -> None:
    cage = BareCage(managed.workspace)
    managed.cages = [cage]
    files = managed.manager.files
    await files.write("a", b"by the host")
    await managed.manager.start()
    assert (await files.read("a")).data == b"by the host"
    await files.write("a", b"by the runner")
    assert await managed.out("cat a") == "by the runner"
    await managed.manager.close()
    assert (await files.read("a")).data == b"by the runner"


async def test_closing_ends_every_process_and_can_be_done_twice(managed: Managed) -> None:
    cage = BareCage(managed.workspace)
    managed.cages = [cage]
    await managed.out("setsid sleep 5001 >/dev/null 2>&1 & sleep 5002 >/dev/null 2>&1 &")
    runner = psutil.Process(cage.pid)
    below = runner.children(recursive=True)
    assert len(below) >= 3
    await managed.manager.close()
    await managed.manager.close()
    assert managed.states[-1] == "closed"
    assert not psutil.wait_procs([runner, *below], timeout=5)[1]
    with pytest.raises(SandboxUnavailableError, match="closed"):
        await managed.out("true")


async def test_closing_during_a_command_ends_it(managed: Managed) -> None:
    managed.cages = [BareCage(managed.workspace)]
    await managed.manager.start()
    running = asyncio.create_task(managed.out("sleep 50"))
    await asyncio.sleep(0)
    await managed.manager.close()
    with pytest.raises((SandboxGoneError, SandboxUnavailableError)):
        await running


async def test_spilled_output_of_an_earlier_part_of_the_session_is_not_overwritten(
    managed: Managed,
) -> None:
    managed.cages = [BareCage(managed.workspace)]
    (managed.session / "stdout-1.txt").write_text("earlier")
    result = await managed.manager.shell("seq 50000", on_output=lambda *_: None)
    assert result.spill_path == str(managed.session / "stdout-2.txt")
    assert (managed.session / "stdout-1.txt").read_text() == "earlier"

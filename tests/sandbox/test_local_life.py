"""bubblewrap: nothing of it outlives the app, and what keeps it from working is said in plain words."""

from pathlib import Path

import psutil
import pytest

from sandbox import bubblewrap
from sandbox.cgroup import ControlGroup
from sandbox.local import BubblewrapCage
from tests.support.app_to_kill import AppToKill


@pytest.mark.bubblewrap
def test_a_killed_app_leaves_no_process(tmp_path: Path) -> None:
    app = AppToKill("local", tmp_path)
    below = psutil.Process(app.pid).children(recursive=True)
    app.kill()
    assert len(below) >= 4  # bubblewrap twice, runner, shell
    assert not psutil.wait_procs(below, timeout=5)[1]


@pytest.mark.bubblewrap
async def test_a_closed_sandbox_leaves_no_process_and_no_control_group(workspace: Path) -> None:
    cage = BubblewrapCage(workspace)
    await cage.open()
    below = psutil.Process().children(recursive=True)
    assert any("bwrap" in process.name() for process in below)
    await cage.close()
    await cage.close()
    assert not psutil.wait_procs(below, timeout=5)[1]
    assert _groups_of_this_process() == []


@pytest.mark.bubblewrap
async def test_a_workspace_may_be_called_anything(tmp_path: Path) -> None:
    odd = tmp_path / "a: b, c=d 'e' \"ü\" 日\n--"
    odd.mkdir()
    cage = BubblewrapCage(odd)
    client = await cage.open()
    assert (await client.file({"operation": "list", "path": "", "depth": 1, "limit": 9}))[0] == {
        "entries": []
    }
    await cage.close()


def _groups_of_this_process() -> list[str]:
    pid = str(psutil.Process().pid)
    return [
        path.name for path in Path("/sys/fs/cgroup").glob("*/handrail-*") if f"~{pid}~" in path.name
    ]


@pytest.mark.parametrize(
    ("said", "meaning"),
    [
        (
            "bwrap: No permissions to create new namespace, likely because",
            "does not let programs make namespaces",
        ),
        ("bwrap: loopback: Failed RTM_NEWADDR: Operation not permitted", "AppArmor"),
        ("bwrap: Can't mount proc on /newroot/proc: Operation not permitted", "/proc is masked"),
        ("bwrap: Failed to make / slave: Permission denied", "as in a container"),
        ("bwrap: Unknown option --disable-userns", "too old"),
        ("something\nelse entirely", "else entirely"),
        ("", "without a word"),
    ],
)
def test_what_bubblewrap_says_is_put_in_plain_words(said: str, meaning: str) -> None:
    assert meaning in bubblewrap.reason(said)


def test_control_groups_of_both_kinds_are_filled_in(tmp_path: Path) -> None:
    first = tmp_path / "v1"
    for controller in ("memory", "pids"):
        (first / controller).mkdir(parents=True)
        (first / controller / "cgroup.procs").write_text("")
    group = ControlGroup.make(1000, 50, first)
    assert group is not None
    (pids,) = (first / "pids").glob("handrail-*/pids.max")
    assert pids.read_text() == "50"
    assert group.mounts()[0::3] == ["--ro-bind", "--ro-bind"]
    assert group.mounts()[2::3] == ["/sys/fs/cgroup/memory", "/sys/fs/cgroup/pids"]
    assert group.enter(["bwrap", "a"])[-2:] == ["bwrap", "a"]

    second = tmp_path / "v2"
    second.mkdir()
    (second / "cgroup.controllers").write_text("cpu memory pids")
    (second / "cgroup.subtree_control").write_text("cpu")
    assert ControlGroup.make(1000, 50, second) is None
    (second / "cgroup.subtree_control").write_text("memory pids")
    assert ControlGroup.make(1000, 50, second) is not None
    assert [path.read_text() for path in second.glob("handrail-*/pids.max")] == ["50"]


def test_a_machine_without_control_groups_has_none(tmp_path: Path) -> None:
    assert ControlGroup.make(1000, 50, tmp_path) is None

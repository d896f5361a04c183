"""bubblewrap: nothing of it outlives the app, and what keeps it from working is said in plain words."""

import os
import subprocess
import sys
from pathlib import Path

import psutil
import pytest

from sandbox import bubblewrap, kernel_files
from sandbox.cgroup import ControlGroup
from sandbox.local import BubblewrapCage, Trial, try_out
from tests.support.app_to_kill import AppToKill

REPOSITORY = Path(__file__).resolve().parent.parent.parent
WAYS: tuple[bubblewrap.Way, bubblewrap.Way] = ("user namespace", "root")


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


class Jail:
    """A container around the tests, as far as it matters here: a part of its /proc is covered."""

    def __init__(self, folder: Path) -> None:
        """Only `folder` can be written to inside."""
        shown = ["--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc", "--tmpfs", "/run"]
        cover = ["--ro-bind", "/proc/sys", "/proc/sys"]
        own = ["--unshare-pid", "--die-with-parent", "--bind", str(folder), str(folder)]
        self._command = ["bwrap", *shown, *cover, *own, sys.executable, "-c"]

    def run(self, code: str, *arguments: str) -> str:
        """Run Python code and return its stdout."""
        done = subprocess.run(
            [*self._command, code, *arguments],
            cwd=REPOSITORY,
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        return done.stdout


IN_A_JAIL = """
import asyncio, sys
from pathlib import Path
from tests.support.opened_sandbox import OpenedSandbox

async def main():
    sandbox = OpenedSandbox("local", Path(sys.argv[1]))
    await sandbox.manager.prepare()
    print(sandbox.manager.info.label)
    print(await sandbox.out("echo made > made; cat made"), end="")
    print(sandbox.told[-1].label)
    await sandbox.manager.close()

asyncio.run(main())
"""


@pytest.mark.bubblewrap
def test_in_a_container_that_covers_proc_root_gets_a_sandbox_that_says_what_is_different(
    tmp_path: Path,
) -> None:
    if os.geteuid() != 0:
        with pytest.raises(AssertionError, match="/proc is masked here"):
            Jail(tmp_path).run(IN_A_JAIL, str(tmp_path))
        return
    label = "Isolated: bubblewrap (as root, without capabilities)"
    assert Jail(tmp_path).run(IN_A_JAIL, str(tmp_path)).splitlines() == [label, "made", label]
    assert (tmp_path / "workspace/made").read_text() == "made\n"


@pytest.mark.bubblewrap
async def test_the_best_way_that_works_is_found_and_taken(workspace: Path) -> None:
    cage = BubblewrapCage(workspace)
    await cage.check()
    assert cage.info.label == "Isolated: bubblewrap"
    assert await try_out() == Trial("", "user namespace")


def test_a_cage_without_a_user_namespace_is_offered_to_root_only(workspace: Path) -> None:
    program = ["bwrap", "--die-with-parent"]
    plain, as_root = (bubblewrap.arguments("bwrap", workspace, way) for way in WAYS)
    assert plain[:2] == as_root[:2] == program
    assert "--unshare-user" in plain
    assert "--unshare-user" not in as_root
    assert "--cap-drop" in as_root
    assert "agent:x:0:0:" in bubblewrap.accounts("root")["/etc/passwd"]


def test_what_only_root_may_read_or_write_of_proc_is_covered(tmp_path: Path) -> None:
    for name, mode in (("secret", 0o400), ("mtrr", 0o644), ("stat", 0o444), ("trigger", 0o200)):
        (tmp_path / name).touch()
        (tmp_path / name).chmod(mode)
    for name in ("sys", "acpi", "12"):
        (tmp_path / name).mkdir()
    (tmp_path / "self").symlink_to("12")
    made = " ".join(kernel_files.covers(tmp_path))
    assert "--ro-bind /dev/null /proc/secret" in made
    assert "--ro-bind /dev/null /proc/trigger" in made
    assert "--ro-bind-try /proc/mtrr /proc/mtrr" in made
    assert "--ro-bind-try /proc/sys /proc/sys" in made
    assert "--tmpfs /proc/acpi --remount-ro /proc/acpi" in made
    for name in ("/proc/stat", "/proc/12", "/proc/self"):
        assert name not in made


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

"""Files of the workspace on the host: names, links, modes, and what is refused."""

import os
import stat
import threading
from pathlib import Path

import pytest

from core import dir_walk
from core.errors import WorkspaceError
from core.workspace import WorkspaceFiles, relative_path, require_writable_name


@pytest.fixture
def files(workspace: Path) -> WorkspaceFiles:
    return WorkspaceFiles(workspace)


def names(folder: Path) -> list[str]:
    return sorted(entry.name for entry in folder.iterdir())


@pytest.mark.parametrize(
    ("named", "meant"),
    [
        ("a.txt", "a.txt"),
        ("./a//b/", "a/b"),
        ("a/../b", "b"),
        ("", ""),
        (".", ""),
        ("/workspace/a", "a"),
        ("/workspace", ""),
        ("/home/me/project/src/x", "src/x"),
        ("/home/me/project/../project/x", "x"),
        ("...", "..."),
        ("日本/語.txt", "日本/語.txt"),
    ],
)
def test_a_path_is_taken_as_the_host_or_the_sandbox_names_it(named: str, meant: str) -> None:
    assert relative_path(named, Path("/home/me/project")) == meant


@pytest.mark.parametrize(
    "named",
    [
        "..",
        "a/../../b",
        "/etc/passwd",
        "/workspace-evil/x",
        "/workspace/../etc",
        "/home/me/project2/x",
        "~/x",
        "a\0b",
    ],
)
def test_a_path_that_leads_out_is_refused(named: str) -> None:
    with pytest.raises(WorkspaceError):
        relative_path(named, Path("/home/me/project"))


@pytest.mark.parametrize("name", [".handrail/policy.toml", ".HANDRAIL/x", "a/.handrail/b", ""])
def test_own_files_are_never_written(name: str) -> None:
    with pytest.raises(WorkspaceError):
        require_writable_name(name)


async def test_a_file_is_written_with_its_folders_and_read_in_parts(files: WorkspaceFiles) -> None:
    await files.write("a/b/c.bin", b"0123456789")
    content = await files.read("a/b/c.bin", 3, 4)
    assert (content.data, content.size_bytes) == (b"3456", 10)


async def test_an_existing_file_keeps_its_mode_and_is_never_seen_half(
    files: WorkspaceFiles, workspace: Path
) -> None:
    script = workspace / "run.sh"
    script.write_bytes(b"old")
    script.chmod(0o751)
    before = script.stat().st_ino
    await files.write("run.sh", b"new")
    assert stat.S_IMODE(script.stat().st_mode) == 0o751
    assert script.stat().st_ino != before
    assert names(workspace) == ["run.sh"]


def owners(folder: Path, *names: str) -> set[int]:
    return {(folder / name).stat().st_uid for name in names}


async def test_new_files_belong_to_the_owner_of_the_folder(
    files: WorkspaceFiles, workspace: Path
) -> None:
    if os.geteuid() == 0:
        os.chown(workspace, 1000, 1000)
    await files.write("a/b", b"x")
    assert owners(workspace, "a", "a/b") == owners(workspace, ".")


@pytest.mark.parametrize(
    "name", ["link", "folder_link/passwd", "folder", "pipe", "missing", "file/below"]
)
async def test_only_regular_files_reached_without_links_are_read(
    files: WorkspaceFiles, workspace: Path, name: str
) -> None:
    (workspace / "link").symlink_to("/etc/passwd")
    (workspace / "folder_link").symlink_to("/etc")
    (workspace / "folder").mkdir()
    (workspace / "file").write_bytes(b"")
    os.mkfifo(workspace / "pipe")
    with pytest.raises(WorkspaceError) as caught:
        await files.read(name)
    assert name in caught.value.message


@pytest.mark.parametrize("name", ["link", "folder_link/x", "folder", "pipe", "dangling"])
async def test_nothing_is_written_through_a_link(
    files: WorkspaceFiles, workspace: Path, tmp_path: Path, name: str
) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "file").write_bytes(b"kept")
    (workspace / "link").symlink_to(outside / "file")
    (workspace / "dangling").symlink_to(outside / "new")
    (workspace / "folder_link").symlink_to(outside)
    (workspace / "folder").mkdir()
    os.mkfifo(workspace / "pipe")
    with pytest.raises(WorkspaceError):
        await files.write(name, b"evil")
    assert names(outside) == ["file"]
    assert (outside / "file").read_bytes() == b"kept"


async def test_a_removed_file_is_gone_and_a_link_is_not_removed(
    files: WorkspaceFiles, workspace: Path
) -> None:
    (workspace / "a").write_bytes(b"")
    (workspace / "link").symlink_to("a")
    await files.remove("a")
    assert not (workspace / "a").exists()
    with pytest.raises(WorkspaceError):
        await files.remove("link")


async def test_a_listing_goes_as_deep_as_asked_and_does_not_follow_links(
    files: WorkspaceFiles, workspace: Path
) -> None:
    (workspace / "a/b/c").mkdir(parents=True)
    (workspace / "a/b/c/deep").write_bytes(b"")
    (workspace / "a/file").write_bytes(b"12345")
    (workspace / "link").symlink_to("/etc")
    entries = await files.list("", depth=3)
    assert [(entry.path, entry.kind, entry.size_bytes) for entry in entries] == [
        ("a", "folder", 0),
        ("a/b", "folder", 0),
        ("a/b/c", "folder", 0),
        ("a/file", "file", 5),
        ("link", "link", 0),
    ]
    assert [entry.path for entry in await files.list("a", limit=1)] == ["a/b"]


async def test_a_file_that_cannot_be_written_is_told_in_one_line(
    files: WorkspaceFiles, workspace: Path
) -> None:
    with pytest.raises(WorkspaceError, match="too long"):
        await files.write("x" * 300, b"")
    assert names(workspace) == []


def test_a_link_swapped_in_while_reading_never_leads_out(workspace: Path, tmp_path: Path) -> None:
    """The walk opens each folder from the one before it, so a swap makes it fail instead of escape."""
    secret = tmp_path / "secret"
    secret.mkdir()
    (secret / "file").write_bytes(b"secret")
    (workspace / "real").mkdir()
    (workspace / "real/file").write_bytes(b"fine")
    stop = threading.Event()

    def swap() -> None:
        name, spare = workspace / "folder", workspace / "spare"
        while not stop.is_set():
            spare.symlink_to("real" if not Path(name).is_symlink() else secret)
            Path(spare).replace(name)
            name.unlink()
            Path(workspace / "real").rename(name)
            Path(name).rename(workspace / "real")

    swapper = threading.Thread(target=swap)
    swapper.start()
    seen: set[bytes] = set()
    try:
        for _ in range(4000):
            try:
                seen.add(dir_walk.read(str(workspace), "folder/file", 0, 100)[0])
            except OSError:
                seen.add(b"refused")
    finally:
        stop.set()
        swapper.join()
    assert b"secret" not in seen
    assert b"refused" in seen

"""Files through the runner, the same in every kind of sandbox."""

import os

import pytest

from core.errors import WorkspaceError
from core.ports import Files
from tests.support.opened_sandbox import OpenedSandbox

pytestmark = pytest.mark.asyncio(loop_scope="module")


@pytest.fixture
def files(sandbox: OpenedSandbox) -> Files:
    return sandbox.manager.files


async def test_what_one_side_writes_the_other_reads(sandbox: OpenedSandbox, files: Files) -> None:
    await files.write("sub/日本 語.txt", "héllo\n".encode())
    assert await sandbox.out("cat 'sub/日本 語.txt'") == "héllo\n"
    await sandbox.out("printf '\\xff\\x00' > made")
    content = await files.read("/workspace/made")
    assert (content.data, content.size_bytes) == (b"\xff\x00", 2)


async def test_a_large_file_comes_through_in_pieces(sandbox: OpenedSandbox, files: Files) -> None:
    data = os.urandom(1 << 20) * 30
    await files.write("large", data)
    content = await files.read("large", 0, 64 << 20)
    assert content.data == data
    assert (await files.read("large", (30 << 20) - 5, 100)).data == data[-5:]
    assert (await files.read("large", 0, 0)).size_bytes == 30 << 20
    with pytest.raises(WorkspaceError, match="too large"):
        await files.write("larger", b"x" * (33 << 20))


async def test_a_file_keeps_its_mode_and_is_replaced_at_once(
    sandbox: OpenedSandbox, files: Files
) -> None:
    await sandbox.out("echo old > script; chmod 751 script")
    await files.write("script", b"new")
    assert (
        await sandbox.out("stat -c %a script; cat script; ls -A | grep -c hr- || true")
        == "751\nnew0\n"
    )


@pytest.mark.parametrize(
    "name",
    [
        "missing",
        "folder",
        "pipe",
        "link",
        "out/passwd",
        "../etc/passwd",
        "/etc/passwd",
        "plain/below",
    ],
)
async def test_only_regular_files_of_the_workspace_are_read(
    sandbox: OpenedSandbox, files: Files, name: str
) -> None:
    await sandbox.out(
        "mkdir -p folder; [ -e pipe ] || mkfifo pipe; ln -sfn /etc/passwd link; ln -sfn /etc out; echo x > plain"
    )
    with pytest.raises(WorkspaceError):
        await files.read(name)


@pytest.mark.parametrize(
    "name", [".handrail/x", "folder", "link", "out/new", "../new", ".git/config"]
)
async def test_nothing_else_is_written(sandbox: OpenedSandbox, files: Files, name: str) -> None:
    await sandbox.out(
        "mkdir -p folder; ln -sfn /tmp/target link; ln -sfn /tmp out; rm -f /tmp/target /tmp/new"
    )
    with pytest.raises(WorkspaceError):
        await files.write(name, b"x")
    assert await sandbox.out("ls /tmp | grep -E 'target|new' || true") == ""


async def test_a_listing_is_that_of_the_host(sandbox: OpenedSandbox, files: Files) -> None:
    await sandbox.out("mkdir -p tree/a/b; echo 12345 > tree/a/b/c; ln -sfn / tree/root")
    entries = [
        (entry.path, entry.kind, entry.size_bytes) for entry in await files.list("tree", depth=3)
    ]
    assert entries == [
        ("tree/a", "folder", 0),
        ("tree/a/b", "folder", 0),
        ("tree/a/b/c", "file", 6),
        ("tree/root", "link", 0),
    ]
    await files.remove("tree/a/b/c")
    assert await sandbox.out("ls tree/a/b") == ""
    with pytest.raises(WorkspaceError):
        await files.list("tree/root")

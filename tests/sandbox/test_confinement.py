"""What code in a sandbox cannot see or do, the same in every kind of sandbox."""

import os
import re
import socket
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.opened_sandbox import OpenedSandbox

pytestmark = pytest.mark.asyncio(loop_scope="module")

SECRET = "handrail-test-secret-5c1f"
ATTEMPTS = {
    "remount the workspace": "mount -o remount,rw /workspace/.git/config",
    "mount a file system": "mount -t tmpfs none /mnt",
    "make a user namespace": "unshare --user --map-root-user true",
    "enter another namespace": "nsenter --target 1 --mount true",
    "write to the root": "touch /here",
    "write to system files": "touch /usr/bin/here || touch /etc/here",
    "load a module": "python3 -c 'import ctypes; raise SystemExit(-ctypes.CDLL(None).syscall(175, 0, 0, 0))'",
    "become another user": "python3 -c 'import os; os.setuid(os.getuid() + 1)'",
    "make a device": "mknod /tmp/disk b 8 0",
    "change the owner of a file": "chown 12345 /workspace/.git/config",
    "write to the kernel": "echo 1 > /proc/sys/kernel/sysrq",
    "name a program for the kernel to run": "test -w /proc/sys/kernel/core_pattern",
    "press a key of the kernel": "test -w /proc/sysrq-trigger",
    "see the container engine": "test -e /var/run/docker.sock || test -e /run/docker.sock",
    "find out names": "getent hosts example.org",
    "reach the internet": "timeout 3 bash -c '</dev/tcp/192.0.2.1/80'",
    "reach the metadata address": "timeout 3 bash -c '</dev/tcp/169.254.169.254/80'",
    "send a datagram": "timeout 3 bash -c 'echo x >/dev/udp/192.0.2.1/53'",
    "use a raw socket": "python3 -c 'import socket; socket.socket(socket.AF_INET, socket.SOCK_RAW, 1)'",
    "use a packet socket": "python3 -c 'import socket; socket.socket(socket.AF_PACKET, socket.SOCK_RAW)'",
}
"""Each must fail."""


def text_of(path: str) -> str:
    return Path(path).read_text(encoding="utf-8")


def mode_of(path: str) -> int:
    return Path(path).stat().st_mode & 0o777


@pytest.fixture(autouse=True)
def secret(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", SECRET)
    monkeypatch.setenv("HR_ORDINARY_VARIABLE", SECRET)


@pytest.fixture
def listener() -> Iterator[socket.socket]:
    """A service on the loopback of the host."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield server


@pytest.mark.parametrize("attempt", ATTEMPTS)
async def test_an_attempt_fails(sandbox: OpenedSandbox, attempt: str) -> None:
    result = await sandbox.shell(ATTEMPTS[attempt], timeout_s=10)
    assert result.outcome == "failed", result


async def test_nothing_of_the_apps_environment_is_inside(sandbox: OpenedSandbox) -> None:
    result = await sandbox.shell(
        "env; cat /proc/*/environ 2>/dev/null | tr '\\0' '\\n'; cat /proc/*/cmdline | tr '\\0' ' '"
    )
    assert "HOME=/home/agent" in result.stdout
    assert SECRET not in result.stdout
    for name in ("OPENAI", "HANDRAIL", str(Path.cwd()), str(sandbox.workspace)):
        assert name not in result.stdout


async def test_files_of_the_host_are_not_inside(
    sandbox: OpenedSandbox, home: Path, tmp_path: Path
) -> None:
    (home / "secret").write_text(SECRET)
    (tmp_path / "secret").write_text(SECRET)
    for place in (home, tmp_path):
        assert (await sandbox.shell(f"ls {place}")).exit_code != 0
    assert (
        await sandbox.shell(f"grep -rs {SECRET} /root /home /tmp /var /srv /opt; true")
    ).stdout == ""


async def test_a_link_that_leads_out_leads_nowhere(sandbox: OpenedSandbox, tmp_path: Path) -> None:
    (tmp_path / "secret").write_text(SECRET)
    link = sandbox.workspace / "link"
    link.symlink_to(tmp_path / "secret")
    try:
        assert (await sandbox.shell("cat link")).exit_code != 0
    finally:
        link.unlink()


async def test_services_of_the_host_cannot_be_reached(
    sandbox: OpenedSandbox, listener: socket.socket
) -> None:
    port = listener.getsockname()[1]
    result = await sandbox.shell(f"timeout 3 bash -c '</dev/tcp/127.0.0.1/{port}'")
    assert result.outcome == "failed"
    listener.settimeout(0)
    with pytest.raises(BlockingIOError):
        listener.accept()


async def test_accounts_of_the_host_are_not_inside(sandbox: OpenedSandbox) -> None:
    for name in ("passwd", "shadow"):
        if os.access(f"/etc/{name}", os.R_OK):
            inside = await sandbox.shell(f"cat /etc/{name}")
            assert inside.stdout != text_of(f"/etc/{name}")


async def test_processes_of_the_host_cannot_be_seen_or_signalled(sandbox: OpenedSandbox) -> None:
    pids = (await sandbox.out("ls /proc | grep -E '^[0-9]+$'")).split()
    assert len(pids) < 20
    mine = str(os.getpid())
    seen = await sandbox.shell(f"tr '\\0' ' ' < /proc/{mine}/cmdline")
    assert "pytest" not in seen.stdout


async def test_what_git_runs_is_read_only(sandbox: OpenedSandbox) -> None:
    result = await sandbox.shell(
        "echo x > .git/config; touch .git/hooks/pre-commit; rm -rf .git/hooks; mv .git/config x"
    )
    assert result.exit_code != 0
    assert (sandbox.workspace / ".git/config").read_text() == "[core]\n"
    assert list((sandbox.workspace / ".git/hooks").iterdir()) == []
    assert (await sandbox.shell("git status --short; touch .git/index2")).exit_code == 0


@pytest.mark.parametrize(
    "attempt",
    [
        "mv .git .gitold",
        "python3 -c \"import os; os.rename('.git', '.gitold')\"",
        "rm -rf .git",
        "mv .bashrc x",
        "echo evil >> .bashrc",
        "rm .bashrc; echo evil > .bashrc",
    ],
)
async def test_what_the_host_trusts_can_be_neither_changed_nor_replaced(
    sandbox: OpenedSandbox, attempt: str
) -> None:
    result = await sandbox.shell(
        f"{attempt}; mkdir -p .git/hooks && echo evil > .git/hooks/pre-commit"
    )
    assert result.exit_code != 0
    assert (sandbox.workspace / ".git/config").read_text() == "[core]\n"
    assert list((sandbox.workspace / ".git/hooks").iterdir()) == []
    assert (sandbox.workspace / ".bashrc").read_text() == "alias ll=ls\n"


async def test_no_rights_are_left(sandbox: OpenedSandbox) -> None:
    status = dict(
        line.split(":\t", 1)
        for line in (await sandbox.out("cat /proc/self/status")).splitlines()
        if ":\t" in line
    )
    for kind in ("CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb"):
        assert int(status[kind], 16) == 0, kind
    assert status["NoNewPrivs"].strip() == "1"
    assert status["Seccomp"].strip() == "2"


async def test_the_first_process_inside_has_no_rights_either(sandbox: OpenedSandbox) -> None:
    status = await sandbox.out("cat /proc/1/status")
    assert (
        re.findall(r"^Cap(?:Inh|Prm|Eff|Bnd|Amb):\t(\w+)$", status, re.MULTILINE) == ["0" * 16] * 5
    )


async def test_what_root_owns_on_the_machine_is_not_its_to_change_or_read(
    local_sandbox: OpenedSandbox,
) -> None:
    for name in ("null", "zero", "random", "tty"):
        # the mode it has: should this succeed, nothing is changed
        result = await local_sandbox.shell(f"chmod {mode_of(f'/dev/{name}'):o} /dev/{name}")
        assert result.exit_code != 0, name
    assert (await local_sandbox.shell("head -c 8 /proc/kpageflags")).stdout == ""
    own = "-path '/proc/[0-9]*' -prune"
    found = await local_sandbox.shell(
        f"find /proc {own} -o -writable -exec test -f '{{}}' ';' -print 2>/dev/null"
    )
    assert found.stdout == ""
    assert await local_sandbox.out("ls -A /etc/ssl/private 2>/dev/null || true") == ""


async def test_devices_work(sandbox: OpenedSandbox) -> None:
    assert (
        await sandbox.out("echo x > /dev/null; head -c 3 /dev/zero | wc -c; cat <(echo ok)")
        == "3\nok\n"
    )
    assert len(await sandbox.out("head -c 8 /dev/urandom | od -An -tx1")) == 25


async def test_an_archive_of_another_user_is_unpacked(sandbox: OpenedSandbox) -> None:
    await sandbox.out("mkdir -p /tmp/a && echo x > /tmp/a/f")
    await sandbox.out("tar --owner=1234 --group=1234 -C /tmp -cf /tmp/a.tar a")
    await sandbox.out("mkdir -p /tmp/out && tar -C /tmp/out -xf /tmp/a.tar")
    assert await sandbox.out("cat /tmp/out/a/f; rm -r /tmp/a /tmp/a.tar /tmp/out") == "x\n"


async def test_files_made_inside_belong_to_the_owner_of_the_workspace(
    sandbox: OpenedSandbox,
) -> None:
    await sandbox.out("echo x > made; mkdir -p sub; touch sub/made")
    owner = sandbox.workspace.stat().st_uid
    assert (sandbox.workspace / "made").stat().st_uid == owner
    assert (sandbox.workspace / "sub/made").stat().st_uid == owner


async def test_scratch_space_runs_programs_and_the_rest_is_read_only(
    sandbox: OpenedSandbox,
) -> None:
    program = "printf '#!/bin/sh\\necho ran\\n' > $HOME/p; chmod +x $HOME/p; $HOME/p; cp $HOME/p /tmp/p; /tmp/p"
    assert await sandbox.out(program) == "ran\nran\n"
    assert (await sandbox.shell("touch $HOME/x /tmp/x /workspace/x")).exit_code == 0

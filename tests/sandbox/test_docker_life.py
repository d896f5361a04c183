"""Containers come and go: nothing of ours is left behind, and nothing of others is touched."""

import asyncio
import contextlib
import os
import time
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import docker
import pytest
import pytest_asyncio
from docker import DockerClient
from docker.errors import NotFound
from docker.models.containers import Container

from core.errors import SandboxGoneError, SandboxUnavailableError
from sandbox import owner
from sandbox.api import ENVIRONMENT
from sandbox.docker import DockerCage
from sandbox.engine import connect
from tests.support.app_to_kill import AppToKill
from tests.support.opened_sandbox import OpenedSandbox

pytestmark = pytest.mark.docker

DEAD = f"{os.uname().nodename}/no-such-boot/1/1"
OTHER_MACHINE = "elsewhere/no-such-boot/1/1"


@pytest.fixture
def client() -> Iterator[DockerClient]:
    engine = docker.from_env(timeout=30)
    yield engine
    engine.close()


@pytest_asyncio.fixture
async def opened(tmp_path: Path, requirements: None) -> AsyncIterator[OpenedSandbox]:
    made = OpenedSandbox("docker", tmp_path)
    yield made
    await made.manager.close()


def ours(client: DockerClient, label: str) -> list[Container]:
    return client.containers.list(
        all=True, filters={"label": f"{owner.LABEL}={label}"}, ignore_removed=True
    )


def mine(client: DockerClient) -> Container:
    """The container this process has open."""
    (container,) = ours(client, owner.own())
    return container


async def test_a_container_has_the_promised_walls(
    opened: OpenedSandbox, client: DockerClient, home: Path
) -> None:
    proxies = '{"proxies": {"default": {"httpProxy": "http://user:secret@192.0.2.1:3128"}}}'
    (home / ".docker").mkdir()
    (home / ".docker/config.json").write_text(proxies)
    await opened.manager.start()
    attributes = mine(client).attrs
    host, config = attributes["HostConfig"], attributes["Config"]
    assert host["NetworkMode"] == "none"
    assert host["ReadonlyRootfs"] is True
    assert host["CapDrop"] == ["ALL"]
    assert not host["CapAdd"]
    assert host["Privileged"] is False
    assert any(option.startswith("no-new-privileges") for option in host["SecurityOpt"])
    assert host["Memory"] == host["MemorySwap"] == 1 << 30
    assert host["PidsLimit"] == 256
    assert host["AutoRemove"] is True
    assert not host["PortBindings"]
    assert not host["Devices"]
    assert [(mount["Target"], mount.get("ReadOnly", False)) for mount in host["Mounts"]] == [
        ("/workspace", False),
        ("/workspace/.bashrc", True),
        ("/workspace/.git", False),
        ("/workspace/.git/hooks", True),
        ("/workspace/.git/config", True),
    ]
    place = opened.workspace.stat()
    assert config["User"] == f"{place.st_uid}:{place.st_gid}"
    ours_and_images = {*ENVIRONMENT, "LANG"}
    assert {value.partition("=")[0] for value in config["Env"]} == ours_and_images


async def test_closing_removes_the_container(opened: OpenedSandbox, client: DockerClient) -> None:
    await opened.manager.start()
    assert mine(client).status == "running"
    await opened.manager.close()
    assert ours(client, owner.own()) == []


@pytest.mark.parametrize(
    ("what", "said"),
    [("remove", "the container"), ("kill", "the container"), ("stop", "the container")],
)
async def test_a_container_taken_away_is_said_and_replaced(
    opened: OpenedSandbox, client: DockerClient, what: str, said: str
) -> None:
    await opened.shell("echo kept > file")
    running = asyncio.create_task(opened.shell("echo begun; sleep 60"))
    await asyncio.sleep(0)
    await opened.heard.wait()
    container = mine(client)
    actions = {
        "remove": lambda: container.remove(force=True),
        "kill": container.kill,
        "stop": lambda: container.stop(timeout=1),
    }
    started_s = time.monotonic()
    await asyncio.to_thread(actions[what])
    with pytest.raises(SandboxGoneError, match=said):
        await running
    assert time.monotonic() - started_s < 8
    assert await opened.out("cat file") == "kept\n"
    assert [event.state for event in opened.told] == [
        "starting",
        "ready",
        "lost",
        "starting",
        "ready",
    ]


async def test_a_workspace_may_be_called_anything(tmp_path: Path) -> None:
    odd = tmp_path / "a: b, c=d 'e' \"ü\" 日"
    odd.mkdir()
    cage = DockerCage(odd)
    client = await cage.open()
    assert (await client.file({"operation": "list", "path": "", "depth": 1, "limit": 9}))[0] == {
        "entries": []
    }
    await cage.close()


async def test_an_engine_in_a_virtual_machine_is_known_by_a_mark(workspace: Path) -> None:
    cage = DockerCage(workspace)
    runner = await cage.open()
    try:
        runner.facts["workspace"] = [1, 2]
        await cage._require_workspace(runner)
        assert os.listdir(workspace) == []  # noqa: PTH208
        cage._workspace = workspace.parent
        with pytest.raises(SandboxUnavailableError, match="does not see the workspace"):
            await cage._require_workspace(runner)
        assert not list_marks(workspace.parent)
    finally:
        await cage.close()


def list_marks(folder: Path) -> list[Path]:
    return list(folder.glob(".handrail-mark-*"))


async def test_a_paused_container_is_told_from_one_that_ended(
    workspace: Path, client: DockerClient
) -> None:
    cage = DockerCage(workspace)
    await cage.open()
    container = mine(client)
    try:
        container.pause()
        assert await cage.why_ended() == "the container is paused"
        container.unpause()
        assert await cage.why_ended() == "the connection to the container ended"
    finally:
        await cage.close()


def test_a_killed_app_leaves_no_container(tmp_path: Path, client: DockerClient) -> None:
    app = AppToKill("docker", tmp_path)
    (container,) = ours(client, app.label)
    inside = str(container.top())
    app.kill()
    assert "bash" in inside
    killed_s = time.monotonic()
    with contextlib.suppress(NotFound):  # gone already
        container.wait(timeout=10, condition="removed")
    assert time.monotonic() - killed_s < 10
    assert ours(client, app.label) == []


async def test_a_start_removes_what_dead_processes_left_and_nothing_else(
    client: DockerClient,
) -> None:
    labels = {"dead": DEAD, "elsewhere": OTHER_MACHINE, "alive": owner.own()}
    made = {
        name: client.containers.create(
            "handrail-sandbox:base", ["true"], labels={owner.LABEL: label}, network_mode="none"
        )
        for name, label in labels.items()
    }
    plain = client.containers.create("handrail-sandbox:base", ["true"], network_mode="none")
    try:
        cage = DockerCage(Path.cwd())
        await cage.check()
        from sandbox.docker import remove_abandoned

        engine = await asyncio.to_thread(connect)
        assert await asyncio.to_thread(remove_abandoned, engine) >= 1
        engine.client.close()
        await cage.close()
        left = {container.id for container in client.containers.list(all=True, ignore_removed=True)}
        assert made["dead"].id not in left
        assert {made["elsewhere"].id, made["alive"].id, plain.id} <= left
    finally:
        for container in [*made.values(), plain]:
            if container.id in {
                one.id for one in client.containers.list(all=True, ignore_removed=True)
            }:
                container.remove(force=True)


async def test_cancelling_the_start_leaves_no_container(
    opened: OpenedSandbox, client: DockerClient
) -> None:
    starting = asyncio.create_task(opened.manager.start())
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    await opened.manager.close()
    with pytest.raises(asyncio.CancelledError):
        await starting
    assert ours(client, owner.own()) == []

"""A sandbox in a container: made and ended by docker-py in threads, spoken to over the engine's socket."""

import asyncio
import contextlib
import os
import secrets
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from core import dir_walk
from core.errors import SandboxUnavailableError
from core.ports import SandboxInfo
from sandbox import owner
from sandbox.api import (
    DEFAULT_IMAGE,
    ENVIRONMENT,
    FILE_BYTES,
    HOME,
    INSIDE,
    MEMORY_BYTES,
    OPEN_FILES,
    PROCESSES,
    SCRATCH_BYTES,
)
from sandbox.bundle import Bundle
from sandbox.client import RunnerClient
from sandbox.engine import ANSWER_S, Engine, connect, engine_error, require_image
from sandbox.protected import protected_names
from sandbox.transports import AttachTransport

if TYPE_CHECKING:
    from docker.models.containers import Container

ENDED_S = 1.0
"""A container whose stream has ended has ended by then."""


class DockerCage:
    """One container."""

    def __init__(self, workspace: Path, image: str = DEFAULT_IMAGE, host: str = "") -> None:
        """Show a folder inside.

        Args:
            workspace: Absolute, there.
            image: Name of an image the engine has.
            host: Address of the engine; found when "".
        """
        self._workspace = workspace
        self._image = image
        self._host = host
        self._as_root = False
        self._engine: Engine | None = None
        self._container: Container | None = None
        self._client: RunnerClient | None = None

    @property
    def info(self) -> SandboxInfo:
        """What it is."""
        version = f" {self._engine.version}" if self._engine is not None else ""
        as_root = ", as root without rights" if self._as_root else ""
        return SandboxInfo(
            tier="docker",
            label=f"Docker{version} ({self._image}{as_root})",
            image=self._image,
            limits={
                "memory": f"{MEMORY_BYTES >> 20} MB",
                "processes": str(PROCESSES),
                "cpus": f"{_cpus():g}",
                "file size": f"{FILE_BYTES >> 20} MB",
            },
            workspace=INSIDE,
        )

    async def open(self) -> RunnerClient:
        """Make the container and start the runner in it.

        Raises:
            SandboxUnavailableError: No engine, no image, or it cannot be started; nothing of it is left.
        """
        bundle = Bundle({"workspace": INSIDE})
        opened = False
        try:
            await self._in_thread(lambda: self._make(bundle))
            assert self._engine is not None
            assert self._container is not None
            transport = AttachTransport(
                self._engine.socket_path,
                str(self._engine.client.api.api_version),
                str(self._container.id),
                lambda: self._in_thread(self._start),
            )
            self._client = RunnerClient(transport, bundle)
            await self._client.open()
            await self._require_workspace(self._client)
            opened = True
        finally:
            if not opened:
                await self.close()
        return self._client

    async def _in_thread(self, work: Callable[[], None]) -> None:
        """Do blocking work in a thread; when cancelled, wait for it so that what it makes can be removed.

        Should the engine hang beyond that, the container ends by itself, or the next start removes it.
        """
        working = asyncio.ensure_future(asyncio.to_thread(work))
        try:
            await asyncio.shield(working)
        except asyncio.CancelledError:
            await asyncio.wait([working], timeout=ANSWER_S)
            raise

    async def check(self) -> None:
        """Find out whether it could be opened, making nothing.

        Raises:
            SandboxUnavailableError: No engine answers or the image is missing.
        """
        await asyncio.to_thread(self._check)

    def _check(self) -> Engine:
        """Connect, and look for the image. Blocks."""
        if self._engine is None:
            self._engine = connect(self._host)
        require_image(self._engine, self._image)
        self._as_root = not self._engine.rootless and self._workspace.stat().st_uid == 0
        return self._engine

    def _make(self, bundle: Bundle) -> None:
        """Make the container. Blocks."""
        from docker.errors import DockerException
        from requests.exceptions import RequestException

        engine = self._check()
        try:
            remove_abandoned(engine)
            options = self._options(engine, bundle.command())
            self._container = engine.client.containers.create(**options)
        except (DockerException, RequestException, OSError) as error:
            raise engine_error(error) from error

    def _start(self) -> None:
        """Start the container. Blocks."""
        from docker.errors import DockerException
        from requests.exceptions import RequestException

        assert self._container is not None
        try:
            self._container.start()
        except (DockerException, RequestException, OSError) as error:
            raise engine_error(error) from error

    def _options(self, engine: Engine, command: list[str]) -> dict[str, Any]:
        from docker.types import LogConfig, Ulimit

        place = self._workspace.stat()
        user = "0:0" if engine.rootless else f"{place.st_uid}:{place.st_gid}"
        uid, _, gid = user.partition(":")
        security = ["no-new-privileges:true", *(["label=disable"] if engine.selinux else [])]
        scratch = f"rw,exec,nosuid,nodev,size={SCRATCH_BYTES}"
        return {
            "image": self._image,
            "name": f"handrail-{secrets.token_hex(6)}",
            "entrypoint": command,
            "command": [],
            # docker-py makes it StdinOnce: when the connection ends so does stdin, and with it the runner
            "stdin_open": True,
            "labels": {
                owner.LABEL: owner.own(),
                "dev.handrail.kind": "sandbox",
                "dev.handrail.created": str(int(time.time())),
            },
            "user": user,
            "hostname": "sandbox",
            "working_dir": INSIDE,
            "environment": dict(ENVIRONMENT),
            "use_config_proxy": False,  # the person's proxy, with its password, is not for code inside
            "mounts": self._mounts(),
            "network_mode": "none",
            "read_only": True,
            "tmpfs": {
                "/tmp": f"{scratch},mode=1777",
                HOME: f"{scratch},mode=0755,uid={uid},gid={gid}",
            },
            "cap_drop": ["ALL"],
            "security_opt": security,
            "mem_limit": MEMORY_BYTES,
            "memswap_limit": MEMORY_BYTES,
            "pids_limit": PROCESSES,
            "nano_cpus": int(_cpus() * 1e9),
            "ulimits": [
                Ulimit(name="nofile", soft=OPEN_FILES, hard=OPEN_FILES),
                Ulimit(name="fsize", soft=FILE_BYTES, hard=FILE_BYTES),
                Ulimit(name="core", soft=0, hard=0),
            ],
            "log_config": LogConfig(type="none"),
            "auto_remove": True,
            "init": False,
        }

    def _mounts(self) -> list[Any]:
        from docker.types import Mount

        mounts = [Mount(INSIDE, str(self._workspace), type="bind")]
        for one in protected_names(self._workspace):
            source = str(self._workspace / one.name)
            place = f"{INSIDE}/{one.name}"
            mounts.append(Mount(place, source, type="bind", read_only=not one.writable))
        return mounts

    async def _require_workspace(self, client: RunnerClient) -> None:
        """Check that the folder inside is the one here: an engine elsewhere mounts a folder of its own machine.

        Raises:
            SandboxUnavailableError: It is another one.
        """
        here = self._workspace.stat()
        if client.facts.get("workspace") == [here.st_dev, here.st_ino]:
            return
        # an engine in a virtual machine shows the same folder under other numbers
        if not await self._mark_is_seen(client):
            text = "The container engine does not see the workspace of this machine."
            raise SandboxUnavailableError(text, hint="Use `--sandbox local`.", code="engine_remote")

    async def _mark_is_seen(self, client: RunnerClient) -> bool:
        """Return whether a file made here, for a moment, is there inside."""
        root, name = str(self._workspace), f".handrail-mark-{secrets.token_hex(8)}"
        try:
            await asyncio.to_thread(dir_walk.write, root, name, name.encode())
        except OSError:
            return False
        try:
            request = {"operation": "read", "path": name, "offset": 0, "limit": 100}
            _, seen = await client.file(request)
        finally:
            await asyncio.to_thread(dir_walk.remove, root, name)
        return seen == name.encode()

    async def why_ended(self) -> str:
        """Return why the container ended, from what the engine knows of it."""
        if self._container is None:
            return ""
        try:
            return await asyncio.wait_for(asyncio.to_thread(_why_ended, self._container), ANSWER_S)
        except TimeoutError:
            return f"the container engine does not answer within {ANSWER_S:.0f} s"

    async def close(self) -> None:
        """Remove the container and all that runs in it."""
        client, self._client = self._client, None
        if client is not None:
            await client.close()
        await asyncio.to_thread(self._remove)

    def _remove(self) -> None:
        """Remove the container and hang up. Blocks."""
        container, self._container = self._container, None
        engine, self._engine = self._engine, None
        if engine is not None:
            engine.client.api.timeout = int(
                ANSWER_S
            )  # leaving must not wait for an engine that hangs
        if container is not None:
            _remove_container(container)
        if engine is not None:
            engine.client.close()


def _cpus() -> float:
    """Return how much of this machine a container may use: two processors, or all but one."""
    return max(1.0, min(2.0, (os.cpu_count() or 1) - 1.0))


def _remove_container(container: "Container") -> None:
    """Remove a container and wait until it is gone; that it is gone, or that the engine is, is no error here."""
    from docker.errors import DockerException
    from requests.exceptions import RequestException

    with contextlib.suppress(DockerException, RequestException, OSError):
        container.remove(force=True, v=True)
        return
    # the engine may be removing it already, because its first process has ended
    with contextlib.suppress(DockerException, RequestException, OSError):
        container.wait(timeout=ANSWER_S, condition="removed")


def _why_ended(container: "Container") -> str:
    """Ask the engine about a container whose stream has ended. Blocks."""
    from docker.errors import DockerException, NotFound
    from requests.exceptions import ConnectionError as Unanswered
    from requests.exceptions import RequestException, Timeout

    try:
        with contextlib.suppress(Unanswered, Timeout):  # it still runs
            container.wait(timeout=ENDED_S)
        container.reload()
    except NotFound:
        return "the container is gone"
    except (DockerException, RequestException, OSError) as error:
        return engine_error(error).message.rstrip(".")
    state = container.attrs.get("State", {})
    if state.get("Paused"):
        return "the container is paused"
    if state.get("OOMKilled"):
        return "the container ran out of memory"
    if not state.get("Running"):
        return f"the container ended with exit code {state.get('ExitCode')}"
    return "the connection to the container ended"


def remove_abandoned(engine: Engine) -> int:
    """Remove the containers of dead processes of this machine, in any state; return how many. Blocks."""
    found = engine.client.containers.list(
        all=True, filters={"label": owner.LABEL}, ignore_removed=True
    )
    dead = [
        container for container in found if owner.is_dead(container.labels.get(owner.LABEL, ""))
    ]
    for container in dead:
        _remove_container(container)
    return len(dead)

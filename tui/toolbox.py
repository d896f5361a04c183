"""The tools of a session, with the sandbox, browser and files they work on."""

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from core.config import Settings
from core.egress import EgressPolicy
from core.egress_upstream import upstream_from
from core.events import Event
from core.ports import EventSink, FileContent, FileEntry, Files, Places, Sandbox, Tool
from core.preimage import PreimageStore
from core.session import Closable
from core.workspace import WorkspaceFiles
from sandbox.manager import SandboxManager
from tools.ask_human import AskHuman
from tools.browser.tool import BrowserTool
from tools.edit import EditFile
from tools.fetch_page import FetchPage
from tools.files import ListFiles, ReadFile
from tools.finish import Finish
from tools.python import Python
from tools.shell import Shell

BROWSER_OFF = "The browser is switched off in the settings."


class LateSink:
    """Takes facts before there is a log; they reach it, in order, once there is one."""

    def __init__(self) -> None:
        """Keep facts until `join`."""
        self._waiting: list[Event] = []
        self._sink: EventSink | None = None

    def __call__(self, event: Event, /) -> None:
        """Add a fact."""
        if self._sink is None:
            self._waiting.append(event)
        else:
            self._sink(event)

    def join(self, sink: EventSink) -> None:
        """Send everything to `sink` from now on."""
        self._sink = sink
        waiting, self._waiting = self._waiting, []
        for event in waiting:
            sink(event)


class SandboxOrHostFiles:
    """Files as the sandbox sees them while there is one, else as the host does (`core.ports.Files`)."""

    def __init__(self, sandbox: Sandbox, host: Files) -> None:
        """Serve from `sandbox` where it can be used, else from `host`."""
        self._sandbox = sandbox
        self._host = host

    async def read(self, path: str, offset: int = 0, limit: int = 1 << 20) -> FileContent:
        """Read a part of a file."""
        return await self._files.read(path, offset, limit)

    async def write(self, path: str, data: bytes) -> None:
        """Write a whole file."""
        await self._files.write(path, data)

    async def remove(self, path: str) -> None:
        """Remove a file."""
        await self._files.remove(path)

    async def list(self, path: str = "", depth: int = 1, limit: int = 1000) -> Sequence[FileEntry]:
        """List a folder."""
        return await self._files.list(path, depth, limit)

    @property
    def _files(self) -> Files:
        return self._host if self._sandbox.unavailable() else self._sandbox.files


@dataclass(frozen=True, slots=True, kw_only=True)
class Toolbox:
    """What a session works with."""

    tools: Sequence[Tool]
    sandbox: SandboxManager
    egress: EgressPolicy
    resources: Sequence[Closable]
    """Ended with the session."""


def packed_toolbox(settings: Settings, places: Places, record: EventSink) -> Toolbox:
    """Put the tools of a session together; nothing is started.

    Args:
        settings: Which sandbox and browser.
        places: Folders of the session.
        record: Takes facts about the sandbox.
    """
    egress = EgressPolicy(upstream=upstream_from(os.environ))
    sandbox = _sandbox(settings, places, record)
    host_files = WorkspaceFiles(places.workspace)
    files = SandboxOrHostFiles(sandbox, host_files)
    browser = _browser(settings, places.session, egress)
    workspace = places.workspace
    tools: list[Tool] = [
        Shell(sandbox, workspace),
        Python(sandbox),
        ReadFile(files, workspace),
        EditFile(files, host_files, PreimageStore(places.session), workspace),
        ListFiles(files, workspace),
        browser,
        FetchPage(egress),
        AskHuman(),
        Finish(files, workspace),
    ]
    return Toolbox(tools=tools, sandbox=sandbox, egress=egress, resources=(browser, sandbox))


def _sandbox(settings: Settings, places: Places, record: EventSink) -> SandboxManager:
    chosen = settings.sandbox
    return SandboxManager(
        kind=chosen.kind, workspace=places.workspace, image=chosen.image, record=record
    )


def _browser(settings: Settings, folder: Path, egress: EgressPolicy) -> BrowserTool:
    browser = settings.browser
    return BrowserTool(
        folder,
        egress,
        executable=browser.executable,
        off_reason="" if browser.enabled else BROWSER_OFF,
    )

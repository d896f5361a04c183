"""The tools of a session, with the sandbox, browser and files they work on."""

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from core.config import Settings
from core.egress import EgressPolicy
from core.egress_upstream import upstream_from
from core.errors import SandboxUnavailableError
from core.events import Event
from core.ports import EventSink, Places, Tool
from core.preimage import PreimageStore
from core.session import Closable
from core.skills import SkillShelf
from core.stored_results import StoredResults
from core.workspace import WorkspaceFiles
from sandbox.choice import SandboxSettings
from sandbox.manager import SandboxManager
from tools.ask_human import AskHuman
from tools.browser.tool import BrowserTool
from tools.edit import EditFile
from tools.fetch_page import FetchPage
from tools.files import ListFiles, ReadFile
from tools.finish import Finish
from tools.python import Python
from tools.shell import Shell
from tools.skill import SkillTool

if TYPE_CHECKING:
    from tui.guidance import Guidance

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


@dataclass(frozen=True, slots=True, kw_only=True)
class Toolbox:
    """What a session works with."""

    tools: Sequence[Tool]
    sandbox: SandboxManager
    egress: EgressPolicy
    resources: Sequence[Closable]
    """Ended with the session."""


class Preparation:
    """Finds out what the tools can use, before the first step of a run (`core.session.SessionParts.prepare`)."""

    def __init__(
        self, sandbox: SandboxManager, *, required: bool, guidance: "Guidance | None" = None
    ) -> None:
        """Prepare a run.

        Args:
            sandbox: Looked for.
            required: A run without it fails.
            guidance: Waited for: what the agent is told must be settled before it begins.
        """
        self._sandbox = sandbox
        self._required = required
        self._guidance = guidance

    async def __call__(self) -> float:
        """Look for the sandbox; return the seconds a person was waited for.

        Raises:
            SandboxUnavailableError: It is required and cannot be had.
        """
        await self._sandbox.prepare()
        if self._required and (reason := self._sandbox.unavailable()):
            raise SandboxUnavailableError(reason)
        return await self._guidance.settled() if self._guidance is not None else 0.0


def packed_toolbox(
    settings: Settings,
    places: Places,
    record: EventSink,
    results: StoredResults,
    shelf: SkillShelf | None = None,
) -> Toolbox:
    """Put the tools of a session together; nothing is started.

    Args:
        settings: Which sandbox and browser.
        places: Folders of the session.
        record: Takes facts about the sandbox.
        results: Where long results are kept.
        shelf: Skills, put in later; None for none.
    """
    egress = EgressPolicy(upstream=upstream_from(os.environ))
    host_files = WorkspaceFiles(places.workspace)
    sandbox = SandboxManager(_sandbox_settings(settings, places), host_files, record)
    files = sandbox.files
    browser = _browser(settings, places.session, egress)
    workspace = places.workspace
    tools: list[Tool] = [
        Shell(sandbox, workspace),
        Python(sandbox),
        ReadFile(files, workspace, results),
        EditFile(files, host_files, PreimageStore(places.session), workspace),
        ListFiles(files, workspace),
        browser,
        FetchPage(egress),
        AskHuman(),
        SkillTool(shelf or SkillShelf(), files),
        Finish(files, workspace),
    ]
    return Toolbox(tools=tools, sandbox=sandbox, egress=egress, resources=(browser, sandbox))


def _sandbox_settings(settings: Settings, places: Places) -> SandboxSettings:
    return SandboxSettings(
        workspace=places.workspace,
        session=places.session,
        choice=settings.sandbox.kind,
        image=settings.sandbox.image,
    )


def _browser(settings: Settings, folder: Path, egress: EgressPolicy) -> BrowserTool:
    browser = settings.browser
    return BrowserTool(
        folder,
        egress,
        executable=browser.executable,
        os_sandbox=browser.os_sandbox,
        hosts_listed=browser.hosts == "listed",
        off_reason="" if browser.enabled else BROWSER_OFF,
    )

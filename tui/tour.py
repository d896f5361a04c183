"""The tour as a session: the script for a model, a folder of its own, the site beside it; all else is real."""

import asyncio
import shutil
import tempfile
from dataclasses import replace
from pathlib import Path

from core.config import Settings
from core.config_load import Configuration
from core.decision import ApprovalPrompt, DecisionOpened
from core.events import RunEnded
from core.ports import Answer, Places
from core.session import Session
from tui.tour_model import TourModel
from tui.tour_script import LEAFLET, TASK
from tui.tour_server import SITE, TourServer
from tui.wiring import SessionPlan, assembled

WORD_PACE_S = 0.04
"""Pause after each word on the screen, so that a person can follow."""


class TourAnswers:
    """Decides in place of a person, for the tour without the screen (`tui.headless.Responder`)."""

    def __call__(self, opened: DecisionOpened) -> Answer:
        """Approve what the script asks for, and take the second option of its question."""
        prompt = opened.prompt
        if isinstance(prompt, ApprovalPrompt):
            return Answer(resolution="approved", decided_by="tour", digest=prompt.digest)
        text = prompt.options[1] if len(prompt.options) > 1 else prompt.default
        return Answer(resolution="answered", decided_by="tour", text=text)


class TourFolder:
    """Workspace and session of the tour, in a temporary folder that is gone afterwards."""

    def __init__(self) -> None:
        """Make the folder, with the leaflet in the workspace."""
        self._top = Path(tempfile.mkdtemp(prefix="handrail-tour-")).resolve()
        workspace = self._top / "workspace"
        workspace.mkdir()
        shutil.copyfile(SITE / LEAFLET, workspace / LEAFLET)
        self.places = Places(workspace=workspace, session=self._top / "session")

    async def close(self) -> None:
        """Remove it all."""
        await asyncio.to_thread(shutil.rmtree, self._top, ignore_errors=True)


class Tour:
    """Opens the session of the tour."""

    def __init__(self, configuration: Configuration, *, attended: bool) -> None:
        """Plan the tour.

        Args:
            configuration: Which sandbox and browser; the rest of the settings does not count.
            attended: A person watches and decides.
        """
        self._configuration = configuration
        self._attended = attended
        self._run: asyncio.Task[RunEnded] | None = None

    async def open_session(self) -> Session:
        """Open the session; its task is not started.

        Raises:
            ConfigError: The settings of sandbox or browser are wrong.
            StoreError: There is no room for temporary files.
        """
        server, folder = TourServer(), TourFolder()
        await server.start()
        made = assembled(
            SessionPlan(
                configuration=replace(self._configuration, settings=self._settings(), origins={}),
                places=folder.places,
                attended=True,
                model=TourModel(server.url, pace_s=WORD_PACE_S if self._attended else 0.0),
                scripted=True,
                open_hosts=frozenset({(server.host, server.port)}),
                resources=(server,),
                afterwards=(folder,),
            )
        )
        return made.session

    async def open_and_start(self) -> Session:
        """Open the session and start its task, for the screen."""
        session = await self.open_session()
        self._run = asyncio.create_task(session.run(TASK), name="run")
        return session

    def _settings(self) -> Settings:
        own = self._configuration.settings
        return Settings(mode="ask", sandbox=own.sandbox, browser=own.browser)

"""Sessions for tests: real core, doubles around it."""

from collections.abc import Sequence
from pathlib import Path

from core.budget import Limits
from core.events import Event
from core.ports import Clock, Model, Places, Tool
from core.session import Session, SessionParts, SessionSettings
from core.spending import NoPurse, Purse
from core.stored_results import StoredResults
from core.vocabulary import Mode
from tests.support.fake_clock import FakeClock
from tests.support.fake_tools import FakePolicy


class Opening:
    """What a session is opened with; change a field, then call `session`."""

    def __init__(self, folder: Path, model: Model | None, tools: Sequence[Tool] = ()) -> None:
        self.workspace = folder / "workspace"
        self.workspace.mkdir(exist_ok=True)
        self.folder = folder / "session"
        self.model = model
        self.tools = tools
        self.policy = FakePolicy()
        self.limits = Limits(max_steps=10)
        self.attended = True
        self.mode: Mode = "ask"
        self.scripted = False
        self.purse: Purse = NoPurse()
        self.clock: Clock = FakeClock()
        self.results: StoredResults | None = None
        self.max_tools = 0
        self.relevance_threshold = 0.0

    def session(self) -> Session:
        settings = SessionSettings(
            session_id="s1",
            version="0",
            system="Be good.",
            mode=self.mode,
            limits=self.limits,
            scripted=self.scripted,
            max_tools=self.max_tools,
            relevance_threshold=self.relevance_threshold,
        )
        return Session(
            SessionParts(
                settings=settings,
                places=Places(workspace=self.workspace, session=self.folder),
                model=self.model,
                tools=self.tools,
                policy=self.policy,
                attended=self.attended,
                clock=self.clock,
                purse=self.purse,
                results=self.results,
            )
        )


def events_of(session: Session) -> list[Event]:
    """All events of a session, oldest first."""
    return [record.event for record in session.log.records]


def kinds_of(session: Session) -> list[str]:
    """Their kinds."""
    return [event.kind for event in events_of(session)]

"""The question of trust in the real app: shown when the session opens, answered by keys that count."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from core.events import NoticeRaised, RunEnded
from core.guidance import InstructionsLoaded
from core.session import Session
from tests.support.app import screen_text
from tests.support.dialog_host import Hand, settled
from tests.support.fake_clock import FakeClock
from tests.support.model_server import ModelServer
from tests.support.model_turns import text
from tests.support.opened import events_of
from tests.support.waiting import DEADLINE_S
from tests.support.wired import wiring
from tui.app import HandrailApp
from tui.screens.approval import ApprovalScreen


@dataclass
class Seat:
    """A person before the app."""

    app: HandrailApp
    hand: Hand
    opened: list[Session]

    @property
    def session(self) -> Session:
        return self.opened[0]

    async def until(self, condition: Callable[[], object]) -> None:
        async with asyncio.timeout(DEADLINE_S):
            while not condition():
                await settled(self.hand.pilot)
                await asyncio.sleep(0)

    async def dialog(self) -> str:
        """Wait for the dialog and return what is on the screen."""
        await self.until(lambda: isinstance(self.app.screen, ApprovalScreen))
        await settled(self.hand.pilot)
        return screen_text(self.app)

    def has(self, kind: type) -> bool:
        return any(isinstance(event, kind) for event in events_of(self.session))


@asynccontextmanager
async def seat(server: ModelServer, workspace: Path, task: str = "") -> AsyncIterator[Seat]:
    clock = FakeClock()
    opened: list[Session] = []

    async def open_session() -> Session:
        opened.append(await wiring(server, workspace, on_screen=True).open_session())
        return opened[0]

    app = HandrailApp(open_session, task=task or None, monotonic=clock.monotonic)
    async with app.run_test(size=(80, 24)) as pilot:
        yield Seat(app, Hand(pilot, clock), opened)
        await app.host.close()


async def test_y_and_enter_trust_the_files_and_the_waiting_run_goes_on(workspace: Path) -> None:
    (workspace / "AGENTS.md").write_text("Answer in rhyme.\n[b]x[/b]\n", encoding="utf-8")
    async with ModelServer([text("Done.")]) as server, seat(server, workspace, "hello") as person:
        shown = await person.dialog()
        assert "APPROVAL 1 of 1 · R3 HIGH" in shown
        assert "AGENTS.md  26 bytes  sha256" in shown
        assert "Answer in rhyme." in shown
        assert "[b]x[/b]" in shown
        assert "e edit" not in shown
        assert server.requests == [] or "rhyme" not in str(server.requests[-1].body)
        await person.hand.press("y")
        assert "now Enter to trust them" in screen_text(person.app)
        assert not person.has(InstructionsLoaded)
        await person.hand.press("enter")
        await person.until(lambda: person.has(RunEnded))
        assert person.has(InstructionsLoaded)
        assert "rhyme" in str(server.requests[-1].messages[1]["content"])


async def test_e_changes_nothing_and_n_leaves_the_files_out(workspace: Path) -> None:
    (workspace / "AGENTS.md").write_text("Answer in rhyme.\n", encoding="utf-8")
    async with ModelServer([]) as server, seat(server, workspace) as person:
        await person.dialog()
        await person.hand.press("e")
        assert isinstance(person.app.screen, ApprovalScreen)
        await person.hand.press("n", "enter")
        await person.until(lambda: not person.session.gate.open)
        await person.until(lambda: person.has(NoticeRaised))
        assert not person.has(InstructionsLoaded)
        await person.until(lambda: "Not trusted, so ignored: AGENTS.md" in screen_text(person.app))

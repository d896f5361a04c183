"""The whole app on a session double: a real log and gate, everything else recorded."""

import asyncio
from collections.abc import Callable, Sequence
from typing import Any

from textual.pilot import Pilot

from core.context.rows import NextRequest
from core.event_log import EventLog
from core.events import ModeChanged, RunEnded
from core.gate import Gate
from core.ports import Answer
from core.vocabulary import Mode
from tests.support.fake_clock import FakeClock
from tests.support.feed import Feed
from tests.support.waiting import DEADLINE_S
from tui.app import HandrailApp
from tui.panes.conversation import ConversationPane

WIDE = (120, 40)
NARROW = (80, 24)


class FakeSession:
    """Does nothing by itself; a test tells its log what happens, and reads what it was asked for."""

    def __init__(self, clock: FakeClock | None = None) -> None:
        self.clock = clock or FakeClock()
        self.log = EventLog(self.clock)
        self.gate = Gate(self.log.append, attended=True)
        self.feed = Feed(self.log, self.clock)
        self.mode: Mode = "ask"
        self.running = False
        self.paused = False
        self.asked: list[str] = []
        """What the app called, in order: "run text", "steer text", "pause" ..."""
        self.answers: dict[str, Answer] = {}
        self.request = NextRequest(rows=(), body=b"", tokens=0, window=0)
        self._end_of_run = asyncio.Event()

    async def run(self, text: str) -> RunEnded:
        self.asked.append(f"run {text}")
        self.running = True
        self._end_of_run.clear()
        try:
            await self._end_of_run.wait()
        finally:
            self.running = False
        return RunEnded(reason="answered", exit_code=0)

    def end_run(self) -> None:
        """Let `run` return."""
        self._end_of_run.set()

    def steer(self, text: str) -> None:
        self.asked.append(f"steer {text}")

    def pause(self) -> None:
        self.asked.append("pause")
        self.paused = True

    def resume(self) -> None:
        self.asked.append("resume")
        self.paused = False

    def step_once(self) -> None:
        self.asked.append("step_once")

    def interrupt(self) -> None:
        self.asked.append("interrupt")

    def answer(self, decision_id: str, answer: Answer) -> bool:
        self.answers[decision_id] = answer
        self.asked.append(f"answer {decision_id}")
        return True

    def set_mode(self, mode: Mode) -> None:
        self.mode = mode
        self.log.append(ModeChanged(mode=mode))

    def edit_memory(self, operation: str, unit_id: str, text: str = "") -> bool:
        self.asked.append(f"memory {operation} {unit_id} {text}".strip())
        return True

    async def compact(self, unit_ids: Sequence[str]) -> bool:
        self.asked.append(f"compact {' '.join(unit_ids)}")
        return True

    def next_request(self) -> NextRequest:
        return self.request

    async def close(self, reason: str = "quit") -> None:
        self.asked.append(f"close {reason}")
        self.end_run()


def make_app(session: FakeSession, **more: Any) -> HandrailApp:
    """Return the app that opens `session`, on the session's clock."""

    async def open_session() -> FakeSession:
        return session

    return HandrailApp(open_session, monotonic=session.clock.monotonic, **more)


async def seen(pilot: Pilot[None], session: FakeSession) -> None:
    """Wait until the screen shows all that is in the log."""
    app = pilot.app
    assert isinstance(app, HandrailApp)
    await eventually(
        pilot, lambda: app.host.pump is not None and app.host.pump.view.n == len(session.log)
    )
    await pilot.pause()


async def eventually(pilot: Pilot[None], condition: Callable[[], object]) -> None:
    """Let the app work until `condition` holds."""
    async with asyncio.timeout(DEADLINE_S):
        while not condition():
            await pilot.pause()


def screen_text(app: HandrailApp) -> str:
    """Return what is on the screen, line by line."""
    lines = app.screen._compositor.render_strips()
    return "\n".join("".join(segment.text for segment in strip) for strip in lines)


def conversation_of(app: HandrailApp) -> ConversationPane:
    """Return the conversation, which is there once the first paint is over."""
    pane = app.main.pane_of("conversation")
    assert isinstance(pane, ConversationPane)
    return pane


async def ready(pilot: Pilot[None], session: FakeSession) -> None:
    """Open the session and wait until the app shows it."""
    session.feed.open()
    await seen(pilot, session)

"""An app that shows one screen or widget, a session that records answers, and keys with a given time of arrival."""

import asyncio
from collections.abc import Sequence

from textual import events
from textual.app import App, ComposeResult
from textual.filter import LineFilter
from textual.keys import _character_to_key
from textual.pilot import Pilot
from textual.widget import Widget

from core.context.rows import NextRequest
from core.decision import ApprovalPrompt, QuestionPrompt
from core.event_log import EventLog
from core.events import RunEnded
from core.gate import Gate
from core.ports import Answer
from core.record import Record
from core.run_view import RunView, reduce
from core.vocabulary import Mode
from tests.support.fake_clock import FakeClock
from tui.line_filter import SafeLineFilter
from tui.screens.armed import ArmedScreen
from tui.screens.dialog_end import DialogContext, DialogEnd
from tui.theme_register import register_theme


class DecidingSession:
    """Real log, gate and view; what the person does to it is recorded."""

    def __init__(self, clock: FakeClock | None = None) -> None:
        self.clock = clock or FakeClock()
        self.log = EventLog(self.clock)
        self.gate = Gate(self.log.append, attended=True)
        self.view = RunView()
        self.log.follow(self._reduce)
        self.answers: dict[str, Answer] = {}
        self.edits: list[tuple[str, str, str]] = []
        self.request = NextRequest(rows=(), body=b"", tokens=0, window=0)
        self.requests_asked = 0
        self.mode: Mode = "ask"
        self.running = False
        self.paused = False
        self.asked_for: list[str] = []
        self._asking: dict[str, asyncio.Task[Answer]] = {}

    def _reduce(self, record: Record) -> None:
        reduce(self.view, record)

    async def open(self, prompt: ApprovalPrompt | QuestionPrompt) -> str:
        """Open a decision and return its id."""
        task = asyncio.create_task(self.gate.ask(prompt))
        await asyncio.sleep(0)
        decision_id = list(self.gate.open)[-1]
        self._asking[decision_id] = task
        return decision_id

    async def withdraw(self, decision_id: str) -> None:
        """Cancel the call that waits."""
        task = self._asking[decision_id]
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)

    def answer(self, decision_id: str, answer: Answer) -> bool:
        taken = self.gate.answer(decision_id, answer)
        if taken:
            self.answers[decision_id] = answer
        return taken

    async def run(self, text: str) -> RunEnded:
        self.asked_for.append(f"run {text}")
        return RunEnded(reason="answered", exit_code=0)

    def steer(self, text: str) -> None:
        self.asked_for.append(f"steer {text}")

    def pause(self) -> None:
        self.asked_for.append("pause")

    def resume(self) -> None:
        self.asked_for.append("resume")

    def step_once(self) -> None:
        self.asked_for.append("step_once")

    def interrupt(self) -> None:
        self.asked_for.append("interrupt")

    def set_mode(self, mode: Mode) -> None:
        self.mode = mode

    async def close(self, reason: str = "quit") -> None:
        self.asked_for.append(f"close {reason}")

    def edit_memory(self, operation: str, unit_id: str, text: str = "") -> bool:
        self.edits.append((operation, unit_id, text))
        return True

    async def compact(self, unit_ids: Sequence[str]) -> bool:
        self.asked_for.append(f"compact {' '.join(unit_ids)}")
        return True

    def next_request(self) -> NextRequest:
        self.requests_asked += 1
        return self.request


class DialogHost(App[None]):
    """Shows one dialog over an empty screen, or one widget."""

    CSS = "Screen { background: $background; }"

    def __init__(self, *, theme: str = "handrail-dark", widget: Widget | None = None) -> None:
        super().__init__()
        self.animation_level = "none"
        self.theme = register_theme(self, theme)
        self.widget = widget
        self.ends: list[DialogEnd | None] = []

    def get_line_filters(self) -> Sequence[LineFilter]:
        return [*super().get_line_filters(), SafeLineFilter()]

    def compose(self) -> ComposeResult:
        if self.widget is not None:
            yield self.widget

    async def show_dialog(self, dialog: ArmedScreen, pilot: Pilot[None]) -> None:
        """Show a dialog and wait until it is painted."""
        await self.push_screen(dialog, self.ends.append)
        await settled(pilot)


SETTLING_ROUNDS = 8
"""A key passes this many queues at most: app, field, containers, screen, app, action, another screen."""


async def settled(pilot: Pilot[None]) -> None:
    """Wait until every queue has been emptied and the screen is drawn, however slow the machine is."""
    for _ in range(SETTLING_ROUNDS):
        await pilot._wait_for_screen()
        pilot.app.screen._on_timer_update()


class Hand:
    """Presses keys at times of the test's own clock."""

    def __init__(self, pilot: Pilot[None], clock: FakeClock) -> None:
        self.pilot = pilot
        self.clock = clock

    async def press(self, *keys: str, after_s: float = 1.0) -> None:
        """Press keys, each `after_s` seconds after what was before."""
        for key in keys:
            self.clock.advance(after_s)
            await self.send(events.Key(*_named(key)))

    async def press_at(self, key: str, at_s: float) -> None:
        """Let a key that arrived at `at_s` be handled now."""
        event = events.Key(*_named(key))
        event.time = at_s
        await self._deliver(event)

    async def paste(self, text: str) -> None:
        """Paste a text now."""
        await self.send(events.Paste(text))

    async def send(self, event: events.Key | events.Paste | events.AppFocus) -> None:
        """Let an event arrive now."""
        event.time = self.clock.now_s
        await self._deliver(event)

    async def _deliver(self, event: events.Key | events.Paste | events.AppFocus) -> None:
        event.set_sender(self.pilot.app)
        assert self.pilot.app._driver is not None
        self.pilot.app._driver.send_message(event)
        await settled(self.pilot)


async def press(pilot: Pilot[None], *keys: str) -> None:
    """Press keys where their time does not matter, each worked off before the next."""
    await Hand(pilot, FakeClock()).press(*keys)


def _named(key: str) -> tuple[str, str | None]:
    if len(key) == 1:
        return _character_to_key(key), key
    return key, {"space": " ", "enter": "\r", "tab": "\t"}.get(key)


def dialog_context(session: DecidingSession, **fields: object) -> DialogContext:
    """Return what the app would give a dialog."""
    return DialogContext(queue=session.view.decisions, now=session.clock.monotonic, **fields)  # type: ignore[arg-type]

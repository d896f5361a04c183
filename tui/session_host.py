"""Holds the session of the app: opens it late, keeps what was typed before, starts runs, and ends it in time."""

import asyncio
import time
from collections.abc import Callable, Coroutine
from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

from core.errors import HandrailError

if TYPE_CHECKING:
    from core.vocabulary import Mode
    from tui.pump import Pump
    from tui.session_port import OpenSession, SessionLike
    from tui.view_changed import ViewChanged

CLOSE_LIMIT_S: Final = 8.0
"""The session gets this long to end what it started."""
MODES: Final[tuple["Mode", ...]] = ("read", "ask", "auto")
"""The modes that a key goes through; `full` is never reached by a key."""


class SessionHost:
    """The one session that is shown."""

    def __init__(
        self,
        tell: "Callable[[ViewChanged], object]",
        report: Callable[[HandrailError], object],
        *,
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        """Start without a session.

        Args:
            tell: Takes each change of the view.
            report: Takes what goes wrong outside the session's own log.
            monotonic: A clock, for running times.
        """
        self.session: SessionLike | None = None
        self.pump: Pump | None = None
        self._tell = tell
        self._report = report
        self._monotonic = monotonic
        self.queued: list[str] = []
        """What was said to the run and has not entered it yet, oldest first."""
        self._entered = 0
        self._outbox: list[str] = []
        self._tasks: set[asyncio.Task[None]] = set()

    async def open(self, open_session: "OpenSession") -> "SessionLike":
        """Open a session, follow its log, and send what was typed meanwhile.

        Raises:
            HandrailError: It cannot be opened.
        """
        # Imported in a thread, so that keys are taken meanwhile.
        pump_module = await asyncio.to_thread(import_module, "tui.pump")
        session = await open_session()

        self.session, self.pump = (
            session,
            pump_module.Pump(session.log, self._tell, monotonic=self._monotonic),
        )
        self._start(self.pump.run())
        waiting, self._outbox = self._outbox, []
        for text in waiting:
            self.send(text)
        return session

    def send(self, text: str) -> None:
        """Start a run with this text, or add it to the run that goes on; kept while no session is open."""
        if self.session is None:
            self._outbox.append(text)
        elif self.session.running or self._is_starting:
            self.session.steer(text)
            self.queued.append(text)
        else:
            self._start(self._work(self.session, text), name="run")

    def note_entered(self, steered: int) -> None:
        """Take what entered the run off the queue; `steered` as in `core.view.conversation`."""
        del self.queued[: steered - self._entered]
        self._entered = steered

    def interrupt(self) -> bool:
        """Stop the run; returns whether one was going on."""
        session = self.session
        if session is None or not session.running:
            return False
        session.interrupt()
        return True

    def toggle_pause(self) -> None:
        """Pause at the next step, or go on."""
        session = self.session
        if session is None or not session.running:
            return
        (session.resume if session.paused else session.pause)()

    def step_once(self) -> None:
        """Take one step of a paused run; pause a run that is not."""
        session = self.session
        if session is not None and session.running:
            (session.step_once if session.paused else session.pause)()

    def next_mode(self) -> None:
        """Go to the next mode."""
        if self.session is not None:
            mode = self.session.mode
            at = MODES.index(mode) if mode in MODES else -1
            self.session.set_mode(MODES[(at + 1) % len(MODES)])

    def now_s(self) -> float:
        """Return the time now on the clock of the records, 0 without a session."""
        return self.pump.now_s() if self.pump is not None else 0.0

    async def close(self, reason: str = "quit") -> None:
        """End the session, within its time, and stop following it."""
        session, self.session = self.session, None
        if session is not None:
            try:
                await asyncio.wait_for(session.close(reason), CLOSE_LIMIT_S)
            except TimeoutError:
                self._report(HandrailError("The session did not end in time.", code="close_late"))
        for task in self._tasks:
            task.cancel()

    @property
    def _is_starting(self) -> bool:
        return any(task.get_name() == "run" for task in self._tasks)

    def _start(self, work: Coroutine[Any, Any, None], name: str = "pump") -> None:
        task = asyncio.create_task(self._guarded(work), name=name)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _work(self, session: "SessionLike", text: str) -> None:
        await session.run(text)

    async def _guarded(self, work: Coroutine[Any, Any, None]) -> None:
        try:
            await work
        except HandrailError as error:
            self._report(error)
        except Exception as error:  # noqa: BLE001 - boundary: the top of a worker
            from tui.crash import kept_crash

            self._report(kept_crash(error))

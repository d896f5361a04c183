"""One run without the screen: the same session, nobody there to decide."""

import asyncio
import os
import signal
import sys
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field, replace
from typing import Protocol

from core.decision import ApprovalPrompt, DecisionOpened
from core.errors import HandrailError
from core.event_log import EventLog, SystemClock
from core.events import RunEnded
from core.gate import NOBODY, NOBODY_REPLIES
from core.ports import Answer
from core.record import Record
from tui.answers import PreparedAnswers
from tui.crash import kept_crash
from tui.exits import GAVE_UP, INTERRUPTED, exit_code_of
from tui.run_report import Report, failed_run

SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
CLOSE_TIMEOUT_S = 8.0
"""How long the end of the session may take; what is left over ends by itself (the container watches us)."""
FORCED_FLUSH_S = 0.5
"""How long a second signal waits for the last line to be written."""


class RunnableSession(Protocol):
    """What a run without the screen needs of `core.session.Session`."""

    @property
    def log(self) -> EventLog:
        """Facts."""
        ...

    @property
    def running(self) -> bool:
        """Whether a run goes on."""
        ...

    async def run(self, text: str) -> RunEnded:
        """Work on one request."""
        ...

    def interrupt(self) -> None:
        """Stop the run."""
        ...

    def answer(self, decision_id: str, answer: Answer) -> bool:
        """Resolve an open decision."""
        ...

    async def close(self, reason: str = "quit") -> None:
        """End the session."""
        ...


class Responder(Protocol):
    """Decides in place of a person."""

    def __call__(self, opened: DecisionOpened, /) -> Answer:
        """Answer one decision."""
        ...


@dataclass(frozen=True, slots=True)
class NobodyThere:
    """Refuses approvals; answers questions only from the prepared file."""

    answers: PreparedAnswers = field(default_factory=PreparedAnswers)

    def __call__(self, opened: DecisionOpened) -> Answer:
        """Answer one decision."""
        if isinstance(opened.prompt, ApprovalPrompt):
            return NOBODY
        return self.answers.reply(opened.prompt) or NOBODY_REPLIES


class HeadlessRun:
    """Plays one run, prints it, and obeys signals."""

    def __init__(self, report: Report, responder: Responder) -> None:
        """Prepare.

        Args:
            report: Prints the events.
            responder: Decides in place of a person.
        """
        self._report = report
        self._responder = responder
        self._session: RunnableSession | None = None
        self._task: asyncio.Task[RunEnded] | None = None
        self._signals = 0
        self._last_n = 0
        self._ended = False

    async def play(self, open_session: Callable[[], Awaitable[RunnableSession]], task: str) -> int:
        """Open the session, run `task`, close, and return the exit code."""
        loop = asyncio.get_running_loop()
        for number in SIGNALS:
            loop.add_signal_handler(number, self._take_signal)
        self._task = asyncio.create_task(self._run(open_session, task))
        try:
            ended = await self._task
        except asyncio.CancelledError:
            ended = self._conclude(RunEnded(reason="stopped", exit_code=INTERRUPTED))
        except HandrailError as error:
            ended = self._conclude(failed_run(error, exit_code_of(error)))
        except Exception as error:  # noqa: BLE001 - headless top: a bug becomes one line and an exit code
            ended = self._conclude(failed_run(kept_crash(error), GAVE_UP))
        await self._close()
        await asyncio.to_thread(self._report.close)
        return INTERRUPTED if self._report.reader_gone else ended.exit_code

    async def _run(
        self, open_session: Callable[[], Awaitable[RunnableSession]], task: str
    ) -> RunEnded:
        session = await open_session()
        for record in session.log.records:
            self._take(record)
        session.log.follow(self._take)
        self._session = session
        return await session.run(task)

    def _take(self, record: Record) -> None:
        if self._ended:
            return
        self._ended = isinstance(record.event, RunEnded)
        self._last_n = record.n
        self._report.take(record)
        loop = asyncio.get_running_loop()
        if isinstance(record.event, DecisionOpened):
            loop.call_soon(self._answer, record.event)
        if self._report.reader_gone and self._session is not None and self._session.running:
            loop.call_soon(self._session.interrupt)

    def _answer(self, opened: DecisionOpened) -> None:
        if self._session is not None:
            self._session.answer(opened.decision_id, self._responder(opened))

    def _take_signal(self) -> None:
        self._signals += 1
        if self._signals > 1 or self._ended:
            self._leave_now()
        elif self._session is not None and self._session.running:
            self._session.interrupt()
        elif self._task is not None:
            self._task.cancel()

    def _leave_now(self) -> None:
        """End at once: the person asked twice, or the run is over and nobody reads what is left of it."""
        self._print_end(RunEnded(reason="stopped", exit_code=INTERRUPTED))
        self._report.close(FORCED_FLUSH_S)
        sys.stderr.flush()
        os._exit(INTERRUPTED)

    def _conclude(self, ended: RunEnded) -> RunEnded:
        """Record the end of a run that did not get as far as to record it itself."""
        if self._session is not None:
            self._session.log.append(ended)
        else:
            self._print_end(ended)
        return ended

    def _print_end(self, ended: RunEnded) -> None:
        log = EventLog(SystemClock())
        record = log.append(ended)
        self._take(replace(record, n=self._last_n + 1))

    async def _close(self) -> None:
        if self._session is None:
            return
        try:
            await asyncio.wait_for(self._session.close("end"), CLOSE_TIMEOUT_S)
        except (TimeoutError, asyncio.CancelledError):
            return

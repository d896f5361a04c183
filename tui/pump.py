"""Follows the log of a session and tells the screen what changed, at most 30 times a second and never for nothing."""

import asyncio
import time
from collections.abc import Awaitable, Callable, Sequence
from typing import TYPE_CHECKING, Final

from core.run_view import Parts, RunView, reduce_all
from tui.view_changed import ViewChanged

if TYPE_CHECKING:
    from core.event_log import EventLog
    from core.record import Record

FRAME_S: Final = 1 / 30
"""Shortest time between two updates of the screen."""
SLICE: Final = 2000
"""Records that are reduced before the event loop gets a turn: about 10 ms."""


class Pump:
    """Reduces a log into one view, for as long as its task runs."""

    def __init__(
        self,
        log: "EventLog",
        tell: Callable[[ViewChanged], object],
        *,
        monotonic: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], Awaitable[object]] = asyncio.sleep,
    ) -> None:
        """Follow `log`.

        Args:
            log: The session's log.
            tell: Takes each change.
            monotonic: A clock, for the time that passes between records.
            sleep: Waits for the next frame.
        """
        self.view = RunView()
        self._log = log
        self._tell = tell
        self._monotonic = monotonic
        self._sleep = sleep
        self._taken_at_s = monotonic()

    def now_s(self) -> float:
        """Return the time now on the clock of the records."""
        return self.view.header.last_mono_s + max(self._monotonic() - self._taken_at_s, 0.0)

    async def run(self) -> None:
        """Follow the log for ever; waits without any timer while nothing happens."""
        async for batch in self._log.batches():
            parts = await self._reduce(batch)
            self._taken_at_s = self._monotonic()
            if parts:
                self._tell(ViewChanged(self.view, parts))
                await self._sleep(FRAME_S)

    async def _reduce(self, batch: "Sequence[Record]") -> Parts:
        changed: Parts = frozenset()
        for start in range(0, len(batch), SLICE):
            changed |= reduce_all(self.view, batch[start : start + SLICE])
            if start + SLICE < len(batch):
                await asyncio.sleep(0)
        return changed

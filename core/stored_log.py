"""Keeps the journal in step with the log, also while the disk cannot take it."""

import asyncio
from collections import deque
from collections.abc import Callable
from contextlib import suppress

from core.decision import DecisionClosed
from core.errors import StoreError
from core.events import MemoryEdited, ModeChanged, SessionClosed
from core.journal import Journal
from core.record import Record

SYNC_DELAY_S = 1.0
"""Records that need no sync of their own reach the disk within this time."""
SYNC_NOW = (DecisionClosed, MemoryEdited, ModeChanged, SessionClosed)
"""Events that are synced at once, in a thread. No effect starts before they are on the disk."""


class StoredLog:
    """Writes each record to the journal; what cannot be written waits, and no effect starts meanwhile."""

    def __init__(self, journal: Journal, on_failure: Callable[[StoreError], None]) -> None:
        """Write to `journal`; `on_failure` is told once for each outage."""
        self._journal = journal
        self._on_failure = on_failure
        self._waiting: deque[Record] = deque()
        self._failure: StoreError | None = None
        self._timer: asyncio.TimerHandle | None = None
        self._urgent = 0
        """Records of `SYNC_NOW` taken so far."""
        self._urgent_on_disk = 0
        """How many of them are known to be on the disk."""

    def take(self, record: Record) -> None:
        """Write a record, after those that still wait."""
        self._waiting.append(record)
        self._flush()
        if isinstance(record.event, SYNC_NOW):
            self._urgent += 1
            self._sync_in_thread()
        elif self._timer is None:
            self._schedule()

    def ensure_stored(self) -> bool:
        """Check that everything is written.

        Returns:
            Whether `make_durable` must come before an effect: a decision, or the like, is not on the disk yet.

        Raises:
            StoreError: It is not; no effect may start.
        """
        if self._waiting:
            self._flush()
        if self._failure is not None:
            raise self._failure
        return self._urgent > self._urgent_on_disk

    def make_durable(self) -> None:
        """Bring what is written to the disk; blocks for some milliseconds, so it may be called in a thread.

        Raises:
            StoreError: The disk did not take it.
        """
        urgent = self._urgent
        self._journal.sync()
        self._urgent_on_disk = max(self._urgent_on_disk, urgent)

    def close(self) -> None:
        """Write what waits, if it can be written now, and close the journal."""
        if self._timer is not None:
            self._timer.cancel()
        self._flush()
        try:
            self._journal.close()
        except StoreError as error:
            self._fail(error)

    def _flush(self) -> None:
        while self._waiting:
            try:
                self._journal.write(self._waiting[0])
            except StoreError as error:
                self._fail(error)
                return
            self._waiting.popleft()
        self._failure = None

    def _fail(self, error: StoreError) -> None:
        first = self._failure is None
        self._failure = error
        if first:
            self._on_failure(error)

    def _schedule(self) -> None:
        try:
            loop = asyncio.get_running_loop()
        except RuntimeError:
            return
        self._timer = loop.call_later(SYNC_DELAY_S, self._sync_later)

    def _sync_later(self) -> None:
        self._timer = None
        self._sync_in_thread()

    def _sync_in_thread(self) -> None:
        try:
            loop = asyncio.get_running_loop()
        except RuntimeError:
            self._sync()
            return
        loop.run_in_executor(None, self._sync_for, loop)

    def _sync_for(self, loop: asyncio.AbstractEventLoop) -> None:
        """Sync in a thread of the loop's; the loop hears of a failure."""
        try:
            self.make_durable()
        except StoreError as error:
            with suppress(RuntimeError):  # the loop has ended meanwhile: nobody is left to be told
                loop.call_soon_threadsafe(self._fail, error)

    def _sync(self) -> None:
        try:
            self.make_durable()
        except StoreError as error:
            self._fail(error)

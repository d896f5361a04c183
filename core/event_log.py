"""The append-only log of a session: what the screen, the journal, `--json` and the tests all read."""

import asyncio
import time
from collections.abc import AsyncIterator, Callable, Sequence
from datetime import UTC, datetime

from core.events import Event, RunEnded, RunStarted, StepStarted
from core.ports import Clock
from core.record import Record

Follower = Callable[[Record], None]
"""Called in order with each record as it is appended; must not block."""


class SystemClock:
    """The machine's own clock."""

    def now_utc(self) -> datetime:
        """Return the wall clock."""
        return datetime.now(UTC)

    def monotonic(self) -> float:
        """Return monotonic seconds."""
        return time.monotonic()

    async def sleep(self, seconds: float) -> None:
        """Wait."""
        await asyncio.sleep(seconds)


class EventLog:
    """Records in order, with a way to wait for more.

    Appending and reading belong to one event loop; nothing is ever changed or removed.
    """

    def __init__(self, clock: Clock, *, records: Sequence[Record] = ()) -> None:
        """Start a log, with `records` of an earlier part of the session if there are any."""
        self._clock = clock
        self._records = list(records)
        self._followers: list[Follower] = []
        self._grown = asyncio.Event()
        last = self._records[-1] if self._records else None
        self._run_id = last.run_id if last and not isinstance(last.event, RunEnded) else ""
        self._step = last.step if last and self._run_id else 0
        self._runs = sum(isinstance(record.event, RunStarted) for record in self._records)

    def __len__(self) -> int:
        """Return the number of records."""
        return len(self._records)

    @property
    def records(self) -> Sequence[Record]:
        """All records, oldest first; do not change it."""
        return self._records

    @property
    def step(self) -> int:
        """Current step of the run, 0 outside one."""
        return self._step

    @property
    def run_id(self) -> str:
        """Current run, "" outside one."""
        return self._run_id

    def follow(self, follower: Follower) -> None:
        """Call `follower` with each later record."""
        self._followers.append(follower)

    def append(self, event: Event) -> Record:
        """Add an event.

        Raises:
            StoreError: The journal cannot be written (from its follower); the record is in the log all the same.
        """
        self._enter(event)
        record = Record(
            n=len(self._records) + 1,
            at_utc=self._clock.now_utc().isoformat(timespec="milliseconds").replace("+00:00", "Z"),
            mono_s=round(self._clock.monotonic(), 6),
            run_id=self._run_id,
            step=self._step,
            event=event,
        )
        self._records.append(record)
        self._leave(event)
        self._grown.set()
        for follower in self._followers:
            follower(record)
        return record

    async def batches(self, after: int = 0) -> AsyncIterator[Sequence[Record]]:
        """Yield all records beyond sequence `after`, then each later batch as it comes, for ever."""
        while True:
            if len(self._records) > after:
                batch = self._records[after:]
                after += len(batch)
                yield batch
                continue
            self._grown.clear()
            await self._grown.wait()

    def _enter(self, event: Event) -> None:
        if isinstance(event, RunStarted):
            self._runs += 1
            self._run_id, self._step = f"run-{self._runs}", 0
        elif isinstance(event, StepStarted):
            self._step += 1

    def _leave(self, event: Event) -> None:
        if isinstance(event, RunEnded):
            self._run_id, self._step = "", 0

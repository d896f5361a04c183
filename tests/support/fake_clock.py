"""A clock that moves only when it is told to."""

import asyncio
from datetime import UTC, datetime, timedelta


class FakeClock:
    """Time in the test's own hands; sleepers wake when time is moved past their end."""

    def __init__(self) -> None:
        self.now_s = 1000.0
        self.slept_s: list[float] = []
        self._sleepers: list[tuple[float, asyncio.Event]] = []

    def now_utc(self) -> datetime:
        return datetime(2026, 1, 1, tzinfo=UTC) + timedelta(seconds=self.now_s)

    def monotonic(self) -> float:
        return self.now_s

    def advance(self, seconds: float) -> None:
        self.now_s += seconds
        for end_s, event in self._sleepers:
            if end_s <= self.now_s:
                event.set()

    async def sleep(self, seconds: float) -> None:
        self.slept_s.append(seconds)
        event = asyncio.Event()
        self._sleepers.append((self.now_s + seconds, event))
        await event.wait()


class InstantClock(FakeClock):
    """Sleeping takes no time but is counted."""

    async def sleep(self, seconds: float) -> None:
        self.slept_s.append(seconds)
        self.now_s += seconds
        await asyncio.sleep(0)

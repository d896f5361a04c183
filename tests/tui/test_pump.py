"""The pump: everything is shown, at most 30 times a second, and nothing is done for nothing."""

import asyncio

import pytest

from core.event_log import EventLog
from core.events import SessionClosed, TextStreamed
from tests.support.fake_clock import FakeClock
from tests.support.feed import Feed
from tests.support.waiting import DEADLINE_S
from tui.pump import FRAME_S, SLICE, Pump
from tui.view_changed import ViewChanged


class Screen:
    """Takes changes; a test waits for what it wants to see."""

    def __init__(self) -> None:
        self.changes: list[ViewChanged] = []
        self._changed = asyncio.Event()

    def take(self, change: ViewChanged) -> None:
        self.changes.append(change)
        self._changed.set()

    async def until_n(self, pump: Pump, n: int) -> None:
        async with asyncio.timeout(DEADLINE_S):
            while pump.view.n < n:
                self._changed.clear()
                await self._changed.wait()


@pytest.fixture
def feed() -> Feed:
    clock = FakeClock()
    return Feed(EventLog(clock), clock)


async def test_a_burst_becomes_few_changes_that_hold_everything(feed: Feed) -> None:
    screen = Screen()
    pump = Pump(feed.log, screen.take)
    task = asyncio.create_task(pump.run())
    feed.start("task")
    for number in range(300):
        feed.say(TextStreamed(text=f"{number} "))
        if number % 10 == 0:
            await asyncio.sleep(0)
    await screen.until_n(pump, len(feed.log))
    task.cancel()
    assert len(screen.changes) <= 4
    text = pump.view.conversation.open_text
    assert text is not None
    assert text.text.split() == [str(number) for number in range(300)]


async def test_after_each_change_there_is_one_frame_of_rest(feed: Feed) -> None:
    screen = Screen()
    rests: list[float] = []

    async def rest(seconds: float) -> None:
        rests.append(seconds)

    pump = Pump(feed.log, screen.take, sleep=rest)
    task = asyncio.create_task(pump.run())
    for number in range(5):
        feed.start(f"task {number}")
        await screen.until_n(pump, len(feed.log))
    task.cancel()
    assert len(screen.changes) == 5
    assert rests == [FRAME_S] * len(rests)
    assert len(rests) >= 4


async def test_nothing_is_done_while_the_log_is_quiet(feed: Feed) -> None:
    screen = Screen()
    rests: list[float] = []

    async def rest(seconds: float) -> None:
        rests.append(seconds)

    pump = Pump(feed.log, screen.take, sleep=rest)
    feed.start("task")
    task = asyncio.create_task(pump.run())
    for _ in range(200):
        await asyncio.sleep(0)
    assert (len(screen.changes), rests) == (1, [FRAME_S])
    task.cancel()


async def test_a_change_that_shows_nowhere_is_not_told(feed: Feed) -> None:
    screen = Screen()
    pump = Pump(feed.log, screen.take)
    task = asyncio.create_task(pump.run())
    feed.say(SessionClosed())
    feed.start("task")
    await screen.until_n(pump, len(feed.log))
    task.cancel()
    assert len(screen.changes) == 1


async def test_a_long_log_lets_others_have_a_turn(feed: Feed) -> None:
    feed.start("task")
    for number in range(SLICE):
        feed.say(TextStreamed(text="x"))
        del number
    screen, turns = Screen(), 0

    async def other() -> None:
        nonlocal turns
        while not screen.changes:
            turns += 1
            await asyncio.sleep(0)

    pump = Pump(feed.log, screen.take)
    task = asyncio.create_task(pump.run())
    await other()
    task.cancel()
    assert turns >= 2


async def test_the_time_now_goes_on_from_the_last_record(feed: Feed) -> None:
    screen = Screen()
    pump = Pump(feed.log, screen.take, monotonic=feed.clock.monotonic)
    task = asyncio.create_task(pump.run())
    feed.start("task")
    await screen.until_n(pump, len(feed.log))
    now_s = feed.clock.now_s
    feed.clock.advance(12)
    assert pump.now_s() == pytest.approx(now_s + 12)
    task.cancel()

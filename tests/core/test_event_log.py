import asyncio
from typing import get_args

from core.event_log import EventLog, SystemClock
from core.events import (
    EVENT_ADAPTER,
    Event,
    NoticeRaised,
    RunEnded,
    RunStarted,
    StepStarted,
    TextStreamed,
)
from tests.support.fake_clock import FakeClock

START = RunStarted(task="t", max_steps=1, max_minutes=1, max_cost_usd=0)
END = RunEnded(reason="answered", exit_code=0)


def test_records_are_numbered_and_carry_run_and_step() -> None:
    log = EventLog(FakeClock())
    for event in (
        NoticeRaised(level="info", text="x"),
        START,
        StepStarted(),
        TextStreamed(text="a"),
        END,
        START,
    ):
        log.append(event)
    seen = [(record.n, record.run_id, record.step) for record in log.records]
    assert seen == [
        (1, "", 0),
        (2, "run-1", 0),
        (3, "run-1", 1),
        (4, "run-1", 1),
        (5, "run-1", 1),
        (6, "run-2", 0),
    ]


def test_a_log_goes_on_where_an_earlier_one_ended() -> None:
    first = EventLog(FakeClock())
    for event in (START, StepStarted()):
        first.append(event)
    second = EventLog(FakeClock(), records=first.records)
    record = second.append(StepStarted())
    assert (record.n, record.run_id, record.step) == (3, "run-1", 2)
    second.append(END)
    assert second.append(START).run_id == "run-2"


async def test_a_reader_gets_what_is_there_and_then_what_comes() -> None:
    log = EventLog(SystemClock())
    log.append(START)
    batches = log.batches()
    assert [record.n for record in await anext(batches)] == [1]
    waiting = asyncio.ensure_future(anext(batches))
    await asyncio.sleep(0)
    assert not waiting.done()
    log.append(TextStreamed(text="a"))
    log.append(TextStreamed(text="b"))
    assert [record.n for record in await waiting] == [2, 3]


async def test_two_readers_miss_nothing() -> None:
    log = EventLog(SystemClock())
    first, second = log.batches(), log.batches(after=1)
    waiting = asyncio.ensure_future(anext(first)), asyncio.ensure_future(anext(second))
    await asyncio.sleep(0)
    log.append(START)
    log.append(END)
    got = [[record.n for record in await one] for one in waiting]
    assert got[0][0] == 1
    assert got[1] == [2]


def test_every_kind_of_event_is_a_past_participle_and_survives_json() -> None:
    kinds = []
    for event in get_args(Event):
        kind = event.__dataclass_fields__["kind"].default
        kinds.append(kind)
        assert kind.rsplit("_", 1)[-1].endswith("ed") or kind in ("context_built", "run_paused")
    assert len(set(kinds)) == len(kinds)
    assert EVENT_ADAPTER.validate_json(EVENT_ADAPTER.dump_json(END)) == END

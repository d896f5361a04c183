"""The power goes: only what was synced is left. No effect that needs a durable intent is without one."""

import asyncio
import os
import random
import time
from dataclasses import dataclass
from pathlib import Path

from core.dispatch import DURABLE_RISKS
from core.events import CallIntended, Event, NoticeRaised, RunEnded, StepStarted
from core.journal import FILE_NAME, Journal, read_journal
from core.record import Record
from core.session import Session
from core.stored_log import SYNC_DELAY_S, SYNC_NOW
from core.vocabulary import Mode
from tests.faults.worked import plan_session
from tests.support.exhaustive import count

CUTS = 200
SEEDS = 3


@dataclass(frozen=True)
class Written:
    """A record was acknowledged."""

    record: Record
    end: int
    """Size of the file then."""


@dataclass(frozen=True)
class Synced:
    """All up to a size is on the disk."""

    size_bytes: int


@dataclass(frozen=True)
class Started:
    """A call may have an effect from here on."""

    intent: CallIntended


class TracedJournal(Journal):
    """Keeps the order of writes, syncs and effects."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self.trace: list[Written | Synced | Started] = []
        self.synced = asyncio.Event()
        self._loop = asyncio.get_running_loop()

    def write(self, record: Record) -> None:
        super().write(record)
        self.trace.append(Written(record, os.fstat(self._fd).st_size))

    def _sync_file(self) -> None:
        size_bytes = os.fstat(self._fd).st_size
        super()._sync_file()
        self.trace.append(Synced(size_bytes))
        self._loop.call_soon_threadsafe(self.synced.set)


class Person:
    """Changes the mode and pins the task while the run goes on."""

    def __init__(self, session: Session) -> None:
        self._session = session
        session.log.follow(self.take)

    def take(self, record: Record) -> None:
        if isinstance(record.event, StepStarted) and record.step in (3, 8):
            mode: Mode = "auto" if record.step == 3 else "ask"
            loop = asyncio.get_running_loop()
            loop.call_soon(self._session.set_mode, mode)
            unit_id = self._session.memory.units[0].unit_id
            operation = "pin" if record.step == 3 else "unpin"
            loop.call_soon(self._session.edit_memory, operation, unit_id)


class Starts:
    """Puts into the trace when a tool is really called."""

    def __init__(self, session: Session, journal: TracedJournal) -> None:
        self._intents: dict[str, CallIntended] = {}
        self._trace = journal.trace
        session.log.follow(self.take)

    def take(self, record: Record) -> None:
        if isinstance(record.event, CallIntended):
            self._intents[record.event.call_id] = record.event

    def start(self, call_id: str) -> None:
        self._trace.append(Started(self._intents[call_id]))


async def traced(folder: Path, seed: int) -> TracedJournal:
    """Work the plan off; return the journal with its trace."""
    journals: list[TracedJournal] = []

    def open_journal(place: Path) -> Journal:
        journals.append(TracedJournal(place))
        return journals[0]

    session = plan_session(folder, seed, open_journal)
    starts = Starts(session, journals[0])
    for tool in session._parts.tools:
        tool.on_start = starts.start  # type: ignore[attr-defined]  # all are tests.faults.victim.PointedTool
    Person(session)
    await session.run("Go on.")
    await session.close()
    return journals[0]


async def test_no_effect_is_left_without_its_intent_and_no_decision_is_lost(tmp_path: Path) -> None:
    chance = random.Random(2)
    for seed in range(SEEDS):
        folder = tmp_path / str(seed)
        journal = await traced(folder, seed)
        data = journal.path.read_bytes()
        kinds = {type(event) for event in _written(journal.trace)}
        assert set(SYNC_NOW) <= kinds
        points = range(1, len(journal.trace) + 1)
        for cut in chance.sample(points, min(len(points), count(30, CUTS // SEEDS + 1))):
            what = journal.trace[:cut]
            left = data[
                : max((one.size_bytes for one in what if isinstance(one, Synced)), default=0)
            ]
            wrong = _lost(what, len(left))
            assert not wrong, (seed, cut, wrong)
            await check_opening(tmp_path / f"{seed}-{cut}", left)
        last = [one for one in journal.trace if isinstance(one, Synced)][-1]
        assert last.size_bytes == len(data)


def _written(trace: list[Written | Synced | Started]) -> list[Event]:
    return [one.record.event for one in trace if isinstance(one, Written)]


def _lost(trace: list[Written | Synced | Started], left_bytes: int) -> list[str]:
    """Return the records that an effect of the trace rests on and that are not left."""
    urgent: list[Written] = []
    intents: dict[str, Written] = {}
    wrong = []
    for one in trace:
        if isinstance(one, Written):
            urgent += [one] if isinstance(one.record.event, SYNC_NOW) else []
            if isinstance(one.record.event, CallIntended):
                intents[one.record.event.call_id] = one
        elif isinstance(one, Started) and one.intent.risk != "R0":
            needed = list(urgent)
            if one.intent.risk in DURABLE_RISKS:
                needed.append(intents[one.intent.call_id])
            wrong += [
                f"{need.record.event.kind} before {one.intent.call_id}"
                for need in needed
                if need.end > left_bytes
            ]
    return wrong


async def check_opening(folder: Path, left: bytes) -> None:
    """What is left opens, without a torn end, and closes."""
    (folder / "session").mkdir(parents=True, mode=0o700)
    (folder / "session" / FILE_NAME).write_bytes(left)
    assert not read_journal(folder / "session" / FILE_NAME).torn_bytes
    session = plan_session(folder)
    await session.close()


async def test_what_needs_no_sync_of_its_own_is_on_the_disk_within_a_second(tmp_path: Path) -> None:
    journals: list[TracedJournal] = []

    def open_journal(place: Path) -> Journal:
        journals.append(TracedJournal(place))
        return journals[0]

    session = plan_session(tmp_path, 1, open_journal)
    started_s = time.monotonic()
    session.log.append(NoticeRaised(level="info", text="something"))
    async with asyncio.timeout(10):
        await journals[0].synced.wait()
    assert time.monotonic() - started_s < SYNC_DELAY_S + 0.5
    assert journals[0].trace[-1] == Synced(journals[0].path.stat().st_size)
    assert not any(isinstance(event, RunEnded) for event in _written(journals[0].trace))
    await session.close()

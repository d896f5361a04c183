"""Text of files in memory: first, pinned, whole, and the same however the log is read."""

import random

from core.event_log import EventLog
from core.events import Event, MemoryEdited, MessageSteered, RunStarted, StepStarted
from core.guidance import InstructionsLoaded
from core.memory import Memory
from core.record import Record
from tests.core.test_memory import ended, is_paired, remembered, replied, sent, started
from tests.support.fake_clock import FakeClock


def told(path: str = "AGENTS.md", text: str = "Be brief.") -> InstructionsLoaded:
    return InstructionsLoaded(path=path, text=text, sha256=text)


def test_they_come_first_whenever_they_came() -> None:
    memory = remembered(
        started(), replied("a"), ended("a"), told(), MessageSteered(text="x"), told("b/AGENTS.md")
    )
    assert [unit.origin for unit in memory.units] == ["AGENTS.md", "b/AGENTS.md", "", "", ""]
    assert all(unit.pinned and unit.role == "note" for unit in memory.units[:2])
    assert memory.task is memory.units[2]


def test_a_newer_text_takes_the_place_of_the_older_and_of_an_edit() -> None:
    memory = remembered(told(), started())
    first = memory.units[0].unit_id
    log = EventLog(FakeClock(), records=[])
    log.follow(memory.apply)
    log.append(MemoryEdited(operation="edit", unit_id=first, text="Be long."))
    assert memory.units[0].edited
    log.append(told(text="Be brief and kind."))
    assert [unit.head.text for unit in memory.units] == ["Be brief and kind.", "task"]
    assert not memory.units[0].edited


def test_they_can_be_edited_unpinned_and_dropped_like_any_unit() -> None:
    memory = remembered(told(), started())
    first = memory.units[0].unit_id
    assert not memory.allows("drop", first)
    for operation in ("unpin", "drop"):
        assert memory.allows(operation, first)
        record = Record(
            n=9, at_utc="", mono_s=0, run_id="", step=0,
            event=MemoryEdited(operation=operation, unit_id=first),
        )  # fmt: skip
        memory.apply(record)
    assert [message.text for message in sent(memory)] == ["task"]


def test_they_never_part_a_call_from_its_results() -> None:
    rng = random.Random(7)
    for _ in range(300):
        events = _random_events(rng)
        memory = remembered(*events)
        assert is_paired(sent(memory))
        count = len({event.path for event in events if isinstance(event, InstructionsLoaded)})
        assert [unit.origin != "" for unit in memory.units[:count]] == [True] * count
        assert not any(unit.origin for unit in memory.units[count:])
        again = remembered(*events)
        assert [m.text for m in sent(again)] == [m.text for m in sent(memory)]


def _random_events(rng: random.Random) -> list[Event]:
    events: list[Event] = [started()]
    for number in range(rng.randrange(1, 12)):
        calls = [f"c{number}-{index}" for index in range(rng.randrange(0, 3))]
        group: list[Event] = [StepStarted(), replied(*calls, text="t"), *map(ended, calls)]
        group.insert(rng.randrange(len(group) + 1), told(f"{rng.randrange(3)}/AGENTS.md"))
        if rng.random() < 0.3:
            group.append(MemoryEdited(operation=rng.choice(["undo", "redo"]), unit_id=""))
        if rng.random() < 0.3:
            group.append(MemoryEdited(operation="insert", unit_id="", text="note"))
        events += group
    return events


def test_an_old_journal_line_is_still_read() -> None:
    line = '{"kind":"run_started","task":"t","max_steps":1,"max_minutes":1,"max_cost_usd":0}'
    from core.events import EVENT_ADAPTER

    assert isinstance(EVENT_ADAPTER.validate_json(line), RunStarted)
    event = told()
    assert EVENT_ADAPTER.validate_json(EVENT_ADAPTER.dump_json(event)) == event


def test_memory_knows_nothing_of_them_before_they_are_told() -> None:
    assert Memory().units == []

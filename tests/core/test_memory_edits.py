"""Random edits of memory: whatever is done to units, no request is ever invalid, and undo gives the same bytes back."""

import random
from collections import Counter
from collections.abc import Callable

from core.chat.history import write_history
from core.chat.request_body import BodyBuilder
from core.context.builder import ContextBuilder
from core.events import ToolEnded
from core.memory import Memory
from core.memory_events import CompactionEnded, MemoryScored
from core.messages import ModelRequest
from core.provider import ProviderFlags
from tests.support.exhaustive import count
from tests.support.remembered import TOOLS, Remembered, builder, replied
from tests.support.request_validator import problems_of

EDITS = count(20_000, 100_000)
"""Edits in all, each followed by a request that is judged."""
EDITS_IN_ONE = 250
"""Edits of one memory, before another one is begun."""
LIMITS = (0, 0, 120, 250, 500)
BODIES = BodyBuilder("m")


class Editing:
    """Does one random thing after the other to one memory, and keeps what must hold."""

    def __init__(self, seed: int) -> None:
        self.chance = random.Random(seed)
        self.made = Remembered("begin with this")
        self.building = builder(1.3)
        self.done: Counter[str] = Counter()
        self.pinned: set[str] = set()
        for _ in range(8):
            self.grow()

    @property
    def memory(self) -> Memory:
        return self.made.memory

    def grow(self) -> None:
        """A step of the model, or something the person says, or a new run."""
        kind = self.chance.randrange(12)
        if kind == 0:
            self.made.start(f"task {len(self.made.log)}")
        elif kind == 1:
            self.made.say("and " * self.chance.randrange(1, 20))
        else:
            calls = self.chance.randrange(4)
            ids = [f"c{len(self.made.log)}-{number}" for number in range(calls)]
            self.made.append(replied(*ids, text=self.chance.choice(["", "hm", "looking " * 9])))
            missing = self.chance.randrange(8) == 0
            for call_id in self.chance.sample(ids, max(0, calls - missing)):
                self.made.append(self._result(call_id))

    def _result(self, call_id: str) -> ToolEnded:
        output = "word " * self.chance.choice([1, 10, 200])
        return ToolEnded(call_id=call_id, name="shell", outcome="ok", output=output)

    def edit(self) -> None:
        operations = ("edit", "drop", "restore", "pin", "unpin", "insert", "undo", "redo")
        operation = self.chance.choice((*operations, "compact", "compact", "score"))
        self.done[operation] += 1
        unit = self.chance.choice(self.memory.units)
        if operation == "compact":
            self.compact()
        elif operation == "score":
            self.made.append(MemoryScored(scores={unit.unit_id: 0.1}, left_out=(unit.unit_id,)))
        else:
            self.made.edit(operation, unit.unit_id, self.chance.choice(["new text", "x", "  "]))

    def edit_that_changes(self) -> None:
        """One that can be taken back."""
        operations = ("edit", "drop", "restore", "pin", "unpin", "insert", "compact")
        operation = self.chance.choice(operations)
        if operation == "compact":
            self.compact()
        else:
            self.made.edit(operation, self.chance.choice(self.memory.units).unit_id, "new text")

    def compact(self) -> None:
        """A summary of some units: also of such that must not be, which then changes nothing."""
        units = self.memory.units
        start = self.chance.randrange(len(units))
        chosen = units[start : start + self.chance.randrange(1, 9)]
        if self.chance.randrange(3):
            chosen = [unit for unit in chosen if self.memory.can_summarise(unit)]
        ids = tuple(unit.unit_id for unit in chosen)
        self.made.append(CompactionEnded(unit_ids=ids, summary=self.chance.choice(["", "notes"])))

    def request(self, building: ContextBuilder, limit: int) -> ModelRequest:
        return building.build(self.memory, TOOLS, limit_tokens=limit).request

    def judge(self) -> None:
        limit = self.chance.choice(LIMITS)
        request = self.request(self.building, limit)
        assert problems_of(write_history(request)) == []
        texts = {message.text for message in request.messages}
        kept = [unit for unit in self.memory.units if self.memory.stays(unit)]
        assert self.memory.task in kept
        assert all(unit.head.text in texts for unit in kept)
        assert not any(unit.is_hidden for unit in kept)


def each_memory(edits: int) -> list[Editing]:
    return [Editing(seed) for seed in range(edits // EDITS_IN_ONE)]


def body(editing: Editing, building: Callable[[], ContextBuilder] = builder) -> bytes:
    request = editing.request(building(), 0)
    return BODIES.build(request, ProviderFlags(), {}).data


def test_no_edit_of_units_makes_a_request_a_strict_server_would_refuse() -> None:
    done: Counter[str] = Counter()
    for editing in each_memory(EDITS):
        for number in range(EDITS_IN_ONE):
            editing.edit()
            if number % 5 == 0:
                editing.grow()
            editing.judge()
        done += editing.done
    assert sum(done.values()) == EDITS
    assert min(done.values()) > EDITS / 30


def test_undo_gives_the_same_bytes_back_and_redo_those_after_it() -> None:
    for editing in each_memory(count(2_500, 10_000)):
        for _ in range(EDITS_IN_ONE // 5):
            before = body(editing)
            revision = editing.memory.revision
            units = len(editing.memory.units)
            editing.edit_that_changes()
            if (editing.memory.revision, len(editing.memory.units)) == (revision, units):
                continue
            after = body(editing)
            editing.made.edit("undo")
            assert body(editing) == before
            editing.made.edit("redo")
            assert body(editing) == after


def test_all_changes_can_be_taken_back_one_after_the_other() -> None:
    for editing in each_memory(count(2_500, 10_000)):
        bodies = [body(editing)]
        for _ in range(60):
            editing.edit_that_changes()
            if (now := body(editing)) != bodies[-1]:
                bodies.append(now)
        seen = [bodies[-1]]
        while editing.memory.allows("undo", ""):
            editing.made.edit("undo")
            if (now := body(editing)) != seen[-1]:
                seen.append(now)
        assert seen == bodies[::-1]


def test_a_resume_from_the_records_gives_the_same_bytes() -> None:
    for editing in each_memory(count(5_000, 25_000)):
        for _ in range(EDITS_IN_ONE // 2):
            editing.edit()
            if editing.chance.randrange(5) == 0:
                editing.grow()
        again = Memory()
        for record in editing.made.log.records:
            again.apply(record)
        request = builder(1.3).build(again, TOOLS, limit_tokens=250).request
        assert request == editing.request(editing.building, 250)
        assert [unit.state for unit in again.units] == [unit.state for unit in editing.memory.units]


def test_the_validator_sees_what_cutting_single_messages_does() -> None:
    """It must be able to fail: dropping messages, not units, is what it exists to find."""
    made = Remembered()
    for _ in range(5):
        made.step("result")
    whole = write_history(builder().build(made.memory, TOOLS).request)
    assert problems_of(whole) == []
    broken = [whole[:place] + whole[place + 1 :] for place in range(1, len(whole))]
    assert all(problems_of(messages) for messages in broken)
    assert problems_of([*whole, {"role": "system", "content": "x"}])
    assert problems_of([*whole, whole[2], whole[3]])

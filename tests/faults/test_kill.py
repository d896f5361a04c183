"""kill -9 at every named point of a run, then going on: nothing twice, nothing lost, nothing made up."""

import json
import random
import signal
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from core.events import ToolEnded
from core.journal import FILE_NAME, read_journal
from core.memory import Memory
from tests.faults.invariants import broken_invariants, memory_of
from tests.faults.nursery import Nursery
from tests.faults.plan import EDITS, FINAL, STEPS, key_of, plan_of
from tests.support.exhaustive import EXHAUSTIVE, count

POINTS = (
    *(
        f"{what}:{when}"
        for what in (
            "step_started",
            "model_replied",
            "tool_proposed",
            "call_intended",
            "effect",
            "tool_ended",
            "step_ended",
        )
        for when in ("before", "after")
    ),
)
"""Before and after each record of a step, and before and after what a call does."""
MORE_POINTS = ("decision_opened", "decision_closed")
"""In the steps that ask the person."""
TORN = (0.0, 0.5, 0.999)
"""By seed: how much of a line was written when the kill came before it was acknowledged."""
SEEDS = len(TORN)
PARTS = 4
"""The kills are split over so many tests, for several workers."""
SAMPLED = 15
"""Kills of a part in the quick suite."""
RANDOM_KILLS = 1000
RUN_S = 0.25
"""A whole run of the plan takes about so long here; kills come at any time of it."""
MAY_BE_UNKNOWN = ("call_intended:after", "effect:before", "effect:after", "tool_ended:before")
"""Only here can a call have begun without a result."""


@dataclass(frozen=True)
class Kill:
    """Where a process is killed."""

    seed: int
    step: int = 0
    """0 for wherever it is when its time has come."""
    point: str = ""
    after_s: float = 0.0


def all_kills() -> list[Kill]:
    kills = [
        Kill(seed, step, point)
        for seed in range(SEEDS)
        for step in range(1, STEPS + 1)
        for point in POINTS
    ]
    assert len(kills) == 504
    asking = ("ask", "submit", "pay")
    kills += [
        Kill(seed, step, f"{what}:{when}")
        for seed in range(SEEDS)
        for step, planned in enumerate(plan_of(seed), 1)
        for what in MORE_POINTS
        for when in ("before", "after")
        if planned.key in asking
    ]
    random.Random(11).shuffle(kills)
    return kills


@pytest.fixture(scope="module")
def nursery() -> Iterator[Nursery]:
    with Nursery() as one:
        yield one


@pytest.mark.parametrize("part", range(PARTS))
def test_a_kill_at_any_point_loses_nothing_and_nothing_happens_twice(
    nursery: Nursery, tmp_path: Path, part: int
) -> None:
    kills = all_kills()[part::PARTS]
    for number, kill in enumerate(kills if EXHAUSTIVE else kills[:SAMPLED]):
        check_kill(nursery, tmp_path / str(number), kill)


@pytest.mark.parametrize("part", range(PARTS))
def test_a_kill_at_any_time_loses_nothing_and_nothing_happens_twice(
    nursery: Nursery, tmp_path: Path, part: int
) -> None:
    chance = random.Random(part)
    for number in range(count(6, RANDOM_KILLS // PARTS)):
        kill = Kill(seed=number % SEEDS, after_s=chance.uniform(0.001, RUN_S))
        made_workspace(tmp_path / str(number))
        died = nursery.run(tmp_path / str(number), kill.seed, kill_after_s=kill.after_s)
        assert died in (-signal.SIGKILL, 0)
        check_going_on(nursery, tmp_path / str(number), kill)


def check_kill(nursery: Nursery, folder: Path, kill: Kill) -> None:
    made_workspace(folder)
    torn = TORN[kill.seed]
    died = nursery.run(folder, kill.seed, step=kill.step, point=kill.point, torn=torn)
    assert died == -signal.SIGKILL, f"{kill}: the process was not killed there ({died})"
    check_going_on(nursery, folder, kill)


def check_going_on(nursery: Nursery, folder: Path, kill: Kill) -> None:
    """Go on where the process was killed, and judge all that came of it."""
    assert nursery.run(folder, kill.seed) == 0, kill
    wrong = what_is_wrong(folder, kill)
    assert not wrong, f"{kill}: {wrong}"


def made_workspace(folder: Path) -> None:
    (folder / "workspace").mkdir(parents=True)
    (folder / "workspace/given.txt").write_text("given\n")


def what_is_wrong(folder: Path, kill: Kill) -> list[str]:
    effects = (folder / "effects").read_text().split()
    records = read_journal(folder / "session" / FILE_NAME).records
    result = json.loads((folder / "result").read_text())
    wrong = broken_invariants(folder / "session", effects)
    wrong += _lost(folder)
    unknown = {
        key_of(record.event.call_id)
        for record in records
        if isinstance(record.event, ToolEnded) and record.event.outcome == "unknown"
    }
    wrong += _told_wrongly(kill, effects, unknown)
    memory = Memory()
    for record in records:
        memory.apply(record)
    if result["memory"] != repr(memory_of(memory)):
        wrong.append("I7: the journal gives another memory than the session had")
    if (result["reason"], result["answer"]) != ("answered", FINAL):
        wrong.append(f"the plan ended {result['reason']}: {result['answer']}")
    if result["opened_s"] > 1:
        wrong.append(f"opening took {result['opened_s']:.2f} s")
    if (folder / "workspace/notes.txt").read_text() != "two\n":
        wrong.append("the edits did not come out right")
    return wrong


def _told_wrongly(kill: Kill, effects: list[str], unknown: set[str]) -> list[str]:
    """Compare what really happened with what was said of it."""
    wrong = []
    happened = Counter(key_of(call_id) for call_id in effects)
    for number, step in enumerate(plan_of(kill.seed), 1):
        key = f"s{number:02}.0"
        wanted = {0, 1} if key in unknown else {1 if step.has_effect else 0}
        if kill.after_s and step in EDITS:
            wanted = {0, 1}  # it may have come between the edit and the counting of it
        if happened[key] not in wanted:
            wrong.append(f"{step.key} happened {happened[key]} times, unknown: {key in unknown}")
        if key in unknown and not (step.may_be_unknown and kill.step in (0, number)):
            wrong.append(f"{step.key} is said to be unknown")
    if unknown and kill.point not in (*MAY_BE_UNKNOWN, ""):
        wrong.append(f"{unknown} is unknown after a kill at {kill.point}")
    return wrong


def _lost(folder: Path) -> list[str]:
    """Each record that was acknowledged must be where it was, as it was."""
    lines = (folder / "session" / FILE_NAME).read_bytes().splitlines()
    lost = []
    for ack in (folder / "acks").read_text().splitlines():
        n, crc = ack.split()
        if not lines[int(n) - 1].endswith(f'"crc":{crc}}}'.encode()):
            lost.append(f"record {n} was acknowledged and is lost")
    return lost

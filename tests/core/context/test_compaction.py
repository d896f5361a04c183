import asyncio
from collections.abc import AsyncGenerator

import pytest

from core.chat.history import write_history
from core.context.compaction import Compactor, summarisable
from core.context.plan import NEWEST_KEPT, Plan
from core.context.side_request import SideParts
from core.errors import ModelRefusedError, RunStopped
from core.event_log import SystemClock
from core.memory_events import CompactionEnded, CompactionStarted
from core.messages import ModelReply, ModelRequest, Usage
from core.model_piece import ModelPiece
from core.ports import Model
from tests.support.remembered import TOOLS, Remembered, builder, filled, states
from tests.support.request_validator import problems_of
from tests.support.scripted_model import HangingModel, ScriptedModel, text

WINDOW = 2000
SUMMARY = "Files a.txt and b.txt were read; a.txt holds 42. Open: the sum."


class SmallModel(ScriptedModel):
    window = WINDOW


class SlowModel(SmallModel):
    """Lets a test look at what it is asked, many times."""

    async def reply(self, request: ModelRequest) -> AsyncGenerator[ModelPiece, None]:
        self.replies.append(text(SUMMARY))
        async for piece in super().reply(request):
            yield piece


class Making:
    """A compactor over a memory, with what it spent."""

    def __init__(self, made: Remembered, model: Model) -> None:
        self.made, self.building = made, builder()
        self.spent: list[Usage] = []
        self.refused_price = False
        parts = SideParts(
            model=model,
            counter=self.building.counter,
            record=made.append,
            clock=SystemClock(),
            spend=lambda usage, cost: self.spent.append(usage),
            check_price=self.check_price,
            left_s=lambda: float("inf"),
        )
        self.compactor = Compactor(parts, made.memory, self.building)

    def check_price(self, price: float | None) -> None:
        if self.refused_price:
            raise RunStopped("cost", "The limit of $1 would be passed.")

    async def make_room(self) -> bool:
        summaries = len(self.summaries())
        await self.compactor.make_room(self.plan(), self.plan, "window")
        return len(self.summaries()) > summaries

    def plan(self) -> Plan:
        limit = self.building.limit(WINDOW)
        return self.building.build(self.made.memory, TOOLS, limit_tokens=limit)

    def summaries(self) -> list[str]:
        return [event.summary for event in self.ended() if event.summary]

    def ended(self) -> list[CompactionEnded]:
        events = [record.event for record in self.made.log.records]
        return [event for event in events if isinstance(event, CompactionEnded)]


def many_steps() -> Remembered:
    """So much short work that cutting results is not enough."""
    return filled(36, "some words of a result that is short enough to be kept whole " * 3)


async def test_the_oldest_units_are_summarised_and_the_request_fits_then() -> None:
    model = SmallModel(text(SUMMARY))
    making = Making(many_steps(), model)
    assert not making.plan().fits
    assert await making.make_room()
    plan = making.plan()
    assert plan.fits
    summary = making.made.memory.units[1]
    assert (summary.role, len(summary.summarises)) == ("summary", states(plan).count("summarised"))
    assert SUMMARY in plan.request.messages[1].text
    assert plan.request.messages[0].text == "the task itself"
    assert problems_of(write_history(plan.request)) == []
    assert making.spent == [Usage(input_tokens=10, output_tokens=5)]


async def test_it_asks_once_without_tools_with_the_task_and_the_record_within_the_window() -> None:
    model = SmallModel(text(SUMMARY))
    making = Making(many_steps(), model)
    await making.make_room()
    (request,) = model.requests
    assert request.tools == ()
    assert "the task itself" in request.messages[0].text
    assert "step 3" in request.messages[0].text
    assert request.max_output_tokens
    needed = making.building.counter.request(request)
    assert needed <= making.building.limit(WINDOW)


async def test_task_pins_plan_and_the_newest_units_are_never_summarised() -> None:
    made = many_steps()
    made.edit("pin", 2)
    made.memory.units[4].is_plan = True
    kept = [made.memory.units[place].unit_id for place in (0, 2, 4)]
    kept += [unit.unit_id for unit in made.memory.units[-NEWEST_KEPT:]]
    making = Making(made, SmallModel(text(SUMMARY)))
    assert await making.make_room()
    assert not set(making.ended()[0].unit_ids) & set(kept)
    assert making.plan().fits


async def test_taking_a_summary_back_gives_the_same_request_and_no_other_one_of_the_same() -> None:
    model = SmallModel(text(SUMMARY), text(SUMMARY))
    making = Making(many_steps(), model)
    before = making.plan().request
    await making.make_room()
    assert making.plan().request != before
    making.made.edit("undo")
    assert making.plan().request == before
    await making.make_room()
    first, second = making.ended()
    assert not set(first.unit_ids) & set(second.unit_ids)


@pytest.mark.parametrize(
    ("reply", "problem"),
    [
        (ModelRefusedError("The key was refused."), "The key was refused."),
        (ModelReply(outcome="empty"), "the model's reply was empty"),
        (text("long " * 5000), "it was hardly shorter"),
        (ModelReply(outcome="refused", text="No."), "the model's reply was refused"),
    ],
    ids=["error", "empty", "longer", "refused"],
)
async def test_without_a_usable_summary_units_are_left_out_as_before(
    reply: ModelReply | Exception, problem: str
) -> None:
    making = Making(many_steps(), SmallModel(reply))
    before = making.plan()
    assert not await making.make_room()
    assert problem in making.ended()[0].problem
    after = making.plan()
    assert (after.request, after.left_out) == (before.request, before.left_out)
    assert after.left_out > 0


async def test_after_a_failure_it_is_not_tried_at_every_step() -> None:
    model = SmallModel(ModelReply(outcome="empty"), text(SUMMARY))
    making = Making(many_steps(), model)
    tried = []
    for _ in range(11):
        await making.make_room()
        tried.append(len(model.requests))
        making.made.step("more words of a result " * 5)
    assert tried == [1] * 10 + [2]


async def test_a_record_too_long_for_one_request_is_summarised_in_parts() -> None:
    making = Making(filled(60, "some words of a result " * 12), SlowModel())
    assert await making.make_room()
    assert len(making.summaries()) > 1
    assert making.plan().fits


async def test_a_summary_that_cannot_be_paid_is_not_asked_for() -> None:
    model = SmallModel(text(SUMMARY))
    making = Making(many_steps(), model)
    making.refused_price = True
    assert not await making.make_room()
    assert model.requests == []
    assert making.ended()[0].problem == "The limit of $1 would be passed."


async def test_an_interruption_changes_nothing_and_says_so() -> None:
    model = HangingModel()
    made = many_steps()
    making = Making(made, model)
    making.building.refuse_from(1800)
    before = making.plan().request
    task = asyncio.create_task(making.make_room())
    await model.asked.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert making.ended()[0].problem == "it was interrupted"
    assert making.plan().request == before


async def test_what_streams_of_a_summary_is_not_shown_as_an_answer() -> None:
    making = Making(many_steps(), SmallModel(text(SUMMARY)))
    await making.make_room()
    kinds = [record.event.kind for record in making.made.log.records]
    assert "text_streamed" not in kinds
    assert isinstance(making.made.log.records[-2].event, CompactionStarted)


async def test_a_summary_of_summaries_brings_both_layers_back() -> None:
    model = SmallModel(text(SUMMARY), text(SUMMARY + " More."))
    making = Making(many_steps(), model)
    await making.make_room()
    first = making.plan().request
    while making.plan().fits:
        making.made.step("some words of a result that is short enough to be kept whole " * 3)
    grown = making.plan().request
    assert await making.make_room()
    assert (
        sum(unit.role == "summary" and not unit.is_hidden for unit in making.made.memory.units) == 1
    )
    making.made.edit("undo")
    assert making.plan().request == grown
    assert grown.messages[:2] == first.messages[:2]


async def test_pinned_units_survive_fifty_summaries() -> None:
    made = many_steps()
    made.edit("pin", 3)
    pinned = made.memory.units[3]
    model = SlowModel()
    making = Making(made, model)
    while len(model.requests) < 50:
        if not making.plan().fits:
            assert await making.make_room()
        made.step("some words of a result that is short enough to be kept whole " * 3)
        assert pinned.head.text in [message.text for message in making.plan().request.messages]
        assert made.memory.task is made.memory.units[0]


def test_a_person_can_only_summarise_what_may_be_summarised() -> None:
    made = filled(6, "some words of a result " * 40)
    made.edit("pin", 2)
    ids = [unit.unit_id for unit in made.memory.units]
    builder().build(made.memory, TOOLS)
    assert [unit.unit_id for unit in summarisable(made.memory, ids[:4])] == [ids[1], ids[3]]
    assert summarisable(made.memory, ids[:1]) == []

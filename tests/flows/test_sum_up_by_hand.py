import asyncio
from collections.abc import AsyncGenerator
from pathlib import Path

from core.budget import Limits
from core.events import RunPaused, StepStarted
from core.memory_events import CompactionEnded, CompactionStarted
from core.messages import ModelReply, ModelRequest
from core.model_piece import ModelPiece
from core.session import Session
from tests.support.fake_tools import EchoTool
from tests.support.opened import Opening, events_of
from tests.support.scripted_model import ScriptedModel, call, text
from tests.support.waiting import until

WORDS = "words of a result that take some room " * 10
NOTES = "It was echoed."


class HeldModel(ScriptedModel):
    """Echoes three times; a request for a summary waits until it is let go, and only one may be open at a time."""

    def __init__(self) -> None:
        super().__init__(*[self._next] * 9)
        self.steps = 0
        self.open = 0
        self.asked = asyncio.Event()
        self.let_go = asyncio.Event()

    def _next(self, request: ModelRequest) -> ModelReply:
        if not request.tools:
            return text(NOTES)
        self.steps += 1
        return text("done") if self.steps > 3 else call("echo", {"text": f"{self.steps} {WORDS}"})

    async def reply(self, request: ModelRequest) -> AsyncGenerator[ModelPiece, None]:
        self.open += 1
        assert self.open == 1
        try:
            if not request.tools:
                self.asked.set()
                await self.let_go.wait()
            async for piece in super().reply(request):
                yield piece
        finally:
            self.open -= 1


def opened(folder: Path, model: HeldModel) -> Session:
    opening = Opening(folder, model, [EchoTool()])
    opening.limits = Limits(max_steps=0)
    return opening.session()


def ids(session: Session) -> list[str]:
    return [unit.unit_id for unit in session.memory.units]


def summaries(session: Session) -> list[str]:
    return [event.summary for event in events_of(session) if isinstance(event, CompactionEnded)]


async def test_between_runs_a_summary_stands_for_what_was_chosen_but_the_task(
    tmp_path: Path,
) -> None:
    model = HeldModel()
    model.let_go.set()
    session = opened(tmp_path, model)
    await session.run("The task")
    assert await session.compact(ids(session))
    assert summaries(session) == [NOTES]
    assert [unit.role for unit in session.memory.units if not unit.is_hidden] == ["user", "summary"]
    started = next(event for event in events_of(session) if isinstance(event, CompactionStarted))
    assert started.reason == "person"
    await session.close()


async def test_nothing_is_asked_where_there_is_nothing_to_sum_up(tmp_path: Path) -> None:
    model = HeldModel()
    session = opened(tmp_path, model)
    await session.run("The task")
    asked = len(model.requests)
    assert not await session.compact([])
    assert not await session.compact(ids(session)[:2])
    assert not await session.compact(["u999"])
    assert len(model.requests) == asked
    await session.close()


async def test_a_paused_run_waits_for_the_summary_and_goes_on_with_it(tmp_path: Path) -> None:
    model = HeldModel()
    session = opened(tmp_path, model)

    def pause_after_two(record: object) -> None:
        if sum(isinstance(event, StepStarted) for event in events_of(session)) == 3:
            session.pause()

    session.log.follow(pause_after_two)
    running = asyncio.create_task(session.run("The task"))
    await until(
        session.log, lambda: any(isinstance(event, RunPaused) for event in events_of(session))
    )
    assert not await session.compact(ids(session))  # its step still goes on
    await until(session.log, lambda: events_of(session)[-1].kind == "step_ended")
    await asyncio.sleep(0)
    summing = asyncio.create_task(session.compact(ids(session)))
    await model.asked.wait()
    assert not await session.compact(ids(session))  # one at a time
    session.resume()
    await asyncio.sleep(0)
    assert model.steps == 3
    model.let_go.set()
    assert await summing
    assert (await running).answer == "done"
    assert NOTES in model.requests[-1].messages[1].text
    await session.close()


async def test_closing_the_session_ends_a_summary_that_is_under_way(tmp_path: Path) -> None:
    model = HeldModel()
    session = opened(tmp_path, model)
    await session.run("The task")
    summing = asyncio.create_task(session.compact(ids(session)))
    await model.asked.wait()
    await session.close()
    await asyncio.wait([summing])
    assert summing.cancelled()
    assert model.open == 0
    assert events_of(session)[-1].kind == "session_closed"
    assert summaries(session) in ([], [""])

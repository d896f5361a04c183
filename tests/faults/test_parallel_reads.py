"""Calls that run beside each other: whatever becomes of one, every one has its result."""

import asyncio
from collections.abc import Sequence
from pathlib import Path

import pytest
from pydantic import BaseModel

from core.events import ToolEnded
from core.messages import ModelReply, ToolCall, ToolResult
from core.ports import CallContext, CallFacts
from core.session import Session
from tests.faults.invariants import broken_invariants
from tests.support.exhaustive import count
from tests.support.fake_tools import EchoArguments, EchoTool
from tests.support.opened import Opening, events_of
from tests.support.scripted_model import ScriptedModel, text
from tests.support.waiting import until

READS = 4
BREATHS = 3
"""How often a slow tool lets others run in each of its stages."""
POINTS = 60
"""Turns of the event loop after which a group of reads is over for certain."""


class SlowTool(EchoTool):
    """Lets others run while it looks and while it runs; may fail in its own way."""

    def __init__(self, failing: str = "", error: BaseException | None = None) -> None:
        super().__init__("read", reads_only=True)
        self.failing = failing
        self.error = error

    async def facts(self, arguments: BaseModel) -> CallFacts:
        await breathe()
        return await super().facts(arguments)

    async def run(self, arguments: BaseModel, context: CallContext) -> ToolResult:
        assert isinstance(arguments, EchoArguments)
        await breathe()
        if arguments.text == self.failing and self.error is not None:
            raise self.error
        await breathe()
        return await super().run(arguments, context)


async def breathe() -> None:
    for _ in range(BREATHS):
        await asyncio.sleep(0)


def group() -> ModelReply:
    calls = tuple(
        ToolCall(id=f"c{number}", name="read", arguments={"text": str(number)})
        for number in range(READS)
    )
    return ModelReply(outcome="tool_calls", calls=calls)


async def begun(session: Session) -> None:
    await until(session.log, lambda: session.log.step == 1)


def results_of(session: Session) -> Sequence[ToolEnded]:
    return [event for event in events_of(session) if isinstance(event, ToolEnded)]


async def test_an_interrupt_at_any_moment_of_a_group_leaves_no_call_without_a_result(
    tmp_path: Path,
) -> None:
    seen = set()
    for point in range(0, POINTS, count(2, 1)):
        folder = tmp_path / str(point)
        folder.mkdir()
        model = ScriptedModel(group(), text("done"), text("and now"))
        session = Opening(folder, model, [SlowTool()]).session()
        running = asyncio.create_task(session.run("Read them"))
        await begun(session)
        for _ in range(point):
            await asyncio.sleep(0)
        session.interrupt()
        await running
        await session.run("Go on")
        live = session.memory
        await session.close()
        assert not broken_invariants(folder / "session", live=live), point
        seen.add(tuple(result.outcome for result in results_of(session)))
    assert {("cancelled",) * READS, ("ok",) * READS} <= seen


@pytest.mark.parametrize(
    ("error", "outcome"),
    [
        (asyncio.CancelledError(), "cancelled"),
        (RuntimeError("no"), "failed"),
        (OSError(5), "failed"),
    ],
)
async def test_one_call_that_ends_badly_costs_only_its_own_result(
    tmp_path: Path, error: BaseException, outcome: str
) -> None:
    for failing in range(READS):
        folder = tmp_path / str(failing)
        folder.mkdir()
        model = ScriptedModel(group(), text("done"))
        session = Opening(folder, model, [SlowTool(str(failing), error)]).session()
        ended = await session.run("Read them")
        assert ended.reason == "answered"
        by_call = {result.call_id: result.outcome for result in results_of(session)}
        assert by_call == {
            f"c{number}": outcome if number == failing else "ok" for number in range(READS)
        }
        texts = [message.text for message in model.requests[-1].messages[-READS:]]
        assert [one for number, one in enumerate(texts) if number != failing] == [
            str(number) for number in range(READS) if number != failing
        ]
        await session.close()
        assert not broken_invariants(folder / "session", live=session.memory)

"""Calls a run never takes up: they have a result all the same."""

import asyncio
from collections.abc import AsyncGenerator
from pathlib import Path

import pytest

from core.budget import Limits
from core.events import ModelReplied, ToolEnded
from core.messages import ModelRequest
from core.model_piece import ModelPiece
from tests.faults.invariants import broken_invariants
from tests.support.fake_tools import EchoTool
from tests.support.opened import Opening, events_of
from tests.support.scripted_model import ScriptedModel, call, text
from tests.support.waiting import until


class SlowToCloseModel(ScriptedModel):
    """Has given its reply, and is still closing the connection."""

    def __init__(self, *replies: object) -> None:
        super().__init__(*replies)  # type: ignore[arg-type]
        self.closing = asyncio.Event()

    async def reply(self, request: ModelRequest) -> AsyncGenerator[ModelPiece, None]:
        try:
            async for piece in super().reply(request):
                yield piece
        finally:
            self.closing.set()
            await asyncio.Event().wait()


async def test_an_interrupt_between_a_reply_and_its_calls_leaves_none_without_a_result(
    tmp_path: Path,
) -> None:
    model = SlowToCloseModel(call("echo", {"text": "hi"}))
    echo = EchoTool()
    session = Opening(tmp_path, model, [echo]).session()
    running = asyncio.create_task(session.run("Go"))
    await model.closing.wait()
    await until(session.log, lambda: isinstance(events_of(session)[-1], ModelReplied))
    session.interrupt()
    assert (await running).reason == "stopped"
    results = [event for event in events_of(session) if isinstance(event, ToolEnded)]
    assert [result.outcome for result in results] == ["cancelled"]
    assert echo.ran == []
    await session.close()
    assert not broken_invariants(tmp_path / "session", live=session.memory)


@pytest.mark.parametrize("words", ["", "Some words."])
async def test_calls_in_the_last_words_are_not_run_and_have_a_result(
    tmp_path: Path, words: str
) -> None:
    again = call("echo", {"text": "more"}, words)
    opening = Opening(
        tmp_path, ScriptedModel(call("echo", {"text": "hi"}), again, text("later")), [EchoTool()]
    )
    opening.limits = Limits(max_steps=1)
    session = opening.session()
    ended = await session.run("Go")
    assert (ended.reason, ended.answer) == ("limit", words)
    results = [event for event in events_of(session) if isinstance(event, ToolEnded)]
    assert [result.outcome for result in results] == ["ok", "cancelled"]
    await session.run("And?")
    await session.close()
    assert not broken_invariants(tmp_path / "session", live=session.memory)

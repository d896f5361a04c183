import asyncio
from pathlib import Path

import pytest

from core.decision import DecisionOpened
from core.events import ToolEnded
from core.messages import ModelReply
from core.ports import Answer
from core.session import Session
from tests.support.fake_tools import EchoTool
from tests.support.opened import Opening, events_of
from tests.support.scripted_model import ScriptedModel, call, text
from tests.support.waiting import until


def same(times: int) -> list[ModelReply]:
    return [call("echo", {"text": "again"}) for _ in range(times)]


def outcomes(session: Session) -> list[str]:
    return [event.outcome for event in events_of(session) if isinstance(event, ToolEnded)]


async def test_a_repeated_call_gets_a_hint_then_is_refused_and_a_change_of_mind_ends_well(
    tmp_path: Path,
) -> None:
    echo = EchoTool()
    model = ScriptedModel(*same(4), text("I stop"))
    session = Opening(tmp_path, model, [echo]).session()
    ended = await session.run("Go")
    assert ended.answer == "I stop"
    assert "going in a circle" in model.requests[3].messages[-1].text
    assert "going in a circle" not in model.requests[4].messages[-1].text
    assert outcomes(session) == ["ok", "ok", "ok", "denied"]
    assert len(echo.ran) == 3
    await session.close()


async def test_calls_that_differ_are_no_circle(tmp_path: Path) -> None:
    model = ScriptedModel(*[call("echo", {"text": str(n)}) for n in range(9)], text("done"))
    session = Opening(tmp_path, model, [EchoTool()]).session()
    assert (await session.run("Go")).answer == "done"
    assert set(outcomes(session)) == {"ok"}
    await session.close()


@pytest.mark.parametrize(("said", "reason"), [("yes", "answered"), ("no", "gave_up")])
async def test_in_the_end_the_person_is_asked_whether_to_go_on(
    tmp_path: Path, said: str, reason: str
) -> None:
    model = ScriptedModel(*same(5), text("at last"))
    session = Opening(tmp_path, model, [EchoTool()]).session()
    running = asyncio.create_task(session.run("Go"))
    await until(session.log, lambda: session.gate.open)
    opened = next(event for event in events_of(session) if isinstance(event, DecisionOpened))
    session.answer(
        opened.decision_id, Answer(resolution="answered", decided_by="person", text=said)
    )
    assert (await running).reason == reason
    await session.close()


async def test_with_nobody_to_ask_the_run_gives_up_and_says_why(tmp_path: Path) -> None:
    opening = Opening(tmp_path, ScriptedModel(*same(9)), [EchoTool()])
    opening.attended = False
    session = opening.session()
    ended = await session.run("Go")
    assert (ended.reason, ended.exit_code) == ("gave_up", 1)
    assert ended.error is not None
    assert "same call" in ended.error.message
    await session.close()

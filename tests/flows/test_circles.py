import asyncio
from pathlib import Path

import pytest
from pydantic import BaseModel

from core.budget import Limits
from core.decision import DecisionOpened
from core.events import StepEnded, ToolEnded
from core.guard_events import LoopNoticed
from core.messages import ModelReply, ModelRequest, ToolResult
from core.ports import Answer, CallContext
from core.session import Session
from core.surroundings import BrowserSnapshotted
from tests.support.fake_tools import EchoArguments, EchoTool
from tests.support.opened import Opening, events_of
from tests.support.scripted_model import ScriptedModel, call, text
from tests.support.waiting import until


class SameTool(EchoTool):
    """Gives the same whatever it is asked."""

    async def run(self, arguments: BaseModel, context: CallContext) -> ToolResult:
        return ToolResult(output="same")


class PageArguments(EchoArguments):
    """An action in the browser."""

    action: str


class PageTool(EchoTool):
    """A browser that stays on one page, which says something else each time."""

    arguments = PageArguments

    def __init__(self) -> None:
        super().__init__("browser")
        self.looks = 0

    async def run(self, arguments: BaseModel, context: CallContext) -> ToolResult:
        self.looks += 1
        seen = BrowserSnapshotted(url="https://a/", title="A", snapshot="s", engine="fast")
        context.record(seen)
        return ToolResult(output=f"page {self.looks}")


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


async def test_the_counters_of_the_guard_are_facts_of_the_session(tmp_path: Path) -> None:
    opening = Opening(tmp_path, ScriptedModel(*same(9)), [EchoTool()])
    opening.attended = False
    session = opening.session()
    await session.run("Go")
    noticed = [event for event in events_of(session) if isinstance(event, LoopNoticed)]
    assert [(one.stage, one.what) for one in noticed] == [
        ("counted", "echo again"),
        ("hinted", "echo again"),
        ("refused", "echo again"),
        ("asked", "echo again"),
    ]
    await session.close()


async def test_an_ordinary_run_notices_nothing(tmp_path: Path) -> None:
    model = ScriptedModel(*[call("echo", {"text": str(n)}) for n in range(9)], text("done"))
    session = Opening(tmp_path, model, [EchoTool()]).session()
    await session.run("Go")
    assert not [event for event in events_of(session) if isinstance(event, LoopNoticed)]
    await session.close()


async def test_twenty_equal_calls_are_never_made(tmp_path: Path) -> None:
    echo = EchoTool()
    opening = Opening(tmp_path, ScriptedModel(*same(20), text("x")), [echo])
    opening.attended, opening.limits = False, Limits(max_steps=0)
    session = opening.session()
    assert (await session.run("Go")).reason == "gave_up"
    assert len(echo.ran) == 3
    await session.close()


async def test_near_equal_calls_are_equal(tmp_path: Path) -> None:
    spellings = ("cat a", "cat  a ", "cat ./a", "cat 'a'")
    replies = [call("echo", {"text": spelling}) for spelling in spellings]
    opening = Opening(tmp_path, ScriptedModel(*replies, text("I stop")), [SameTool()])
    session = opening.session()
    assert (await session.run("Go")).answer == "I stop"
    assert outcomes(session) == ["ok", "ok", "ok", "denied"]
    await session.close()


async def test_the_same_action_on_one_page_goes_round_although_the_page_says_something_else(
    tmp_path: Path,
) -> None:
    browser = PageTool()
    replies = [call("browser", {"text": "3", "action": "click"}) for _ in range(5)]
    session = Opening(tmp_path, ScriptedModel(*replies, text("I stop")), [browser]).session()
    assert (await session.run("Go")).answer == "I stop"
    assert outcomes(session) == ["ok"] * 4 + ["denied"]
    await session.close()


async def test_the_same_answer_to_every_word_of_the_person_is_told_to_the_model(
    tmp_path: Path,
) -> None:
    steered: list[Session] = []

    def again(request: ModelRequest) -> ModelReply:
        if len(model.requests) < 4:
            steered[0].steer(f"And now? {len(model.requests)}")
        return text("I am looking.")

    model = ScriptedModel(*[again] * 9)
    session = Opening(tmp_path, model, [EchoTool()]).session()
    steered.append(session)
    ended = await session.run("Go")
    assert (ended.reason, ended.answer, len(model.requests)) == ("answered", "I am looking.", 4)
    assert "said the same again and again" in model.requests[3].messages[-1].text
    stages = [event.stage for event in events_of(session) if isinstance(event, LoopNoticed)]
    assert stages == ["counted", "hinted"]
    assert [isinstance(event, StepEnded) for event in events_of(session)].count(True) == 4
    await session.close()

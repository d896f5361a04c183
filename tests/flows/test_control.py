import asyncio
from pathlib import Path

import pytest

from core.decision import DecisionOpened
from core.events import RunEnded, ToolEnded
from core.messages import ModelReply, ModelRequest, ToolCall, ToolMessage
from core.ports import Answer
from core.session import Session
from tests.support.fake_tools import EchoTool, HangingTool
from tests.support.opened import Opening, events_of, kinds_of
from tests.support.scripted_model import HangingModel, ScriptedModel, call, text
from tests.support.waiting import until


def two_calls(*names: str) -> ModelReply:
    calls = tuple(
        ToolCall(id=f"p{n}", name=name, arguments={"text": name}) for n, name in enumerate(names)
    )
    return ModelReply(outcome="tool_calls", calls=calls)


def tool_results(session: Session) -> list[ToolEnded]:
    return [event for event in events_of(session) if isinstance(event, ToolEnded)]


async def test_reading_calls_run_beside_each_other_and_keep_their_order(tmp_path: Path) -> None:
    slow = HangingTool(reads_only=True)
    quick = EchoTool("quick", reads_only=True)
    model = ScriptedModel(two_calls("hang", "quick"))
    session = Opening(tmp_path, model, [slow, quick]).session()
    running = asyncio.create_task(session.run("Go"))
    await until(
        session.log, lambda: any(result.name == "quick" for result in tool_results(session))
    )
    assert slow.started.is_set()
    session.interrupt()
    assert (await running).reason == "stopped"
    unit = session.memory.units[-1]
    names = [message.name for message in unit.messages() if isinstance(message, ToolMessage)]
    assert names == ["hang", "quick"]
    await session.close()


async def test_writing_calls_run_one_after_the_other(tmp_path: Path) -> None:
    model = ScriptedModel(two_calls("one", "two"), text("done"))
    session = Opening(tmp_path, model, [EchoTool("one"), EchoTool("two")]).session()
    await session.run("Go")
    seen = [
        (e.kind, e.name) for e in events_of(session) if e.kind in ("call_intended", "tool_ended")
    ]
    assert seen == [
        ("call_intended", "one"),
        ("tool_ended", "one"),
        ("call_intended", "two"),
        ("tool_ended", "two"),
    ]
    await session.close()


async def test_an_interrupt_ends_model_and_run_and_the_session_goes_on(tmp_path: Path) -> None:
    model = HangingModel()
    opening = Opening(tmp_path, model)
    session = opening.session()
    running = asyncio.create_task(session.run("Go"))
    await model.asked.wait()
    session.interrupt()
    ended = await running
    assert (ended.reason, ended.exit_code) == ("stopped", 130)
    assert not session.running
    await session.close()


async def test_every_call_has_a_result_after_an_interrupt(tmp_path: Path) -> None:
    hang = HangingTool()
    model = ScriptedModel(two_calls("hang", "echo"))
    session = Opening(tmp_path, model, [hang, EchoTool()]).session()
    running = asyncio.create_task(session.run("Go"))
    await hang.started.wait()
    session.interrupt()
    session.interrupt()
    await running
    assert [(result.name, result.outcome) for result in tool_results(session)] == [
        ("hang", "cancelled"),
        ("echo", "cancelled"),
    ]
    assert hang.cancelled == 1
    await session.close()


async def test_what_the_person_says_meanwhile_is_in_the_next_request(tmp_path: Path) -> None:
    def first(request: ModelRequest) -> ModelReply:
        session.steer("in French please")
        return call("echo", {"text": "x"})

    model = ScriptedModel(first, text("oui"))
    session = Opening(tmp_path, model, [EchoTool()]).session()
    await session.run("Go")
    assert model.requests[1].messages[-1].text == "in French please"
    await session.close()


async def test_a_message_that_came_with_the_last_reply_keeps_the_run_going(tmp_path: Path) -> None:
    def first(request: ModelRequest) -> ModelReply:
        session.steer("and Spain?")
        return text("Paris")

    model = ScriptedModel(first, text("Madrid"))
    session = Opening(tmp_path, model).session()
    assert (await session.run("Capital of France?")).answer == "Madrid"
    await session.close()


async def test_a_paused_run_waits_at_the_boundary_and_takes_single_steps(tmp_path: Path) -> None:
    def pausing(request: ModelRequest) -> ModelReply:
        session.pause()
        return call("echo", {"text": "1"})

    model = ScriptedModel(pausing, call("echo", {"text": "2"}), text("end"))
    session = Opening(tmp_path, model, [EchoTool()]).session()
    running = asyncio.create_task(session.run("Go"))
    await until(session.log, lambda: kinds_of(session).count("step_ended") == 1)
    await asyncio.sleep(0)
    assert len(model.requests) == 1
    session.step_once()
    await until(session.log, lambda: kinds_of(session).count("step_ended") == 2)
    await asyncio.sleep(0)
    assert (len(model.requests), session.paused) == (2, True)
    session.resume()
    assert (await running).answer == "end"
    await session.close()


async def test_an_edit_of_memory_waits_for_the_boundary_and_is_in_the_next_request(
    tmp_path: Path,
) -> None:
    def editing(request: ModelRequest) -> ModelReply:
        assert session.edit_memory("edit", session.memory.units[0].unit_id, "Other task")
        assert session.memory.units[0].text() == "Go"
        return call("echo", {"text": "1"})

    model = ScriptedModel(editing, text("end"))
    session = Opening(tmp_path, model, [EchoTool()]).session()
    await session.run("Go")
    assert model.requests[1].messages[0].text == "Other task"
    assert not session.edit_memory("edit", "nosuch", "x")
    assert not session.edit_memory("burn", session.memory.units[0].unit_id)
    await session.close()


@pytest.mark.parametrize(("scripted", "accepted"), [(False, False), (True, True)])
async def test_only_a_scripted_session_takes_answers_of_the_tour(
    tmp_path: Path, scripted: bool, accepted: bool
) -> None:
    opening = Opening(
        tmp_path, ScriptedModel(call("echo", {"text": "x"}), text("end")), [EchoTool()]
    )
    opening.policy.verdicts = {"echo": ("ask", "R2")}
    opening.scripted = scripted
    session = opening.session()
    running = asyncio.create_task(session.run("Go"))
    await until(session.log, lambda: session.gate.open)
    opened = next(event for event in events_of(session) if isinstance(event, DecisionOpened))
    digest = getattr(opened.prompt, "digest", "")
    by_tour = Answer(resolution="approved", decided_by="tour", digest=digest)
    by_file = Answer(resolution="approved", decided_by="answers_file", digest=digest)
    assert not session.answer(opened.decision_id, by_file)
    assert session.answer(opened.decision_id, by_tour) is accepted
    if not accepted:
        session.interrupt()
    await running
    await session.close()


async def test_a_second_run_beside_the_first_is_refused(tmp_path: Path) -> None:
    model = HangingModel()
    session = Opening(tmp_path, model).session()
    running = asyncio.create_task(session.run("Go"))
    await model.asked.wait()
    with pytest.raises(RuntimeError):
        await session.run("Go too")
    session.interrupt()
    assert isinstance(await running, RunEnded)
    await session.close()

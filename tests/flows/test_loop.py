import asyncio
from collections.abc import AsyncGenerator
from dataclasses import replace
from pathlib import Path

import pytest

from core.agent import CUT_NUDGE, EMPTY_NUDGE, LIMIT_NUDGE
from core.budget import Limits
from core.errors import (
    ContextTooLongError,
    ModelRefusedError,
    ModelStreamError,
    ModelUnreachableError,
)
from core.event_log import SystemClock
from core.events import ModelReplied, ToolEnded
from core.messages import ModelReply, ModelRequest, ToolCall, ToolMessage, UserMessage
from core.model_piece import ModelPiece
from core.session import Session
from core.stored_results import StoredResults
from core.workspace import WorkspaceFiles
from tests.support.fake_clock import FakeClock
from tests.support.fake_tools import EchoTool, FailingTool
from tests.support.opened import Opening, events_of, kinds_of
from tests.support.scripted_model import ScriptedModel, call, text
from tools.finish import Finish

EMPTY = ModelReply(outcome="empty")
CUT = ModelReply(
    outcome="truncated",
    calls=(ToolCall(id="x", name="echo", arguments=None, status="truncated", problem="Cut off."),),
)


def finish(opening: Opening) -> Finish:
    return Finish(WorkspaceFiles(opening.workspace), opening.workspace)


class SilentAfter(ScriptedModel):
    """Says nothing more when its script is over."""

    async def reply(self, request: ModelRequest) -> AsyncGenerator[ModelPiece, None]:
        if not self.replies:
            await asyncio.Event().wait()
        async for piece in super().reply(request):
            yield piece


def two_calls(*names: str) -> ModelReply:
    calls = tuple(
        ToolCall(id=f"p{n}", name=name, arguments={"text": name}) for n, name in enumerate(names)
    )
    return ModelReply(outcome="tool_calls", calls=calls)


def tool_results(session: Session) -> list[ToolEnded]:
    return [event for event in events_of(session) if isinstance(event, ToolEnded)]


async def test_a_text_answer_without_calls_ends_the_run_in_one_request(tmp_path: Path) -> None:
    model = ScriptedModel(text("Paris"))
    session = Opening(tmp_path, model, [EchoTool()]).session()
    ended = await session.run("Capital of France?")
    assert (ended.reason, ended.exit_code, ended.answer, ended.steps) == ("answered", 0, "Paris", 1)
    assert len(model.requests) == 1
    await session.close()


async def test_a_step_is_a_reply_its_calls_and_their_results_in_the_next_request(
    tmp_path: Path,
) -> None:
    model = ScriptedModel(call("echo", {"text": "hi"}, "Trying."), text("It said hi"))
    session = Opening(tmp_path, model, [EchoTool()]).session()
    await session.run("Say hi")
    assert kinds_of(session) == [
        "session_opened",
        "run_started",
        "step_started",
        "context_built",
        "text_streamed",
        "model_replied",
        "tool_proposed",
        "call_intended",
        "tool_output_received",
        "tool_ended",
        "step_ended",
        "step_started",
        "context_built",
        "text_streamed",
        "model_replied",
        "step_ended",
        "run_ended",
    ]
    last = model.requests[1].messages[-1]
    assert isinstance(last, ToolMessage)
    assert last.text == "hi"
    await session.close()


async def test_nothing_is_added_to_memory_by_the_steps_themselves(tmp_path: Path) -> None:
    replies = [call("echo", {"text": str(n)}) for n in range(8)]
    model = ScriptedModel(*replies, text("done"))
    session = Opening(tmp_path, model, [EchoTool()]).session()
    await session.run("Count")
    users = [message for message in model.requests[-1].messages if isinstance(message, UserMessage)]
    assert [message.text for message in users] == ["Count"]
    await session.close()


@pytest.mark.parametrize(
    ("status", "reason", "code"), [("done", "answered", 0), ("gave_up", "gave_up", 1)]
)
async def test_finish_ends_the_run_and_later_calls_of_the_reply_do_not_run(
    tmp_path: Path, status: str, reason: str, code: int
) -> None:
    opening = Opening(tmp_path, None)
    (opening.workspace / "a.txt").write_text("x")
    echo = EchoTool()
    calls = (
        ToolCall(
            id="1", name="finish", arguments={"answer": "ok", "status": status, "files": ["a.txt"]}
        ),
        ToolCall(id="2", name="echo", arguments={"text": "late"}),
    )
    opening.model = ScriptedModel(ModelReply(outcome="tool_calls", calls=calls))
    opening.tools = [finish(opening), echo]
    session = opening.session()
    ended = await session.run("Go")
    assert (ended.reason, ended.exit_code, ended.answer, ended.files) == (
        reason,
        code,
        "ok",
        ("a.txt",),
    )
    assert echo.ran == []
    assert [result.outcome for result in tool_results(session)] == ["ok", "cancelled"]
    await session.close()


async def test_the_step_limit_asks_once_more_without_tools_for_the_best_answer(
    tmp_path: Path,
) -> None:
    model = ScriptedModel(
        call("echo", {"text": "1"}), call("echo", {"text": "2"}), text("half done")
    )
    opening = Opening(tmp_path, model, [EchoTool()])
    opening.limits = Limits(max_steps=2)
    session = opening.session()
    ended = await session.run("Go")
    assert (ended.reason, ended.exit_code, ended.limit, ended.answer) == (
        "limit",
        3,
        "steps",
        "half done",
    )
    assert model.requests[-1].tools == ()
    assert model.requests[-1].messages[-1].text == LIMIT_NUDGE
    await session.close()


async def test_time_and_money_limits_end_the_run_without_another_request(tmp_path: Path) -> None:
    clock = FakeClock()

    def slow(request: ModelRequest) -> ModelReply:
        clock.advance(120)
        return call("echo", {"text": "x"})

    model = ScriptedModel(slow, text("never asked for"))
    opening = Opening(tmp_path, model, [EchoTool()])
    opening.limits, opening.clock = Limits(max_minutes=1), clock
    session = opening.session()
    ended = await session.run("Go")
    assert (ended.reason, ended.limit, len(model.requests)) == ("limit", "minutes", 1)
    await session.close()


@pytest.mark.parametrize("max_steps", [1, 10])
async def test_the_time_limit_ends_a_run_whose_model_says_nothing(
    tmp_path: Path, max_steps: int
) -> None:
    model = SilentAfter(call("echo", {"text": "x"}))
    opening = Opening(tmp_path, model, [EchoTool()])
    opening.limits = Limits(max_minutes=0.005, max_steps=max_steps)
    opening.clock = SystemClock()
    session = opening.session()
    async with asyncio.timeout(10):
        ended = await session.run("Go")
    limit = "steps" if max_steps == 1 else "minutes"
    assert (ended.reason, ended.exit_code, ended.limit) == ("limit", 3, limit)
    assert ended.duration_s < 5
    await session.close()


@pytest.mark.parametrize(("reply", "nudge"), [(EMPTY, EMPTY_NUDGE), (CUT, CUT_NUDGE)])
async def test_a_useless_reply_is_asked_for_again_once_and_then_said(
    tmp_path: Path, reply: ModelReply, nudge: str
) -> None:
    model = ScriptedModel(reply, text("now"))
    (tmp_path / "a").mkdir()
    session = Opening(tmp_path / "a", model, [EchoTool()]).session()
    assert (await session.run("Go")).answer == "now"
    assert model.requests[1].messages[-1].text == nudge
    await session.close()
    (tmp_path / "b").mkdir()
    session = Opening(tmp_path / "b", ScriptedModel(reply, replace(reply)), [EchoTool()]).session()
    ended = await session.run("Go")
    assert (ended.reason, ended.exit_code) == ("gave_up", 1)
    assert ended.error is not None
    assert "replies were" in ended.error.message
    await session.close()


async def test_no_call_of_a_reply_that_was_cut_off_runs(tmp_path: Path) -> None:
    echo = EchoTool()
    session = Opening(tmp_path, ScriptedModel(CUT, text("ok")), [echo]).session()
    await session.run("Go")
    assert echo.ran == []
    assert tool_results(session)[0].outcome == "invalid"
    await session.close()


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (ModelRefusedError("The key is wrong.", hint="Set OPENAI_API_KEY.", code="auth"), "auth"),
        (ModelUnreachableError("Nothing answers."), "model_unreachable"),
    ],
)
async def test_a_model_that_cannot_be_used_ends_the_run_as_failed(
    tmp_path: Path, error: Exception, code: str
) -> None:
    session = Opening(tmp_path, ScriptedModel(error), [EchoTool()]).session()
    ended = await session.run("Go")
    assert (ended.reason, ended.exit_code) == ("failed", 4)
    assert ended.error is not None
    assert ended.error.code == code
    await session.close()


async def test_without_a_model_the_run_says_what_to_set(tmp_path: Path) -> None:
    session = Opening(tmp_path, None).session()
    ended = await session.run("Go")
    assert (ended.reason, ended.exit_code) == ("failed", 2)
    assert ended.error is not None
    assert "HANDRAIL_MODEL" in ended.error.hint
    await session.close()


async def test_a_broken_stream_is_asked_for_again_and_leaves_nothing_in_memory(
    tmp_path: Path,
) -> None:
    broken = ModelStreamError("The connection broke.")
    model = ScriptedModel(broken, broken, text("fine"))
    session = Opening(tmp_path, model).session()
    assert (await session.run("Go")).answer == "fine"
    assert kinds_of(session).count("model_retried") == 2
    assert sum(isinstance(event, ModelReplied) for event in events_of(session)) == 1
    await session.close()


async def test_a_stream_that_keeps_breaking_fails_the_run(tmp_path: Path) -> None:
    broken = ModelStreamError("The connection broke.")
    session = Opening(tmp_path, ScriptedModel(broken, broken, broken)).session()
    ended = await session.run("Go")
    assert (ended.reason, ended.exit_code) == ("failed", 4)
    await session.close()


async def test_a_request_that_is_too_long_is_made_smaller_and_sent_once_more(
    tmp_path: Path,
) -> None:
    big = "word " * 4000
    model = ScriptedModel(
        *[call("echo", {"text": f"{number} {big}"}) for number in range(8)],
        ContextTooLongError("Too long."),
        text("It was echoed."),
        text("fine"),
    )
    opening = Opening(tmp_path, model, [EchoTool()])
    opening.results = StoredResults(opening.folder, lambda: 1 << 20)
    session = opening.session()
    assert (await session.run("The task")).answer == "fine"
    refused, summary, last = model.requests[-3:]
    assert last.plain_tokens < refused.plain_tokens * 0.75
    assert last.messages[0].text == "The task"
    assert "It was echoed." in last.messages[1].text
    assert summary.tools == ()
    await session.close()


async def test_an_approval_without_a_person_is_denied_told_to_the_model_and_gives_exit_code_5(
    tmp_path: Path,
) -> None:
    opening = Opening(tmp_path, None, [])
    echo = EchoTool()
    giving_up = call("finish", {"answer": "Not allowed.", "status": "gave_up"})
    opening.model = ScriptedModel(call("echo", {"text": "x"}), giving_up)
    opening.tools = [echo, finish(opening)]
    opening.policy.verdicts = {"echo": ("ask", "R2")}
    opening.attended = False
    session = opening.session()
    ended = await session.run("Go")
    assert (ended.reason, ended.exit_code, echo.ran) == ("gave_up", 5, [])
    assert "Nobody is there" in tool_results(session)[0].output
    await session.close()


async def test_an_answer_after_such_a_refusal_is_an_answer(tmp_path: Path) -> None:
    opening = Opening(
        tmp_path, ScriptedModel(call("echo", {"text": "x"}), text("It is 4.")), [EchoTool()]
    )
    opening.policy.verdicts = {"echo": ("ask", "R2")}
    opening.attended = False
    session = opening.session()
    assert (await session.run("Go")).exit_code == 0
    await session.close()


async def test_files_of_the_run_are_those_that_are_on_disk_at_its_end(tmp_path: Path) -> None:
    opening = Opening(tmp_path, None)

    def writing(request: ModelRequest) -> ModelReply:
        (opening.workspace / "made.txt").write_text("x")
        claimed = {"answer": "done", "status": "done", "files": ["made.txt", "invented.txt"]}
        return call("finish", claimed)

    opening.model = ScriptedModel(writing, writing)
    opening.tools = [finish(opening)]
    session = opening.session()
    assert (await session.run("Go")).files == ("made.txt",)
    assert "invented.txt" in tool_results(session)[0].output
    await session.close()


async def test_cost_and_tokens_of_all_requests_are_in_the_end(tmp_path: Path) -> None:
    session = Opening(
        tmp_path, ScriptedModel(call("echo", {"text": "x"}), text("end")), [EchoTool()]
    ).session()
    ended = await session.run("Go")
    assert ended.cost_usd == pytest.approx(0.002)
    assert (ended.usage.input_tokens, ended.usage.output_tokens) == (20, 10)
    await session.close()


async def test_runs_of_one_session_share_memory_and_number_on(tmp_path: Path) -> None:
    model = ScriptedModel(text("Paris"), text("Madrid"))
    session = Opening(tmp_path, model).session()
    await session.run("France?")
    await session.run("Spain?")
    assert [message.text for message in model.requests[1].messages] == [
        "France?",
        "Paris",
        "Spain?",
    ]
    assert {record.run_id for record in session.log.records} == {"", "run-1", "run-2"}
    await session.close()


async def test_a_defect_of_ours_ends_the_run_and_not_the_session(tmp_path: Path) -> None:
    session = Opening(tmp_path, ScriptedModel(ZeroDivisionError("secret"), text("ok"))).session()
    ended = await session.run("Go")
    assert (ended.reason, ended.exit_code) == ("failed", 1)
    assert ended.error is not None
    assert ended.error.message == "Internal error: ZeroDivisionError."
    assert (await session.run("Again")).answer == "ok"
    await session.close()


async def test_finish_beside_a_call_that_failed_does_not_end_the_run(tmp_path: Path) -> None:
    opening = Opening(tmp_path, None)
    calls = (
        ToolCall(id="1", name="fail", arguments={"text": "x"}),
        ToolCall(id="2", name="finish", arguments={"answer": "It worked."}),
    )
    opening.model = ScriptedModel(
        ModelReply(outcome="tool_calls", calls=calls), text("It did not work.")
    )
    opening.tools = [FailingTool(), finish(opening)]
    session = opening.session()
    ended = await session.run("Go")
    assert ended.answer == "It did not work."
    assert [result.outcome for result in tool_results(session)] == ["failed", "denied"]
    await session.close()

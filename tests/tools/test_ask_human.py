"""`ask_human`: what is asked, and what the model is told of the answer."""

from typing import Any

import pytest
from pydantic import ValidationError

from core.messages import ToolResult
from core.ports import Answer
from tests.support.fake_call import FakeCall
from tools.ask_human import AskHuman, AskHumanArguments


async def ask(call: FakeCall, **arguments: Any) -> ToolResult:
    return await AskHuman().run(
        AskHumanArguments.model_validate({"question": "Which?", **arguments}), call
    )


async def test_the_question_is_put_as_it_is_typed() -> None:
    call = FakeCall(Answer(resolution="answered", decided_by="person", text="b"))
    result = await ask(call, kind="choice", options=["a", "b", "a"], default="a")
    assert (result.outcome, result.output) == ("ok", "b")
    prompt = call.prompts[0]
    assert (prompt.call_id, prompt.answer_kind, prompt.options, prompt.default) == (
        "call-1",
        "choice",
        ("a", "b"),
        "a",
    )


async def test_a_person_may_leave_it_to_the_agent() -> None:
    declined = Answer(resolution="declined", decided_by="person")
    assert (
        "leaves it to you. Go on with your default: 7"
        in (await ask(FakeCall(declined), default="7")).output
    )
    assert "Decide yourself" in (await ask(FakeCall(declined))).output


async def test_nobody_there_is_told_as_a_refusal() -> None:
    result = await ask(FakeCall(Answer(resolution="declined", decided_by="nobody")), default="7")
    assert result.outcome == "denied"
    assert result.output == "Nobody is there to answer. Go on with your default: 7"


@pytest.mark.parametrize(
    "arguments",
    [
        {"kind": "choice"},
        {"kind": "choices", "options": ["a", "a"]},
        {"kind": "confirm", "options": ["a", "b"]},
        {"question": " "},
        {"kind": "secret"},
        {"options": ["x"], "unknown": 1},
    ],
)
def test_a_question_that_cannot_be_answered_is_refused(arguments: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        AskHumanArguments.model_validate({"question": "Which?", **arguments})

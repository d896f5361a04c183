import asyncio

import pytest

from core.decision import ApprovalPrompt, DecisionClosed, DecisionOpened, QuestionPrompt
from core.event_log import EventLog, SystemClock
from core.gate import Gate
from core.ports import Answer
from tests.support.waiting import until

APPROVAL = ApprovalPrompt(
    call_id="c1",
    tool="shell",
    arguments={"command": "x"},
    risk="R2",
    strong=False,
    title="t",
    digest="abc",
)
QUESTION = QuestionPrompt(call_id="c2", question="Which?")


def gate(*, attended: bool = True) -> tuple[Gate, EventLog]:
    log = EventLog(SystemClock())
    return Gate(log.append, attended=attended), log


async def opened(
    made: Gate, log: EventLog, prompt: ApprovalPrompt | QuestionPrompt
) -> tuple[asyncio.Task[Answer], str]:
    task = asyncio.create_task(made.ask(prompt))
    await until(log, lambda: made.open)
    return task, next(iter(made.open))


async def test_an_answer_resolves_the_decision_and_is_recorded() -> None:
    made, log = gate()
    task, decision_id = await opened(made, log, APPROVAL)
    assert made.answer(
        decision_id, Answer(resolution="approved", decided_by="person", digest="abc", key="y")
    )
    assert (await task).resolution == "approved"
    closed = log.records[-1].event
    assert isinstance(closed, DecisionClosed)
    assert (closed.resolution, closed.decided_by, closed.key) == ("approved", "person", "y")
    assert not made.open


@pytest.mark.parametrize("digest", ["", "abd"])
async def test_an_approval_of_something_else_than_was_shown_does_not_count(digest: str) -> None:
    made, log = gate()
    task, decision_id = await opened(made, log, APPROVAL)
    assert not made.answer(
        decision_id, Answer(resolution="approved", decided_by="person", digest=digest)
    )
    assert decision_id in made.open
    task.cancel()


@pytest.mark.parametrize(
    ("prompt", "resolution"),
    [(APPROVAL, "answered"), (APPROVAL, "declined"), (QUESTION, "approved"), (QUESTION, "denied")],
)
async def test_an_answer_that_does_not_fit_the_prompt_is_refused(prompt, resolution) -> None:
    made, log = gate()
    task, decision_id = await opened(made, log, prompt)
    assert not made.answer(
        decision_id, Answer(resolution=resolution, decided_by="person", digest="abc")
    )
    task.cancel()


@pytest.mark.parametrize(
    ("resolution", "arguments"), [("edited", None), ("approved", {"command": "y"}), ("denied", {})]
)
async def test_arguments_come_with_an_edit_and_with_nothing_else(resolution, arguments) -> None:
    made, log = gate()
    task, decision_id = await opened(made, log, APPROVAL)
    answer = Answer(resolution=resolution, decided_by="person", digest="abc", arguments=arguments)
    assert not made.answer(decision_id, answer)
    task.cancel()


async def test_a_decision_is_answered_once() -> None:
    made, log = gate()
    task, decision_id = await opened(made, log, APPROVAL)
    assert made.answer(decision_id, Answer(resolution="denied", decided_by="person"))
    assert not made.answer(
        decision_id, Answer(resolution="approved", decided_by="person", digest="abc")
    )
    assert (await task).resolution == "denied"


async def test_cancelling_the_call_withdraws_its_decision() -> None:
    made, log = gate()
    task, decision_id = await opened(made, log, APPROVAL)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    closed = log.records[-1].event
    assert isinstance(closed, DecisionClosed)
    assert closed.resolution == "withdrawn"
    assert not made.answer(
        decision_id, Answer(resolution="approved", decided_by="person", digest="abc")
    )


async def test_with_nobody_there_an_approval_is_denied_and_a_question_declined() -> None:
    made, log = gate(attended=False)
    assert (await made.ask(APPROVAL)).resolution == "denied"
    assert (await made.ask(QUESTION)).resolution == "declined"
    kinds = [type(record.event) for record in log.records]
    assert kinds == [DecisionOpened, DecisionClosed, DecisionOpened, DecisionClosed]
    assert not made.open


async def test_parallel_decisions_are_answered_by_id_in_any_order() -> None:
    made, log = gate()
    first = asyncio.create_task(made.ask(APPROVAL))
    second = asyncio.create_task(made.ask(QUESTION))
    await until(log, lambda: len(made.open) == 2)
    one, two = made.open
    assert made.answer(two, Answer(resolution="answered", decided_by="person", text="this"))
    assert made.answer(one, Answer(resolution="denied", decided_by="person"))
    assert (await second).text == "this"
    assert (await first).resolution == "denied"

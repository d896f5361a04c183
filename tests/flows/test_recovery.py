"""What a later start makes of the calls a killed app left open."""

from pathlib import Path

import pytest

from core.decision import DecisionClosed, DecisionOpened, QuestionPrompt
from core.event_log import EventLog, SystemClock
from core.events import (
    CallIntended,
    Event,
    MessageSteered,
    ModelReplied,
    RunEnded,
    RunStarted,
    StepStarted,
    ToolEnded,
)
from core.journal import Journal
from core.messages import ToolCall
from core.ports import Answer
from core.preimage import digest
from core.session import Session
from tests.support.opened import Opening, events_of
from tests.support.scripted_model import ScriptedModel, text
from tests.support.waiting import until

START = RunStarted(task="Go", max_steps=1, max_minutes=1, max_cost_usd=0)
CALL = ToolCall(id="c1", name="tool", arguments={"command": "make it so"})
QUESTION = QuestionPrompt(call_id="c1", question="Which?")


def intent(**more: object) -> CallIntended:
    fields = {"name": "tool", "risk": "R2", "decided_by": "policy", **more}
    return CallIntended(call_id="c1", arguments={}, digest="d", **fields)  # type: ignore[arg-type]


def killed(folder: Path, *events: Event) -> None:
    journal = Journal(folder)
    log = EventLog(SystemClock())
    log.follow(journal.write)
    for event in (START, StepStarted(), ModelReplied(calls=(CALL,)), *events):
        log.append(event)
    journal.close()


def result_of(session: Session) -> ToolEnded:
    (ended,) = [event for event in events_of(session) if isinstance(event, ToolEnded)]
    return ended


async def asked_of(session: Session) -> None:
    await until(session.log, lambda: session.gate.open)


def opening(tmp_path: Path, *replies: str) -> Opening:
    return Opening(tmp_path, ScriptedModel(*map(text, replies)))


@pytest.mark.parametrize(
    ("holds", "outcome", "says"),
    [
        (b"new", "ok", "It happened"),
        (b"old", "cancelled", "did not happen"),
        (b"else", "unknown", "neither"),
        (None, "unknown", "neither"),
    ],
)
async def test_whether_an_edit_happened_is_found_out_from_the_file(
    tmp_path: Path, holds: bytes | None, outcome: str, says: str
) -> None:
    bindings = {"file": "a/b.txt", "pre_image": digest(b"old"), "post_image": digest(b"new")}
    killed(tmp_path / "session", intent(bindings=bindings))
    plan = opening(tmp_path)
    (plan.workspace / "a").mkdir()
    if holds is not None:
        (plan.workspace / "a/b.txt").write_bytes(holds)
    session = plan.session()
    assert result_of(session).outcome == outcome
    assert says in result_of(session).output
    await session.close()


async def test_a_file_that_was_to_be_made_and_is_not_there_was_not_made(tmp_path: Path) -> None:
    bindings = {"file": "a/b.txt", "pre_image": digest(None), "post_image": digest(b"new")}
    killed(tmp_path / "session", intent(bindings=bindings))
    session = opening(tmp_path).session()
    assert result_of(session).outcome == "cancelled"
    await session.close()


async def test_a_link_in_the_place_of_an_edited_file_is_not_followed(tmp_path: Path) -> None:
    bindings = {"file": "b.txt", "pre_image": digest(b"old"), "post_image": digest(b"new")}
    killed(tmp_path / "session", intent(bindings=bindings))
    plan = opening(tmp_path)
    (tmp_path / "outside.txt").write_bytes(b"new")
    (plan.workspace / "b.txt").symlink_to(tmp_path / "outside.txt")
    session = plan.session()
    assert result_of(session).outcome == "unknown"
    await session.close()


@pytest.mark.parametrize(
    "facts",
    [{"risk": "R0"}, {"risk": "R1", "reads_only": True}, {"risk": "R1", "name": "browser"}],
)
async def test_a_call_that_only_reads_is_never_unknown(
    tmp_path: Path, facts: dict[str, object]
) -> None:
    killed(tmp_path / "session", intent(**facts))
    session = opening(tmp_path).session()
    assert result_of(session).outcome == "cancelled"
    assert "changes nothing" in result_of(session).output
    await session.close()


@pytest.mark.parametrize("risk", ["R2", "R3", "R4"])
async def test_what_the_browser_sent_off_is_unknown(tmp_path: Path, risk: str) -> None:
    killed(tmp_path / "session", intent(name="browser", risk=risk))
    session = opening(tmp_path).session()
    assert result_of(session).outcome == "unknown"
    await session.close()


async def test_an_answer_that_was_given_reaches_the_model(tmp_path: Path) -> None:
    killed(
        tmp_path / "session",
        intent(risk="R0"),
        DecisionOpened(decision_id="d1-c1", prompt=QUESTION),
        DecisionClosed(
            decision_id="d1-c1", resolution="answered", decided_by="person", text="the blue one"
        ),
    )
    session = opening(tmp_path).session()
    assert result_of(session).outcome == "ok"
    assert result_of(session).output == "the blue one"
    assert result_of(session).decided_by == "person"
    await session.close()


async def test_an_id_that_was_used_before_does_not_hide_an_open_call(tmp_path: Path) -> None:
    ended = ToolEnded(call_id="c1", name="tool", outcome="ok", output="first")
    killed(tmp_path / "session", intent(), ended, ModelReplied(calls=(CALL,)))
    session = opening(tmp_path).session()
    results = [event for event in events_of(session) if isinstance(event, ToolEnded)]
    assert [result.outcome for result in results] == ["ok", "cancelled"]
    await session.close()


async def test_a_call_of_unknown_outcome_is_put_to_the_person_and_the_model_is_told(
    tmp_path: Path,
) -> None:
    killed(tmp_path / "session", intent())
    plan = opening(tmp_path, "thanks")
    session = plan.session()
    await until(session.log, lambda: session.gate.open)
    (decision_id,) = session.gate.open
    prompt = session.gate.open[decision_id].prompt
    assert isinstance(prompt, QuestionPrompt)
    assert "make it so" in prompt.question
    assert prompt.options == ("It happened", "It did not happen", "The model should look")
    assert session.answer(
        decision_id, Answer(resolution="answered", decided_by="person", text="It happened")
    )
    await until(session.log, lambda: isinstance(events_of(session)[-1], MessageSteered))
    await session.run("Go on")
    assert isinstance(plan.model, ScriptedModel)
    texts = [message.text for message in plan.model.requests[0].messages]
    assert any("unknown" in one for one in texts)
    assert any("c1 (tool) was unknown. The person says: It happened" in one for one in texts)
    await session.close()


async def test_an_unanswered_question_is_asked_again_under_another_id_until_a_run_begins(
    tmp_path: Path,
) -> None:
    killed(tmp_path / "session", intent())
    asked: list[str] = []
    for _ in range(2):
        session = opening(tmp_path).session()
        await asked_of(session)
        asked += session.gate.open
        await session.close()
        closed = [event for event in events_of(session) if isinstance(event, DecisionClosed)]
        assert closed[-1].resolution == "withdrawn"
    assert len(set(asked)) == 2
    session = opening(tmp_path, "done").session()
    await session.run("Go on")
    await session.close()
    session = opening(tmp_path, "done").session()
    before = len(session.log)
    await session.run("And now?")
    assert not any(
        isinstance(record.event, DecisionOpened) for record in session.log.records[before:]
    )
    await session.close()


async def test_an_answer_the_model_was_not_told_of_before_a_crash_is_told_without_asking_again(
    tmp_path: Path,
) -> None:
    killed(
        tmp_path / "session",
        intent(),
        ToolEnded(call_id="c1", name="tool", outcome="unknown", output="unknown"),
        RunEnded(reason="stopped", exit_code=130),
        DecisionOpened(decision_id="d1-c1", prompt=QUESTION),
        DecisionClosed(
            decision_id="d1-c1", resolution="answered", decided_by="person", text="It happened"
        ),
    )
    session = opening(tmp_path).session()
    await until(session.log, lambda: isinstance(events_of(session)[-1], MessageSteered))
    assert not session.gate.open
    await session.close()


async def test_with_nobody_there_nothing_is_asked(tmp_path: Path) -> None:
    killed(tmp_path / "session", intent())
    plan = opening(tmp_path, "done")
    plan.attended = False
    session = plan.session()
    await session.run("Go on")
    assert not any(isinstance(event, DecisionOpened) for event in events_of(session))
    await session.close()

import asyncio
from pathlib import Path

import pytest

from core.decision import DecisionClosed
from core.errors import StoreError
from core.event_log import EventLog, SystemClock
from core.events import (
    CallIntended,
    JournalRecovered,
    ModelReplied,
    RunEnded,
    RunStarted,
    SessionOpened,
    StepStarted,
    ToolEnded,
)
from core.journal import FILE_NAME, Journal
from core.messages import ToolCall
from core.run_view import RunView, reduce
from core.session import Session
from tests.support.fake_tools import EchoTool
from tests.support.opened import Opening, events_of, kinds_of
from tests.support.scripted_model import ScriptedModel, call, text
from tests.support.waiting import until

START = RunStarted(task="Go", max_steps=1, max_minutes=1, max_cost_usd=0)


def killed_after(folder: Path, *events: object) -> None:
    """Leave the journal of an app that was killed after these events."""
    journal = Journal(folder)
    log = EventLog(SystemClock())
    log.follow(journal.write)
    for event in events:
        log.append(event)  # type: ignore[arg-type]
    journal.close()


async def finished(tmp_path: Path) -> None:
    session = Opening(
        tmp_path, ScriptedModel(call("echo", {"text": "hi"}), text("done")), [EchoTool()]
    ).session()
    await session.run("Say hi")
    await session.close()


async def test_a_resumed_session_sends_the_same_memory_and_goes_on(tmp_path: Path) -> None:
    await finished(tmp_path)
    model = ScriptedModel(text("again"))
    session = Opening(tmp_path, model, [EchoTool()]).session()
    opened = events_of(session)[-1]
    assert isinstance(opened, SessionOpened)
    assert opened.resumed
    await session.run("And now?")
    texts = [message.text for message in model.requests[0].messages]
    assert texts == ["Say hi", "", "hi", "done", "And now?"]
    assert session.log.records[-1].run_id == "run-2"
    await session.close()


async def test_a_resumed_session_shows_the_same_screen(tmp_path: Path) -> None:
    opening = Opening(
        tmp_path, ScriptedModel(call("echo", {"text": "hi"}), text("done")), [EchoTool()]
    )
    session = opening.session()
    await session.run("Say hi")
    before = RunView()
    for record in session.log.records:
        reduce(before, record)
    await session.close()
    resumed = opening.session()
    after = RunView()
    for record in resumed.log.records[: len(session.log.records) - 1]:
        reduce(after, record)
    assert after.conversation == before.conversation
    assert after.steps == before.steps
    await resumed.close()


@pytest.mark.parametrize("intended", [True, False])
async def test_a_call_that_was_under_way_is_never_run_again_and_said_to_be_unknown(
    tmp_path: Path, intended: bool
) -> None:
    one = ToolCall(id="c1", name="echo", arguments={"text": "x"})
    intent = CallIntended(
        call_id="c1",
        name="echo",
        arguments={"text": "x"},
        digest="d",
        risk="R2",
        decided_by="policy",
    )
    events = [START, StepStarted(), ModelReplied(calls=(one,)), *([intent] if intended else [])]
    killed_after(tmp_path / "session", *events)
    echo = EchoTool()
    model = ScriptedModel(text("I looked first"))
    session = Opening(tmp_path, model, [echo]).session()
    ended = next(event for event in events_of(session) if isinstance(event, ToolEnded))
    assert ended.outcome == ("unknown" if intended else "cancelled")
    closing = next(event for event in events_of(session) if isinstance(event, RunEnded))
    assert (closing.reason, closing.steps) == ("stopped", 1)
    assert closing.error is not None
    assert closing.error.code == "ended_early"
    assert not session.running
    await session.run("Go on")
    assert echo.ran == []
    assert ("unknown" in model.requests[0].messages[2].text) is intended
    await session.close()


async def test_a_decision_that_was_open_is_withdrawn_and_never_approved(tmp_path: Path) -> None:
    opening = Opening(tmp_path, ScriptedModel(call("echo", {"text": "x"})), [EchoTool()])
    opening.policy.verdicts = {"echo": ("ask", "R2")}
    session = opening.session()
    running = asyncio.create_task(session.run("Go"))
    await until(session.log, lambda: session.gate.open)
    copy = tmp_path / "copy"
    copy.mkdir()
    (copy / FILE_NAME).write_bytes((tmp_path / "session" / FILE_NAME).read_bytes())
    await session.close()
    assert (await running).reason == "stopped"
    opening.folder = copy
    resumed = opening.session()
    closed = [event for event in events_of(resumed) if isinstance(event, DecisionClosed)]
    assert [event.resolution for event in closed] == ["withdrawn"]
    assert not resumed.gate.open
    await resumed.close()


async def test_a_torn_end_is_set_aside_and_said(tmp_path: Path) -> None:
    await finished(tmp_path)
    path = tmp_path / "session" / FILE_NAME
    path.write_bytes(path.read_bytes() + b'{"kind":"notice_rai')
    session = Opening(tmp_path, ScriptedModel()).session()
    recovered = next(event for event in events_of(session) if isinstance(event, JournalRecovered))
    assert recovered.cut_bytes == 19
    assert (tmp_path / "session" / recovered.kept_as).read_bytes() == b'{"kind":"notice_rai'
    await session.close()


async def test_damage_in_the_middle_is_refused_and_nothing_is_changed(tmp_path: Path) -> None:
    await finished(tmp_path)
    path = tmp_path / "session" / FILE_NAME
    data = path.read_bytes().replace(b"Say hi", b"Say ho", 1)
    path.write_bytes(data)
    with pytest.raises(StoreError, match="damaged at line 2"):
        Opening(tmp_path, ScriptedModel()).session()
    assert path.read_bytes() == data
    with pytest.raises(StoreError, match="damaged"):
        Opening(tmp_path, ScriptedModel()).session()


async def test_a_session_cannot_be_open_twice(tmp_path: Path) -> None:
    session = Opening(tmp_path, ScriptedModel()).session()
    with pytest.raises(StoreError, match="open in another"):
        Opening(tmp_path, ScriptedModel()).session()
    await session.close()


async def test_closing_twice_is_harmless_and_the_journal_ends_with_it(tmp_path: Path) -> None:
    session: Session = Opening(tmp_path, ScriptedModel()).session()
    await session.close()
    await session.close()
    assert kinds_of(session) == ["session_opened", "session_closed"]

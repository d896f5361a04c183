"""A call of unknown outcome, in the real app: shown as what it is, asked about, and told to the model."""

from pathlib import Path

from core.decision import DecisionClosed
from core.event_log import EventLog, SystemClock
from core.events import (
    CallIntended,
    MessageSteered,
    ModelReplied,
    RunStarted,
    SessionOpened,
    StepStarted,
    ToolProposed,
)
from core.journal import Journal
from core.messages import ToolCall
from core.session import Session
from tests.support.app import eventually, screen_text
from tests.support.dialog_host import Hand
from tests.support.fake_clock import FakeClock
from tests.support.opened import Opening, events_of
from tests.support.scripted_model import ScriptedModel, text
from tui.app import HandrailApp
from tui.screens.question import QuestionScreen

COMMAND = "curl -X POST https://shop.example/order"


def killed_in_a_command(folder: Path) -> None:
    """Leave the journal of an app that was killed while a command ran."""
    journal = Journal(folder)
    log = EventLog(SystemClock())
    log.follow(journal.write)
    arguments = {"command": COMMAND}
    for event in (
        SessionOpened(session_id="s1", workspace="/w", model="m"),
        RunStarted(task="Order it", max_steps=9, max_minutes=9, max_cost_usd=0),
        StepStarted(),
        ModelReplied(calls=(ToolCall(id="c1", name="shell", arguments=arguments),)),
        ToolProposed(call_id="c1", name="shell", arguments=arguments, risk="R3", verdict="allow"),
        CallIntended(
            call_id="c1",
            name="shell",
            arguments=arguments,
            digest="d",
            risk="R3",
            decided_by="person",
        ),
    ):
        log.append(event)
    journal.close()


async def test_the_person_says_what_became_of_the_call(tmp_path: Path) -> None:
    killed_in_a_command(tmp_path / "session")
    clock = FakeClock()
    opening = Opening(tmp_path, ScriptedModel(text("Then it is done.")))
    opening.clock = clock
    opened: list[Session] = []

    async def open_session() -> Session:
        opened.append(opening.session())
        return opened[0]

    app = HandrailApp(open_session, monotonic=clock.monotonic)
    async with app.run_test(size=(100, 32)) as pilot:
        await eventually(pilot, lambda: isinstance(app.screen, QuestionScreen))
        shown = screen_text(app)
        for words in ("outcome is unknown", COMMAND, "It happened", "It did not happen"):
            assert words in shown
        hand = Hand(pilot, clock)
        await hand.press("1")
        await hand.press("enter")
        await eventually(
            pilot, lambda: any(isinstance(one, MessageSteered) for one in events_of(opened[0]))
        )
        closed = [one for one in events_of(opened[0]) if isinstance(one, DecisionClosed)]
        assert closed[-1].text == "It happened"
        await eventually(pilot, lambda: not isinstance(app.screen, QuestionScreen))
        view = app.host.pump.view if app.host.pump else None
        assert view is not None
        assert (view.calls.by_id["c1"].state, view.calls.by_id["c1"].outcome) == (
            "ended",
            "unknown",
        )
        await app.host.close()

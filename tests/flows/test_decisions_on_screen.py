"""Whole runs on the real session, decided by keys in the real app."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

import pytest
from textual.events import AppFocus
from textual.widgets import TextArea

from core.decision import DecisionClosed, DecisionOpened
from core.events import CallIntended, RunEnded, RunPaused, ToolEnded
from core.messages import ModelReply
from core.session import Session
from core.vocabulary import RiskLevel, Verdict
from tests.support.dialog_host import Hand, settled
from tests.support.fake_clock import FakeClock
from tests.support.fake_tools import EchoTool
from tests.support.opened import Opening, events_of
from tests.support.scripted_model import ScriptedModel, call, text
from tests.support.waiting import DEADLINE_S
from tools.ask_human import AskHuman
from tui.app import HandrailApp
from tui.arming import confirmation_word
from tui.screens.approval import ApprovalScreen
from tui.screens.edit_arguments import EditArgumentsScreen
from tui.screens.main import MainScreen
from tui.screens.question import QuestionScreen

E = TypeVar("E")
ECHO = call("echo", {"text": "hi", "times": 1})


@dataclass
class Screen:
    app: HandrailApp
    session: Session
    model: ScriptedModel
    echo: EchoTool
    hand: Hand

    async def until(self, condition: Callable[[], object]) -> None:
        async with asyncio.timeout(DEADLINE_S):
            while not condition():
                await settled(self.hand.pilot)
                await asyncio.sleep(0)

    async def dialog(self, kind: type = ApprovalScreen) -> None:
        """Wait for a dialog."""
        await self.until(lambda: isinstance(self.app.screen, kind))
        await settled(self.hand.pilot)

    def waiting(self) -> bool:
        """Whether the screen has heard of an open decision."""
        return self.app.desk is not None and bool(self.app.desk.queue.open)

    async def end(self) -> RunEnded:
        await self.until(lambda: not self.session.running and self.of(RunEnded))
        return self.of(RunEnded)[-1]

    def of(self, kind: type[E]) -> list[E]:
        return [event for event in events_of(self.session) if isinstance(event, kind)]


@asynccontextmanager
async def screen(
    folder: Path,
    *replies: ModelReply,
    verdict: Verdict = "ask",
    risk: RiskLevel = "R2",
    task: str = "go",
) -> AsyncIterator[Screen]:
    clock, echo, model = FakeClock(), EchoTool(), ScriptedModel(*replies)
    opening = Opening(folder, model, [echo, AskHuman()])
    opening.clock = clock
    opening.policy.verdicts["echo"] = (verdict, risk)
    session = opening.session()

    async def open_session() -> Session:
        return session

    app = HandrailApp(open_session, monotonic=clock.monotonic)
    async with app.run_test(size=(80, 24)) as pilot:
        app.host.send(task)
        yield Screen(app, session, model, echo, Hand(pilot, clock))
        await app.host.close()


async def test_an_approved_call_runs_and_the_run_goes_on(tmp_path: Path):
    async with screen(tmp_path, ECHO, text("done")) as s:
        await s.dialog()
        assert s.echo.ran == []
        await s.hand.press("y")
        ended = await s.end()
        assert s.echo.ran == ["hi"]
        assert (ended.reason, ended.answer) == ("answered", "done")
        assert s.of(CallIntended)[0].decided_by == "person"
        assert s.of(DecisionClosed)[0].key == "y"


async def test_edited_arguments_are_what_runs(tmp_path: Path):
    async with screen(tmp_path, ECHO, text("done")) as s:
        await s.dialog()
        await s.hand.press("e")
        await s.dialog(EditArgumentsScreen)
        s.app.screen.query_one("#edit-field-0", TextArea).text = "[b]edited[/]"
        await s.hand.press("ctrl+s", "y")
        await s.end()
        assert s.echo.ran == ["[b]edited[/]"]
        assert s.of(DecisionClosed)[0].resolution == "edited"


async def test_a_denial_tells_the_model_why_and_the_run_goes_on(tmp_path: Path):
    async with screen(tmp_path, ECHO, text("then not")) as s:
        await s.dialog()
        await s.hand.press("n", *"too loud", "enter")
        ended = await s.end()
        assert s.echo.ran == []
        assert ended.reason == "answered"
        assert s.of(ToolEnded)[0].outcome == "denied"
        assert "too loud" in s.of(ToolEnded)[0].output


async def test_deny_and_pause_stops_before_the_next_step(tmp_path: Path):
    async with screen(tmp_path, ECHO, text("never asked for")) as s:
        await s.dialog()
        await s.hand.press("N")
        await s.until(lambda: s.of(RunPaused))
        await s.until(lambda: s.of(ToolEnded))
        assert s.session.paused
        assert len(s.model.requests) == 1


async def test_a_call_left_for_later_waits_and_is_found_again_by_ctrl_g(tmp_path: Path):
    async with screen(tmp_path, ECHO, text("done")) as s:
        await s.dialog()
        await s.hand.press("escape")
        assert isinstance(s.app.screen, MainScreen)
        assert s.app.main.banner.display
        assert len(s.session.gate.open) == 1
        await s.hand.press("ctrl+g")
        await s.dialog()
        await s.hand.press("y")
        await s.end()
        assert s.echo.ran == ["hi"]


async def test_stopping_the_run_closes_the_dialog_and_nothing_runs(tmp_path: Path):
    async with screen(tmp_path, ECHO) as s:
        await s.dialog()
        s.session.interrupt()
        ended = await s.end()
        await s.until(lambda: isinstance(s.app.screen, MainScreen))
        assert ended.reason == "stopped"
        assert s.echo.ran == []


async def test_ctrl_c_in_the_dialog_stops_the_run(tmp_path: Path):
    async with screen(tmp_path, ECHO) as s:
        await s.dialog()
        await s.hand.press("ctrl+c")
        assert (await s.end()).reason == "stopped"
        await s.until(lambda: isinstance(s.app.screen, MainScreen))
        assert s.echo.ran == []


async def test_typing_into_the_composer_keeps_the_dialog_away_and_the_text_whole(tmp_path: Path):
    async with screen(tmp_path, ECHO, text("done")) as s:
        await s.dialog()
        await s.hand.press("escape")
        await s.hand.press(*"yes, y", after_s=0.1)
        assert isinstance(s.app.screen, MainScreen)
        assert s.app.main.composer.text == "yes, y"
        assert s.echo.ran == []


@pytest.mark.parametrize("risk", ["R2", "R3", "R4"])
async def test_prose_enter_and_a_paste_decide_nothing(tmp_path: Path, risk: RiskLevel):
    async with screen(tmp_path, ECHO, risk=risk) as s:
        await s.dialog()
        await s.hand.press(*"y es yes y", "enter", "y", "enter", after_s=0.2)
        await s.hand.press("enter", "enter", "space")
        await s.hand.paste("y\ny\n")
        assert s.echo.ran == []
        assert len(s.session.gate.open) == 1


async def test_a_final_call_takes_the_word_that_is_on_the_screen(tmp_path: Path):
    async with screen(tmp_path, ECHO, text("done"), verdict="ask_strong", risk="R4") as s:
        await s.dialog()
        prompt = next(iter(s.session.gate.open.values())).prompt
        assert prompt.kind == "approval"
        await s.hand.press("y", *confirmation_word(prompt.digest))
        await s.end()
        assert s.echo.ran == ["hi"]


async def test_a_call_that_became_another_while_it_was_decided_is_asked_again(tmp_path: Path):
    async with screen(tmp_path, ECHO, text("done")) as s:
        await s.dialog()
        s.echo.binding = "2"
        await s.hand.press("y")
        await s.until(lambda: len(s.of(DecisionOpened)) == 2)
        await s.until(lambda: isinstance(s.app.screen, MainScreen) and s.waiting())
        assert s.echo.ran == []
        await s.hand.press("ctrl+g")
        await s.dialog()
        await s.hand.press("y")
        await s.end()
        assert s.echo.ran == ["hi"]


@pytest.mark.parametrize(
    ("arguments", "keys", "answer"),
    [
        ({"question": "Where?"}, [*"in Köln", "enter"], "in Köln"),
        ({"question": "Which?", "kind": "choice", "options": ["a", "b"]}, ["down", "enter"], "b"),
        (
            {"question": "Which?", "kind": "choices", "options": ["a", "b", "c"]},
            ["space", "3", "space", "enter"],
            "a, c",
        ),
        ({"question": "Sure?", "kind": "confirm"}, ["y"], "yes"),
    ],
)
async def test_an_answer_reaches_the_model(
    tmp_path: Path, arguments: dict[str, object], keys: list[str], answer: str
):
    asked = call("ask_human", arguments)  # type: ignore[arg-type]
    async with screen(tmp_path, asked, text("thanks")) as s:
        await s.dialog(QuestionScreen)
        await s.hand.press(*keys)
        await s.end()
        assert s.of(ToolEnded)[0].output == answer


async def test_decide_yourself_gives_the_default_to_the_model(tmp_path: Path):
    asked = call("ask_human", {"question": "Where?", "default": "here"})
    async with screen(tmp_path, asked, text("thanks")) as s:
        await s.dialog(QuestionScreen)
        await s.hand.press("ctrl+d")
        await s.end()
        assert "default: here" in s.of(ToolEnded)[0].output


async def test_an_answer_begun_comes_back_in_the_composer_when_the_question_is_gone(tmp_path: Path):
    asked = call("ask_human", {"question": "Where?"})
    async with screen(tmp_path, asked) as s:
        await s.dialog(QuestionScreen)
        await s.hand.press(*"in Kö")
        s.session.interrupt()
        await s.until(lambda: isinstance(s.app.screen, MainScreen))
        await s.until(lambda: s.app.main.composer.text == "in Kö")


async def test_a_report_of_focus_disarms_also_where_the_app_believed_it_had_it(tmp_path: Path):
    async with screen(tmp_path, ECHO, text("done")) as s:
        await s.dialog()
        assert s.app.app_focus
        s.hand.clock.advance(5)
        await s.hand.send(AppFocus())
        await s.hand.press("y", after_s=0.3)
        assert s.echo.ran == []
        await s.hand.press("y")
        await s.end()
        assert s.echo.ran == ["hi"]

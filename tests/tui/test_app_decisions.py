"""Open decisions on the screen: dialogs that open by themselves, and the banner."""

import pytest

from tests.support.app import (
    WIDE,
    FakeSession,
    eventually,
    make_app,
    ready,
    screen_text,
    seen,
)
from tui.screens.approval import ApprovalScreen
from tui.screens.question import QuestionScreen


@pytest.fixture
def session() -> FakeSession:
    return FakeSession()


async def test_an_approval_opens_by_itself_and_closes_when_the_decision_is_gone(
    session: FakeSession,
) -> None:
    app = make_app(session)
    async with app.run_test(size=WIDE) as pilot:
        await ready(pilot, session)
        session.feed.start("task")
        call = session.feed.call("shell", {"command": "ls"})
        session.feed.step("", call)
        decision = session.feed.ask_approval(call)
        await eventually(pilot, lambda: isinstance(app.screen, ApprovalScreen))
        session.feed.close_decision(decision, "withdrawn", by="")
        await eventually(pilot, lambda: app.screen is app.main)


async def test_a_question_opens_its_own_dialog(session: FakeSession) -> None:
    app = make_app(session)
    async with app.run_test(size=WIDE) as pilot:
        await ready(pilot, session)
        session.feed.start("task")
        call = session.feed.call("ask_human", {"question": "Which?"})
        session.feed.step("", call)
        session.feed.ask(call, "Which?", "a", "b")
        await eventually(pilot, lambda: isinstance(app.screen, QuestionScreen))


async def test_over_a_draft_only_a_banner_appears_and_its_key_opens_the_dialog(
    session: FakeSession,
) -> None:
    app = make_app(session)
    async with app.run_test(size=WIDE) as pilot:
        await ready(pilot, session)
        session.feed.start("task")
        call = session.feed.call("shell", {"command": "ls"})
        session.feed.step("", call)
        await seen(pilot, session)
        await pilot.press(*"draft")
        session.feed.ask_approval(call, title="run ls")
        await eventually(pilot, lambda: "1 decision - Ctrl+G   run ls" in screen_text(app))
        assert app.screen is app.main
        await pilot.press("y", "enter")
        assert "answer" not in " ".join(session.asked)
        await pilot.press(*"more")
        assert app.screen is app.main
        assert app.main.composer.text == "more"
        await pilot.press("ctrl+g")
        await eventually(pilot, lambda: isinstance(app.screen, ApprovalScreen))
        assert app.main.composer.text == "more"


async def test_a_dialog_that_was_put_off_leaves_the_banner(session: FakeSession) -> None:
    app = make_app(session)
    async with app.run_test(size=WIDE) as pilot:
        await ready(pilot, session)
        session.feed.start("task")
        call = session.feed.call("shell", {"command": "ls"})
        session.feed.step("", call)
        session.feed.ask_approval(call)
        await eventually(pilot, lambda: isinstance(app.screen, ApprovalScreen))
        await pilot.press("escape")
        await eventually(pilot, lambda: "1 decision - Ctrl+G" in screen_text(app))
        assert app.screen is app.main

"""A run on the screen: from the text that is sent to the result."""

import pytest

from core.events import ErrorInfo, MessageSteered, ModelRetried, StepStarted
from tests.support.app import (
    WIDE,
    FakeSession,
    eventually,
    make_app,
    ready,
    screen_text,
    seen,
)
from tui.app import HandrailApp


@pytest.fixture
def session() -> FakeSession:
    return FakeSession()


async def test_a_task_is_sent_with_enter_and_shown_as_the_log_tells_it(
    session: FakeSession,
) -> None:
    app = make_app(session)
    async with app.run_test(size=WIDE) as pilot:
        await ready(pilot, session)
        await pilot.press(*"say hi", "enter")
        await eventually(pilot, lambda: session.asked)
        assert session.asked == ["run say hi"]
        assert app.main.composer.text == ""
        session.feed.start("say hi")
        session.feed.step("Hi there.")
        session.feed.end("Hi there.")
        await seen(pilot, session)
        text = screen_text(app)
        assert "> say hi" in text
        assert "Hi there." in text
        assert "Answered" in text


async def test_what_is_typed_before_the_session_is_open_is_kept(session: FakeSession) -> None:
    app = make_app(session)
    async with app.run_test(size=WIDE) as pilot:
        await pilot.press(*"early", "enter")
        await ready(pilot, session)
        await eventually(pilot, lambda: session.asked)
        assert session.asked == ["run early"]


async def test_a_task_from_the_command_line_is_sent_when_the_session_is_open(
    session: FakeSession,
) -> None:
    app = make_app(session, task="from the shell")
    async with app.run_test(size=WIDE) as pilot:
        await eventually(pilot, lambda: session.asked)
        assert session.asked == ["run from the shell"]


async def test_a_message_during_a_run_is_shown_as_queued_until_it_enters(
    session: FakeSession,
) -> None:
    app = make_app(session, task="work")
    async with app.run_test(size=WIDE) as pilot:
        await ready(pilot, session)
        session.feed.start("work")
        await eventually(pilot, lambda: session.running)
        await pilot.press(*"faster", "enter")
        await eventually(pilot, lambda: "queued for the next step: faster" in screen_text(app))
        assert session.asked[-1] == "steer faster"
        session.feed.say(MessageSteered(text="faster"))
        await seen(pilot, session)
        assert "queued" not in screen_text(app)
        assert "faster  (added while it worked)" in screen_text(app)


async def test_a_call_goes_through_its_states_on_its_card_and_in_the_log(
    session: FakeSession,
) -> None:
    app = make_app(session)
    async with app.run_test(size=WIDE) as pilot:
        await ready(pilot, session)
        feed = session.feed
        feed.start("task")
        call = feed.call("shell", {"command": "make"})
        feed.step("", call)
        feed.propose(call)
        await seen(pilot, session)
        assert "proposed" in screen_text(app)
        feed.intend(call)
        await seen(pilot, session)
        assert "running" in screen_text(app)
        feed.end_call(call, "failed", "boom", exit_code=2)
        await seen(pilot, session)
        assert screen_text(app).count("failed, exit 2") == 2
        assert "boom" in screen_text(app)


async def test_a_resumed_session_shows_what_was_there_and_gives_the_history_back(
    session: FakeSession,
) -> None:
    session.feed.start("first task")
    session.feed.step("Done.")
    session.feed.end("Done.")
    app = make_app(session)
    async with app.run_test(size=WIDE) as pilot:
        await ready(pilot, session)
        assert "> first task" in screen_text(app)
        await pilot.press("up")
        assert app.main.composer.text == "first task"


async def test_hostile_text_reaches_the_screen_only_as_marks(session: FakeSession) -> None:
    bad = "\x1b]0;title\x07\x1b[2J\u202e\x9b31m"
    app = make_app(session)
    async with app.run_test(size=WIDE) as pilot:
        session.feed.open(model=f"m{bad}")
        session.feed.start(f"task {bad}")
        call = session.feed.call(f"sh{bad}", {f"k{bad}": f"v{bad}"})
        session.feed.step(f"text {bad}", call, reasoning=f"why {bad}")
        session.feed.run_call(call, f"out {bad}")
        session.feed.notice(f"note {bad}", f"hint {bad}")
        session.feed.end(f"other {bad}", files=(f"file{bad}",))
        await seen(pilot, session)
        await pilot.pause()
        text = screen_text(app)
        assert "<U+001B>" in text
        assert not any(character in text for character in bad if not character.isprintable())


async def hit_a_bug(app: HandrailApp, session: FakeSession) -> None:
    async with app.run_test(size=WIDE) as pilot:
        await ready(pilot, session)
        app.call_later(lambda key="sk-very-secret": 1 / 0)
        await eventually(pilot, lambda: not app.is_running)


async def test_a_bug_ends_the_app_with_one_line_and_no_values(session: FakeSession) -> None:
    app = make_app(session)
    with pytest.raises(ZeroDivisionError):
        await hit_a_bug(app, session)
    assert app.crash is not None
    assert app.crash.line().startswith("Internal error: ZeroDivisionError")
    assert app._exit_renderables == []


async def test_the_wait_for_a_retry_is_counted_down_and_escape_ends_it(
    session: FakeSession,
) -> None:
    app = make_app(session)
    async with app.run_test(size=WIDE) as pilot:
        await ready(pilot, session)
        await pilot.press(*"go", "enter")
        await eventually(pilot, lambda: session.asked)
        session.feed.start("go")
        slow = ErrorInfo(code="rate_limited", message="The model server asks us to slow down.")
        session.feed.say(StepStarted(), ModelRetried(error=slow, attempt=1, wait_s=9.0, limit=4))
        await seen(pilot, session)
        assert "retrying in 9 s (2 of 4): rate limited" in screen_text(app)
        session.clock.advance(3)
        await eventually(pilot, lambda: "retrying in 6 s (2 of 4)" in screen_text(app))
        await pilot.press("escape")
        assert session.asked[-1] == "interrupt"

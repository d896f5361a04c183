"""The screen before anything was said."""

import pytest
from textual import events

from core.errors import ConfigError
from core.events import NoticeRaised
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
from tui.session_port import Finding, Findings


@pytest.fixture
def session() -> FakeSession:
    return FakeSession()


async def test_what_was_found_is_shown_first_with_the_key_for_what_is_missing(
    session: FakeSession,
) -> None:
    pressed: list[str] = []

    async def act() -> str:
        pressed.append("k")
        return "The key is stored."

    async def look() -> Findings:
        missing = not pressed
        row = Finding(
            name="Model",
            state="missing" if missing else "ok",
            text="no key" if missing else "gpt-x",
            key="k",
            fix="enter a key" if missing else "",
            act=act,
        )
        return Findings(rows=(row,), has_model=not missing)

    app = make_app(session, findings=look)
    async with app.run_test(size=WIDE) as pilot:
        await eventually(pilot, lambda: "enter a key" in screen_text(app))
        assert "Without a model no task can be done yet." in screen_text(app)
        await pilot.press("k")
        await eventually(pilot, lambda: "gpt-x" in screen_text(app))
        assert pressed == ["k"]


async def test_notices_stand_on_the_first_screen_until_something_is_said(
    session: FakeSession,
) -> None:
    async def look() -> Findings:
        row = Finding(name="Model", state="missing", text="no key", key="k", fix="enter a key")
        return Findings(rows=(row,), has_model=False)

    app = make_app(session, findings=look)
    async with app.run_test(size=WIDE) as pilot:
        await ready(pilot, session)
        session.feed.say(NoticeRaised(level="warning", text="Not trusted: AGENTS.md", hint="Look."))
        await eventually(pilot, lambda: "Not trusted: AGENTS.md" in screen_text(app))
        assert "enter a key" in screen_text(app)
        session.feed.start("tidy up")
        await eventually(pilot, lambda: "tidy up" in screen_text(app))
        assert "enter a key" not in screen_text(app)
        assert "Not trusted: AGENTS.md" in screen_text(app)


async def test_the_tour_takes_over_on_a_fresh_screen(session: FakeSession) -> None:
    tour = FakeSession(session.clock)

    async def open_tour() -> FakeSession:
        return tour

    async def look() -> Findings:
        return Findings(rows=(), has_model=False, tour=open_tour)

    app = make_app(session, findings=look)
    async with app.run_test(size=WIDE) as pilot:
        await eventually(pilot, lambda: "a scripted tour" in screen_text(app))
        await pilot.press("t")
        await eventually(pilot, lambda: app.host.session is tour)
        assert session.asked == ["close tour"]
        tour.feed.open(scripted=True)
        tour.feed.start("show around")
        await seen(pilot, tour)
        assert "scripted tour" in screen_text(app).splitlines()[0]
        assert "> show around" in screen_text(app)


async def test_a_text_that_is_typed_or_pasted_without_a_model_goes_to_the_composer_and_starts_no_tour(
    session: FakeSession,
) -> None:
    async def open_tour() -> FakeSession:
        return FakeSession(session.clock)

    async def look() -> Findings:
        return Findings(rows=(), has_model=False, tour=open_tour)

    app = make_app(session, findings=look)
    async with app.run_test(size=WIDE) as pilot:
        await eventually(pilot, lambda: app.main.first.has_focus)
        await pilot.press(*"at", "space", *"two")
        await eventually(pilot, lambda: app.main.composer.text == "at two")
        assert app.host.session is session
        app.main.composer.text = ""
        app.main.first.focus()
        await eventually(pilot, lambda: app.main.first.has_focus)
        app.main.first.post_message(events.Paste("two\nlines"))
        await eventually(pilot, lambda: app.main.composer.text == "two\nlines")
        assert app.host.session is session


async def test_with_a_model_typing_is_a_task_and_tab_leads_to_the_keys_of_the_rows(
    session: FakeSession,
) -> None:
    pressed: list[str] = []

    async def act() -> str:
        pressed.append("p")
        return "It answers."

    async def look() -> Findings:
        row = Finding(name="Model", state="ok", text="gpt-x", key="p", fix="ask it", act=act)
        return Findings(rows=(row,), has_model=True)

    app = make_app(session, findings=look)
    async with app.run_test(size=WIDE) as pilot:
        await eventually(pilot, lambda: "p  ask it" in screen_text(app))
        assert "Tab leads here" in screen_text(app)
        await pilot.press("tab")
        await eventually(pilot, lambda: app.main.first.has_focus)
        assert "Tab leads here" not in screen_text(app)
        await pilot.press("p")
        await eventually(pilot, lambda: pressed == ["p"])


async def test_a_session_that_cannot_be_opened_says_why_on_the_screen() -> None:
    async def fail() -> FakeSession:
        raise ConfigError("The workspace is gone.", hint="Choose another one.")

    app = HandrailApp(fail)
    async with app.run_test(size=WIDE) as pilot:
        await eventually(pilot, lambda: "The workspace is gone." in screen_text(app))
        assert "Choose another one." in screen_text(app)
        await pilot.press("ctrl+q")
        await eventually(pilot, lambda: not app.is_running)
    assert app.return_code == 0

"""The keys of the app."""

import pytest

from core.errors import ConfigError
from tests.support.app import (
    WIDE,
    FakeSession,
    eventually,
    make_app,
    ready,
    screen_text,
    seen,
)
from tui.screens.help import HelpScreen


@pytest.fixture
def session() -> FakeSession:
    return FakeSession()


@pytest.mark.parametrize(
    ("key", "asked"),
    [("f8", "pause"), ("escape", "interrupt"), ("f9", "pause"), ("ctrl+c", "interrupt")],
)
async def test_keys_steer_the_run(session: FakeSession, key: str, asked: str) -> None:
    app = make_app(session, task="work")
    async with app.run_test(size=WIDE) as pilot:
        await ready(pilot, session)
        await eventually(pilot, lambda: session.running)
        await pilot.press(key)
        assert session.asked[-1] == asked


async def test_the_mode_key_changes_the_mode_and_the_header_says_so(session: FakeSession) -> None:
    app = make_app(session)
    async with app.run_test(size=WIDE) as pilot:
        await ready(pilot, session)
        await pilot.press("shift+tab")
        await seen(pilot, session)
        assert session.mode == "auto"
        assert "AUTO" in screen_text(app).splitlines()[0]


async def test_ctrl_c_copies_a_selection_and_stops_nothing(session: FakeSession) -> None:
    app = make_app(session, task="work")
    async with app.run_test(size=WIDE) as pilot:
        await ready(pilot, session)
        await eventually(pilot, lambda: session.running)
        app.main.composer.text = "some draft"
        app.main.composer.select_all()
        await pilot.press("ctrl+c", "ctrl+c")
        assert app.clipboard == "some draft"
        assert session.asked == ["run work"]


async def test_ctrl_c_twice_within_a_second_ends_the_app(session: FakeSession) -> None:
    app = make_app(session)
    async with app.run_test(size=WIDE) as pilot:
        await ready(pilot, session)
        await pilot.press("ctrl+c")
        session.clock.advance(5)
        await pilot.press("ctrl+c")
        assert session.asked == []
        await pilot.press("ctrl+c")
        await eventually(pilot, lambda: not app.is_running)
    assert (session.asked, app.return_code) == (["close quit"], 0)


async def test_quitting_closes_the_session_first(session: FakeSession) -> None:
    app = make_app(session, task="work")
    async with app.run_test(size=WIDE) as pilot:
        await ready(pilot, session)
        await pilot.press("ctrl+q")
        await eventually(pilot, lambda: not app.is_running)
    assert session.asked == ["run work", "close quit"]


async def test_help_lists_the_keys_and_closes_with_its_key(session: FakeSession) -> None:
    app = make_app(session, keys={"run.pause": "ctrl+y"})
    async with app.run_test(size=WIDE) as pilot:
        await ready(pilot, session)
        await pilot.press("f1")
        await eventually(pilot, lambda: isinstance(app.screen, HelpScreen))
        await eventually(pilot, lambda: "Ctrl+Y" in screen_text(app))
        await pilot.press("f1")
        await eventually(pilot, lambda: app.screen is app.main)


async def test_a_key_of_the_persons_own_works(session: FakeSession) -> None:
    app = make_app(session, task="work", keys={"run.pause": "f10"})
    async with app.run_test(size=WIDE) as pilot:
        await ready(pilot, session)
        await eventually(pilot, lambda: session.running)
        await pilot.press("f10")
        assert session.asked[-1] == "pause"


async def test_the_theme_key_goes_round_the_themes(session: FakeSession) -> None:
    app = make_app(session, theme="dark")
    async with app.run_test(size=WIDE) as pilot:
        names = [app.theme]
        for _ in range(3):
            await pilot.press("ctrl+t")
            names.append(app.theme)
        assert names[0] == names[3] == "handrail-dark"
        assert len(set(names)) == 3


def test_a_theme_that_does_not_exist_is_refused_before_anything_is_drawn(
    session: FakeSession,
) -> None:
    with pytest.raises(ConfigError, match="solarized"):
        make_app(session, theme="solarized")

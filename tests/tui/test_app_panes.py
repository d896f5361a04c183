"""Panes and sizes."""

import pytest

from tests.support.app import (
    NARROW,
    WIDE,
    FakeSession,
    eventually,
    make_app,
    ready,
    screen_text,
    seen,
)
from tui.panes.steps import StepsPane


@pytest.fixture
def session() -> FakeSession:
    return FakeSession()


async def test_at_eighty_columns_a_pane_takes_the_place_of_the_conversation(
    session: FakeSession,
) -> None:
    app = make_app(session)
    async with app.run_test(size=NARROW) as pilot:
        await ready(pilot, session)
        session.feed.start("the task")
        session.feed.whole_step(1)
        await seen(pilot, session)
        assert "> the task" in screen_text(app)
        await pilot.press("f2")
        await eventually(pilot, lambda: "# what" in screen_text(app))
        assert isinstance(app.main.pane_of("steps"), StepsPane)
        await pilot.press("f2")
        await eventually(pilot, lambda: "# what" not in screen_text(app))
        assert app.focused is app.main.composer


@pytest.mark.parametrize("key", ["f2", "f3", "f4", "f5"])
@pytest.mark.parametrize("size", [NARROW, WIDE, (190, 50)])
async def test_every_pane_opens_at_every_size(
    session: FakeSession, key: str, size: tuple[int, int]
) -> None:
    app = make_app(session)
    async with app.run_test(size=size) as pilot:
        await ready(pilot, session)
        await pilot.press(key)
        pane_id = {"f2": "steps", "f3": "memory", "f4": "browser", "f5": "sandbox"}[key]
        await eventually(pilot, lambda: app.main.pane_of(pane_id) is not None)
        await eventually(pilot, lambda: app.main.pane_of(pane_id).display)  # type: ignore[union-attr]
        assert pane_id in app.main.choice.visible


async def test_a_tab_opens_by_a_click(session: FakeSession) -> None:
    app = make_app(session)
    async with app.run_test(size=NARROW) as pilot:
        await ready(pilot, session)
        session.feed.start("task")
        await seen(pilot, session)
        await pilot.click("#titles", offset=(18, 0))
        await eventually(pilot, lambda: app.main.choice.visible == {"steps"})


async def test_another_size_keeps_what_is_shown(session: FakeSession) -> None:
    app = make_app(session)
    async with app.run_test(size=WIDE) as pilot:
        await ready(pilot, session)
        session.feed.start("task")
        session.feed.step("Look:\n\n" + "zebra " * 60)
        await seen(pilot, session)
        for size in ((80, 24), (200, 50), (61, 17), (120, 40)):
            await pilot.resize_terminal(*size)
            await eventually(pilot, lambda: "> task" in screen_text(app))
            assert max(map(len, screen_text(app).splitlines())) <= size[0]
            assert screen_text(app).count("zebra") == 60


async def test_a_window_that_is_too_small_says_so_and_comes_back(session: FakeSession) -> None:
    app = make_app(session)
    async with app.run_test(size=WIDE) as pilot:
        await ready(pilot, session)
        session.feed.start("task")
        call = session.feed.call("shell", {})
        session.feed.step("", call)
        await seen(pilot, session)
        await pilot.resize_terminal(40, 10)
        await eventually(pilot, lambda: "needs 60x16" in screen_text(app))
        session.feed.ask_approval(call)
        await seen(pilot, session)
        assert app.screen is app.main
        await pilot.resize_terminal(*WIDE)
        await eventually(pilot, lambda: "> task" in screen_text(app))

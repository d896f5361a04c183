"""The Conversation pane in the app: folding, copying, following its end."""

import pytest

from core.events import StepStarted, TextStreamed
from tests.support.app import (
    WIDE,
    FakeSession,
    conversation_of,
    eventually,
    make_app,
    ready,
    screen_text,
    seen,
)
from tui.markdown_rows import markdown_rows
from tui.panes.conversation import ConversationPane
from tui.screens.text_view import TextViewScreen


@pytest.fixture
def session() -> FakeSession:
    return FakeSession()


async def test_a_card_opens_and_closes_with_enter(session: FakeSession) -> None:
    app = make_app(session)
    async with app.run_test(size=WIDE) as pilot:
        await ready(pilot, session)
        session.feed.start("task")
        session.feed.whole_step(1)
        await seen(pilot, session)
        conversation_of(app).focus()
        await pilot.press("n", "n", "enter")
        await eventually(pilot, lambda: "command: echo 1" in screen_text(app))
        await pilot.press("enter")
        await eventually(pilot, lambda: "command: echo 1" not in screen_text(app))


async def test_a_click_on_the_first_line_of_a_card_opens_it(session: FakeSession) -> None:
    app = make_app(session)
    async with app.run_test(size=WIDE) as pilot:
        await ready(pilot, session)
        session.feed.start("task")
        session.feed.whole_step(1)
        await seen(pilot, session)
        await pilot.click(ConversationPane, offset=(10, 2))
        await eventually(pilot, lambda: "command: echo 1" in screen_text(app))


async def test_the_full_text_of_a_card_opens_by_key(session: FakeSession) -> None:
    app = make_app(session)
    async with app.run_test(size=WIDE) as pilot:
        await ready(pilot, session)
        session.feed.start("task")
        session.feed.whole_step(7)
        await seen(pilot, session)
        conversation_of(app).focus()
        await pilot.press("p", "v")
        await eventually(pilot, lambda: isinstance(app.screen, TextViewScreen))
        await eventually(pilot, lambda: "command: echo 7" in screen_text(app))


async def test_a_block_is_copied_by_its_meaning(session: FakeSession) -> None:
    app = make_app(session)
    async with app.run_test(size=WIDE) as pilot:
        await ready(pilot, session)
        session.feed.start("task")
        session.feed.step(
            "**Bold** answer that is long enough to be wrapped over several lines of the pane " * 2
        )
        await seen(pilot, session)
        conversation_of(app).focus()
        await pilot.press("p", "c")
        await eventually(pilot, lambda: app.clipboard)
        assert app.clipboard.startswith("**Bold** answer")
        assert "\n" not in app.clipboard


async def test_the_view_stays_where_the_reader_is_and_says_how_much_came_below(
    session: FakeSession,
) -> None:
    app = make_app(session)
    async with app.run_test(size=WIDE) as pilot:
        await ready(pilot, session)
        session.feed.start("task")
        for number in range(40):
            session.feed.whole_step(number)
        await seen(pilot, session)
        pane = conversation_of(app)
        assert pane.end_in_view
        pane.focus()
        await pilot.press("home")
        await eventually(pilot, lambda: pane.scroll_offset.y == 0)
        for number in range(3):
            session.feed.whole_step(number)
        await seen(pilot, session)
        assert pane.scroll_offset.y == 0
        await eventually(pilot, lambda: "3 new below" in screen_text(app))
        await pilot.press("end")
        await eventually(pilot, lambda: "new below" not in screen_text(app))
        session.feed.whole_step(99)
        await seen(pilot, session)
        assert pane.end_in_view


async def test_rows_in_view_stay_while_far_blocks_get_their_real_height(
    session: FakeSession,
) -> None:
    app = make_app(session)
    async with app.run_test(size=WIDE) as pilot:
        await ready(pilot, session)
        session.feed.start("task")
        for number in range(60):
            session.feed.step(
                f"Step {number}.\n\n- a list\n- whose height\n- no one knows\n\n"
                + "word " * (number % 50)
            )
            session.feed.end_step()
        await seen(pilot, session)
        pane = conversation_of(app)
        pane.focus()
        for _ in range(40):
            before = screen_text(app).splitlines()[6][:64]
            await pilot.press("up")
            await pilot.pause()
            assert screen_text(app).splitlines()[7][:64] == before
        assert not pane.end_in_view


async def test_a_streaming_reply_is_shown_whole_at_every_moment(session: FakeSession) -> None:
    reply = (
        "# Plan\n\nFirst some words that are long enough to wrap in the pane, twice at least, I hope.\n\n"
        "- one\n- two\n  - inner\n- three\n\n```python\nfor n in range(3):\n    print(n)\n```\n\nThe **end**."
    )
    app = make_app(session)
    async with app.run_test(size=WIDE) as pilot:
        await ready(pilot, session)
        session.feed.start("task")
        session.feed.say(StepStarted())
        pane = conversation_of(app)
        for start in range(0, len(reply), 11):
            session.feed.say(TextStreamed(text=reply[start : start + 11]))
            await seen(pilot, session)
            await pilot.pause()
            expected = [
                row.plain.rstrip() for row in markdown_rows(reply[: start + 11], pane.block_width)
            ]
            shown = [pane.render_line(y).text.rstrip()[2:] for y in range(2, 2 + len(expected))]
            assert shown == expected


async def test_a_mouse_selection_is_copied_without_gutter_and_padding(session: FakeSession) -> None:
    app = make_app(session)
    async with app.run_test(size=WIDE) as pilot:
        await ready(pilot, session)
        session.feed.start("first words")
        session.feed.step("second words")
        await seen(pilot, session)
        await pilot.pause()
        await pilot.mouse_down(ConversationPane, offset=(4, 0))
        await pilot.hover(ConversationPane, offset=(8, 2))
        await pilot.mouse_up(ConversationPane, offset=(8, 2))
        await pilot.press("ctrl+c")
        await eventually(pilot, lambda: app.clipboard)
        assert app.clipboard == "first words\n\nsecond"
        assert session.asked == []

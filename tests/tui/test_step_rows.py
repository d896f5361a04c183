"""Rows of the step log that are about money, circles and tries."""

import pytest

from core.event_log import EventLog
from core.events import ErrorInfo, ModelRetried, StepEnded
from core.guard_events import LoopNoticed
from core.run_view import RunView, reduce_all
from tests.support.fake_clock import FakeClock
from tests.support.feed import Feed
from tui.step_rows import fitting_columns, step_row


@pytest.fixture
def feed() -> Feed:
    clock = FakeClock()
    made = Feed(EventLog(clock), clock)
    made.open()
    made.start("task")
    return made


def rows(feed: Feed, width: int = 100) -> list[str]:
    view = RunView()
    reduce_all(view, feed.log.records)
    columns = fitting_columns(width)
    return [step_row(row, columns, width, feed.clock.now_s).plain for row in view.steps.rows]


def test_an_unknown_price_is_said_and_a_price_of_nothing_is_nothing(feed: Feed) -> None:
    feed.step("one", cost_usd=None)
    feed.step("two", cost_usd=0.0)
    feed.step("three", cost_usd=0.25)
    _, one, two, three = rows(feed)
    assert "unknown" in one
    assert "$" not in one
    assert "$0.00" in two
    assert "$0.25" in three


@pytest.mark.parametrize("width", [40, 80, 160])
def test_what_the_loop_guard_counts_has_a_row_of_its_own(feed: Feed, width: int) -> None:
    feed.step("one")
    feed.say(StepEnded(duration_s=1))
    feed.say(LoopNoticed(stage="counted", what="shell ls -la", count=2, limit=3))
    feed.say(LoopNoticed(stage="hinted", what="shell ls -la", count=1, limit=3))
    feed.say(LoopNoticed(stage="refused", what="shell ls -la", count=1, limit=2))
    feed.say(LoopNoticed(stage="asked", what="shell ls -la", count=2, limit=2))
    shown = rows(feed, width)[2:]
    expected = (
        "! same call 2 of 3: shell ls -la",
        "! in a circle 1 of 3: shell ls -la, the model is told",
        "! refused again 1 of 2: shell ls -la",
        "! in a circle 2 of 2: shell ls -la, asking whether to go on",
    )
    assert [len(row) for row in shown] == [width] * 4
    for row, words in zip(shown, expected, strict=True):
        assert words.startswith(row.strip().rstrip("…"))


def test_a_try_that_failed_has_a_row_with_the_whole_message(feed: Feed) -> None:
    feed.step("one")
    slow = ErrorInfo(code="rate_limited", message="The model server asks us to slow down: full.")
    feed.say(ModelRetried(error=slow, attempt=2, wait_s=3, limit=4))
    assert "! try 2 of 4 failed: The model server asks us to slow down: full." in rows(feed)[-1]

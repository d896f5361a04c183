"""The header line: what it says, and what gives way on a narrow screen."""

import pytest

from core.event_log import EventLog
from core.events import ErrorInfo, ModelRequested, ModelRetried, RunPaused, StepEnded, StepStarted
from core.guard_events import LoopNoticed
from core.run_view import RunView, reduce_all
from tests.support.fake_clock import FakeClock
from tests.support.feed import Feed
from tui.widgets.header import header_facts, header_line


@pytest.fixture
def feed() -> Feed:
    clock = FakeClock()
    made = Feed(EventLog(clock), clock, pace_s=1.0)
    made.open()
    return made


def line(feed: Feed, width: int = 140, later_s: float = 0.0) -> str:
    view = RunView()
    reduce_all(view, feed.log.records)
    facts = header_facts(view, feed.clock.now_s + later_s)
    return header_line(view.header.title, facts, width, scripted=view.header.scripted).plain


def test_a_run_shows_all_its_facts(feed: Feed) -> None:
    feed.start("make a file")
    feed.step("hm")
    text = line(feed)
    for fact in (
        "make a file",
        "general · gpt-x · ASK",
        "step 1/30",
        "ctx 41%",
        "$0.01/1.00",
        "why: between steps",
    ):
        assert fact in text


def test_time_goes_on_while_a_run_does_and_stands_when_it_is_over(feed: Feed) -> None:
    feed.start("task")
    assert "01:00" in line(feed, later_s=60)
    feed.end("done", duration_s=7)
    assert "00:07" in line(feed, later_s=600)


def test_what_is_waited_for_is_said(feed: Feed) -> None:
    feed.start("task")
    call = feed.call("shell", {"command": "ls"})
    feed.step("", call)
    feed.intend(call)
    assert "why: 1 tool running" in line(feed)
    feed.ask_approval(call)
    assert "waiting for you: 1 decision" in line(feed)
    feed.say(RunPaused())
    feed.close_decision(f"d-{call.id}", "denied")
    assert line(feed).endswith("paused")


@pytest.mark.parametrize("width", [60, 80, 100, 120, 200])
def test_the_line_fits_and_keeps_mode_and_reason(feed: Feed, width: int) -> None:
    feed.start(
        "a very long task that does not fit into any header line at all, whatever its width is"
    )
    feed.say(StepStarted())
    text = line(feed, width)
    assert len(text) <= width
    assert "ASK" in text
    assert "between steps" in text


def test_a_tour_is_labelled_on_every_screen(feed: Feed) -> None:
    feed.open(scripted=True)
    assert "scripted tour" in line(feed, 60)


def test_without_a_model_it_says_so(feed: Feed) -> None:
    feed.open(model="")
    assert "no model" in line(feed)


def test_the_wait_for_a_retry_is_counted_down(feed: Feed) -> None:
    feed.start("task")
    slow = ErrorInfo(code="rate_limited", message="The model server asks us to slow down.")
    feed.say(StepStarted(), ModelRetried(error=slow, attempt=1, wait_s=7.0, limit=5))
    for later_s, left in (
        (0.0, "in 7 s"),
        (0.5, "in 7 s"),
        (5.5, "in 2 s"),
        (6.9, "in 1 s"),
        (9.0, "now"),
    ):
        assert f"why: retrying {left} (2 of 5): rate limited" in line(feed, 200, later_s)
    feed.say(ModelRequested(model="m", size_bytes=1, digest="d"))
    assert "why: model answering" in line(feed, 200)


def test_an_unknown_cause_is_told_in_the_words_of_the_error(feed: Feed) -> None:
    feed.start("task")
    feed.say(ModelRetried(error=ErrorInfo(code="new", message="It sneezed."), attempt=1, wait_s=0))
    assert "why: retrying now (2): It sneezed." in line(feed)


@pytest.mark.parametrize("width", [80, 160])
def test_the_countdown_is_seen_on_a_narrow_screen_too(feed: Feed, width: int) -> None:
    feed.start("a task with a title that is rather long for the line")
    slow = ErrorInfo(code="rate_limited", message="The model server asks us to slow down.")
    feed.say(ModelRetried(error=slow, attempt=1, wait_s=7.0, limit=4))
    assert "why: retrying in 7 s (2 of 4): " in line(feed, width)


def test_the_counter_of_the_loop_guard_stands_until_the_next_step_ends(feed: Feed) -> None:
    feed.start("task")
    feed.step("hm")
    feed.say(StepEnded(duration_s=1))
    feed.say(LoopNoticed(stage="counted", what="shell ls", count=2, limit=3))
    assert "why: between steps, same call 2 of 3" in line(feed)
    feed.step("hm")
    assert "same call 2 of 3" in line(feed)
    feed.say(StepEnded(duration_s=1))
    assert "same call" not in line(feed)


def test_a_price_that_is_not_known_is_never_shown_as_nothing(feed: Feed) -> None:
    feed.start("task")
    assert "$" not in line(feed)
    feed.step("hm", cost_usd=None)
    assert "price unknown" in line(feed)
    assert "$" not in line(feed)
    feed.step("hm", cost_usd=0.25)
    assert "$0.25+?/1.00" in line(feed)
    feed.start("another")
    feed.step("hm", cost_usd=0.0)
    assert "$0.00/1.00" in line(feed)

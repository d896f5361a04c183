"""The header line: what it says, and what gives way on a narrow screen."""

import pytest

from core.event_log import EventLog
from core.events import RunPaused, StepStarted
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

"""The log reduced to what a screen shows."""

from typing import get_args

import pytest

from core.event_log import EventLog
from core.events import (
    ErrorInfo,
    Event,
    JournalRecovered,
    MemoryEdited,
    MessageSteered,
    ModeChanged,
    ModelReplied,
    ModelRetried,
    RunPaused,
    RunResumed,
    StepStarted,
    TextStreamed,
)
from core.messages import Image, ToolCall
from core.run_view import REDUCERS, UNSHOWN, RunView, reduce, reduce_all
from core.surroundings import BrowserChanged, BrowserSnapshotted, Element, SandboxChanged
from core.view.browser import MESSAGES_KEPT
from tests.support.fake_clock import FakeClock
from tests.support.feed import Feed


@pytest.fixture
def feed() -> Feed:
    clock = FakeClock()
    return Feed(EventLog(clock), clock)


def view_of(feed: Feed) -> RunView:
    view = RunView()
    reduce_all(view, feed.log.records)
    return view


def kinds(view: RunView) -> list[str]:
    return [block.kind for block in view.conversation.blocks]


def small_run(feed: Feed) -> ToolCall:
    """A run of two steps with one call."""
    feed.open()
    feed.start("make a file\nplease")
    call = feed.call("shell", {"command": "touch a"})
    feed.step("I will.", call, reasoning="simple")
    feed.run_call(call, "done\n", duration_s=0.5)
    feed.end_step()
    feed.step("It is made.")
    feed.end_step()
    feed.end("It is made.", files=("a",))
    return call


def test_every_kind_of_event_has_a_reducer_or_is_listed_as_not_shown() -> None:
    assert set(get_args(Event)) == set(REDUCERS) | UNSHOWN
    assert not set(REDUCERS) & UNSHOWN


def test_the_same_records_give_the_same_view_one_by_one_or_at_once(feed: Feed) -> None:
    small_run(feed)
    at_once, one_by_one = view_of(feed), RunView()
    for record in feed.log.records:
        reduce(one_by_one, record)
    assert at_once == one_by_one


def test_a_view_that_goes_on_from_a_part_equals_one_made_from_the_whole(feed: Feed) -> None:
    small_run(feed)
    view = RunView()
    records = feed.log.records
    for cut in range(len(records) + 1):
        view = RunView()
        reduce_all(view, records[:cut])
        reduce_all(view, records[cut:])
        assert view.n == len(records)
    assert view == view_of(feed)


def test_reducing_names_the_parts_that_changed(feed: Feed) -> None:
    small_run(feed)
    view = RunView()
    changed = {type(record.event).__name__: reduce(view, record) for record in feed.log.records}
    assert changed["TextStreamed"] == {"conversation"}
    assert changed["StepEnded"] == {"steps"}
    assert changed["ToolEnded"] >= {"conversation", "steps", "sandbox", "memory", "header"}


def test_a_run_becomes_blocks_in_the_order_things_happened(feed: Feed) -> None:
    small_run(feed)
    view = view_of(feed)
    assert kinds(view) == ["user", "reasoning", "text", "call", "text", "result"]
    assert view.header.title == "make a file"


def test_the_result_does_not_repeat_an_answer_that_is_the_last_text(feed: Feed) -> None:
    small_run(feed)
    result = view_of(feed).conversation.blocks[-1]
    assert result.kind == "result"
    assert result.is_answer_above


def test_the_result_shows_an_answer_that_came_through_finish(feed: Feed) -> None:
    feed.start("task")
    feed.step("Working on it.")
    feed.end("The answer is 4.")
    result = view_of(feed).conversation.blocks[-1]
    assert result.kind == "result"
    assert not result.is_answer_above


def test_text_streams_into_one_block_and_the_reply_replaces_it(feed: Feed) -> None:
    feed.start("task")
    feed.say(StepStarted(), TextStreamed(text="He"), TextStreamed(text="llo <tool_call>"))
    block = view_of(feed).conversation.open_text
    assert block is not None
    assert (block.text, block.is_open) == ("Hello <tool_call>", True)
    feed.reply("Hello")
    settled = view_of(feed).conversation.blocks[-1]
    assert settled.kind == "text"
    assert (settled.text, settled.is_open) == ("Hello", False)


def test_a_reply_without_streamed_pieces_shows_all_the_same(feed: Feed) -> None:
    feed.start("task")
    feed.say(StepStarted(), ModelReplied(text="Hi", reasoning="Because."))
    assert kinds(view_of(feed)) == ["user", "reasoning", "text"]


def test_a_failed_try_takes_its_text_with_it(feed: Feed) -> None:
    feed.start("task")
    broken = ErrorInfo(code="model_stream", message="It broke off.")
    feed.say(StepStarted(), TextStreamed(text="Half a"))
    feed.say(ModelRetried(error=broken, attempt=1, wait_s=2.0))
    view = view_of(feed)
    assert "It broke off." in view.why
    feed.say(TextStreamed(text="Whole."))
    texts = [block.text for block in view_of(feed).conversation.blocks if block.kind == "text"]
    assert texts == ["Whole."]


def test_blocks_before_the_settled_one_never_change(feed: Feed) -> None:
    small_run(feed)
    feed.start("more")
    view = RunView()
    stamps: dict[int, tuple[int, int]] = {}
    for record in feed.log.records:
        reduce(view, record)
        talk = view.conversation
        for at, block in enumerate(talk.blocks):
            if at in stamps and at < stamps[at][0]:
                assert block.revision == stamps[at][1]
            stamps[at] = (talk.settled, block.revision)


def test_the_header_counts_a_run_and_starts_again_with_the_next(feed: Feed) -> None:
    small_run(feed)
    header = view_of(feed).header
    assert (header.phase, header.step, header.last_reason) == ("idle", 2, "answered")
    assert (header.cost_usd, header.is_cost_known) == (0.18, True)
    feed.start("next")
    header = view_of(feed).header
    assert (header.phase, header.step, header.cost_usd, header.is_cost_known) == (
        "running",
        0,
        0.0,
        False,
    )
    assert header.session_cost_usd == pytest.approx(0.02)


def test_an_unknown_price_is_not_shown_as_zero(feed: Feed) -> None:
    feed.start("task")
    feed.step("hi", cost_usd=None)
    feed.end("hi", cost_usd=None)
    assert not view_of(feed).header.is_cost_known


def test_pausing_and_going_on_show_in_the_header(feed: Feed) -> None:
    feed.start("task")
    feed.say(RunPaused())
    assert view_of(feed).why == "paused"
    feed.say(RunResumed())
    assert view_of(feed).header.phase == "running"


def test_the_mode_follows_the_log(feed: Feed) -> None:
    feed.open()
    feed.say(ModeChanged(mode="auto"))
    assert view_of(feed).header.mode == "auto"


def test_opening_a_session_again_ends_what_a_crash_left_open(feed: Feed) -> None:
    feed.start("task")
    feed.open()
    assert view_of(feed).header.phase == "idle"


def test_steering_shows_as_a_message_in_its_place(feed: Feed) -> None:
    feed.start("task")
    feed.say(MessageSteered(text="use tabs"))
    block = view_of(feed).conversation.blocks[-1]
    assert block.kind == "user"
    assert (block.text, block.is_steering) == ("use tabs", True)


def test_notices_stand_where_they_came_up(feed: Feed) -> None:
    feed.start("task")
    feed.notice("No engine.", "Start it.")
    feed.say(JournalRecovered(cut_bytes=12, kept_as="journal.torn-1"))
    view = view_of(feed)
    assert kinds(view) == ["user", "notice", "notice"]
    assert "journal.torn-1" in view.notices.notices[-1].hint


def test_the_memory_mark_moves_whenever_the_next_request_may_differ(feed: Feed) -> None:
    small_run(feed)
    before = view_of(feed).memory.revision
    feed.say(MemoryEdited(operation="drop", unit_id="u1"))
    memory = view_of(feed).memory
    assert memory.revision == before + 1
    assert (memory.edits, memory.last_edit) == (1, "drop u1")


def test_the_browser_shows_the_last_look_and_keeps_what_happened(feed: Feed) -> None:
    feed.start("task")
    feed.say(StepStarted(), BrowserChanged(state="starting"))
    element = Element(ref=1, role="button", name="Go")
    picture = Image(path="/s/1.png")
    feed.say(
        BrowserSnapshotted(
            url="http://a.example/",
            title="A",
            snapshot="s1",
            engine="fast",
            elements=(element,),
            screenshot=picture,
            action="goto",
            effect="new page",
            messages=tuple(str(number) for number in range(MESSAGES_KEPT + 5)),
            hosts=("a.example allow", "b.example deny private"),
        )
    )
    browser = view_of(feed).browser
    assert (browser.state, browser.title, browser.elements, browser.step) == (
        "ready",
        "A",
        (element,),
        1,
    )
    assert browser.hosts == {"a.example": "allow", "b.example": "deny private"}
    assert len(browser.messages) == MESSAGES_KEPT
    assert [(action.action, action.effect) for action in browser.actions] == [("goto", "new page")]


def test_a_sandbox_that_is_lost_says_so(feed: Feed) -> None:
    feed.open()
    feed.say(SandboxChanged(state="lost", label="Docker", detail="It ended."))
    sandbox = view_of(feed).sandbox
    assert (sandbox.state, sandbox.detail) == ("lost", "It ended.")

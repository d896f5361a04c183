"""Blocks of the transcript as rows."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.event_log import EventLog
from core.run_view import RunView, reduce_all
from core.view.conversation import Block
from tests.support.fake_clock import FakeClock
from tests.support.feed import Feed
from tui.attention import Attention
from tui.block_rows import Look, block_text, draw_block, estimated_height


@pytest.fixture
def feed() -> Feed:
    clock = FakeClock()
    return Feed(EventLog(clock), clock)


def view_of(feed: Feed) -> RunView:
    view = RunView()
    reduce_all(view, feed.log.records)
    return view


def last(feed: Feed) -> Block:
    return view_of(feed).conversation.blocks[-1]


def text(block: Block, width: int = 80, *, is_folded: bool = True) -> str:
    return "\n".join(
        row.plain.rstrip() for row in draw_block(block, Look(width, is_folded=is_folded))
    )


def test_the_result_page_holds_answer_files_and_price(feed: Feed) -> None:
    feed.start("task")
    feed.end(
        "It is **47**.", files=("primes.py", "out/a.png"), steps=3, cost_usd=0.18, duration_s=151
    )
    shown = text(last(feed))
    assert "Answered  3 steps · 02:31 · 13.2k tokens · $0.18" in shown
    assert "It is 47." in shown
    assert "+ primes.py\n+ out/a.png" in shown


@pytest.mark.parametrize(
    ("reason", "more", "words"),
    [
        ("gave_up", {}, "Gave up"),
        ("limit", {"limit": "steps"}, "Stopped by a limit (steps)"),
        ("stopped", {}, "Stopped by you"),
        ("failed", {"error": "The key is refused."}, "The key is refused.\nCheck the key."),
    ],
)
def test_every_end_is_named_for_what_it_is(
    feed: Feed, reason: str, more: dict[str, str], words: str
) -> None:
    feed.start("task")
    feed.end("", reason=reason, **more)  # type: ignore[arg-type]
    shown = text(last(feed))
    assert words in shown
    assert "Answered" not in shown


def test_an_unknown_price_is_called_unknown(feed: Feed) -> None:
    feed.start("task")
    feed.end("x", cost_usd=None)
    assert "price not known" in text(last(feed))


def test_a_finish_that_went_well_has_no_card_of_its_own(feed: Feed) -> None:
    feed.start("task")
    call = feed.call("finish", {"answer": "47"})
    feed.step("", call)
    assert "finish" in text(last(feed))
    feed.run_call(call, "The run ends.")
    assert text(last(feed)) == ""
    assert estimated_height(last(feed), Look(80)) == 0


def test_a_question_shows_its_options_and_then_its_answer(feed: Feed) -> None:
    feed.start("task")
    call = feed.call("ask_human", {})
    feed.step("", call)
    decision = feed.ask(call, "Which?", "a", "b")
    assert text(last(feed)) == "? Which?\n  - a\n  - b\n  waiting for your answer: Ctrl+G"
    feed.close_decision(decision, "answered", text="b", by="tour")
    assert text(last(feed)).endswith("= b  (tour script)")


@pytest.mark.parametrize(
    ("resolution", "words"), [("declined", "no answer (you)"), ("withdrawn", "withdrawn")]
)
def test_a_question_without_an_answer_says_so(feed: Feed, resolution: str, words: str) -> None:
    feed.start("task")
    call = feed.call("ask_human", {})
    feed.step("", call)
    feed.close_decision(feed.ask(call, "Which?"), resolution)  # type: ignore[arg-type]
    assert words in text(last(feed))


def test_reasoning_is_one_row_until_it_is_opened(feed: Feed) -> None:
    feed.start("task")
    feed.step("", reasoning="First this.\nThen that.")
    block = last(feed)
    assert text(block) == "▸ thought, 4 words: Then that."
    assert text(block, is_folded=False) == "▾ First this.\n  Then that."


def test_a_notice_shows_what_to_do(feed: Feed) -> None:
    feed.notice("No engine.", "Start Docker.", level="error")
    assert text(last(feed)) == "✗ No engine.\n  Start Docker."


def test_blocks_are_copied_as_what_they_are(feed: Feed) -> None:
    feed.start("the task")
    assert block_text(last(feed)) == "the task"
    feed.step("**Bold**")
    assert block_text(last(feed)) == "**Bold**"
    feed.end("Answer", files=("a",))
    assert block_text(last(feed)) == "Answer\na"


@given(st.text(max_size=200), st.integers(20, 90))
def test_no_row_is_wider_than_the_pane(said: str, width: int) -> None:
    clock = FakeClock()
    feed = Feed(EventLog(clock), clock)
    feed.start(said)
    feed.step(said, reasoning=said)
    feed.notice(said, said)
    feed.end(said + "!", files=(said,))
    for block in view_of(feed).conversation.blocks:
        for is_folded in (True, False):
            rows = draw_block(block, Look(width, is_folded=is_folded))
            assert all(row.cell_length <= width for row in rows)


def test_the_person_is_called_once_for_each_thing_that_waits(feed: Feed) -> None:
    attention = Attention()
    feed.start("task")
    call = feed.call("shell", {})
    feed.step("", call)
    assert not attention.is_due(view_of(feed))
    decision = feed.ask_approval(call)
    assert attention.is_due(view_of(feed))
    assert not attention.is_due(view_of(feed))
    feed.close_decision(decision, "denied")
    assert not attention.is_due(view_of(feed))
    feed.end("done")
    assert attention.is_due(view_of(feed))
    assert not attention.is_due(view_of(feed))

"""Calls, questions and steps of the log as a screen shows them."""

import pytest

from core.event_log import EventLog
from core.messages import ToolCall
from core.run_view import RunView, reduce, reduce_all
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


def test_a_call_goes_from_proposed_to_ended(feed: Feed) -> None:
    feed.start("task")
    call = feed.call("shell", {"command": "ls"})
    feed.step("", call)
    states = [view_of(feed).calls.by_id[call.id].state]
    feed.propose(call)
    states.append(view_of(feed).calls.by_id[call.id].state)
    feed.intend(call)
    states.append(view_of(feed).calls.by_id[call.id].state)
    assert view_of(feed).why == "1 tool running"
    feed.end_call(call, "ok", "a\nb")
    view = view_of(feed)
    shown = view.calls.by_id[call.id]
    assert [*states, shown.state] == ["proposed", "proposed", "running", "ended"]
    assert (shown.outcome, shown.has_started, view.calls.running) == ("ok", True, 0)


def test_a_denied_call_never_counts_as_started(feed: Feed) -> None:
    feed.start("task")
    call = feed.call("shell", {"command": "rm -rf /"})
    feed.step("", call)
    feed.propose(call, reason="deletes")
    decision = feed.ask_approval(call)
    assert view_of(feed).calls.by_id[call.id].state == "waiting"
    feed.close_decision(decision, "denied", text="no")
    feed.end_call(call, "denied", "refused", decided_by="person")
    shown = view_of(feed).calls.by_id[call.id]
    assert (shown.outcome, shown.has_started) == ("denied", False)
    assert (shown.denial, shown.decided_by) == ("no", "person")


def test_edited_arguments_are_the_ones_that_are_shown(feed: Feed) -> None:
    feed.start("task")
    call = feed.call("shell", {"command": "rm a"})
    feed.step("", call)
    feed.propose(call, reason="deletes")
    decision = feed.ask_approval(call)
    feed.close_decision(decision, "edited", arguments={"command": "ls"})
    shown = view_of(feed).calls.by_id[call.id]
    assert (dict(shown.arguments), shown.edited, shown.state) == (
        {"command": "ls"},
        True,
        "proposed",
    )


def test_calls_without_a_result_end_as_unknown_or_not_run_when_the_run_is_over(feed: Feed) -> None:
    feed.start("task")
    started, waiting = feed.call("shell", {}), feed.call("shell", {})
    feed.step("", started, waiting)
    feed.intend(started)
    feed.end("", reason="stopped")
    view = view_of(feed)
    assert view.calls.by_id[started.id].outcome == "unknown"
    assert view.calls.by_id[waiting.id].outcome == "cancelled"
    assert view.calls.running == 0
    result = view.conversation.blocks[-1]
    assert result.kind == "result"
    assert result.failed_calls == 2


def test_output_keeps_its_streams_apart(feed: Feed) -> None:
    feed.start("task")
    call = feed.call("shell", {"command": "make"})
    feed.step("", call)
    feed.intend(call)
    feed.output(call, "out 1\n")
    feed.output(call, "err\n", stream="stderr")
    feed.output(call, "out 2\n")
    shown = view_of(feed).sandbox.commands[0]
    assert (shown.stdout.text, shown.stderr.text) == ("out 1\nout 2\n", "err\n")


def test_a_flood_of_output_is_kept_bounded_with_a_count(feed: Feed) -> None:
    feed.start("task")
    call = feed.call("shell", {"command": "yes"})
    feed.step("", call)
    for _ in range(300):
        feed.output(call, "y\n" * 1000)
    stdout = view_of(feed).calls.by_id[call.id].stdout
    assert len(stdout.head) + len(stdout.tail) <= 3 * 16_384
    assert len(stdout.head) + len(stdout.tail) + stdout.dropped_chars == 600_000
    assert f"{stdout.dropped_chars:,} characters left out" in stdout.text


def test_only_sandbox_tools_are_listed_as_commands(feed: Feed) -> None:
    feed.start("task")
    calls = [feed.call(name, {}) for name in ("shell", "read_file", "python")]
    feed.step("", *calls)
    assert [call.name for call in view_of(feed).sandbox.commands] == ["shell", "python"]


def test_a_question_and_its_answer_are_a_block(feed: Feed) -> None:
    feed.start("task")
    call = feed.call("ask_human", {"question": "Which?"})
    feed.step("", call)
    feed.intend(call)
    decision = feed.ask(call, "Which?", "a", "b")
    view = view_of(feed)
    assert view.why == "waiting for you: 1 decision"
    assert list(view.decisions.open) == [decision]
    feed.close_decision(decision, "answered", text="a")
    view = view_of(feed)
    block = view.conversation.blocks[-1]
    assert block.kind == "question"
    assert (block.answer, block.resolution, view.decisions.open) == ("a", "answered", {})
    assert view.calls.by_id[call.id].state == "running"


def test_a_secret_answer_is_nowhere_in_the_view(feed: Feed) -> None:
    feed.start("task")
    call = feed.call("ask_human", {"question": "Password?"})
    feed.step("", call)
    decision = feed.ask(call, "Password?", kind="secret")
    feed.close_decision(decision, "answered", text="hunter2")
    assert "hunter2" not in repr(view_of(feed))


def test_steps_have_a_row_each_and_calls_one_each(feed: Feed) -> None:
    call = small_run(feed)
    rows = view_of(feed).steps.rows
    assert [(row.step, row.call.call_id if row.call else "") for row in rows] == [
        (0, ""),
        (1, ""),
        (1, call.id),
        (2, ""),
    ]
    assert rows[1].title == "I will."
    assert (rows[1].input_tokens, rows[1].cost_usd, rows[1].state) == (4100, 0.01, "ended")


def test_a_row_tells_by_its_revision_that_its_call_changed(feed: Feed) -> None:
    feed.start("task")
    call = feed.call("shell", {})
    feed.step("", call)
    view = view_of(feed)
    row = view.steps.rows[-1]
    before = row.revision
    feed.intend(call)
    reduce(view, feed.log.records[-1])
    assert row.revision > before

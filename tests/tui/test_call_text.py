"""Words for calls: they come from the outcome, never from the call."""

from typing import get_args

import pytest

from core.messages import Outcome
from core.view.calls import CallView
from core.vocabulary import DecidedBy
from tui.call_rows import call_full_text, call_rows, folded_height, head_line
from tui.call_text import (
    arguments_short,
    call_mark,
    call_state,
    clock,
    decider,
    dollars,
    duration,
    tokens,
)
from tui.step_rows import fitting_columns, heading_row

DONE_WORDS = ("ran", "edited", "done", "wrote", "ok")


def call(**fields: object) -> CallView:
    made = CallView("c1", "shell", arguments={"command": "rm -rf build"})
    for name, value in fields.items():
        setattr(made, name, value)
    return made


def ended(outcome: Outcome, **fields: object) -> CallView:
    return call(state="ended", outcome=outcome, **fields)


@pytest.mark.parametrize("outcome", [outcome for outcome in get_args(Outcome) if outcome != "ok"])
@pytest.mark.parametrize("has_started", [False, True])
def test_what_did_not_end_well_never_reads_as_done(outcome: Outcome, has_started: bool) -> None:
    shown = call_rows(ended(outcome, has_started=has_started), 100, is_folded=True)[0].plain
    state = shown.partition("build")[2].split()
    assert not set(state) & set(DONE_WORDS)
    assert call_mark(ended(outcome)) != "✓"


@pytest.mark.parametrize(
    ("state", "words"),
    [("proposed", "proposed"), ("waiting", "waiting for you"), ("running", "running")],
)
def test_what_has_no_outcome_yet_says_where_it_is(state: str, words: str) -> None:
    assert call_state(call(state=state))[0] == words


def test_a_failed_command_names_its_exit_code() -> None:
    assert call_state(ended("failed", exit_code=2))[0] == "failed, exit 2"


def test_a_call_that_never_started_was_not_run() -> None:
    assert call_state(ended("cancelled"))[0] == "not run"
    assert call_state(ended("cancelled", has_started=True))[0] == "stopped"


def test_a_denied_call_names_who_refused_and_why() -> None:
    rows = call_rows(ended("denied", decided_by="person", denial="stay local"), 100, is_folded=True)
    assert "denied by you" in rows[0].plain
    assert "stay local" in rows[1].plain


def test_a_call_a_person_allowed_says_so() -> None:
    row = call_rows(
        ended("ok", has_started=True, duration_s=0.2, decided_by="person"), 100, is_folded=True
    )[0]
    assert row.plain.rstrip().endswith("ok · 200 ms · allowed by you")


@pytest.mark.parametrize("by", get_args(DecidedBy))
def test_every_decider_has_a_name(by: DecidedBy) -> None:
    assert decider(by) or not by


def test_the_telling_argument_comes_first_and_without_its_name() -> None:
    made = call(arguments={"timeout_s": 5, "ref": 2, "command": "make\ntest", "cwd": ""})
    assert arguments_short(made) == "make↵test  ref=2"


def test_arguments_that_cannot_be_read_are_shown_as_they_came() -> None:
    assert arguments_short(call(arguments={}, raw_arguments='{"command": ')) == '{"command": '


@pytest.mark.parametrize("name", ["command", "evil\x1b[2J"])
def test_nothing_of_a_call_reaches_the_screen_raw(name: str) -> None:
    made = ended(
        "failed",
        arguments={name: "a\x1b[31m\u202eb"},
        name="to\x07ol",
        error="e\x9b",
        output="o\x08",
    )
    for is_folded in (True, False):
        text = "\n".join(row.plain for row in call_rows(made, 100, is_folded=is_folded))
        assert not any(bad in text for bad in "\x1b\x07\x9b\u202e\x08")


@pytest.mark.parametrize("output", ["", "one line", "first\nsecond\nthird"])
def test_the_height_of_a_folded_card_is_known_without_drawing_it(output: str) -> None:
    made = ended("ok", output=output)
    assert folded_height(made) == len(call_rows(made, 80, is_folded=True))


def test_the_head_of_a_result_is_what_the_command_printed() -> None:
    made = ended("ok", output="exit code 0\nhello\nyou")
    made.stdout.append("hello\nyou\n")
    assert head_line(made) == "hello  (+1 lines)"


def test_an_unfolded_card_shows_arguments_reasons_and_both_streams() -> None:
    made = ended("failed", risk="R2", verdict="ask", reasons=("writes files",), exit_code=1)
    made.stdout.append("out\n")
    made.stderr.append("err\n")
    text = "\n".join(row.plain for row in call_rows(made, 80, is_folded=False))
    for part in (
        "command: rm -rf build",
        "risk: R2, ask",
        "why: writes files",
        "stdout: out",
        "stderr: err",
    ):
        assert part in text


def test_a_flood_of_output_is_cut_on_the_card_and_whole_in_the_full_text() -> None:
    made = ended("ok", output="line\n" * 5000)
    assert len(call_rows(made, 80, is_folded=False)) < 300
    assert call_full_text(made).count("line\n") == 5000


@pytest.mark.parametrize("width", [20, 40, 80, 200])
def test_a_card_fits_the_width(width: int) -> None:
    made = ended("ok", output="x" * 500, has_started=True, duration_s=1.0, decided_by="person")
    for is_folded in (True, False):
        assert max(row.cell_length for row in call_rows(made, width, is_folded=is_folded)) <= width


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(None, ""), (0.0123, "12 ms"), (3.21, "3.2 s"), (245, "04:05"), (3723, "1:02:03")],
)
def test_durations_take_few_cells(seconds: float | None, text: str) -> None:
    assert duration(seconds) == text


def test_a_clock_never_runs_backwards_into_minus() -> None:
    assert clock(-5) == "00:00"


@pytest.mark.parametrize(("count", "text"), [(950, "950"), (12_345, "12.3k"), (1_200_000, "1.2M")])
def test_tokens_take_few_cells(count: int, text: str) -> None:
    assert tokens(count) == text


@pytest.mark.parametrize(
    ("cost", "text"), [(None, ""), (0, "$0.00"), (0.0042, "$0.0042"), (1.5, "$1.50")]
)
def test_a_price_that_is_not_known_is_not_shown(cost: float | None, text: str) -> None:
    assert dollars(cost) == text


def test_the_step_log_leaves_columns_out_when_there_is_no_room() -> None:
    assert [column.title for column in fitting_columns(120)] == [
        "state",
        "time",
        "tokens",
        "cost",
        "risk",
        "by",
    ]
    assert [column.title for column in fitting_columns(50)] == ["state", "time"]
    assert heading_row(fitting_columns(50), 50).cell_length == 50

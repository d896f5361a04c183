"""What is told of the model itself, from the log alone."""

from dataclasses import fields

import pytest

from core.chat import learning
from core.chat.flag_words import learned_words
from core.event_log import EventLog
from core.events import EVENT_ADAPTER, Event, ModelAdapted, RunStarted, SessionOpened
from core.model_events import ModelDowngraded, ModelSwitched
from core.provider import ProviderFlags, with_learned
from core.run_view import RunView, reduce_all
from tests.support.fake_clock import FakeClock

SWITCHED = ModelSwitched(
    before="first", model="second", label="Ollama", code="quota", reason="No quota is left."
)
OPENED = SessionOpened(
    session_id="s", workspace="/w", version="0", profile="general", model="first", mode="ask"
)
STARTED = RunStarted(task="go", max_steps=3, max_minutes=1, max_cost_usd=0)
LEARNABLE = [flag for _, flag in (*learning._PARAMETER_FLAGS, *learning._HISTORY_FLAGS)]


@pytest.fixture
def log() -> EventLog:
    return EventLog(FakeClock())


def shown(log: EventLog, *events: Event) -> RunView:
    for event in events:
        log.append(event)
    view = RunView()
    reduce_all(view, log.records)
    return view


def test_a_switch_is_told_and_the_header_names_the_model_until_the_next_run(log: EventLog) -> None:
    view = shown(log, OPENED, STARTED, SWITCHED)
    assert view.header.model == "second"
    notice = view.notices.notices[-1]
    assert "first cannot be used, second (Ollama) answers now" in notice.text
    assert shown(log, STARTED).header.model == "first"


def test_a_downgrade_and_a_learned_flag_are_notices(log: EventLog) -> None:
    view = shown(
        log,
        OPENED,
        ModelDowngraded(model="m", what="pictures"),
        ModelAdapted(flag="temperature=omit"),
    )
    downgrade, learned = view.notices.notices
    assert downgrade.text == "m sees no pictures: pages are described in words."
    assert "no temperature is sent" in learned.text
    assert "handrail doctor --forget" in learned.hint


@pytest.mark.parametrize("flag", LEARNABLE, ids=str)
def test_every_flag_that_can_be_learned_is_taken_over_and_has_words(
    flag: tuple[str, str],
) -> None:
    name, value = flag
    assert name in {item.name for item in fields(ProviderFlags)}
    taken = getattr(with_learned(ProviderFlags(), {name: value}), name)
    assert taken == {"true": True, "false": False}.get(value, value)
    assert learned_words(f"{name}={value}") != f"{name}={value}"


@pytest.mark.parametrize(
    ("flag", "words"),
    [
        ("context_window=8192", "its window is 8,192 tokens"),
        ("omit.top_p=true", "top_p is not sent"),
        ("vision=false", "it takes no pictures"),
        ("new_flag=1", "new_flag=1"),
    ],
)
def test_learned_flags_are_told_in_words(flag: str, words: str) -> None:
    assert learned_words(flag) == words


@pytest.mark.parametrize("event", [SWITCHED, ModelDowngraded(model="m", what="tools")])
def test_the_journal_reads_back_what_it_wrote(event: Event) -> None:
    assert EVENT_ADAPTER.validate_json(EVENT_ADAPTER.dump_json(event)) == event

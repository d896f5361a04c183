"""Limits of money and of calls, from the first request to the end of the run."""

from dataclasses import replace
from pathlib import Path

import pytest

from core.agent import LIMIT_NUDGE
from core.budget import Limits
from core.errors import ModelStreamError
from core.events import ModelRetried, NoticeRaised, ToolEnded
from core.messages import ModelReply, ModelRequest, Usage
from core.run_view import RunView, reduce_all
from core.session import Session
from core.spending import FilePurse
from tests.support.fake_clock import FakeClock
from tests.support.fake_tools import EchoTool
from tests.support.opened import Opening, events_of
from tests.support.scripted_model import ScriptedModel, call, text

SPENT = Usage(input_tokens=100, output_tokens=100)


class PricedModel(ScriptedModel):
    """Costs a cent for a thousand tokens, whichever way they go."""

    def cost_usd(self, usage: Usage) -> float | None:
        return (usage.input_tokens + usage.output_tokens) / 100_000


class UnpricedModel(ScriptedModel):
    """Nobody knows what it costs."""

    def cost_usd(self, usage: Usage) -> float | None:
        return None


def echoes(times: int) -> list[ModelReply]:
    return [call("echo", {"text": str(number)}) for number in range(times)]


def opening(tmp_path: Path, model: ScriptedModel, **limits: float) -> Opening:
    made = Opening(tmp_path, model, [EchoTool()])
    made.limits = Limits(max_steps=50, reply_tokens=100, **limits)  # type: ignore[arg-type]
    return made


def denied(session: Session) -> list[str]:
    return [
        event.output
        for event in events_of(session)
        if isinstance(event, ToolEnded) and event.outcome == "denied"
    ]


async def test_the_limit_of_a_run_stops_before_the_request_and_keeps_enough_for_last_words(
    tmp_path: Path,
) -> None:
    def answer(request: ModelRequest) -> ModelReply:
        if not request.tools:
            return replace(text("as far as I got"), usage=SPENT)
        return replace(call("echo", {"text": str(len(model.requests))}), usage=SPENT)

    model = PricedModel(*[answer] * 50)
    session = opening(tmp_path, model, max_cost_usd=0.04).session()
    ended = await session.run("Go")
    assert (ended.reason, ended.exit_code, ended.limit) == ("limit", 3, "cost")
    assert len(model.requests) > 4
    assert ended.answer == "as far as I got"
    assert model.requests[-1].tools == ()
    assert model.requests[-1].messages[-1].text == LIMIT_NUDGE
    assert ended.cost_usd is not None
    assert 0.01 < ended.cost_usd <= 0.04
    assert ended.error is not None
    assert "would be passed" in ended.error.message
    await session.close()


async def test_where_even_last_words_cost_too_much_nothing_is_sent(tmp_path: Path) -> None:
    model = PricedModel(text("never"))
    session = opening(tmp_path, model, max_cost_usd=0.0005).session()
    ended = await session.run("Go")
    assert (ended.reason, ended.limit, ended.answer) == ("limit", "cost", "")
    assert model.requests == []
    await session.close()


async def test_a_limit_that_is_far_away_stops_nothing(tmp_path: Path) -> None:
    model = PricedModel(*echoes(8), text("done"))
    session = opening(tmp_path, model, max_cost_usd=100, max_cost_per_day_usd=100).session()
    assert (await session.run("Go")).answer == "done"
    await session.close()


async def test_an_unknown_price_is_said_as_unknown_and_stops_nothing(tmp_path: Path) -> None:
    session = opening(
        tmp_path, UnpricedModel(*echoes(3), text("done")), max_cost_usd=0.01
    ).session()
    ended = await session.run("Go")
    assert (ended.answer, ended.cost_usd) == ("done", None)
    await session.close()


async def test_the_limit_of_a_day_holds_over_sessions_and_says_so_in_one_line(
    tmp_path: Path,
) -> None:
    clock = FakeClock()
    purse = FilePurse(tmp_path / "spending", "s1", clock)
    FilePurse(tmp_path / "spending", "yesterday's session", clock).add(0.999)
    model = PricedModel(text("never"))
    made = opening(tmp_path, model, max_cost_usd=0, max_cost_per_day_usd=1.0)
    made.purse = purse
    session = made.session()
    ended = await session.run("Go")
    assert (ended.reason, ended.exit_code, ended.limit) == ("limit", 3, "cost_per_day")
    assert model.requests == []
    assert ended.error is not None
    assert ended.error.message.startswith("Today's limit of $1.00 would be passed: $0.99")
    assert "\n" not in ended.error.message
    await session.close()


async def test_what_a_run_spends_is_kept_for_the_next_one(tmp_path: Path) -> None:
    purse = FilePurse(tmp_path / "spending", "s1", FakeClock())
    made = opening(tmp_path, PricedModel(*echoes(1), text("done")), max_cost_usd=1)
    made.purse = purse
    session = made.session()
    ended = await session.run("Go")
    assert purse.today_usd() == pytest.approx(ended.cost_usd)
    await session.close()


async def test_a_day_whose_spending_cannot_be_read_starts_no_request(tmp_path: Path) -> None:
    folder = tmp_path / "spending"
    (folder / "2026-01.jsonl").mkdir(parents=True)
    model = PricedModel(text("never"))
    made = opening(tmp_path, model, max_cost_per_day_usd=1.0)
    made.purse = FilePurse(folder, "s1", FakeClock())
    session = made.session()
    ended = await session.run("Go")
    assert (ended.reason, ended.exit_code, model.requests) == ("failed", 2, [])
    assert ended.error is not None
    assert "max_cost_per_day_usd" in ended.error.hint
    await session.close()


async def test_without_a_limit_of_the_day_spending_that_cannot_be_kept_is_said_once(
    tmp_path: Path,
) -> None:
    folder = tmp_path / "spending"
    (folder / "2026-01.jsonl").mkdir(parents=True)
    made = opening(tmp_path, PricedModel(*echoes(2), text("done")), max_cost_usd=1)
    made.purse = FilePurse(folder, "s1", FakeClock())
    session = made.session()
    assert (await session.run("Go")).answer == "done"
    notices = [event for event in events_of(session) if isinstance(event, NoticeRaised)]
    assert [notice.code for notice in notices] == ["spending"]
    await session.close()


async def test_calls_beyond_the_limit_of_a_tool_are_refused_and_the_run_goes_on(
    tmp_path: Path,
) -> None:
    echo, other = EchoTool(), EchoTool("other")
    model = ScriptedModel(*echoes(4), call("other", {"text": "x"}), text("done"))
    made = Opening(tmp_path, model, [echo, other])
    made.limits = Limits(max_calls={"echo": 2})
    session = made.session()
    assert (await session.run("Go")).answer == "done"
    assert echo.ran == ["0", "1"]
    assert other.ran == ["x"]
    assert [("may call echo 2 times" in output) for output in denied(session)] == [True, True]
    assert "may call echo 2 times" in model.requests[3].messages[-1].text
    await session.close()


async def test_the_limit_of_a_tool_is_for_one_run(tmp_path: Path) -> None:
    echo = EchoTool()
    model = ScriptedModel(*echoes(1), text("one"), *echoes(1), text("two"))
    made = Opening(tmp_path, model, [echo])
    made.limits = Limits(max_calls={"echo": 1})
    session = made.session()
    await session.run("Go")
    await session.run("Again")
    assert echo.ran == ["0", "0"]
    await session.close()


async def test_an_answer_that_broke_off_is_paid_for_too(tmp_path: Path) -> None:
    model = PricedModel(ModelStreamError("It broke."), replace(text("done"), usage=SPENT))
    session = opening(tmp_path, model).session()
    ended = await session.run("Go")
    [retried] = [event for event in events_of(session) if isinstance(event, ModelRetried)]
    assert retried.usage.estimated
    assert retried.cost_usd
    assert ended.cost_usd == pytest.approx(0.002 + retried.cost_usd)
    view = RunView()
    reduce_all(view, session.log.records)
    assert view.header.cost_usd == pytest.approx(ended.cost_usd)
    assert view.steps.rows[1].cost_usd == pytest.approx(ended.cost_usd)
    await session.close()

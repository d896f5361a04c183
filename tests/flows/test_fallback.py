"""Models that stand in, as whole runs over real HTTP."""

import hashlib
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from core.chat.options import model_options
from core.events import ModelReplied, ModelRequested
from core.fallback import FallbackModel, SwitchingCounter
from core.model_events import ModelSwitched
from core.model_openai import OpenAIModel
from core.pricing import Price
from core.run_view import RunView, reduce_all
from core.session import Session
from tests.support.command_line import run_handrail
from tests.support.fake_clock import InstantClock
from tests.support.fake_tools import EchoTool
from tests.support.model_server import ModelServer, ModelServerThread, hang, http_error, raw, text
from tests.support.model_turns import DONE, Script, calls, chunk
from tests.support.opened import Opening, events_of

GONE = "http://127.0.0.1:9/v1"


def stand_ins(*addresses: str, **changes: Any) -> FallbackModel:
    """Models named m0, m1, ... at these addresses."""
    counter = SwitchingCounter()
    models = [
        OpenAIModel(
            replace(
                model_options(f"m{number}", address, provider="generic", window=32_000 >> number),
                price=Price(input_usd=number + 1.0, output_usd=0.0),
                lists_models=False,
                **changes,
            ),
            clock=InstantClock(),
            counter=counter,
        )
        for number, address in enumerate(addresses)
    ]
    return FallbackModel(models, counter)


def session_on(folder: Path, model: FallbackModel) -> Session:
    return Opening(folder, model, [EchoTool()]).session()


def of(session: Session, kind: type) -> Sequence[Any]:
    return [event for event in events_of(session) if isinstance(event, kind)]


USELESS: dict[str, tuple[Script, str]] = {
    "key refused": (http_error(401, "Incorrect API key provided"), "auth"),
    "quota": (http_error(429, "You exceeded your quota", code="insufficient_quota"), "quota"),
    "no such model": (http_error(404, "The model `m0` does not exist"), "model_not_found"),
    "too long a wait": (http_error(429, "slow", headers={"retry-after": "3600"}), "rate_limited"),
    "overloaded": (http_error(529, "Overloaded"), "server"),
    "no model API": (raw(b"<html></html>", content_type="text/html"), "bad_endpoint"),
}


@pytest.mark.parametrize("why", USELESS)
async def test_the_next_model_answers_where_the_first_cannot_be_used(
    tmp_path: Path, why: str
) -> None:
    turn, code = USELESS[why]
    async with (
        ModelServer([turn], repeat_last=True) as first,
        ModelServer([text("from the second")]) as second,
    ):
        model = stand_ins(first.base_url, second.base_url)
        session = session_on(tmp_path, model)
        ended = await session.run("Go")
        assert (ended.reason, ended.answer) == ("answered", "from the second")
        (switched,) = of(session, ModelSwitched)
        assert (switched.before, switched.model, switched.code) == ("m0", "m1", code)
        assert [event.model for event in of(session, ModelRequested)][-1] == "m1"
        await session.close()
        await model.close()


async def test_a_server_that_is_not_there_hands_over_after_its_tries(tmp_path: Path) -> None:
    async with ModelServer([text("here")]) as second:
        model = stand_ins(GONE, GONE, second.base_url)
        session = session_on(tmp_path, model)
        assert (await session.run("Go")).answer == "here"
        assert [event.model for event in of(session, ModelSwitched)] == ["m1", "m2"]
        await session.close()
        await model.close()


async def test_what_no_model_can_read_is_not_sent_to_the_next_one(tmp_path: Path) -> None:
    bad = http_error(400, "messages: something is wrong with it")
    async with ModelServer([bad]) as first, ModelServer([text("x")]) as second:
        model = stand_ins(first.base_url, second.base_url)
        session = session_on(tmp_path, model)
        ended = await session.run("Go")
        assert ended.reason == "failed"
        assert ended.error is not None
        assert ended.error.code == "bad_request"
        assert second.requests == []
        await session.close()
        await model.close()


async def test_the_last_model_fails_with_its_own_error(tmp_path: Path) -> None:
    refused = http_error(401, "Incorrect API key provided")
    async with ModelServer([refused]) as second:
        model = stand_ins(GONE, second.base_url)
        session = session_on(tmp_path, model)
        ended = await session.run("Go")
        assert ended.error is not None
        assert ended.error.code == "auth"
        await session.close()
        await model.close()


async def test_a_half_answer_is_abandoned_and_the_next_model_answers_from_the_beginning(
    tmp_path: Path,
) -> None:
    half = raw(chunk({"role": "assistant", "content": "half of "}))
    async with (
        ModelServer([half], repeat_last=True) as first,
        ModelServer([text("whole")]) as second,
    ):
        model = stand_ins(first.base_url, second.base_url)
        session = session_on(tmp_path, model)
        assert (await session.run("Go")).answer == "whole"
        assert len(first.requests) == 3
        assert [reply.text for reply in of(session, ModelReplied)] == ["whole"]
        assert "half of" not in second.requests[0].body.decode()
        await session.close()
        await model.close()


async def test_a_server_that_says_nothing_is_let_go_before_the_next_model_is_asked(
    tmp_path: Path,
) -> None:
    async with ModelServer([hang()], repeat_last=True) as first:

        def only_when_gone(_: object) -> Any:
            assert first.gone.is_set()
            return raw(chunk({"role": "assistant", "content": "ok"}, "stop"), DONE)

        async with ModelServer([only_when_gone]) as second:
            limits = model_options("m", GONE).time_outs
            model = stand_ins(
                first.base_url, second.base_url, time_outs=replace(limits, first_token_s=0.1)
            )
            session = session_on(tmp_path, model)
            assert (await session.run("Go")).answer == "ok"
            await session.close()
            await model.close()


async def test_the_next_run_begins_with_the_first_model_again(tmp_path: Path) -> None:
    async with (
        ModelServer([http_error(401, "bad key"), text("first again")]) as first,
        ModelServer([text("second")]) as second,
    ):
        model = stand_ins(first.base_url, second.base_url)
        session = session_on(tmp_path, model)
        assert (await session.run("Go")).answer == "second"
        assert session.next_request().window == 32_000
        assert (await session.run("Again")).answer == "first again"
        view = RunView()
        reduce_all(view, session.log.records)
        assert view.header.model == "m0"
        await session.close()
        await model.close()


async def test_price_window_and_the_exact_request_are_those_of_the_model_that_answers(
    tmp_path: Path,
) -> None:
    async with (
        ModelServer([http_error(401, "bad key")]) as first,
        ModelServer([calls(("echo", {"text": "x"})), text("done")]) as second,
    ):
        model = stand_ins(first.base_url, second.base_url)
        session = session_on(tmp_path, model)
        await session.run("Go")
        replies = of(session, ModelReplied)
        assert replies[-1].cost_usd == pytest.approx(replies[-1].usage.input_tokens * 2 / 1e6)
        sent = [event.digest for event in of(session, ModelRequested)]
        assert [hashlib.sha256(one.body).hexdigest() for one in second.requests] == sent[1:]
        assert {one.json["model"] for one in second.requests} == {"m1"}
        windows = [event.window for event in events_of(session) if event.kind == "context_built"]
        assert windows == [32_000, 16_000, 16_000]
        await session.close()
        await model.close()


async def test_the_screen_names_the_model_that_answers_and_says_why(tmp_path: Path) -> None:
    async with ModelServer([text("here")]) as second:
        model = stand_ins(GONE, second.base_url)
        session = session_on(tmp_path, model)
        await session.run("Go")
        view = RunView()
        reduce_all(view, session.log.records)
        assert view.header.model == "m1"
        (notice,) = [one for one in view.notices.notices if one.code == "model_switched"]
        assert notice.level == "warning"
        assert "m0 cannot be used, m1" in notice.text
        await session.close()
        await model.close()


def test_what_was_learned_of_a_models_tokens_stays_with_it() -> None:
    counter = SwitchingCounter()
    counter.learn(1000, 2000)
    counter.count_for(1)
    assert counter.factor == 1.0
    counter.learn(1000, 500)
    counter.count_for(0)
    assert counter.factor == 2.0
    counter.count_for(1)
    assert counter.factor == 0.5


def settings_with_stand_in(home: Path, server: ModelServerThread) -> None:
    (home / "config").mkdir()
    (home / "config" / "config.toml").write_text(
        f"""[model]
name = "first"
base_url = "{GONE}"
[[model.fallback]]
name = "second"
base_url = "{server.base_url}"
[sandbox]
kind = "none"
[browser]
enabled = false
""",
        encoding="utf-8",
    )


@pytest.mark.parametrize("words", [("--json",), ()])
def test_without_a_screen_stderr_says_which_model_answers(
    workspace: Path, home: Path, words: Sequence[str]
) -> None:
    with ModelServerThread([text("from the second")], repeat_last=True) as server:
        settings_with_stand_in(home, server)
        done = run_handrail("run", "say hello", *words, folder=workspace)
    assert done.code == 0
    assert "first cannot be used, second" in done.stderr
    assert b"from the second" in done.stdout
    if words:
        (switched,) = [event for event in done.events if event["kind"] == "model_switched"]
        assert (switched["before"], switched["model"]) == ("first", "second")

"""Runs of models without tool calling of their own, over real HTTP."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

from core.chat.options import model_options
from core.end_check import NOTHING_DONE
from core.events import ModelAdapted, ModelRequested, TextStreamed
from core.messages import ModelRequest, ToolCall
from core.model_events import ModelDowngraded
from core.model_openai import OpenAIModel
from core.session import Session
from core.stored_results import StoredResults
from core.workspace import WorkspaceFiles
from tests.support.fake_tools import EchoTool
from tests.support.model_server import ModelServer, calls, http_error, text
from tests.support.opened import Opening, events_of
from tests.support.step_talk import step
from tools.files import ReadFile
from tools.finish import Finish


def _opening(folder: Path, base_url: str, **changes: Any) -> Opening:
    options = replace(model_options("small", base_url), **{"prove_tools": True, **changes})
    opening = Opening(folder, OpenAIModel(options))
    files = WorkspaceFiles(opening.workspace)
    opening.tools = [
        EchoTool(),
        ReadFile(files, opening.workspace, StoredResults(folder)),
        Finish(files, opening.workspace),
    ]
    return opening


async def _close(session: Session) -> None:
    await session.close()
    model = session._parts.model
    assert isinstance(model, OpenAIModel)
    await model.close()


def _names(body: dict[str, Any]) -> list[str]:
    schema = body["response_format"]["json_schema"]["schema"]
    choices = schema["properties"]["call"]
    return [one["properties"]["name"]["const"] for one in choices.get("oneOf") or choices["anyOf"]]


PROOF = text('```json\n{"name": "ping", "arguments": {"text": "hi"}}\n```')
"""What a server says that calls no tools."""


async def test_a_server_that_calls_no_tools_is_found_out_and_the_model_works_step_by_step(
    tmp_path: Path,
) -> None:
    script = [
        PROOF,
        text(step("echo", "look", text="42 lines")),
        text(step("finish", answer="It is 42.")),
    ]
    async with ModelServer(script, calls_tools=False) as server:
        opening = _opening(tmp_path, server.base_url)
        session = opening.session()
        ended = await session.run("How many?")
        bodies = [request.json for request in server.requests]
        events = events_of(session)
        await _close(session)
    assert (ended.reason, ended.answer) == ("answered", "It is 42.")
    assert "tools" in bodies[0]
    assert all("tools" not in body for body in bodies[1:])
    assert _names(bodies[1]) == ["echo", "read_file", "finish"]
    assert [event.flag for event in events if isinstance(event, ModelAdapted)] == [
        "tool_protocol=steps"
    ]
    assert [event.what for event in events if isinstance(event, ModelDowngraded)] == ["tools"]


async def test_the_form_of_a_reply_is_never_shown_as_text(tmp_path: Path) -> None:
    script = [
        PROOF,
        text(step("finish", "all done", answer="Hi.")),
        text(step("finish", answer="Hi.")),
    ]
    async with ModelServer(script, calls_tools=False) as server:
        session = _opening(tmp_path, server.base_url).session()
        await session.run("Hello")
        streamed = "".join(e.text for e in events_of(session) if isinstance(e, TextStreamed))
        await _close(session)
    assert streamed == ""


async def test_what_was_learned_is_not_asked_again(tmp_path: Path) -> None:
    turns = [text(step("finish", answer="Hi."))] * 2
    async with ModelServer([PROOF, *turns, *turns], calls_tools=False) as server:
        session = _opening(tmp_path, server.base_url).session()
        await session.run("Hello")
        await session.run("Hello again")
        count = len(server.requests)
        await _close(session)
    assert count == 5


async def test_a_server_that_calls_tools_is_worked_with_as_ever(tmp_path: Path) -> None:
    async with ModelServer([calls(("finish", {"answer": "Hi."}))]) as server:
        session = _opening(tmp_path, server.base_url).session()
        ended = await session.run("Hello")
        (body,) = [request.json for request in server.requests]
        await _close(session)
    assert ended.answer == "Hi."
    assert "tools" in body
    assert "response_format" not in body


async def test_a_server_that_refuses_tools_gets_steps_at_once(tmp_path: Path) -> None:
    refusal = http_error(400, "small does not support tools")
    async with ModelServer(
        [refusal, *[text(step("finish", answer="Hi."))] * 2], calls_tools=False
    ) as server:
        opening = _opening(tmp_path, server.base_url)
        opening.model = OpenAIModel(model_options("small", server.base_url))
        session = opening.session()
        ended = await session.run("Hello")
        await _close(session)
    assert (ended.reason, ended.answer) == ("answered", "Hi.")


async def test_the_settings_have_the_last_word(tmp_path: Path) -> None:
    async with ModelServer(
        [*[text(step("finish", answer="Hi."))] * 2], calls_tools=False
    ) as server:
        session = _opening(tmp_path, server.base_url, tools="steps", prove_tools=False).session()
        ended = await session.run("Hello")
        await _close(session)
    assert ended.answer == "Hi."
    refusal = http_error(400, "small does not support tools")
    (tmp_path / "second").mkdir()
    async with ModelServer([refusal], calls_tools=False) as server:
        opening = _opening(tmp_path / "second", server.base_url, tools="native", prove_tools=False)
        session = opening.session()
        ended = await session.run("Hello")
        await _close(session)
    assert (ended.reason, ended.exit_code) == ("failed", 4)


async def test_a_server_that_knows_no_schema_is_asked_for_less_and_read_all_the_same(
    tmp_path: Path,
) -> None:
    refusal = http_error(400, "response_format json_schema is not supported")
    script = [PROOF, refusal, refusal, *[text(step("finish", answer="Hi."))] * 2]
    async with ModelServer(script, calls_tools=False) as server:
        session = _opening(tmp_path, server.base_url).session()
        ended = await session.run("Hello")
        last = server.requests[-1].json
        await _close(session)
    assert ended.answer == "Hi."
    assert "response_format" not in last
    assert "tools" not in last


async def test_an_answer_before_anything_was_done_is_held_up_once(tmp_path: Path) -> None:
    script = [PROOF, *[text(step("finish", answer="Hello!"))] * 2]
    async with ModelServer(script, calls_tools=False) as server:
        session = _opening(tmp_path, server.base_url).session()
        ended = await session.run("Say hello.")
        second = server.requests[2].json
        await _close(session)
    assert (ended.reason, ended.answer, ended.steps) == ("answered", "Hello!", 2)
    assert NOTHING_DONE in second["messages"][-1]["content"]
    assert "finish" not in _names(second)


async def test_plain_text_ends_a_run_like_finish_does(tmp_path: Path) -> None:
    script = [PROOF, text("Hello!"), text("Hello!")]
    async with ModelServer(script, calls_tools=False) as server:
        session = _opening(tmp_path, server.base_url).session()
        ended = await session.run("Say hello.")
        await _close(session)
    assert (ended.reason, ended.answer, ended.steps) == ("answered", "Hello!", 2)


async def test_a_step_that_cannot_be_read_is_never_an_answer(tmp_path: Path) -> None:
    cut = text('{"thought": "x", "call": {"name": "echo", "arguments": {"text": "abc')
    script = [PROOF, cut, text(step("echo", text="1")), text(step("finish", answer="Done."))]
    async with ModelServer(script, calls_tools=False) as server:
        session = _opening(tmp_path, server.base_url).session()
        ended = await session.run("Go.")
        second = server.requests[2].json
        await _close(session)
    assert (ended.reason, ended.answer) == ("answered", "Done.")
    assert "There is no tool" in second["messages"][-1]["content"]


async def test_what_the_inspector_shows_is_what_is_sent(tmp_path: Path) -> None:
    script = [
        PROOF,
        text(step("echo", text="1")),
        text(step("echo", text="2")),
        text(step("finish", answer="2")),
    ]
    async with ModelServer(script, calls_tools=False) as server:
        opening = _opening(tmp_path, server.base_url)
        (opening.workspace / "a.txt").write_text("one")
        session = opening.session()
        shown: list[bytes] = []

        def look(record: Any) -> None:
            if isinstance(record.event, ModelRequested):
                shown.append(session.next_request().body)

        session.log.follow(look)
        ended = await session.run("Do what a.txt says.")
        sent = [request.body for request in server.requests]
        rows = session.next_request().rows
        await _close(session)
    assert ended.answer == "2"
    assert shown[1:] == sent[1:]
    assert rows[-1].role == "now"
    assert "a.txt holds" in rows[-1].text


async def test_the_estimate_is_of_what_is_sent(tmp_path: Path) -> None:
    """A server that reads the brief form must not be taken for one that dropped half of the prompt."""
    from core.messages import UserMessage
    from tests.support.step_talk import TOOLS

    options = replace(model_options("small", "http://127.0.0.1:1/v1"), tools="steps")
    model = OpenAIModel(options)
    long = replace(TOOLS[0], description="word " * 4000)
    request = ModelRequest(
        system="S",
        messages=(UserMessage(text="Go."),),
        tools=(replace(long, forms=TOOLS[3].forms),),
    )
    sent = json.loads(model.body(request))
    assert len(json.dumps(sent)) < 3000
    assert model._estimate(request) < 1000
    await model.close()
    assert ToolCall(id="1", name="x").source == "native"

"""Defects that agents of this kind are known for: none of them happens, in whole sessions over real HTTP."""

import asyncio
import itertools
import json
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

import psutil
import pytest
from pydantic import BaseModel, ConfigDict

from core.assessment import Situation
from core.budget import Limits
from core.chat.options import model_options
from core.config_load import load_configuration
from core.decision import ApprovalPrompt, DecisionOpened
from core.egress import EgressPolicy
from core.events import ModelReplied, ModelRetried, ToolEnded
from core.guard_events import LoopNoticed
from core.messages import ToolResult
from core.model_openai import OpenAIModel
from core.ports import Answer, CallContext, CallFacts, ElementFacts, Tool
from core.session import Session
from core.session_policy import SessionPolicy
from core.vocabulary import Mode
from tests.faults.strict_request import request_problems
from tests.support.fake_tools import EchoTool
from tests.support.model_server import ModelServer, Received, calls, http_error, text
from tests.support.model_turns import Script, Turn
from tests.support.opened import Opening, events_of
from tests.support.site_server import Site
from tests.support.waiting import until
from tools.browser.tool import BrowserTool
from tui.wiring import Wiring

Kind = TypeVar("Kind")
TASK = "Count the birds in the seven reports and name the rarest."


class Anything(BaseModel):
    """Arguments of every kind."""

    model_config = ConfigDict(extra="allow")


class DoubleTool:
    """Stands for a tool of that name: says what a call would touch, and keeps what was done."""

    description = "Does something."
    arguments = Anything
    reads_only = False

    def __init__(self, name: str, facts: CallFacts | None = None) -> None:
        self.name = name
        self._facts = facts or CallFacts(title=name)
        self.done: list[dict[str, object]] = []

    def unavailable(self) -> str:
        return ""

    async def facts(self, arguments: BaseModel) -> CallFacts:
        return self._facts

    async def run(self, arguments: BaseModel, context: CallContext) -> ToolResult:
        self.done.append(arguments.model_dump())
        return ToolResult(output="done")


@dataclass(frozen=True)
class How:
    """What is different from the usual session."""

    window: int = 0
    attended: bool = True
    judged: bool = False
    """By the real policy, in mode ask; else everything is allowed."""


@asynccontextmanager
async def opened(
    folder: Path, server: ModelServer, tool: Tool, how: How = How()
) -> AsyncIterator[Session]:
    """A session whose model is reached over HTTP; closed at the end."""
    options = model_options("scripted", server.base_url, api_key="k", window=how.window)
    model = OpenAIModel(options)
    opening = Opening(folder, model, [tool])
    opening.limits = Limits(max_steps=100, max_minutes=0, max_cost_usd=0)
    opening.attended = how.attended
    if how.judged:
        opening.policy = SessionPolicy(Situation(workspace=opening.workspace))  # type: ignore[assignment]
    session = opening.session()
    try:
        yield session
    finally:
        await session.close()
        await model.close()


def of_kind(session: Session, kind: type[Kind]) -> list[Kind]:
    return [event for event in events_of(session) if isinstance(event, kind)]


async def test_twenty_identical_calls_are_noticed_and_ended(tmp_path: Path) -> None:
    echo = EchoTool()
    script = [calls(("echo", {"text": "the same"}))] * 20
    async with (
        ModelServer([*script, text("never reached")]) as server,
        opened(tmp_path, server, echo, How(attended=False)) as session,
    ):
        ended = await session.run(TASK)
        assert (ended.reason, ended.exit_code) == ("gave_up", 1)
        assert of_kind(session, LoopNoticed)
        assert len(echo.ran) < 6
        assert len(server.requests) < 20
        for request in server.requests:
            users = [message for message in request.messages if message["role"] == "user"]
            assert len(users) <= 2, "the task and at most one warning, never a stack of them"


async def test_a_text_answer_ends_at_once_with_the_answer(tmp_path: Path) -> None:
    script: list[Script] = [text("The rarest is the bittern.")] * 20
    async with (
        ModelServer(script) as server,
        opened(tmp_path, server, EchoTool()) as session,
    ):
        ended = await session.run(TASK)
        assert len(server.requests) == 1
    assert (ended.reason, ended.answer) == ("answered", "The rarest is the bittern.")


async def test_a_step_adds_its_reply_and_its_results_to_memory_and_nothing_else(
    tmp_path: Path,
) -> None:
    script = [calls(("echo", {"text": f"note {number}"})) for number in range(12)]
    async with (
        ModelServer([*script, text("Done.")]) as server,
        opened(tmp_path, server, EchoTool()) as session,
    ):
        await session.run(TASK)
        requests = [request.messages for request in server.requests]
    for before, after in itertools.pairwise(requests):
        assert after[: len(before)] == before, "what was sent stays as it was"
        assert [message["role"] for message in after[len(before) :]] == ["assistant", "tool"]


class Reporter:
    """A model that calls the tool five times in each of 60 steps; asked without tools, it sums up."""

    steps = 60
    report = "A report of many lines about birds on the shore. " * 12

    def __init__(self) -> None:
        self.step = 0

    def turn(self, request: Received) -> Turn:
        script = self._script(request)
        return script if isinstance(script, Turn) else script(request)

    def _script(self, request: Received) -> Script:
        if not request.json.get("tools"):
            return text("Birds were counted.")
        self.step += 1
        if self.step > self.steps:
            return text("The bittern.")
        return calls(
            *(("echo", {"text": f"{self.step}.{number}: {self.report}"}) for number in range(5))
        )


async def test_the_task_is_never_dropped_and_no_result_is_ever_an_orphan(tmp_path: Path) -> None:
    async with (
        ModelServer([Reporter().turn], repeat_last=True) as server,
        opened(tmp_path, server, EchoTool(), How(window=6000)) as session,
    ):
        ended = await session.run(TASK)
        assert (ended.reason, ended.answer) == ("answered", "The bittern.")
        asked = [request for request in server.requests if request.json.get("tools")]
        assert len(asked) == Reporter.steps + 1
        for request in server.requests:
            assert request_problems(request.body) == []
        assert all(_says_task(request) for request in asked)
        sizes = [len(request.body) for request in asked]
        assert max(sizes) < 2 * min(sizes[-20:]), "old results make room for new ones"
        done = [one for one in of_kind(session, ToolEnded) if one.outcome == "ok"]
        assert len(done) == 5 * Reporter.steps


def _says_task(request: Received) -> bool:
    users = [message for message in request.messages if message["role"] == "user"]
    return any(TASK in json.dumps(message["content"]) for message in users)


async def test_a_refused_key_is_tried_once_and_ends_the_run_with_what_to_do(tmp_path: Path) -> None:
    refused = http_error(401, "Incorrect API key provided")
    async with (
        ModelServer([refused, text("never asked for")]) as server,
        opened(tmp_path, server, EchoTool()) as session,
    ):
        ended = await session.run(TASK)
        posts = [request for request in server.requests if request.method == "POST"]
        assert len(posts) == 1
        assert of_kind(session, ModelRetried) == []
        assert of_kind(session, ModelReplied) == []
    assert (ended.reason, ended.exit_code) == ("failed", 4)
    assert ended.error is not None
    assert ended.error.code == "auth"
    assert ended.error.hint


@pytest.mark.chromium
async def test_the_second_task_of_a_session_finds_the_browser_as_the_first_left_it(
    tmp_path: Path,
) -> None:
    with Site() as site:
        egress = EgressPolicy()
        egress.allow(site.first.host, site.first.server_port)
        browser = BrowserTool(tmp_path / "browser", egress)
        script = [
            calls(("browser", {"action": "go_to", "url": f"{site.first.url}/article.html"})),
            text("Opened."),
            calls(("browser", {"action": "read"})),
            text("Still there."),
        ]
        async with AsyncExitStack() as stack:
            stack.push_async_callback(browser.close)
            server = await stack.enter_async_context(ModelServer(script))
            session = await stack.enter_async_context(opened(tmp_path, server, browser))
            await session.run(TASK)
            before = _browsers()
            ended = await session.run("What does the page say?")
            assert ended.answer == "Still there."
            opened_page, read = of_kind(session, ToolEnded)
            assert (opened_page.outcome, read.outcome) == ("ok", "ok")
            assert "/article.html" in read.output
            assert before
            assert _browsers() == before, "no other browser was started"


def _browsers() -> set[int]:
    children = psutil.Process().children(recursive=True)
    return {one.pid for one in children if "--remote-debugging-pipe" in " ".join(one.cmdline())}


async def test_a_configuration_that_names_only_the_model_opens_a_session(
    workspace: Path, home: Path
) -> None:
    (home / "config").mkdir()
    (home / "config/config.toml").write_text(
        '[model]\nname = "m"\nbase_url = "http://127.0.0.1:1/v1"\n'
    )
    wiring = Wiring(load_configuration(), workspace, attended=False)
    session = await wiring.open_session()
    assert (session.mode, session.running) == ("ask", False)
    assert session.next_request().body
    await session.close()


SEND = CallFacts(
    title="click Send",
    origin="https://mail.test",
    element=ElementFacts(role="button", tag="button", name="Send", submits=True),
)
TICK = CallFacts(
    title="click Newest first",
    origin="https://mail.test",
    element=ElementFacts(role="checkbox", tag="input", name="Newest first"),
)
RISKY: dict[str, tuple[str, dict[str, object], CallFacts]] = {
    "running code": ("shell", {"command": "python3 clean.py"}, CallFacts()),
    "writing a file": (
        "edit_file",
        {"command": "create", "path": "a", "file_text": "x"},
        CallFacts(),
    ),
    "clicking a control": ("browser", {"action": "click", "ref": 1}, TICK),
    "sending": ("browser", {"action": "click", "ref": 2}, SEND),
}


@pytest.mark.parametrize("what", RISKY)
async def test_nothing_risky_happens_before_the_person_decides(tmp_path: Path, what: str) -> None:
    name, arguments, facts = RISKY[what]
    tool = DoubleTool(name, facts)
    async with (
        ModelServer([calls((name, arguments)), text("Done.")]) as server,
        opened(tmp_path, server, tool, How(judged=True)) as session,
    ):
        running = asyncio.create_task(session.run(TASK))
        await until(session.log, lambda: of_kind(session, DecisionOpened))
        (decision,) = of_kind(session, DecisionOpened)
        prompt = decision.prompt
        assert isinstance(prompt, ApprovalPrompt)
        assert (prompt.tool, prompt.strong) == (name, what == "sending")
        assert (tool.done, len(server.requests)) == ([], 1)
        approved = Answer(resolution="approved", decided_by="person", digest=prompt.digest)
        assert session.answer(decision.decision_id, approved)
        assert (await running).reason == "answered"
    assert len(tool.done) == 1


@pytest.mark.parametrize("what", RISKY)
@pytest.mark.parametrize("mode", ["ask", "read"])
async def test_with_nobody_to_ask_nothing_risky_happens(
    tmp_path: Path, what: str, mode: Mode
) -> None:
    name, arguments, facts = RISKY[what]
    tool = DoubleTool(name, facts)
    async with (
        ModelServer([calls((name, arguments)), text("I may not.")]) as server,
        opened(tmp_path, server, tool, How(attended=False, judged=True)) as session,
    ):
        session.set_mode(mode)
        await session.run(TASK)
        (ended,) = of_kind(session, ToolEnded)
        told = server.requests[-1].messages[-1]
    assert ended.outcome == "denied"
    assert tool.done == []
    assert told["role"] == "tool"
    assert told["content"]

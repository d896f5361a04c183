"""The tour: a script for a model, everything else real."""

import json
from pathlib import Path
from typing import Any

import pytest

from core.messages import ModelReply, ModelRequest, ToolMessage, ToolSpec
from tests.support.command_line import Done, run_handrail
from tests.support.terminal import CTRL_Q, ENTER, Terminal, handrail
from tui.tour_model import OVER, TourModel
from tui.tour_server import TourServer

ALL_TOOLS = ("shell", "list_files", "read_file", "browser", "ask_human", "edit_file", "finish")


def play(workspace: Path, *words: str, **environment: str) -> Done:
    return run_handrail(
        "tour", "--headless", "--json", *words, folder=workspace, environment=environment
    )


def of(done: Done, kind: str) -> list[dict[str, Any]]:
    return [event for event in done.events if event["kind"] == kind]


def assert_told(done: Done) -> None:
    """One question and one approval, both by the tour, and an answer."""
    assert done.code == 0
    assert done.ended["reason"] == "answered"
    assert done.ended["files"] == ["visit.md"]
    assert "scripted tour" in done.ended["answer"]
    assert of(done, "session_opened")[0]["scripted"] is True
    prompts = [event["prompt"]["kind"] for event in of(done, "decision_opened")]
    assert prompts == ["question", "approval"]
    closed = [(event["resolution"], event["decided_by"]) for event in of(done, "decision_closed")]
    assert closed == [("answered", "tour"), ("approved", "tour")]
    assert all(event["outcome"] == "ok" for event in of(done, "tool_ended"))


@pytest.mark.chromium
@pytest.mark.docker
def test_the_whole_tour_plays_with_sandbox_browser_question_and_approval(workspace: Path) -> None:
    done = play(workspace)
    assert_told(done)
    assert "Left out" not in done.ended["answer"]
    assert "Thursday: 12:00-20:00" in done.ended["answer"]
    titles = [event["title"] for event in of(done, "browser_snapshotted")]
    assert titles[0] == "Harbour Library"
    assert titles[-1] == "Opening hours - Harbour Library"
    tools = {event["name"] for event in of(done, "tool_ended")}
    assert {"shell", "browser", "ask_human", "edit_file", "finish"} <= tools
    assert list(workspace.iterdir()) == []
    assert not Path(of(done, "session_opened")[0]["workspace"]).exists()


def test_without_engine_and_browser_the_tour_plays_the_rest_and_says_so(workspace: Path) -> None:
    done = play(workspace, "--sandbox", "none", HANDRAIL_CHROME="/nothing/chromium")
    assert_told(done)
    assert "the browser" in done.ended["answer"]
    assert "the shell" in done.ended["answer"]


def test_the_tour_needs_no_model_and_ignores_a_configured_one(workspace: Path) -> None:
    done = play(workspace, "--no-browser", "--sandbox", "none", "--model", "m", "--mode", "read")
    assert_told(done)


def test_the_text_form_prints_the_answer_alone(workspace: Path) -> None:
    done = run_handrail("tour", "--headless", "--no-browser", "--sandbox", "none", folder=workspace)
    assert done.code == 0
    assert done.stdout.decode().startswith("The plan for your visit is in visit.md")
    assert "step 1" in done.stderr


@pytest.mark.pty
def test_on_the_screen_the_person_answers_and_approves(workspace: Path) -> None:
    words = handrail("tour", "--no-browser", "--sandbox", "none")
    with Terminal(words, workspace) as terminal:
        screen = terminal.see("Which day suits you for a visit?")
        assert "scripted" in screen.lower()
        terminal.see("Tuesday: 10:00-18:00")
        terminal.press_until_gone(ENTER, "Ctrl+D decide yourself")
        terminal.see("press y to run once")
        terminal.type("y")
        terminal.see("The plan for your visit is in")
        terminal.type(CTRL_Q)
        assert terminal.wait_for_end(20) == 0
        assert terminal.is_restored()


def request(*results: ToolMessage, tools: tuple[str, ...] = ALL_TOOLS) -> ModelRequest:
    specs = tuple(ToolSpec(name=name, description="", parameters={}) for name in tools)
    return ModelRequest(system="", messages=results, tools=specs)


async def spoken(model: TourModel, what: ModelRequest) -> ModelReply:
    pieces = [piece async for piece in model.reply(what)]
    assert isinstance(pieces[-1], ModelReply)
    return pieces[-1]


def result(name: str, text: str, outcome: str = "ok") -> ToolMessage:
    return ToolMessage(call_id=name, name=name, text=text, outcome=outcome)  # type: ignore[arg-type]


async def test_the_script_follows_what_the_calls_really_gave_back() -> None:
    model = TourModel("http://127.0.0.1:1/index.html", pace_s=0)
    page = result("browser", "elements 1-2 of 2\n[41]<a>Home</a>\n[42]<a>Opening hours</a>")
    for _ in range(3):
        await spoken(model, request())
    click = await spoken(model, request(page))
    assert click.calls[0].arguments == {"action": "click", "ref": 42}


async def test_a_refused_file_is_respected_and_told() -> None:
    model = TourModel("http://127.0.0.1:1/index.html", pace_s=0)
    tools = ("read_file", "ask_human", "edit_file", "finish", "list_files")
    leaflet = result("read_file", "Tuesday: 10:00-18:00\nThursday: 12:00-20:00")
    refused = result("edit_file", "The person refused.", "denied")
    replies = [await spoken(model, request(leaflet, refused, tools=tools)) for _ in range(5)]
    assert replies[-1].calls[0].name == "finish"
    arguments = replies[-1].calls[0].arguments
    assert arguments is not None
    assert "Nothing was written" in str(arguments["answer"])
    assert arguments["files"] == []


async def test_after_its_end_the_script_says_that_it_is_over() -> None:
    model = TourModel("http://127.0.0.1:1/index.html", pace_s=0, script=())
    reply = await spoken(model, request())
    assert (reply.text, reply.calls) == (OVER, ())


async def test_the_body_is_what_the_script_is_given() -> None:
    model = TourModel("http://127.0.0.1:1/index.html", pace_s=0)
    body = json.loads(model.body(request(result("read_file", "hello"))))
    assert body["messages"][0]["text"] == "hello"
    assert body["tools"][0]["name"] == "shell"


async def test_the_site_serves_its_own_pages_and_nothing_else() -> None:
    import asyncio

    server = TourServer()
    await server.start()

    async def get(path: str, method: str = "GET") -> bytes:
        reader, writer = await asyncio.open_connection(server.host, server.port)
        writer.write(f"{method} {path} HTTP/1.1\r\nhost: x\r\n\r\n".encode())
        answer = await reader.read()
        writer.close()
        await writer.wait_closed()
        return answer

    try:
        assert b"Harbour Library" in await get("/")
        assert b"Tuesday" in await get("/hours.html?x=1")
        for path in (
            "/leaflet.txt",
            "/../tour.py",
            "/..%2ftour.py",
            "/nothing.html",
            "//etc/passwd",
        ):
            assert (await get(path)).startswith(b"HTTP/1.1 404")
        assert (await get("/", "POST")).startswith(b"HTTP/1.1 404")
    finally:
        await server.close()

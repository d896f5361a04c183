"""docs/own_tool.md, done as it says: its files in a configuration folder, a session, and a model that calls them."""

import re
from pathlib import Path

import pytest

from core.decision import ApprovalPrompt
from core.events import NoticeRaised, ToolEnded, ToolProposed
from core.path_names import classes_of
from tests.architecture.tree import REPOSITORY
from tests.support.command_line import run_handrail
from tests.support.model_server import ModelServer, ModelServerThread
from tests.support.model_turns import calls, text
from tests.support.opened import events_of
from tests.support.wired import deciding, wiring

PAGE = REPOSITORY / "docs" / "own_tool.md"
BLOCK = re.compile(r"```(?:python|toml)\n# (\S+)\n(.*?)```", re.DOTALL)


@pytest.fixture
def config(home: Path) -> Path:
    """A configuration folder with the files of the page."""
    for name, source in BLOCK.findall(PAGE.read_text(encoding="utf-8")):
        path = home / "config" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(source, encoding="utf-8")
        path.chmod(0o600)
    return home / "config"


def test_the_page_has_all_its_examples(config: Path) -> None:
    files = sorted(path.relative_to(config).as_posix() for path in config.rglob("*.*"))
    assert files == ["policy.toml", "tools/tickets.py", "tools/waiting.py", "tools/words.py"]


async def test_the_tools_of_the_page_are_called_asked_for_and_answer(
    config: Path, workspace: Path
) -> None:
    script = [
        calls(("count_words", {"text": "one three seventeen", "longest": "1"})),
        calls(("wait_for_file", {"name": "a.txt"})),
        calls(("ticket", {"number": 7, "state": "closed"})),
        calls(("ticket", {"number": 9})),
        calls(("ticket", {"number": 7, "state": "gone"})),
        text("Done."),
    ]
    async with ModelServer(script) as server:
        session = await wiring(server, workspace).open_session()
        with deciding(session) as asked:
            ended = await session.run("use my tools")
        await session.close()
    assert ended.answer == "Done."
    events = events_of(session)
    assert not [event for event in events if isinstance(event, NoticeRaised)]
    results = [event for event in events if isinstance(event, ToolEnded)]
    assert [event.outcome for event in results] == ["ok", "ok", "ok", "failed", "invalid"]
    assert '"words": 3' in results[0].output
    assert '"seventeen"' in results[0].output
    assert "a.txt is not there" in results[1].output
    assert results[2].output == "Ticket 7 is closed."
    assert results[3].output == "There is no ticket 9. Known: 7, 8."
    assert "open" in results[4].output
    proposed = [event for event in events if isinstance(event, ToolProposed)]
    assert {event.risk for event in proposed} == {"R3"}
    assert [event.verdict for event in proposed] == ["allow", "ask", "ask"]
    assert proposed[0].rule == "words"
    prompts = [opened.prompt for opened in asked]
    assert all(isinstance(prompt, ApprovalPrompt) for prompt in prompts)
    assert "ticket 7: closed" in [getattr(prompt, "title", "") for prompt in prompts]


async def test_the_model_is_told_of_them(config: Path, workspace: Path) -> None:
    async with ModelServer([text("Hi.")]) as server:
        session = await wiring(server, workspace).open_session()
        await session.run("hello")
        await session.close()
        tools = {
            tool["function"]["name"]: tool["function"] for tool in server.requests[-1].json["tools"]
        }
    assert {"count_words", "wait_for_file", "ticket"} <= set(tools)
    properties = tools["count_words"]["parameters"]["properties"]
    assert properties["longest"] == {
        "default": 3,
        "type": "integer",
        "description": "How many of the longest words to name.",
    }
    assert list(tools["wait_for_file"]["parameters"]["properties"]) == ["name", "seconds"]


async def test_a_profile_may_do_without_them(config: Path, workspace: Path) -> None:
    (config / "profiles").mkdir()
    lean = 'title = "t"\nprompt = "general.md"\ntools = ["finish", "ticket"]\nown_tools = false\n'
    (config / "profiles" / "lean.toml").write_text(lean, encoding="utf-8")
    async with ModelServer([text("Hi.")]) as server:
        session = await wiring(server, workspace, profile="lean").open_session()
        names = session.next_request().rows[1].text
        await session.close()
    assert sorted(names.split(", ")) == ["finish", "ticket"]


async def test_a_broken_tool_costs_only_itself_and_says_where(
    config: Path, workspace: Path
) -> None:
    (config / "tools" / "broken.py").write_text("def f(:\n", encoding="utf-8")
    (config / "tools" / "broken.py").chmod(0o600)
    async with ModelServer([calls(("count_words", {"text": "a"})), text("Done.")]) as server:
        session = await wiring(server, workspace).open_session()
        await session.run("go on")
        await session.close()
    notices = [event for event in events_of(session) if isinstance(event, NoticeRaised)]
    assert [notice.code for notice in notices] == ["own_tool"]
    assert "broken.py, line 1: SyntaxError" in notices[0].text
    assert [e.outcome for e in events_of(session) if isinstance(e, ToolEnded)] == ["ok"]


def test_what_a_tool_prints_does_not_get_between_the_json_lines(
    config: Path, workspace: Path
) -> None:
    noisy = 'print("load")\ndef noise(n: int):\n  """Make noise."""\n  print("noise" * n)\n  return "quiet"\n'
    (config / "tools" / "noise.py").write_text(noisy, encoding="utf-8")
    (config / "tools" / "noise.py").chmod(0o600)
    rule = '\n[[rule]]\nid = "n"\ntool = "noise"\ndecision = "allow"\n'
    with (config / "policy.toml").open("a", encoding="utf-8") as rules:
        rules.write(rule)
    with ModelServerThread([calls(("noise", {"n": 2})), text("Done.")]) as server:
        words = ("--model", "scripted", "--base-url", server.base_url, "--sandbox", "none")
        done = run_handrail("run", "make noise", "--json", *words, "--no-browser", folder=workspace)
    assert done.ended["answer"] == "Done."
    assert "noisenoise" in done.stderr
    assert [event["output"] for event in done.events if event["kind"] == "tool_ended"] == ["quiet"]


def test_no_tool_can_write_where_they_are_kept() -> None:
    assert "own" in classes_of([".config", "handrail", "tools", "x.py"])

"""The person's own tools: what is loaded, what is refused with which line, and what their mistakes cost."""

import asyncio
import threading
from pathlib import Path
from typing import Any

import pytest

from core.errors import ToolFailedError
from core.messages import ToolResult
from core.tool_spec import schema
from tests.support.fake_call import FakeCall
from tools.own_tools import OwnTool, OwnTools, load_own_tools

COUNT = '''
def count_words(text: str, times: int = 1) -> int:
    """Count the words of a text.

    Args:
        text: Any text,
            of any length.
        times: How often.
    """
    return len(text.split()) * times
'''


def loaded(folder: Path, taken: tuple[str, ...] = (), **files: str) -> OwnTools:
    tools = folder / "tools"
    tools.mkdir(exist_ok=True)
    for name, source in files.items():
        (tools / f"{name}.py").write_text(source, encoding="utf-8")
        (tools / f"{name}.py").chmod(0o600)
    return load_own_tools(tools, taken)


def only(found: OwnTools) -> OwnTool:
    assert found.problems == ()
    [tool] = found.tools
    return tool


async def result(tool: OwnTool, **arguments: Any) -> ToolResult:
    given = tool.arguments.model_validate(arguments)
    await tool.facts(given)
    return await tool.run(given, FakeCall())


async def failure(tool: OwnTool, **arguments: Any) -> str:
    with pytest.raises(ToolFailedError) as caught:
        await result(tool, **arguments)
    return caught.value.message


async def test_a_plain_function_is_a_tool(tmp_path: Path) -> None:
    tool = only(loaded(tmp_path, count=COUNT))
    assert (tool.name, tool.description) == ("count_words", "Count the words of a text.")
    assert not tool.reads_only
    properties: Any = schema(tool.arguments)["properties"]
    assert properties["text"]["description"] == "Any text, of any length."
    assert properties["times"]["default"] == 1
    assert schema(tool.arguments)["required"] == ["text"]
    assert (await result(tool, text="a b c", times="2")).output == "6"


async def test_an_async_function_may_use_its_call(tmp_path: Path) -> None:
    source = '''
from __future__ import annotations
from tools.base import CallContext

async def greet(name: str, call: CallContext) -> dict[str, str]:
    """Greet."""
    call.output("info", "greeting")
    return {"greeting": f"你好 {name}"}
'''
    tool = only(loaded(tmp_path, greet=source))
    assert list(tool.arguments.model_fields) == ["name"]
    call = FakeCall()
    got = await tool.run(tool.arguments.model_validate({"name": "世界"}), call)
    assert "你好 世界" in got.output
    assert call.outputs == [("info", "greeting")]


async def test_a_class_is_a_tool_with_all_that_tools_can(tmp_path: Path) -> None:
    source = """
from tools.base import CallContext, CallFacts, ToolArguments, ToolResult, TypedTool

class Arguments(ToolArguments):
    n: int

class Double(TypedTool[Arguments]):
    name = "double"
    description = "Double a number."
    arguments = Arguments
    example = {"n": 2}

    async def look(self, arguments: Arguments) -> CallFacts:
        return CallFacts(title=f"double {arguments.n}")

    async def act(self, arguments: Arguments, context: CallContext) -> ToolResult:
        return ToolResult(output=str(arguments.n * 2))
"""
    tool = only(loaded(tmp_path, double=source))
    assert (await tool.facts(tool.arguments.model_validate({"n": 3}))).title == "double 3"
    assert (await result(tool, n=3)).output == "6"
    assert tool.example == {"n": 2}


@pytest.mark.parametrize(
    ("source", "line", "words"),
    [
        ("x = 1\ndef f(:\n", 2, "SyntaxError"),
        ("import os\nimport no_such_package\n", 2, "no_such_package"),
        ("\n\nraise SystemExit(3)\n", 3, "SystemExit"),
        ("\ndef f(x: int) -> int:\n    return x\n", 2, "no docstring"),
        ('def f(x) -> int:\n    """F."""\n', 1, "x has no type"),
        ('def f(*x: int) -> int:\n    """F."""\n', 1, "name every argument"),
        ('def f(x: int, /) -> int:\n    """F."""\n', 1, "positional only"),
        ('def f(model_dump: int) -> int:\n    """F."""\n', 1, "cannot have that name"),
        ('def größe(x: int) -> int:\n    """F."""\n', 1, "letters, digits and _ only"),
        ('def f(x: "Gone") -> int:\n    """F."""\n', 1, "Gone"),
        ('import io\ndef f(x: io.BytesIO) -> int:\n    """F."""\n', 2, "BytesIO"),
        ('def shell(x: int) -> int:\n    """F."""\n', 1, "the name shell is in use"),
        ("x = 1\n", 0, "no public function"),
        ("def f(x: int) -> int:\n    '''F.'''\n\0", 0, "null"),
    ],
)
def test_what_cannot_be_loaded_is_one_line_with_file_and_line_and_costs_only_itself(
    tmp_path: Path, source: str, line: int, words: str
) -> None:
    found = loaded(tmp_path, ("shell",), broken=source, count=COUNT)
    assert [tool.name for tool in found.tools] == ["count_words"]
    [problem] = found.problems
    text = problem.line()
    assert words in text
    assert "\n" not in text
    where = f"broken.py, line {line}:" if line else "broken.py:"
    assert where in text


def test_the_second_of_two_tools_of_one_name_is_refused(tmp_path: Path) -> None:
    found = loaded(tmp_path, a=COUNT, b=COUNT)
    assert [tool.source for tool in found.tools] == [str(tmp_path / "tools" / "a.py")]
    assert "count_words is in use" in found.problems[0].line()


def test_what_begins_with_an_underscore_is_nobodys_tool(tmp_path: Path) -> None:
    source = COUNT + "\nfrom json import dumps\n\ndef _helper(x):\n    return x\n"
    found = loaded(tmp_path, count=source, _shared="raise SystemExit\n")
    assert only(found).name == "count_words"


def test_a_file_that_others_can_write_is_not_run(tmp_path: Path) -> None:
    loaded(tmp_path, count=COUNT)
    path = tmp_path / "tools" / "count.py"
    path.chmod(0o666)
    found = load_own_tools(path.parent, ())
    assert found.tools == ()
    assert "can be written by others" in found.problems[0].line()


def test_no_folder_is_no_tools(tmp_path: Path) -> None:
    assert load_own_tools(tmp_path / "tools", ()) == OwnTools()


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ("return 1 / 0", "ZeroDivisionError: division by zero (bad.py, line 4)"),
        ("raise SystemExit(2)", "SystemExit"),
        ("raise KeyboardInterrupt", "KeyboardInterrupt"),
        ("raise StopIteration", "StopIteration"),
        ("import asyncio; raise asyncio.CancelledError", "CancelledError"),
        ("return object()", "no text and no JSON"),
        ("a = []; a.append(a); return a", "no text and no JSON"),
    ],
)
@pytest.mark.parametrize("kind", ["def", "async def"])
async def test_what_an_own_tool_raises_is_the_result_of_its_call(
    tmp_path: Path, kind: str, body: str, words: str
) -> None:
    source = f'\n{kind} bad(x: int = 0):\n    """Be bad."""\n    {body}\n'
    assert words in await failure(only(loaded(tmp_path, bad=source)))


@pytest.mark.parametrize(
    ("expression", "shown"),
    [
        ("None", "Done"),
        ("''", "(an empty text)"),
        ("'\\ud800'", "?"),
        ("[1, {'ä': (2, 3)}]", '"ä"'),
        ("__import__('pathlib').Path('/x')", '"/x"'),
        ("__import__('datetime').date(2026, 1, 2)", "2026-01-02"),
    ],
)
async def test_what_a_function_returns_is_shown_as_text(
    tmp_path: Path, expression: str, shown: str
) -> None:
    source = f'def give(x: int = 0):\n    """Give."""\n    return {expression}\n'
    assert shown in (await result(only(loaded(tmp_path, give=source)))).output


async def test_a_long_result_is_cut(tmp_path: Path) -> None:
    source = 'def give(n: int) -> str:\n    """Give."""\n    return "x" * n\n'
    output = (await result(only(loaded(tmp_path, give=source)), n=1_000_000)).output
    assert len(output) < 66_000
    assert "characters left out" in output


async def test_a_blocking_function_runs_in_a_thread_and_can_be_left(tmp_path: Path) -> None:
    source = '''
import threading
started, go_on = threading.Event(), threading.Event()

def wait(x: int = 0) -> str:
    """Wait."""
    started.set()
    go_on.wait(20)
    return "late"
'''
    tool = only(loaded(tmp_path, wait=source))
    import sys

    module = sys.modules["handrail_own_wait"]
    running = asyncio.create_task(result(tool))
    started: threading.Event = module.started
    assert await asyncio.to_thread(started.wait, 20)
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    module.go_on.set()


async def test_an_async_function_is_cancelled(tmp_path: Path) -> None:
    source = '''
import asyncio
started, seen = asyncio.Event(), []

async def wait(x: int = 0) -> str:
    """Wait."""
    started.set()
    try:
        await asyncio.Event().wait()
    except asyncio.CancelledError:
        seen.append("cancelled")
        raise
'''
    tool = only(loaded(tmp_path, wait=source))
    import sys

    module = sys.modules["handrail_own_wait"]
    running = asyncio.create_task(result(tool))
    await asyncio.wait_for(module.started.wait(), 20)
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    assert module.seen == ["cancelled"]


def test_an_installed_package_may_offer_a_tool(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    package = tmp_path / "site"
    (package / "acme-1.0.dist-info").mkdir(parents=True)
    (package / "acme-1.0.dist-info" / "METADATA").write_text("Name: acme\nVersion: 1.0\n")
    (package / "acme-1.0.dist-info" / "entry_points.txt").write_text(
        "[handrail.tools]\ncount = acme_tools:count_words\ngone = acme_tools:gone\n"
    )
    (package / "acme_tools.py").write_text(COUNT, encoding="utf-8")
    monkeypatch.syspath_prepend(str(package))
    found = load_own_tools(tmp_path / "tools", ())
    assert [tool.name for tool in found.tools] == ["count_words"]
    assert "entry point gone (acme_tools:gone)" in found.problems[0].line()


ODD = """
class Odd(BaseException):
    pass

async def breaks_out(x: str) -> str:
    '''Raises what is no Exception.'''
    raise Odd("out")
"""


async def test_what_is_no_exception_costs_only_the_call_too(tmp_path: Path) -> None:
    assert "Odd: out" in await failure(only(loaded(tmp_path, odd=ODD)), x="")


@pytest.mark.parametrize("raised", ["GeneratorExit", "type('Odd', (BaseException,), {})('x')"])
def test_a_file_that_raises_what_is_no_exception_costs_only_itself(
    tmp_path: Path, raised: str
) -> None:
    found = loaded(tmp_path, bad=f"raise {raised}\n", count=COUNT)
    assert [tool.name for tool in found.tools] == ["count_words"]
    assert len(found.problems) == 1


@pytest.mark.parametrize(
    "given", ["output=5", "output='x', outcome='fine'", "files='a.txt'", "images=('p.png',)"]
)
async def test_a_result_that_the_journal_could_not_read_again_is_no_result(
    tmp_path: Path, given: str
) -> None:
    source = (
        "from core.messages import ToolResult\n"
        f"def odd(x: str):\n    '''Odd.'''\n    return ToolResult({given})\n"
    )
    key = given.split(", ")[-1].partition("=")[0]
    told = await failure(only(loaded(tmp_path, odd=source)), x="")
    assert f"a ToolResult whose {key}" in told


async def test_half_characters_in_a_result_are_replaced(tmp_path: Path) -> None:
    source = (
        "from core.messages import ToolResult\n"
        "def odd(x: str):\n    '''Odd.'''\n    return ToolResult(output='a\\ud800')\n"
    )
    assert (await result(only(loaded(tmp_path, odd=source)), x="")).output == "a?"

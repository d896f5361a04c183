"""How a model is told of the tools."""

import json
from collections.abc import Sequence

from core.ports import Tool
from core.stored_results import StoredResults
from core.tool_spec import specs
from tests.support.fake_sandbox import WORKSPACE, FakeSandbox, MemoryFiles
from tools.ask_human import AskHuman
from tools.base import TypedTool
from tools.files import ListFiles, ReadFile
from tools.finish import Finish
from tools.python import Python
from tools.shell import Shell


def tools(sandbox: FakeSandbox) -> Sequence[Tool]:
    files = MemoryFiles()
    return (
        Shell(sandbox, WORKSPACE),
        Python(sandbox),
        ReadFile(files, WORKSPACE, StoredResults(WORKSPACE)),
        ListFiles(files, WORKSPACE),
        AskHuman(),
        Finish(files, WORKSPACE),
    )


def test_without_a_sandbox_shell_and_python_say_why_they_cannot_be_offered() -> None:
    reasons = {
        tool.name: tool.unavailable() for tool in tools(FakeSandbox(unavailable="No engine."))
    }
    assert {name for name, reason in reasons.items() if reason} == {"shell", "python"}
    assert reasons["shell"] == "No engine."


def test_every_example_fits_its_own_tool() -> None:
    for tool in tools(FakeSandbox()):
        assert isinstance(tool, TypedTool)
        tool.arguments.model_validate(tool.example)


def test_schemas_are_small_and_free_of_noise() -> None:
    text = json.dumps([dict(spec.parameters) for spec in specs(tools(FakeSandbox()))])
    assert "$ref" not in text
    assert "null" not in text
    assert len(text) < 4000

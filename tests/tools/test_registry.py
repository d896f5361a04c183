"""The list of tools and how a model is told of them."""

import json

import pytest

from core.errors import ConfigError
from tests.support.fake_sandbox import WORKSPACE, FakeSandbox, MemoryFiles
from tools.ask_human import AskHuman
from tools.base import TypedTool
from tools.files import ListFiles, ReadFile
from tools.finish import Finish
from tools.python import Python
from tools.registry import ToolRegistry
from tools.shell import Shell


def registry(sandbox: FakeSandbox) -> ToolRegistry:
    files = MemoryFiles()
    return ToolRegistry(
        [
            Shell(sandbox, WORKSPACE),
            Python(sandbox),
            ReadFile(files, WORKSPACE),
            ListFiles(files, WORKSPACE),
            AskHuman(),
            Finish(files, WORKSPACE),
        ]
    )


def test_tools_are_offered_in_order_and_only_when_they_can_run() -> None:
    names = ("shell", "python", "read_file", "list_files", "ask_human", "finish")
    assert registry(FakeSandbox()).names == names
    without = registry(FakeSandbox(unavailable="No engine."))
    assert tuple(spec.name for spec in without.specs()) == names[2:]
    assert without.unavailable() == {"shell": "No engine.", "python": "No engine."}


def test_a_profile_takes_some_of_the_tools() -> None:
    assert registry(FakeSandbox()).only(["finish", "unknown", "shell"]).names == ("finish", "shell")


def test_two_tools_of_one_name_are_refused() -> None:
    with pytest.raises(ConfigError, match="ask_human"):
        ToolRegistry([AskHuman(), AskHuman()])


def test_every_example_fits_its_own_tool() -> None:
    for tool in registry(FakeSandbox()).offered():
        assert isinstance(tool, TypedTool)
        tool.arguments.model_validate(tool.example)


def test_schemas_are_small_and_free_of_noise() -> None:
    specs = registry(FakeSandbox()).specs()
    text = json.dumps([dict(spec.parameters) for spec in specs])
    assert "$ref" not in text
    assert "null" not in text
    assert len(text) < 4000

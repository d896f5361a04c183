"""What a model is told when its arguments do not fit."""

from typing import Any

import pytest
from pydantic import ValidationError

from core.ports import Tool
from core.preimage import PreimageStore
from core.tool_arguments import explain
from tests.support.fake_sandbox import WORKSPACE, FakeSandbox, MemoryFiles
from tools.edit import EditFile
from tools.shell import Shell

SHELL = Shell(FakeSandbox(), WORKSPACE)
EDIT = EditFile(MemoryFiles(), MemoryFiles(), PreimageStore(WORKSPACE), WORKSPACE)


@pytest.mark.parametrize(
    ("tool", "arguments", "said"),
    [
        (SHELL, {}, "command is required"),
        (SHELL, {"commnd": "ls"}, "commnd is not an argument (did you mean command?)"),
        (
            SHELL,
            {"command": "ls", "timeout_s": 99999},
            "timeout_s: input should be less than or equal to 3600",
        ),
        (SHELL, {"command": 5}, "command: input should be a valid string"),
        (
            EDIT,
            {"command": "delete", "path": "a"},
            "'view', 'create', 'replace', 'insert', 'append' or 'undo'",
        ),
        (
            EDIT,
            {"command": "create", "path": "a"},
            "Bad arguments for edit_file: command create needs file_text.",
        ),
    ],
)
def test_the_problem_what_is_allowed_and_an_example_are_told(
    tool: Tool, arguments: dict[str, Any], said: str
) -> None:
    with pytest.raises(ValidationError) as caught:
        tool.arguments.model_validate(arguments)
    text = explain(tool, caught.value)
    assert said in text
    assert f"Arguments: {tool.name}(command" in text
    assert 'Example: {"command": ' in text
    assert "\n" not in text
    assert len(text) < 700

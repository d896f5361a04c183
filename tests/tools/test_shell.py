"""`shell` and `python` over the sandbox port."""

import asyncio
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from core.errors import SandboxUnavailableError
from core.messages import Outcome, ToolResult
from core.ports import CommandResult
from tests.support.fake_call import FakeCall
from tests.support.fake_sandbox import FakeRun, FakeSandbox, Hang, ran
from tools.command_text import LIVE_CHARS
from tools.python import Python, PythonArguments
from tools.shell import Shell, ShellArguments

PROJECT = Path("/home/me/project")


async def run(sandbox: FakeSandbox, call: FakeCall | None = None, **arguments: Any) -> ToolResult:
    shell = Shell(sandbox, PROJECT)
    return await shell.run(
        ShellArguments.model_validate({"command": "x", **arguments}), call or FakeCall()
    )


async def test_a_result_holds_the_exit_code_and_both_streams() -> None:
    result = await run(
        FakeSandbox([ran("out\n", stderr="err\n", exit_code=3, note="the shell ended (exit 3)")])
    )
    assert (result.outcome, result.exit_code) == ("failed", 3)
    assert (
        result.output
        == "exit code 3 (0.0 s)\nstdout:\nout\nstderr:\nerr\nnote: the shell ended (exit 3)"
    )


async def test_a_silent_command_says_so() -> None:
    result = await run(FakeSandbox())
    assert (result.output, result.error) == ("exit code 0 (0.0 s), no output", "")


@pytest.mark.parametrize(
    ("outcome", "said"),
    [
        ("timed_out", "timed out after 2.0 s and was stopped"),
        ("out_of_memory", "out of memory, exit code 137 (2.0 s)"),
        ("too_many_processes", "too many processes, exit code 137 (2.0 s)"),
        ("cancelled", "cancelled, exit code 137 (2.0 s)"),
    ],
)
async def test_a_command_that_was_ended_says_why(outcome: Outcome, said: str) -> None:
    result = await run(
        FakeSandbox(
            [
                CommandResult(
                    outcome=outcome, exit_code=137, stdout="part", stderr="", duration_s=2.0
                )
            ]
        )
    )
    assert result.outcome == outcome
    assert result.output == f"{said}\nstdout:\npart"


async def test_a_result_names_the_file_that_holds_all_of_a_long_output() -> None:
    long = CommandResult(
        outcome="ok", exit_code=0, stdout="x" * 90_000, stderr="", spill_path="/s/out-1.txt"
    )
    result = await run(FakeSandbox([long]))
    assert len(result.output) < 70_000
    assert result.whole_path == "/s/out-1.txt"


async def test_control_sequences_do_not_reach_the_model() -> None:
    coloured = "\x1b[31mred\x1b[0m \x1b]8;;http://x\x07link\x1b]8;;\x07 \x1b]0;title\x1b\\end\n"
    assert (await run(FakeSandbox([ran(coloured)]))).output.endswith("stdout:\nred link end")


async def test_live_output_is_passed_on_within_bounds() -> None:
    call = FakeCall()
    await run(FakeSandbox([ran("x" * (LIVE_CHARS + 5), stderr="late")]), call)
    assert [(stream, len(text)) for stream, text in call.outputs][:1] == [("stdout", LIVE_CHARS)]
    assert call.outputs[1:] == [("info", "[more output is not shown live]")]


@pytest.mark.parametrize(
    ("cwd", "inside"),
    [
        ("src", "/workspace/src"),
        (".", "/workspace"),
        ("/workspace/src", "/workspace/src"),
        ("/home/me/project/src", "/workspace/src"),
        ("/tmp", "/tmp"),
        ("..", "/"),
    ],
)
async def test_a_folder_is_named_as_the_sandbox_names_it(cwd: str, inside: str) -> None:
    sandbox = FakeSandbox()
    await run(sandbox, cwd=cwd)
    assert sandbox.runs == [FakeRun(kind="shell", text="x", timeout_s=120.0, cwd=inside)]


async def folder(shell: Shell, **arguments: Any) -> str | None:
    """Return the folder that the policy judges a command from."""
    checked = ShellArguments.model_validate({"command": "x", **arguments})
    return (await shell.facts(checked)).bindings.get("folder")


async def test_a_command_is_judged_from_the_folder_its_shell_is_in() -> None:
    moved = CommandResult(outcome="ok", exit_code=0, stdout="", stderr="", cwd="/workspace/src")
    shell = Shell(FakeSandbox([moved]), PROJECT)
    assert await folder(shell) is None
    await shell.run(ShellArguments(command="cd src"), FakeCall())
    assert await folder(shell) == "/workspace/src"
    assert await folder(shell, cwd="lib") == "/workspace"
    assert await folder(shell, session="other") is None


async def test_cancelling_the_call_cancels_the_command() -> None:
    hang = Hang(output="begun\n")
    sandbox = FakeSandbox([hang])
    call = FakeCall()
    task = asyncio.create_task(run(sandbox, call))
    await hang.started.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert len(sandbox.cancelled) == 1
    assert call.outputs == [("stdout", "begun\n")]


async def test_without_a_sandbox_the_tools_are_not_offered() -> None:
    sandbox = FakeSandbox([SandboxUnavailableError("No engine.")], unavailable="No engine.")
    assert Shell(sandbox, PROJECT).unavailable() == Python(sandbox).unavailable() == "No engine."
    with pytest.raises(SandboxUnavailableError):
        await run(sandbox)


@pytest.mark.parametrize(
    "arguments",
    [
        {"timeout_s": 0},
        {"timeout_s": 3601},
        {"session": "a b"},
        {"command": ""},
        {"command": "a\0b"},
    ],
)
def test_arguments_out_of_bounds_are_refused(arguments: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        ShellArguments.model_validate({"command": "x", **arguments})


async def test_python_code_goes_to_the_interpreter() -> None:
    sandbox = FakeSandbox([ran("4\n")])
    result = await Python(sandbox).run(PythonArguments(code="2 + 2"), FakeCall())
    assert sandbox.runs == [FakeRun(kind="python", text="2 + 2", timeout_s=120.0)]
    assert result.output == "exit code 0 (0.0 s)\nstdout:\n4"
    assert (
        await Python(sandbox).facts(PythonArguments(code="1"))
    ).title == "python in sandbox (Fake sandbox, network off)"

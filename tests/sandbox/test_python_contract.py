"""The persistent Python, the same in every kind of sandbox."""

import asyncio
import time

import pytest

from tests.support.opened_sandbox import OpenedSandbox

pytestmark = pytest.mark.asyncio(loop_scope="module")


async def test_the_value_of_a_last_expression_is_shown(sandbox: OpenedSandbox) -> None:
    assert (await sandbox.python("x = 6\nx * 7")).stdout == "42\n"
    assert (await sandbox.python("print('a')\n'日'")).stdout == "a\n'日'\n"
    assert (await sandbox.python("None")).stdout == ""
    assert (await sandbox.python("")).outcome == "ok"


async def test_variables_imports_and_classes_stay(sandbox: OpenedSandbox) -> None:
    await sandbox.python("import math\nclass Point:\n    x = 1\ny = [1]\ndef f(): return y")
    assert (
        await sandbox.python("y.append(math.floor(2.5)); f(), Point.x")
    ).stdout == "([1, 2], 1)\n"


async def test_an_exception_shows_its_code_and_the_output_before_it(sandbox: OpenedSandbox) -> None:
    result = await sandbox.python("print('before')\ndef f():\n    return 1 / 0\nf()")
    assert (result.outcome, result.exit_code, result.stdout) == ("failed", 1, "before\n")
    assert "    return 1 / 0\n" in result.stderr
    assert result.stderr.endswith("ZeroDivisionError: division by zero\n")
    assert "python_worker" not in result.stderr
    assert (await sandbox.python("f.__name__")).stdout == "'f'\n"


async def test_a_syntax_error_points_to_its_place(sandbox: OpenedSandbox) -> None:
    result = await sandbox.python("x = 1\ndef f(:\n  pass")
    assert result.exit_code == 1
    assert "line 2" in result.stderr
    assert "python_worker" not in result.stderr


async def test_leaving_gives_the_exit_code_and_keeps_the_state(sandbox: OpenedSandbox) -> None:
    await sandbox.python("kept = 5")
    assert (await sandbox.python("import sys; sys.exit(3)")).exit_code == 3
    said = await sandbox.python("raise SystemExit('no more')")
    assert (said.exit_code, said.stderr) == (1, "no more\n")
    assert (await sandbox.python("kept")).stdout == "5\n"


@pytest.mark.parametrize(
    "code",
    [
        "while True: pass",
        "import time; time.sleep(100)",
        "import subprocess; subprocess.run(['sleep', '100'])",
    ],
)
async def test_at_its_time_limit_code_is_interrupted_and_variables_stay(
    sandbox: OpenedSandbox, code: str
) -> None:
    await sandbox.python("kept = 7")
    result = await sandbox.python(f"print('begun', flush=True)\n{code}", timeout_s=0.5)
    assert (result.outcome, result.shell_restarted) == ("timed_out", False)
    assert result.stdout == "begun\n"
    assert (await sandbox.python("kept")).stdout == "7\n"


async def test_code_that_cannot_be_interrupted_costs_the_interpreter_but_ends(
    sandbox: OpenedSandbox,
) -> None:
    await sandbox.python("lost = 1")
    started_s = time.monotonic()
    result = await sandbox.python(
        "import signal; signal.signal(signal.SIGINT, signal.SIG_IGN)\nwhile True: pass",
        timeout_s=0.5,
    )
    assert (result.outcome, result.shell_restarted) == ("timed_out", True)
    assert time.monotonic() - started_s < 6
    assert "state is lost" in result.note
    assert "NameError" in (await sandbox.python("lost")).stderr


async def test_cancelling_ends_the_code_and_what_it_started(sandbox: OpenedSandbox) -> None:
    await sandbox.python("kept = 9")
    code = "import subprocess\nprint('go', flush=True)\nsubprocess.Popen(['setsid', 'sleep', '4001']).wait()"
    task = asyncio.create_task(sandbox.python(code))
    async with asyncio.timeout(10):
        await asyncio.sleep(0)
        await sandbox.heard.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert (await sandbox.shell("ps -eo args | grep -c '[s]leep 4001'")).stdout == "0\n"
    assert (await sandbox.python("kept")).stdout == "9\n"


async def test_an_interpreter_that_dies_is_replaced(sandbox: OpenedSandbox) -> None:
    died = await sandbox.python("print('x', flush=True)\nimport os; os._exit(7)")
    assert (died.exit_code, died.stdout, died.shell_restarted) == (7, "x\n", True)
    assert (await sandbox.python("1")).stdout == "1\n"


async def test_output_of_child_processes_and_closed_streams_comes_through(
    sandbox: OpenedSandbox,
) -> None:
    result = await sandbox.python(
        "import os, sys\nos.system('echo child; echo err >&2')\nsys.stdout.write('no newline')\n0"
    )
    assert result.stdout == "child\nno newline0\n"
    assert result.stderr == "err\n"
    await sandbox.python("import sys; sys.stdout.close(); sys.stderr = None")
    assert (await sandbox.python("print('again')")).stdout == "again\n"


async def test_the_workspace_is_its_folder_and_its_modules_can_be_imported(
    sandbox: OpenedSandbox,
) -> None:
    (sandbox.workspace / "ours.py").write_text("value = 11\n")
    assert (
        await sandbox.python("import os, ours; os.getcwd(), ours.value")
    ).stdout == "('/workspace', 11)\n"


async def test_modules_of_the_workspace_do_not_get_into_the_runner(sandbox: OpenedSandbox) -> None:
    for name in ("json", "struct", "signal", "core"):
        (sandbox.workspace / f"{name}.py").write_text(
            "raise RuntimeError('taken from the workspace')\n"
        )
    try:
        await sandbox.python("import os; os._exit(0)")
        assert (await sandbox.python("'fine'")).stdout == "'fine'\n"
    finally:
        for name in ("json", "struct", "signal", "core"):
            (sandbox.workspace / f"{name}.py").unlink()


async def test_classes_can_go_to_worker_processes(sandbox: OpenedSandbox) -> None:
    code = (
        "import multiprocessing\ndef square(n): return n * n\n"
        "with multiprocessing.get_context('fork').Pool(2) as pool:\n    got = pool.map(square, [1, 2, 3])\ngot"
    )
    assert (await sandbox.python(code)).stdout == "[1, 4, 9]\n"

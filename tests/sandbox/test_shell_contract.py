"""The persistent shell, the same in every kind of sandbox."""

import asyncio
import time

import pytest

from tests.support.opened_sandbox import OpenedSandbox

pytestmark = pytest.mark.asyncio(loop_scope="module")

STUBBORN = (
    "trap '' INT TERM; python3 -c \"import signal, time; "
    "signal.signal(2, signal.SIG_IGN); signal.signal(15, signal.SIG_IGN); "
    "print('go', flush=True); time.sleep(100)\""
)
"""Ends by SIGKILL only."""
DAEMONS = "setsid sh -c 'sleep 3001 & (setsid sleep 3002 &) ' >/dev/null 2>&1; sleep 3003"
"""Starts processes that leave the session, the group and the parent."""


async def count(sandbox: OpenedSandbox, pattern: str) -> int:
    """Return how many processes inside have a command line like this."""
    result = await sandbox.shell(f"ps -eo args | grep -cE '{pattern}'", session="looker")
    return int(result.stdout)


async def heard(sandbox: OpenedSandbox) -> None:
    """Wait until the command that was just begun puts anything out."""
    async with asyncio.timeout(10):
        await asyncio.sleep(0)  # lets the command begin, which forgets what was heard before
        await sandbox.heard.wait()


async def test_both_streams_come_apart_and_live(sandbox: OpenedSandbox) -> None:
    result = await sandbox.shell("echo out; echo err >&2; echo more")
    assert (result.outcome, result.exit_code) == ("ok", 0)
    assert (result.stdout, result.stderr) == ("out\nmore\n", "err\n")
    assert ("stderr", "err\n") in sandbox.live
    assert "".join(text for stream, text in sandbox.live if stream == "stdout") == "out\nmore\n"


async def test_output_is_live_before_the_command_ends(sandbox: OpenedSandbox) -> None:
    task = asyncio.create_task(sandbox.shell("echo first; read -t 10 < <(sleep 10)", timeout_s=15))
    await heard(sandbox)
    assert sandbox.live == [("stdout", "first\n")]
    assert not task.done()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task


async def test_folder_variables_and_functions_stay(sandbox: OpenedSandbox) -> None:
    await sandbox.out(
        "cd /tmp; export A=1; B=2; declare -a C=(3 4); f() { echo func $1; }; shopt -s nullglob"
    )
    assert (
        await sandbox.out("pwd; echo $A $B ${C[1]}; f x; echo /nothing*")
        == "/tmp\n1 2 4\nfunc x\n\n"
    )
    await sandbox.out("cd /workspace")


async def test_the_last_exit_code_is_carried_over(sandbox: OpenedSandbox) -> None:
    failed = await sandbox.shell("(exit 42)")
    assert (failed.outcome, failed.exit_code) == ("failed", 42)
    assert await sandbox.out("echo $?") == "42\n"


@pytest.mark.parametrize(
    "text",
    [
        "$ ",
        "12",
        "# ",
        "0",
        "__hr_report 5",
        "\\0",
        "exit",
        "[1] 1234",
        "> ",
        "bash: [1: 1 (255)] tcsetattr: x",
    ],
)
async def test_output_that_looks_like_a_prompt_or_a_mark_stays(
    sandbox: OpenedSandbox, text: str
) -> None:
    command = f"printf '%s\\n' '{text}'; printf '%s\\n' '{text}' >&2; printf '%s' '{text}'"
    result = await sandbox.shell(command)
    assert (result.stdout, result.stderr) == (f"{text}\n{text}", f"{text}\n")


async def test_bytes_come_through_whole(sandbox: OpenedSandbox) -> None:
    result = await sandbox.shell(r"printf '\xff\xfe\x00x\xe6\x97\xa5'")
    assert result.stdout == "\\xff\\xfe\x00x日"
    assert result.stdout_bytes == 7


async def test_characters_cut_into_pieces_are_put_together(sandbox: OpenedSandbox) -> None:
    assert await sandbox.out("for i in {1..20000}; do printf 日; done") == "日" * 20_000


async def test_a_syntax_error_is_an_ordinary_failure(sandbox: OpenedSandbox) -> None:
    for command in ('echo "abc', "if true", "echo )", "for x in", "cat <<EOF\nopen"):
        result = await sandbox.shell(command, timeout_s=5)
        assert result.outcome in ("failed", "ok"), command
    assert await sandbox.out("echo fine") == "fine\n"


async def test_source_of_many_lines_runs_as_it_stands(sandbox: OpenedSandbox) -> None:
    assert await sandbox.out(
        "cat <<EOF\na  $((1+1))\n\tb\nEOF\nfor i in 1 2; do\n echo $i\ndone # end"
    ) == ("a  2\n\tb\n1\n2\n")


async def test_a_command_of_a_megabyte_runs(sandbox: OpenedSandbox) -> None:
    result = await sandbox.shell(f"wc -c <<'EOF'\n{'x' * 1_000_000}\nEOF")
    assert result.stdout.strip() == "1000001"


async def test_programs_that_ask_get_end_of_file(sandbox: OpenedSandbox) -> None:
    result = await sandbox.shell("cat; read x || echo none; python3 -c 'input()'")
    assert result.stdout == "none\n"
    assert "EOFError" in result.stderr


async def test_tracing_and_redirecting_the_shell_itself_hurt_nothing(
    sandbox: OpenedSandbox,
) -> None:
    traced = await sandbox.shell("set -x; echo a; { set +x; } 2>/dev/null")
    assert (traced.stdout, traced.stderr.lstrip("+")) == ("a\n", " echo a\n")
    await sandbox.shell("exec >/tmp/hidden; echo hidden; exec 3>/tmp/third 4>&2 200>/tmp/high")
    assert await sandbox.out("echo seen; cat /tmp/hidden") == "seen\nhidden\n"


async def test_functions_and_aliases_with_the_names_of_builtins_hurt_nothing(
    sandbox: OpenedSandbox,
) -> None:
    shadow = "printf() { echo mine; }; read() { echo mine; }; export() { :; }; alias eval=false; echo() { :; }"
    await sandbox.shell(shadow, session="shadow")
    result = await sandbox.shell("command echo fine; pwd", session="shadow")
    assert (result.exit_code, result.stdout) == (0, "fine\n/workspace\n")


async def test_traps_and_prompt_commands_stay_out_of_the_output(sandbox: OpenedSandbox) -> None:
    await sandbox.shell(
        "trap 'echo debug' DEBUG; PROMPT_COMMAND='echo prompt'; PS1='$ '", session="traps"
    )
    result = await sandbox.shell("trap - DEBUG; true", session="traps")
    assert "prompt" not in result.stdout
    assert (await sandbox.shell("echo x", session="traps")).stdout == "x\n"


@pytest.mark.parametrize(
    ("command", "code"),
    [("exit 3", 3), ("set -e; false", 1), ("exec true", 0), ("kill -9 $$", 137)],
)
async def test_a_shell_that_ends_is_started_again_where_it_was(
    sandbox: OpenedSandbox, command: str, code: int
) -> None:
    session = f"ends-{code}"
    await sandbox.shell(
        "mkdir -p /tmp/here; cd /tmp/here; export KEPT='a b'; LOST=1", session=session
    )
    result = await sandbox.shell(f"echo out; {command}", session=session)
    assert (result.exit_code, result.shell_restarted) == (code, True)
    assert (result.stdout, result.stderr) == ("out\n", "")
    assert "ended" in result.note
    after = await sandbox.shell("pwd; echo $KEPT; echo $LOST", session=session)
    assert (after.stdout, after.shell_restarted) == ("/tmp/here\na b\n\n", False)


async def test_an_unset_variable_under_set_u_does_not_hang(sandbox: OpenedSandbox) -> None:
    result = await sandbox.shell(
        "set -u; echo $nothing; echo not reached", timeout_s=5, session="unset"
    )
    assert (result.outcome, result.exit_code, result.stdout) == ("failed", 1, "")
    assert (await sandbox.shell("echo on", session="unset")).stdout == "on\n"


@pytest.mark.parametrize(
    "command",
    [
        "sleep 100",
        "while :; do :; done",
        "while true; do sleep 0.2; done",
        "cat /dev/zero | sleep 100",
        "wait; sleep 9",
    ],
)
async def test_at_its_time_limit_a_command_ends_and_the_shell_goes_on(
    sandbox: OpenedSandbox, command: str
) -> None:
    await sandbox.shell("cd /tmp; STATE=kept", session="timed")
    started_s = time.monotonic()
    result = await sandbox.shell(f"echo begun; {command}", timeout_s=0.5, session="timed")
    assert result.outcome == "timed_out"
    assert (result.stdout, result.stderr) == ("begun\n", "")
    assert time.monotonic() - started_s < 4
    assert not result.shell_restarted
    assert (await sandbox.shell("pwd; echo $STATE", session="timed")).stdout == "/tmp\nkept\n"


async def test_what_ignores_signals_is_killed_within_the_grace(sandbox: OpenedSandbox) -> None:
    started_s = time.monotonic()
    result = await sandbox.shell(STUBBORN, timeout_s=0.5, session="stubborn")
    assert (result.outcome, result.stdout) == ("timed_out", "go\n")
    assert time.monotonic() - started_s < 6
    assert await count(sandbox, "[s]leep.100") == 0


async def test_a_loop_that_ignores_signals_costs_the_shell_but_ends(sandbox: OpenedSandbox) -> None:
    await sandbox.shell("export KEPT=1; cd /tmp", session="loop")
    result = await sandbox.shell(
        "trap '' INT TERM; while :; do :; done", timeout_s=0.5, session="loop"
    )
    assert (result.outcome, result.shell_restarted) == ("timed_out", True)
    assert (await sandbox.shell("pwd; echo $KEPT", session="loop")).stdout == "/tmp\n1\n"


async def test_a_time_limit_ends_daemons_that_left_the_session_too(sandbox: OpenedSandbox) -> None:
    result = await sandbox.shell(DAEMONS, timeout_s=0.7)
    assert result.outcome == "timed_out"
    assert await count(sandbox, "[s]leep 300") == 0


async def test_cancelling_ends_everything_soon_and_keeps_the_shell(sandbox: OpenedSandbox) -> None:
    for command in ("sleep 3004", STUBBORN, DAEMONS):
        await sandbox.shell("cd /tmp", session="cancelled")
        task = asyncio.create_task(sandbox.shell(f"echo go; {command}", session="cancelled"))
        await heard(sandbox)
        started_s = time.monotonic()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert time.monotonic() - started_s < 5
        assert await count(sandbox, "[s]leep.(100|300)") == 0
        assert (await sandbox.shell("pwd", session="cancelled")).stdout == "/tmp\n"


async def test_jobs_in_the_background_outlive_their_command_and_later_ones(
    sandbox: OpenedSandbox,
) -> None:
    started = await sandbox.shell("sleep 3005 >/dev/null 2>&1 & echo started")
    assert (started.stdout, started.stderr) == ("started\n", "")
    assert sandbox.live == [("stdout", "started\n")]
    assert (await sandbox.shell("sleep 100", timeout_s=0.3)).outcome == "timed_out"
    assert await count(sandbox, "[s]leep 3005") == 1
    await sandbox.shell("kill %1; wait", timeout_s=5)


async def test_late_output_of_a_job_never_shows_up_in_another_command(
    sandbox: OpenedSandbox,
) -> None:
    started = await sandbox.shell("(sleep 0.4; echo late; echo late >&2) & echo now")
    assert started.stdout == "now\n"
    assert "still run" in started.note
    later = await sandbox.shell("sleep 0.8; echo next")
    assert (later.stdout, later.stderr) == ("next\n", "")


async def test_late_output_of_a_command_that_timed_out_never_shows_up_in_the_next(
    sandbox: OpenedSandbox,
) -> None:
    slow = (
        "trap '' TERM INT; echo early; (sleep 0.6; echo late; echo late >&2) & sleep 0.6; echo late"
    )
    timed_out = await sandbox.shell(slow, timeout_s=0.3)
    assert timed_out.outcome == "timed_out"
    assert timed_out.stdout.startswith("early\n")
    following = await sandbox.shell("sleep 0.8; echo next")
    assert (following.stdout, following.stderr, following.exit_code) == ("next\n", "", 0)


async def test_lines_of_digits_alone_are_output_like_any_other(sandbox: OpenedSandbox) -> None:
    assert await sandbox.out("echo 42; id -u | tr -d '0-9' | wc -l; echo 0") == "42\n1\n0\n"
    assert await sandbox.out("printf 'a\\n7\\nb\\n'; printf 12") == "a\n7\nb\n12"
    assert (await sandbox.python("print(1 + 1)")).stdout == "2\n"


async def test_process_substitution_is_part_of_the_output(sandbox: OpenedSandbox) -> None:
    assert await sandbox.out("echo hi > >(tr a-z A-Z)") == "HI\n"


async def test_a_folder_can_be_given_and_a_missing_one_runs_nothing(sandbox: OpenedSandbox) -> None:
    assert (await sandbox.shell("pwd", cwd="/tmp", session="cwd")).stdout == "/tmp\n"
    assert (await sandbox.shell("pwd", session="cwd")).stdout == "/tmp\n"
    missing = await sandbox.shell("echo ran", cwd="/no/such 'folder", session="cwd")
    assert (missing.outcome, missing.stdout) == ("failed", "")
    assert "No such file or directory" in missing.stderr


async def test_shells_of_different_names_are_apart_and_run_at_once(sandbox: OpenedSandbox) -> None:
    started_s = time.monotonic()
    results = await asyncio.gather(
        *(sandbox.shell(f"X={name}; sleep 0.8; echo $X", session=f"s{name}") for name in range(4))
    )
    assert [result.stdout for result in results] == ["0\n", "1\n", "2\n", "3\n"]
    assert time.monotonic() - started_s < 3
    assert (await sandbox.shell("echo $X", session="s3")).stdout == "3\n"


async def test_calls_of_one_shell_wait_for_each_other(sandbox: OpenedSandbox) -> None:
    results = await asyncio.gather(
        *(sandbox.shell(f"echo {number}; sleep 0.05") for number in range(5))
    )
    assert [result.stdout for result in results] == [f"{number}\n" for number in range(5)]


async def test_a_time_limit_in_one_shell_leaves_the_others_alone(sandbox: OpenedSandbox) -> None:
    slow, stopped = await asyncio.gather(
        sandbox.shell(
            "(setsid sh -c 'sleep 1; echo done > /tmp/other' &) ; sleep 1.5; cat /tmp/other",
            session="slow",
        ),
        sandbox.shell("sleep 100", timeout_s=0.4, session="stopped"),
    )
    assert stopped.outcome == "timed_out"
    assert slow.stdout == "done\n"


async def test_a_folder_removed_under_the_shell_does_not_break_it(sandbox: OpenedSandbox) -> None:
    await sandbox.shell("mkdir -p /tmp/gone; cd /tmp/gone; rmdir /tmp/gone", session="gone")
    assert (await sandbox.shell("exit 1", session="gone")).shell_restarted
    assert (await sandbox.shell("echo fine", session="gone")).stdout == "fine\n"


async def test_a_command_that_fills_stderr_is_no_deadlock(sandbox: OpenedSandbox) -> None:
    result = await sandbox.shell("head -c 3000000 /dev/zero | tr '\\0' e >&2; echo end")
    assert result.stdout == "end\n"
    assert result.stderr_bytes == 3_000_000
    assert len(result.stderr) < 70_000

"""`handrail run` as a script sees it: real HTTP, real sandbox, JSON lines, exit codes, signals."""

import json
import signal
import subprocess
import threading
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from tests.support.command_line import Done, assert_clean, run_handrail
from tests.support.model_server import ModelServerThread, calls, hang, text
from tests.support.model_turns import Script
from tests.support.terminal import handrail

ENVELOPE = ("kind", "n", "at_utc", "run_id", "step")
DEADLINE_S = 40.0


def served(server: ModelServerThread) -> tuple[str, ...]:
    return ("--base-url", server.base_url, "--model", "scripted", "--no-browser")


def run(workspace: Path, script: list[Script], *words: str, **environment: str) -> Done:
    with ModelServerThread(script) as server:
        return run_handrail(
            "run", "do it", *served(server), *words, folder=workspace, environment=environment
        )


def ended_calls(done: Done) -> list[dict[str, Any]]:
    return [event for event in done.events if event["kind"] == "tool_ended"]


def whole_task() -> list[Script]:
    """A task that writes a file with the shell, changes it, and ends with `finish`."""
    return [
        calls(("shell", {"command": "echo 1 > a.txt; echo err >&2; cat a.txt"})),
        calls(("edit_file", {"command": "append", "path": "a.txt", "file_text": "2\n"})),
        calls(("shell", {"command": "cat a.txt; exit 3"})),
        calls(("finish", {"answer": "Gemacht: 日本.", "files": ["a.txt"]})),
    ]


@pytest.mark.parametrize(
    "kind",
    [
        pytest.param("docker", marks=pytest.mark.docker),
        pytest.param("local", marks=pytest.mark.bubblewrap),
    ],
)
def test_a_whole_task_runs_in_the_sandbox_and_is_told_event_by_event(
    workspace: Path, kind: str
) -> None:
    done = run(workspace, whole_task(), "--json", "--mode", "auto", "--sandbox", kind)
    assert done.code == 0
    assert done.ended["reason"] == "answered"
    assert done.ended["answer"] == "Gemacht: 日本."
    assert done.ended["files"] == ["a.txt"]
    assert (workspace / "a.txt").read_text(encoding="utf-8") == "1\n2\n"
    assert all(all(key in event for key in ENVELOPE) for event in done.events)
    assert [event["n"] for event in done.events] == list(range(1, len(done.events) + 1))
    first, _, third, _ = ended_calls(done)
    assert (first["outcome"], first["exit_code"]) == ("ok", 0)
    assert "1" in first["output"]
    assert third["exit_code"] == 3
    ready = [event for event in done.events if event["kind"] == "sandbox_changed"]
    assert ready[-1]["state"] == "ready"
    assert ready[-1]["tier"] == {"docker": "docker", "local": "bubblewrap"}[kind]
    assert done.stderr == ""


def test_nobody_approves_so_the_call_is_refused_and_giving_up_is_exit_code_5(
    workspace: Path,
) -> None:
    script: list[Script] = [
        calls(("edit_file", {"command": "create", "path": "a.txt", "file_text": "x"})),
        calls(("finish", {"answer": "I may not write.", "status": "gave_up"})),
    ]
    done = run(workspace, script, "--json", "--sandbox", "none")
    assert done.code == 5
    assert done.ended["reason"] == "gave_up"
    assert ended_calls(done)[0]["outcome"] == "denied"
    assert ended_calls(done)[0]["decided_by"] == "nobody"
    assert not (workspace / "a.txt").exists()


def test_an_answer_after_a_refusal_is_exit_code_0(workspace: Path) -> None:
    script: list[Script] = [
        calls(("edit_file", {"command": "create", "path": "a.txt", "file_text": "x"})),
        text("Here is what you would write instead."),
    ]
    assert run(workspace, script, "--json", "--sandbox", "none").code == 0


def test_giving_up_by_itself_is_exit_code_1(workspace: Path) -> None:
    script: list[Script] = [calls(("finish", {"answer": "Impossible.", "status": "gave_up"}))]
    done = run(workspace, script, "--json", "--sandbox", "none")
    assert done.code == 1
    assert done.ended["answer"] == "Impossible."


def test_a_limit_is_exit_code_3(workspace: Path) -> None:
    script: list[Script] = [calls(("list_files", {"path": "."})), text("So far nothing.")]
    done = run(workspace, script, "--json", "--sandbox", "none", "--max-steps", "1")
    assert done.code == 3
    assert (done.ended["reason"], done.ended["limit"]) == ("limit", "steps")
    assert done.ended["answer"] == "So far nothing."


def test_the_answers_file_answers_questions_and_approves_nothing(
    workspace: Path, tmp_path: Path
) -> None:
    answers = tmp_path / "answers.toml"
    answers.write_text('[[answer]]\nmatch = ""\nanswer = "the red one"\n', encoding="utf-8")
    script: list[Script] = [
        calls(("ask_human", {"question": "Which one?"})),
        calls(("edit_file", {"command": "create", "path": "a.txt", "file_text": "x"})),
        text("Red."),
    ]
    done = run(workspace, script, "--json", "--sandbox", "none", "--answers", str(answers))
    assert done.code == 0
    asked, written = ended_calls(done)
    assert (asked["outcome"], asked["output"]) == ("ok", "the red one")
    assert written["outcome"] == "denied"


def test_text_output_is_the_answer_on_stdout_and_clean_progress_on_stderr(workspace: Path) -> None:
    script: list[Script] = [
        calls(("read_file", {"path": "no\x1b[31mfile"})),
        text("Nichts: 日本 \x1b[32m."),
    ]
    done = run(workspace, script, "--sandbox", "none", LANG="C", LC_ALL="C", PYTHONUTF8="0")
    assert done.code == 0
    assert done.stdout.decode("utf-8") == "Nichts: 日本 \x1b[32m.\n"
    assert_clean(done.stderr)
    assert "read_file" in done.stderr


class Process:
    """A run that goes on while the test looks at it."""

    def __init__(self, workspace: Path, server: ModelServerThread, *words: str) -> None:
        self.child = subprocess.Popen(
            handrail("run", "wait", "--json", *served(server), *words),
            cwd=workspace,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        self.events: list[dict[str, Any]] = []
        self._guard = threading.Timer(DEADLINE_S, self.child.kill)
        self._guard.start()

    def read_until(self, kind: str) -> None:
        """Read events up to the first of a kind."""
        assert self.child.stdout is not None
        for line in self.child.stdout:
            self.events.append(json.loads(line))
            if self.events[-1]["kind"] == kind:
                return
        raise AssertionError(f"no {kind} came; {[event['kind'] for event in self.events]}")

    def end(self) -> int:
        """Read the rest and return the exit code."""
        out, err = self.child.communicate()
        self.events += [json.loads(line) for line in out.splitlines()]
        self._guard.cancel()
        assert_clean(err.decode())
        return self.child.returncode

    def close(self) -> None:
        """Give up the streams of a process that has ended."""
        self._guard.cancel()
        for stream in (self.child.stdout, self.child.stderr):
            if stream is not None:
                stream.close()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_stops_the_run_in_order(workspace: Path, number: signal.Signals) -> None:
    with ModelServerThread([hang()]) as server:
        process = Process(workspace, server, "--sandbox", "none")
        process.read_until("context_built")
        process.child.send_signal(number)
        assert process.end() == 130
    assert process.events[-1]["kind"] == "run_ended"
    assert process.events[-1]["reason"] == "stopped"


@pytest.mark.bubblewrap
def test_a_signal_ends_the_command_that_runs(workspace: Path) -> None:
    script: list[Script] = [calls(("shell", {"command": "echo up; echo $$ > pid; sleep 300"}))]
    with ModelServerThread(script) as server:
        process = Process(workspace, server, "--sandbox", "local", "--mode", "auto")
        process.read_until("tool_output_received")
        process.child.send_signal(signal.SIGTERM)
        assert process.end() == 130
    [ended] = [event for event in process.events if event["kind"] == "tool_ended"]
    assert ended["outcome"] == "cancelled"


def test_a_reader_that_goes_away_ends_the_run(workspace: Path) -> None:
    script: list[Script] = [calls(("list_files", {"path": "."})) for _ in range(20)]
    with ModelServerThread([*script, hang()]) as server:
        process = Process(workspace, server, "--sandbox", "none")
        process.read_until("run_started")
        assert process.child.stdout is not None
        process.child.stdout.close()
        assert process.child.wait(DEADLINE_S) == 130
        process.close()


def test_a_reader_that_does_not_read_cannot_hold_a_signal_up(workspace: Path) -> None:
    lines = "long line " * 30_000
    with ModelServerThread([text(lines), hang()]) as server:
        process = Process(workspace, server, "--sandbox", "none")
        process.read_until("context_built")
        end_s = time.monotonic() + DEADLINE_S
        while process.child.poll() is None and time.monotonic() < end_s:
            process.child.send_signal(signal.SIGTERM)
            with suppress(subprocess.TimeoutExpired):
                process.child.wait(0.3)
        assert process.child.returncode == 130
        process.close()


def test_a_reader_that_reads_late_gets_everything(workspace: Path) -> None:
    with ModelServerThread([text("long line " * 30_000)]) as server:
        process = Process(workspace, server, "--sandbox", "none")
        process.read_until("context_built")
        with pytest.raises(subprocess.TimeoutExpired):
            process.child.wait(3)
        assert process.end() == 0
    assert process.events[-1]["kind"] == "run_ended"

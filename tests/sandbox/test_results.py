"""What a command's end is called, and the noise that is taken out."""

from pathlib import Path

import pytest

from core.messages import Outcome
from core.ports import CommandResult
from sandbox.api import Exit
from sandbox.results import command_result, without_noise
from sandbox.spool import Spool


def result(tmp_path: Path, end: Exit, stderr: bytes = b"", code: str = "x") -> CommandResult:
    spools = Spool(tmp_path / "o"), Spool(tmp_path / "e")
    spools[1].feed(stderr)
    return command_result(end, code, *spools)


@pytest.mark.parametrize(
    ("end", "stderr", "outcome"),
    [
        (Exit(exit_code=0), b"", "ok"),
        (Exit(exit_code=1), b"", "failed"),
        (Exit(exit_code=130, cause="timed_out"), b"", "timed_out"),
        (Exit(exit_code=130, cause="cancelled"), b"", "cancelled"),
        (Exit(exit_code=137, cause="timed_out", limits=("processes",)), b"", "too_many_processes"),
        (Exit(exit_code=137, cause="cancelled", limits=("processes",)), b"", "cancelled"),
        (Exit(exit_code=137, limits=("memory",)), b"", "out_of_memory"),
        (Exit(exit_code=0, limits=("memory",)), b"", "ok"),
        (Exit(exit_code=0, limits=("processes",)), b"", "too_many_processes"),
        (Exit(exit_code=153), b"", "disk_full"),
        (Exit(exit_code=1), b"tee: x: No space left on device\n", "disk_full"),
        (Exit(exit_code=0), b"tee: x: No space left on device\n", "ok"),
        (Exit(exit_code=None, cause="failed", error="it is busy"), b"", "failed"),
    ],
)
def test_the_outcome_says_what_happened(
    tmp_path: Path, end: Exit, stderr: bytes, outcome: Outcome
) -> None:
    assert result(tmp_path, end, stderr).outcome == outcome


def test_a_start_that_failed_is_said_on_stderr(tmp_path: Path) -> None:
    assert (
        result(tmp_path, Exit(exit_code=None, cause="failed", error="it is busy")).stderr
        == "it is busy"
    )


def test_notes_say_what_the_model_must_know(tmp_path: Path) -> None:
    assert result(tmp_path, Exit(exit_code=0)).note == ""
    assert (
        "state is kept (folder /x)"
        in result(tmp_path, Exit(exit_code=130, cause="timed_out", cwd="/x")).note
    )
    assert "exit 3" in result(tmp_path, Exit(exit_code=3, restarted=True, cwd="/x")).note
    assert "it was killed" in result(tmp_path, Exit(exit_code=137, restarted=True)).note
    assert "1 process still runs" in result(tmp_path, Exit(exit_code=0, background=(5,))).note


@pytest.mark.parametrize(
    ("stderr", "code", "end", "left"),
    [
        ("[1] 1234\nreal\n", "sleep 1 & x", Exit(exit_code=0), "real\n"),
        ("[1] 1234\n", "x && y", Exit(exit_code=0), "[1] 1234\n"),
        ("[1] 1234\n", "x 2>&1", Exit(exit_code=0), "[1] 1234\n"),
        (
            "a\nbash: [12: 1 (255)] tcsetattr: Bad\nb\n",
            "x",
            Exit(exit_code=130, cause="timed_out"),
            "a\nb\n",
        ),
        (
            "bash: [12: 1 (255)] tcsetattr: Bad\n",
            "x",
            Exit(exit_code=0),
            "bash: [12: 1 (255)] tcsetattr: Bad\n",
        ),
        ("a\nexit\n", "exit 3", Exit(exit_code=3, restarted=True), "a\n"),
        ("exit\n", "exit 3", Exit(exit_code=3), "exit\n"),
        ("exit\n", "kill -9 $$", Exit(exit_code=137, restarted=True), "exit\n"),
    ],
)
def test_only_what_bash_itself_says_is_taken_out(
    stderr: str, code: str, end: Exit, left: str
) -> None:
    assert without_noise(stderr, code, end) == left

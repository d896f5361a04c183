"""Standard streams that are closed, full or gone: no traceback, the right exit code, and the work is done."""

import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.model_server import ModelServerThread, text
from tests.support.terminal import handrail

FULL = "No space left on device"
COMMANDS = ("doctor --json", "config path", "--version", "config show")


@pytest.fixture
def server() -> Iterator[ModelServerThread]:
    with ModelServerThread([text("Hello.")], repeat_last=True) as made:
        yield made


def shell(folder: Path, words: str, streams: str) -> subprocess.CompletedProcess[bytes]:
    """Run a command line with its streams changed by the shell."""
    program = " ".join(handrail())
    return subprocess.run(
        ["bash", "-o", "pipefail", "-c", f"{program} {words} {streams}"],
        cwd=folder,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        timeout=50,
        check=False,
    )


def task(server: ModelServerThread, more: str = "") -> str:
    return f"run hi --base-url {server.base_url} --model scripted --no-browser {more}"


@pytest.mark.parametrize("words", [*COMMANDS, "run --wat --json"])
def test_output_that_cannot_be_written_is_one_line_and_exit_code_2(
    workspace: Path, words: str
) -> None:
    done = shell(workspace, words, "> /dev/full")
    assert done.returncode == 2
    lines = done.stderr.decode().splitlines()
    assert len(lines) == 1
    assert FULL in lines[0] or "TASK" in lines[0]


@pytest.mark.parametrize(
    ("words", "code"), [("config show", 0), ("--help", 0), ("run --wat --json", 2)]
)
@pytest.mark.parametrize("streams", [">&-", "<&- >&- 2>&-", "2>&-", "2> /dev/full"])
def test_a_closed_stream_is_no_reason_to_fail(
    workspace: Path, words: str, code: int, streams: str
) -> None:
    done = shell(workspace, words, streams)
    assert b"Traceback" not in done.stderr
    assert done.returncode == code


@pytest.mark.parametrize("words", ["config show", "run --wat --json"])
def test_a_reader_that_is_gone_ends_a_command_quietly(workspace: Path, words: str) -> None:
    done = shell(workspace, words, "| true")
    assert b"Traceback" not in done.stderr
    assert done.returncode in (2, 130)


@pytest.mark.parametrize("streams", [">&-", "<&- >&- 2>&-"])
@pytest.mark.parametrize("form", ["", "--json"])
def test_a_run_is_done_without_its_streams_and_its_journal_stays_whole(
    workspace: Path, home: Path, server: ModelServerThread, streams: str, form: str
) -> None:
    assert shell(workspace, task(server, form), streams).returncode == 0
    [journal] = (home / "state").rglob("journal.jsonl")
    assert all(line.startswith(b'{"kind":') for line in journal.read_bytes().splitlines())
    assert b'"run_ended"' in journal.read_bytes()


def test_a_run_whose_progress_cannot_be_written_still_gives_its_answer(
    workspace: Path, server: ModelServerThread
) -> None:
    done = shell(workspace, task(server), "2> /dev/full")
    assert (done.returncode, done.stdout) == (0, b"Hello.\n")

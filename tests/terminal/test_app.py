"""The app in a real terminal, from the command line to the restored terminal."""

import os
import signal
import subprocess
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from tests.support.model_server import ModelServerThread, calls, hang, text
from tests.support.model_turns import Script
from tests.support.terminal import CTRL_C, CTRL_Q, ENTER, ESCAPE, Terminal, handrail

pytestmark = pytest.mark.pty

PROMPT = "What should be done?"
OLLAMA_PORT = 11434
ARMED = "press y to run once"
MAKE_FILE = calls(("edit_file", {"command": "create", "path": "made.txt", "file_text": "hello\n"}))


def app(workspace: Path, server: ModelServerThread, *words: str) -> Terminal:
    """Start the app on a scripted model."""
    options = ("--base-url", server.base_url, "--model", "scripted", "--no-browser")
    return Terminal(handrail(*options, *words), workspace)


@pytest.fixture
def idle_server() -> Iterator[ModelServerThread]:
    with ModelServerThread([text("Hello.")]) as server:
        yield server


def give_task(terminal: Terminal, task: str) -> None:
    terminal.see(PROMPT)
    terminal.type(task)
    terminal.see(task)
    terminal.type(ENTER)


def leave(terminal: Terminal) -> None:
    terminal.type(CTRL_Q)
    assert terminal.wait_for_end(20) == 0
    assert terminal.is_restored()


def test_a_task_is_typed_approved_and_done_and_the_terminal_is_as_before(workspace: Path) -> None:
    script: Sequence[Script] = [MAKE_FILE, text("All done.")]
    with ModelServerThread(script) as server, app(workspace, server) as terminal:
        give_task(terminal, "make a file")
        screen = terminal.see(ARMED)
        assert "+hello" in screen
        assert not (workspace / "made.txt").exists()
        terminal.type("y")
        terminal.see("All done.")
        assert (workspace / "made.txt").read_text(encoding="utf-8") == "hello\n"
        leave(terminal)


def test_enter_alone_approves_nothing(workspace: Path) -> None:
    with (
        ModelServerThread([MAKE_FILE, text("All done.")]) as server,
        app(workspace, server) as terminal,
    ):
        give_task(terminal, "make a file")
        terminal.see(ARMED)
        terminal.type(ENTER)
        terminal.type(ESCAPE)
        terminal.see_gone(ARMED)
        assert not (workspace / "made.txt").exists()
        leave(terminal)


def test_a_task_on_the_command_line_starts_at_once(
    workspace: Path, idle_server: ModelServerThread
) -> None:
    with app(workspace, idle_server, "say hello") as terminal:
        terminal.see("Hello.")
        leave(terminal)


def test_a_session_goes_on_where_it_was(workspace: Path) -> None:
    with ModelServerThread([text("First answer."), text("Second answer.")]) as server:
        with app(workspace, server, "first task") as terminal:
            terminal.see("First answer.")
            leave(terminal)
        words = ("--base-url", server.base_url, "--model", "scripted", "--no-browser")
        with Terminal(handrail("resume", *words), workspace) as terminal:
            assert "first task" in terminal.see("First answer.")
            give_task(terminal, "second task")
            terminal.see("Second answer.")
            leave(terminal)
        roles = [message["role"] for message in server.requests[1].messages]
    assert roles == ["system", "user", "assistant", "user"]


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_a_signal_ends_the_app_and_restores_the_terminal(
    workspace: Path, number: signal.Signals
) -> None:
    with ModelServerThread([hang()]) as server, app(workspace, server, "wait") as terminal:
        terminal.see("model answering")
        os.kill(terminal.pid, number)
        assert terminal.wait_for_end(20) == 128 + number
        assert terminal.is_restored()


@pytest.mark.parametrize(
    ("answer", "shown"),
    [(hang(), "model answering"), (MAKE_FILE, ARMED), (text("Hello."), "run answered")],
    ids=["a model that answers", "an open decision", "nothing going on"],
)
def test_a_terminal_that_is_gone_ends_the_app_and_closes_the_session(
    workspace: Path, home: Path, answer: Script, shown: str
) -> None:
    with ModelServerThread([answer]) as server, app(workspace, server, "wait") as terminal:
        terminal.see(shown)
        terminal.hang_up()
        assert terminal.wait_for_end(8) == 128 + signal.SIGHUP
    [journal] = (home / "state").rglob("journal.jsonl")
    assert b'"session_closed"' in journal.read_bytes().splitlines()[-1]


ODD_INPUT = {
    "Latin-1": b"caf\xe9",
    "old mouse reports": b"\x1b[M\xff\xff\xff",
    "a key with its event": b"\x1b[121;1:3u",
    "a paste in another encoding": b"\x1b[200~y\xe9y\r\x1b[201~",
    "a paste with a broken key": b"\x1b[121;1:3u\x1b[200~y\ry\r\x1b[201~",
}


@pytest.mark.parametrize("data", ODD_INPUT.values(), ids=ODD_INPUT.keys())
def test_no_bytes_end_the_app_or_decide_anything(workspace: Path, data: bytes) -> None:
    with (
        ModelServerThread([MAKE_FILE, text("Hello.")]) as server,
        app(workspace, server, "wait") as terminal,
    ):
        terminal.see(ARMED)
        os.write(terminal.terminal, data)
        with pytest.raises(AssertionError):
            terminal.see_gone("APPROVAL", 1.5)
        assert not (workspace / "made.txt").exists()
        terminal.press_until_gone("y", "APPROVAL")
        terminal.see("Hello.")
        assert (workspace / "made.txt").exists()
        leave(terminal)


def test_ctrl_c_stops_the_run_and_twice_ends_the_app(workspace: Path) -> None:
    with ModelServerThread([hang()]) as server, app(workspace, server, "wait") as terminal:
        terminal.see("model answering")
        terminal.type(CTRL_C)
        terminal.see("Stopped by you")
        terminal.type(CTRL_C + CTRL_C)
        assert terminal.wait_for_end(20) == 0
        assert terminal.is_restored()


def test_a_terminal_that_is_too_small_says_so_and_comes_back(
    workspace: Path, idle_server: ModelServerThread
) -> None:
    with app(workspace, idle_server) as terminal:
        terminal.see(PROMPT)
        terminal.resize(50, 10)
        terminal.see("60x16")
        terminal.resize(120, 40)
        terminal.see(PROMPT)
        leave(terminal)


def test_mode_full_needs_its_word(workspace: Path, idle_server: ModelServerThread) -> None:
    with app(workspace, idle_server, "--mode", "full") as terminal:
        terminal.see("Type FULL")
        terminal.type("yes\n")
        assert terminal.wait_for_end(10) == 2
    with app(workspace, idle_server, "--mode", "full") as terminal:
        terminal.see("Type FULL")
        terminal.type("FULL\n")
        terminal.see("FULL · idle")
        leave(terminal)


def test_a_broken_configuration_opens_the_app_in_mode_read(
    workspace: Path, home: Path, idle_server: ModelServerThread
) -> None:
    (home / "config").mkdir()
    (home / "config" / "config.toml").write_text("[limits]\nmax_step = 3\n", encoding="utf-8")
    with app(workspace, idle_server) as terminal:
        screen = terminal.see("READ")
        assert PROMPT in screen
        terminal.see("limits.max_step")
        leave(terminal)


@pytest.mark.parametrize(
    ("environment", "part"),
    [({"TERM": "dumb"}, "TERM"), ({"TERM": ""}, "TERM")],
)
def test_a_terminal_that_cannot_draw_is_refused(
    workspace: Path, environment: dict[str, str], part: str
) -> None:
    with Terminal(handrail(), workspace, environment) as terminal:
        assert terminal.wait_for_end(20) == 2
        assert part in terminal.screen


@pytest.mark.parametrize("words", [(), ("tour",), ("resume",), ("some task",)])
def test_without_a_terminal_the_app_says_so_in_one_line(
    workspace: Path, words: tuple[str, ...]
) -> None:
    started_s = time.monotonic()
    done = subprocess.run(
        handrail(*words),
        cwd=workspace,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=20,
        check=False,
    )
    assert time.monotonic() - started_s < 5
    assert done.returncode == 2
    assert done.stdout == ""
    assert done.stderr.count("\n") == 1
    assert "terminal" in done.stderr


def test_a_model_of_a_local_server_is_taken_by_one_key(workspace: Path, home: Path) -> None:
    with (
        ModelServerThread([text("Hello.")], port=OLLAMA_PORT),
        Terminal(handrail("--no-browser"), workspace) as terminal,
    ):
        terminal.see("use scripted from now on")
        terminal.see("Workspace")
        terminal.press_until_gone("1", "use scripted from now on")
        terminal.see("scripted · ASK · idle")
        give_task(terminal, "say hello")
        terminal.see("Hello.")
        leave(terminal)
    settings = (home / "config" / "config.toml").read_text(encoding="utf-8")
    assert 'name = "scripted"' in settings
    assert 'base_url = "http://127.0.0.1:11434/v1"' in settings

import fcntl
import json
import os
from pathlib import Path

import pytest

from core.config_load import load_or_excuse
from core.errors import StoreError
from core.event_log import EventLog, SystemClock
from core.events import RunEnded, RunStarted, SessionOpened
from core.journal import Journal
from tui.__main__ import run_command
from tui.session_folders import (
    find_session,
    forget_without_task,
    new_session_folder,
    require_resumable,
    stored_sessions,
)
from tui.wiring import Wiring


def stored_session(task: str, age_s: float = 0.0) -> Path:
    """Write a session with one run of its task."""
    folder = new_session_folder()
    journal = Journal(folder)
    log = EventLog(SystemClock())
    log.follow(journal.write)
    log.append(SessionOpened(session_id=folder.name, workspace="/w", model="m"))
    log.append(RunStarted(task=task, max_steps=1, max_minutes=1, max_cost_usd=1))
    log.append(RunEnded(reason="answered", exit_code=0, answer="It is 47.\x1b[31m", steps=3))
    journal.close()
    if age_s:
        status = journal.path.stat()
        os.utime(journal.path, (status.st_atime, status.st_mtime - age_s))
    return folder


def test_sessions_are_listed_the_newest_first(capfd: pytest.CaptureFixture[str]) -> None:
    old, new = stored_session("first task", age_s=60), stored_session("second\ntask")
    assert run_command(["sessions", "list", "--json"]) == 0
    rows = [json.loads(line) for line in capfd.readouterr().out.splitlines()]
    assert [row["session_id"] for row in rows] == [new.name, old.name]
    assert rows[1]["task"] == "first task"
    assert rows[1]["workspace"] == "/w"
    assert run_command(["sessions", "list"]) == 0
    assert len(capfd.readouterr().out.splitlines()) == 2


def test_without_sessions_the_list_is_empty(capfd: pytest.CaptureFixture[str]) -> None:
    assert run_command(["sessions", "list"]) == 0
    assert capfd.readouterr().out == ""


def test_a_session_is_shown_without_control_characters(capfd: pytest.CaptureFixture[str]) -> None:
    folder = stored_session("count")
    assert run_command(["sessions", "show", folder.name]) == 0
    out = capfd.readouterr().out
    assert "count" in out
    assert "It is 47." in out
    assert "\x1b" not in out


def test_an_export_is_the_events_as_json_lines(capfd: pytest.CaptureFixture[str]) -> None:
    folder = stored_session("count")
    assert run_command(["sessions", "export", folder.name]) == 0
    kinds = [json.loads(line)["kind"] for line in capfd.readouterr().out.splitlines()]
    assert kinds == ["session_opened", "run_started", "run_ended"]


def test_deleting_needs_a_yes(capfd: pytest.CaptureFixture[str]) -> None:
    folder = stored_session("count")
    assert run_command(["sessions", "delete", folder.name]) == 2
    assert folder.is_dir()
    assert run_command(["sessions", "delete", folder.name, "--yes"]) == 0
    assert not folder.exists()
    assert stored_sessions() == []


def test_an_open_session_is_not_deleted(capfd: pytest.CaptureFixture[str]) -> None:
    folder = stored_session("count")
    with (folder / "journal.jsonl").open("rb") as journal:
        fcntl.flock(journal, fcntl.LOCK_EX)
        assert run_command(["sessions", "delete", folder.name, "--yes"]) == 2
    assert folder.is_dir()
    assert "open in another" in capfd.readouterr().err


@pytest.mark.parametrize("name", ["", "nothing", "../../etc"])
def test_an_unknown_session_is_named(name: str, capfd: pytest.CaptureFixture[str]) -> None:
    stored_session("count")
    assert run_command(["sessions", "show", name]) == 2
    assert capfd.readouterr().err.count("\n") == 1


def test_a_beginning_that_fits_two_sessions_is_refused(capfd: pytest.CaptureFixture[str]) -> None:
    stored_session("a")
    stored_session("b")
    assert run_command(["sessions", "show", "2"]) == 2
    assert "fits 2 sessions" in capfd.readouterr().err


async def test_a_session_without_a_task_is_not_kept(workspace: Path) -> None:
    for task in ("", "count the files"):
        wiring = Wiring(load_or_excuse(), workspace, attended=True)
        session = await wiring.open_without_model()
        if task:
            await session.run(task)
        await session.close()
        assert forget_without_task(wiring.session_id) is not bool(task)
    assert [one.task for one in stored_sessions()] == ["count the files"]


def damaged_session(old: bytes, new: bytes) -> Path:
    """A session whose journal was changed on the disk."""
    folder = stored_session("count")
    path = folder / "journal.jsonl"
    path.write_bytes(path.read_bytes().replace(old, new, 1))
    return folder


@pytest.mark.parametrize("action", ["show", "export"])
def test_a_damaged_session_is_read_up_to_the_damage_which_is_said(
    action: str, capfd: pytest.CaptureFixture[str]
) -> None:
    folder = damaged_session(b'"task":"count"', b'"task":"c0unt"')
    data = (folder / "journal.jsonl").read_bytes()
    assert run_command(["sessions", action, folder.name]) == 2
    captured = capfd.readouterr()
    assert "/w" in captured.out
    assert "c0unt" not in captured.out
    assert captured.err.count("\n") == 1
    assert "damaged at line 2" in captured.err
    assert str(folder) in captured.err
    assert (folder / "journal.jsonl").read_bytes() == data


def test_a_torn_end_is_left_out_of_an_export_and_said(capfd: pytest.CaptureFixture[str]) -> None:
    folder = stored_session("count")
    with (folder / "journal.jsonl").open("ab") as journal:
        journal.write(b'{"kind":"notice_rai')
    assert run_command(["sessions", "export", folder.name]) == 0
    captured = capfd.readouterr()
    assert len(captured.out.splitlines()) == 3
    assert "19 bytes" in captured.err


def test_a_damaged_session_is_not_resumed_and_the_way_to_export_it_is_said() -> None:
    folder = damaged_session(b'"task":"count"', b'"task":"c0unt"')
    with pytest.raises(StoreError) as caught:
        require_resumable(find_session(folder.name))
    assert "damaged at line 2" in caught.value.message
    assert f"handrail sessions export {folder.name}" in caught.value.hint


def test_an_open_session_is_not_resumed() -> None:
    folder = stored_session("count")
    journal = Journal(folder)
    with pytest.raises(StoreError, match="open in another"):
        require_resumable(find_session(folder.name))
    journal.close()
    require_resumable(find_session(folder.name))


def test_a_session_with_a_torn_end_can_be_resumed() -> None:
    folder = stored_session("count")
    with (folder / "journal.jsonl").open("ab") as journal:
        journal.write(b'{"kind":"notice_rai\n')
    require_resumable(find_session(folder.name))


@pytest.mark.parametrize("action", ["show", "export"])
def test_secrets_are_masked_in_what_is_exported(
    action: str, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    key = "sk-proj-abcdefghijklmnop1234"
    monkeypatch.setenv("SHOP_TOKEN", "correct horse battery")
    folder = stored_session(f'log in with {key} or "correct horse battery"')
    assert run_command(["sessions", action, folder.name]) == 0
    out = capfd.readouterr().out
    assert key not in out
    assert "correct horse battery" not in out
    assert "log in with sk-p<redacted> or" in out
    if action == "export":
        assert [json.loads(line)["n"] for line in out.splitlines()] == [1, 2, 3]

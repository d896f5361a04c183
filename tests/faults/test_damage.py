"""Journals that a crash cut short or a disk changed: always noticed, never a record lost that was whole."""

import json
import random
import shutil
from pathlib import Path

import pytest

from core.errors import StoreError
from core.events import JournalRecovered
from core.journal import FILE_NAME, Journal, read_journal
from tests.faults.invariants import broken_invariants
from tests.faults.worked import plan_session, worked
from tests.support.exhaustive import EXHAUSTIVE, count
from tests.support.opened import events_of
from tui.__main__ import run_command
from tui.session_folders import new_session_folder

LAST_RECORDS = 3
FLIPS = 500


async def test_a_journal_cut_at_any_byte_of_its_last_records_loses_only_the_torn_one(
    tmp_path: Path,
) -> None:
    data = (await worked(tmp_path / "whole") / FILE_NAME).read_bytes()
    lines = data.splitlines(keepends=True)
    start = len(data) - sum(map(len, lines[-LAST_RECORDS:]))
    for cut in range(start, len(data), count(11, 1)):
        folder = tmp_path / str(cut)
        folder.mkdir(mode=0o700)
        path = folder / FILE_NAME
        path.write_bytes(data[:cut])
        journal = Journal(folder)
        loaded = journal.load()
        whole = data[:cut].count(b"\n")
        kept = b"".join(lines[:whole])
        assert [record.n for record in loaded.records] == list(range(1, whole + 1))
        assert path.read_bytes() == kept
        assert loaded.torn_bytes == cut - len(kept)
        if loaded.torn_bytes:
            assert loaded.torn_file.startswith("journal.torn-")
            assert (folder / loaded.torn_file).read_bytes() == data[len(kept) : cut]
        journal.write(loaded.records[-1])
        journal.close()
        again = read_journal(path)
        assert len(again.records) == whole + 1
        assert not again.torn_bytes
        assert not again.damaged_line
        shutil.rmtree(folder)


async def test_a_session_cut_short_goes_on_and_says_what_was_set_aside(tmp_path: Path) -> None:
    data = (await worked(tmp_path / "whole") / FILE_NAME).read_bytes()
    chance = random.Random(3)
    for number in range(count(6, 60)):
        cut = chance.randrange(1, len(data))
        folder = tmp_path / str(number)
        (folder / "session").mkdir(parents=True, mode=0o700)
        (folder / "session" / FILE_NAME).write_bytes(data[:cut])
        torn = cut - data[:cut].rfind(b"\n") - 1
        session = plan_session(folder)
        recovered = [event for event in events_of(session) if isinstance(event, JournalRecovered)]
        assert [event.cut_bytes for event in recovered] == ([torn] if torn else [])
        for event in recovered:
            assert (folder / "session" / event.kept_as).stat().st_size == torn
        live = session.memory
        await session.close()
        journal = folder / "session" / FILE_NAME
        journal.chmod(0o600)
        assert not broken_invariants(folder / "session", live=live), cut


async def test_a_flipped_bit_is_always_noticed_and_what_stands_before_can_be_read(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    data = (await worked(tmp_path / "whole") / FILE_NAME).read_bytes()
    total = data.count(b"\n")
    chance = random.Random(5)
    folder = new_session_folder()
    folder.mkdir(parents=True, mode=0o700)
    path = folder / FILE_NAME
    for number in range(FLIPS):
        at = chance.randrange(len(data))
        flipped = bytearray(data)
        flipped[at] ^= 1 << chance.randrange(8)
        path.write_bytes(flipped)
        loaded = read_journal(path)
        whole = data[:at].count(b"\n")
        assert len(loaded.records) == whole, at
        assert loaded.damaged_line == (whole + 1 if loaded.damaged_line else 0)
        assert bool(loaded.damaged_line) != bool(loaded.torn_bytes), at
        if whole < total - 1:
            assert loaded.damaged_line, at
        if EXHAUSTIVE or number < FLIPS // 10:
            check_export(folder, whole, capfd)
        assert path.read_bytes() == flipped


def check_export(folder: Path, whole: int, capfd: pytest.CaptureFixture[str]) -> None:
    """An export holds all that stands before the damage, and says that there is damage."""
    damaged = read_journal(folder / FILE_NAME).damaged_line
    for action in ("export", "show"):
        code = run_command(["sessions", action, folder.name])
        captured = capfd.readouterr()
        assert code == (2 if damaged else 0)
        assert captured.err.count("\n") == 1
        assert "damaged at line" in captured.err or "no whole record" in captured.err
        if action == "export":
            assert [json.loads(line)["n"] for line in captured.out.splitlines()] == list(
                range(1, whole + 1)
            )


async def test_a_damaged_session_is_not_gone_on_with_and_not_changed(tmp_path: Path) -> None:
    session = await worked(tmp_path)
    path = session / FILE_NAME
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.write_bytes(data)
    with pytest.raises(StoreError) as caught:
        plan_session(tmp_path)
    assert caught.value.code == "journal_damaged"
    assert "handrail sessions export" in caught.value.hint
    assert path.read_bytes() == data
    assert sorted(one.name for one in session.glob("journal*")) == [FILE_NAME]

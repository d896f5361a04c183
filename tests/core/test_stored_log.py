import asyncio
import errno
import os
from pathlib import Path

import pytest

from core.errors import StoreError
from core.event_log import EventLog, SystemClock
from core.events import Event, MemoryEdited, ModeChanged, StepStarted, TextStreamed
from core.journal import FILE_NAME, Journal, read_journal
from core.stored_log import StoredLog


class FlawedJournal(Journal):
    """Takes only some bytes of a line, or cannot be brought to the disk, when it is told so."""

    def __init__(self, folder: Path) -> None:
        self.takes_bytes: int | None = None
        self.cannot_sync = False
        super().__init__(folder)

    def _put(self, data: bytes) -> int:
        return super()._put(data if self.takes_bytes is None else data[: self.takes_bytes])

    def _sync_file(self) -> None:
        if self.cannot_sync:
            raise OSError(errno.EIO, os.strerror(errno.EIO))
        super()._sync_file()


class Bench:
    """A log that is stored, with its journal in reach."""

    def __init__(self, folder: Path) -> None:
        self.journal = FlawedJournal(folder)
        self.failures: list[StoreError] = []
        self.failed = asyncio.Event()
        self.stored = StoredLog(self.journal, self.note)
        self.log = EventLog(SystemClock())
        self.log.follow(self.stored.take)

    def note(self, error: StoreError) -> None:
        self.failures.append(error)
        self.failed.set()

    def kept(self) -> list[Event]:
        return [record.event for record in read_journal(self.journal.path).records]


@pytest.mark.parametrize("taken", [0, 1, 40])
async def test_nothing_of_a_line_that_did_not_fit_stays_and_it_is_written_later(
    tmp_path: Path, taken: int
) -> None:
    bench = Bench(tmp_path / "s")
    bench.log.append(TextStreamed(text="one"))
    whole = (tmp_path / "s" / FILE_NAME).read_bytes()
    bench.journal.takes_bytes = taken
    bench.log.append(TextStreamed(text="two"))
    assert (tmp_path / "s" / FILE_NAME).read_bytes() == whole
    assert [error.message for error in bench.failures] == [
        "Cannot write the journal: the disk is full."
    ]
    with pytest.raises(StoreError):
        bench.stored.ensure_stored()
    bench.journal.takes_bytes = None
    bench.log.append(TextStreamed(text="three"))
    bench.stored.ensure_stored()
    bench.stored.close()
    assert bench.kept() == [TextStreamed(text=word) for word in ("one", "two", "three")]


async def test_half_a_line_that_could_not_be_cut_off_is_cut_before_the_next(tmp_path: Path) -> None:
    bench = Bench(tmp_path / "s")
    bench.log.append(TextStreamed(text="one"))
    bench.journal.takes_bytes = 30
    bench.log.append(TextStreamed(text="two"))
    with (tmp_path / "s" / FILE_NAME).open("ab") as file:
        file.write(b'{"kind":"half')
    bench.journal.takes_bytes = None
    bench.log.append(TextStreamed(text="three"))
    bench.stored.close()
    assert bench.kept() == [TextStreamed(text=word) for word in ("one", "two", "three")]


@pytest.mark.parametrize(
    "event", [ModeChanged(mode="read"), MemoryEdited(operation="drop", unit_id="u1")]
)
async def test_what_the_person_changed_is_owed_to_the_disk_until_it_is_there(
    tmp_path: Path, event: Event
) -> None:
    bench = Bench(tmp_path / "s")
    bench.journal.cannot_sync = True
    bench.log.append(StepStarted())
    assert not bench.stored.ensure_stored()
    bench.log.append(event)
    await bench.failed.wait()
    assert "Input/output error" in bench.failures[0].message
    with pytest.raises(StoreError):
        await asyncio.to_thread(bench.stored.make_durable)
    bench.journal.cannot_sync = False
    bench.log.append(StepStarted())
    assert bench.stored.ensure_stored()
    await asyncio.to_thread(bench.stored.make_durable)
    assert not bench.stored.ensure_stored()
    bench.stored.close()


async def test_a_disk_that_fails_at_the_end_is_told_and_the_journal_is_closed(
    tmp_path: Path,
) -> None:
    bench = Bench(tmp_path / "s")
    bench.log.append(StepStarted())
    bench.journal.cannot_sync = True
    bench.stored.close()
    assert len(bench.failures) == 1
    Journal(tmp_path / "s").close()

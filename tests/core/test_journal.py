import json
import os
import random
import stat
from pathlib import Path

import pytest

from core.errors import StoreError
from core.event_log import EventLog, SystemClock
from core.events import ModelReplied, RunStarted, StepStarted, TextStreamed, ToolEnded
from core.journal import FILE_NAME, Journal, encode, read_journal, read_lines
from core.messages import ToolCall
from core.record import Record


def written(folder: Path, texts: list[str]) -> EventLog:
    journal = Journal(folder)
    log = EventLog(SystemClock())
    log.follow(journal.write)
    log.append(RunStarted(task="t", max_steps=1, max_minutes=1, max_cost_usd=0))
    for text in texts:
        log.append(TextStreamed(text=text))
    journal.close()
    return log


def records_of(folder: Path) -> list[Record]:
    journal = Journal(folder)
    try:
        return list(journal.load().records)
    finally:
        journal.close()


def test_what_is_written_is_read_back_equal(tmp_path: Path) -> None:
    folder = tmp_path / "s"
    journal = Journal(folder)
    log = EventLog(SystemClock())
    log.follow(journal.write)
    log.append(RunStarted(task="zähle 漢字 \ud83d", max_steps=3, max_minutes=2.5, max_cost_usd=0.5))
    log.append(StepStarted())
    call = ToolCall(id="c1", name="shell", arguments={"command": "ls", "n": [1, {"a": None}]})
    log.append(ModelReplied(text="x", calls=(call,)))
    log.append(ToolEnded(call_id="c1", name="shell", outcome="ok", output="a\u2028b\n"))
    journal.close()
    assert records_of(folder)[1:] == list(log.records)[1:]


def test_each_line_is_the_json_event_with_checksum_fields(tmp_path: Path) -> None:
    log = written(tmp_path / "s", ["hello"])
    lines = (tmp_path / "s" / FILE_NAME).read_text().splitlines()
    body = json.loads(lines[1])
    assert body["kind"] == "text_streamed"
    assert body["text"] == "hello"
    assert {"n", "at_utc", "run_id", "step", "mono_s", "prev", "crc"} <= body.keys()
    shown = json.loads(log.records[1].json_line())
    assert shown == {
        key: value for key, value in body.items() if key not in ("mono_s", "prev", "crc")
    }


def test_folder_and_file_are_private_whatever_the_umask(tmp_path: Path) -> None:
    old = os.umask(0)
    try:
        written(tmp_path / "s", ["x"])
    finally:
        os.umask(old)
    assert stat.S_IMODE((tmp_path / "s").stat().st_mode) == 0o700
    assert stat.S_IMODE((tmp_path / "s" / FILE_NAME).stat().st_mode) == 0o600


def test_a_second_process_cannot_write_the_same_session(tmp_path: Path) -> None:
    first = Journal(tmp_path / "s")
    with pytest.raises(StoreError, match="open in another"):
        Journal(tmp_path / "s")
    first.close()
    Journal(tmp_path / "s").close()


def test_a_tail_torn_at_any_byte_loses_only_that_record(tmp_path: Path) -> None:
    whole = tmp_path / "whole"
    log = written(whole, ["one", "two", "three"])
    data = (whole / FILE_NAME).read_bytes()
    start = data.rindex(b"\n", 0, len(data) - 1) + 1
    for cut in range(start + 1, len(data)):
        folder = tmp_path / f"cut{cut}"
        folder.mkdir()
        (folder / FILE_NAME).write_bytes(data[:cut])
        journal = Journal(folder)
        loaded = journal.load()
        assert list(loaded.records) == list(log.records)[:-1]
        assert loaded.torn_bytes == cut - start
        assert (folder / loaded.torn_file).read_bytes() == data[start:cut]
        journal.write(log.records[-1])
        journal.close()
        assert records_of(folder) == list(log.records)


def test_a_flipped_bit_is_never_read_as_a_record(tmp_path: Path) -> None:
    log = written(tmp_path / "s", ["one", "two", "three"])
    data = (tmp_path / "s" / FILE_NAME).read_bytes()
    chance = random.Random(7)
    for _ in range(300):
        position = chance.randrange(len(data))
        broken = bytearray(data)
        broken[position] ^= 1 << chance.randrange(8)
        records, good_bytes, _ = read_lines(bytes(broken))
        assert records == list(log.records)[: len(records)]
        assert len(records) < len(log.records) or good_bytes == len(data)
        assert good_bytes <= position or position == len(data) - 1


def test_damage_in_the_middle_is_told_from_a_torn_tail(tmp_path: Path) -> None:
    written(tmp_path / "s", ["one", "two", "three"])
    path = tmp_path / "s" / FILE_NAME
    lines = path.read_bytes().split(b"\n")
    lines[1] = lines[1].replace(b"one", b"0ne")
    path.write_bytes(b"\n".join(lines))
    journal = Journal(tmp_path / "s")
    loaded = journal.load()
    journal.close()
    assert loaded.damaged_line == 2
    assert loaded.torn_bytes == 0
    assert path.read_bytes() == b"\n".join(lines)


def test_a_record_cannot_be_moved_to_another_place(tmp_path: Path) -> None:
    log = written(tmp_path / "s", ["one", "two"])
    lines = (tmp_path / "s" / FILE_NAME).read_bytes().splitlines(keepends=True)
    records, _, _ = read_lines(lines[0] + lines[2] + lines[1])
    assert records == list(log.records)[:1]


def test_a_line_holds_no_raw_newline(tmp_path: Path) -> None:
    record = written(tmp_path / "s", ["a\nb\r\n"]).records[1]
    line, _ = encode(record, 0)
    assert line.count(b"\n") == 1


def test_a_newline_that_was_damaged_never_costs_the_record_after_it(tmp_path: Path) -> None:
    log = written(tmp_path / "s", ["one", "two", "three"])
    path = tmp_path / "s" / FILE_NAME
    data = bytearray(path.read_bytes())
    data[data.rindex(b"\n", 0, len(data) - 1)] = ord("\v")
    path.write_bytes(data)
    loaded = read_journal(path)
    assert loaded.damaged_line == len(log.records) - 1
    journal = Journal(tmp_path / "s")
    assert journal.load().damaged_line == loaded.damaged_line
    journal.close()
    assert path.read_bytes() == data

"""Bounded output: what is kept, what is spilled, what is shown live."""

import asyncio
from pathlib import Path
from typing import Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sandbox import spool as module
from sandbox.spool import HEAD_BYTES, TAIL_BYTES, LiveFeed, Spool

PIECES = st.lists(st.integers(0, 50_000), max_size=12)


@given(sizes=PIECES)
def test_head_tail_total_and_file_fit_together(
    tmp_path_factory: pytest.TempPathFactory, sizes: list[int]
) -> None:
    path = tmp_path_factory.mktemp("spool") / "out.txt"
    kept = Spool(path)
    whole = bytes(index % 251 for index in range(sum(sizes)))
    at = 0
    for size in sizes:
        kept.feed(whole[at : at + size])
        at += size
    kept.close()
    assert kept.total_bytes == len(whole)
    if len(whole) <= HEAD_BYTES + TAIL_BYTES:
        assert kept.spill_path == ""
        assert not path.exists()
        assert kept.text() == whole.decode("utf-8", "backslashreplace")
    else:
        assert path.read_bytes() == whole
        assert f"[... {len(whole) - HEAD_BYTES - TAIL_BYTES:,} bytes left out ...]" in kept.text()


@pytest.mark.parametrize("character", ["é", "日", "😀"])
def test_a_cut_never_goes_through_a_character(tmp_path: Path, character: str) -> None:
    for shift in range(4):
        kept = Spool(tmp_path / f"{shift}.txt")
        kept.feed(b"x" * shift + character.encode() * 50_000)
        kept.close()
        assert "\\x" not in kept.text()


def test_the_file_is_for_its_owner_only_and_stops_at_its_limit(tmp_path: Path) -> None:
    kept = Spool(tmp_path / "out.txt")
    for _ in range(70):
        kept.feed(b"x" * (1 << 20))
    kept.close()
    status = (tmp_path / "out.txt").stat()
    assert (status.st_size, status.st_mode & 0o777) == (module.SPILL_BYTES, 0o600)
    assert kept.total_bytes == 70 << 20


def test_a_link_in_the_session_folder_is_not_followed(tmp_path: Path) -> None:
    (tmp_path / "out.txt").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(OSError, match="symbolic"):
        Spool(tmp_path / "out.txt").feed(b"x" * 100_000)
    assert not (tmp_path / "elsewhere").exists()


class Sink:
    """Keeps what it is given."""

    def __init__(self) -> None:
        self.pieces: list[str] = []

    def __call__(self, stream: Literal["stdout", "stderr"], text: str) -> None:
        self.pieces.append(text)


async def test_the_first_piece_is_shown_at_once_and_the_rest_in_batches() -> None:
    sink = Sink()
    feed = LiveFeed("stdout", sink)
    for number in range(1000):
        feed.feed(b"%d\n" % number)
    assert sink.pieces == ["0\n"]
    feed.close()
    assert len(sink.pieces) == 2
    assert "".join(sink.pieces) == "".join(f"{number}\n" for number in range(1000))


async def test_a_flood_is_shown_in_part_and_says_so() -> None:
    sink = Sink()
    feed = LiveFeed("stdout", sink)
    for _ in range(100):
        feed.feed(b"x" * 10_000)
    feed.close()
    assert sum(len(piece) for piece in sink.pieces) < 50_000
    assert "characters not shown live" in sink.pieces[-1]


async def test_a_character_in_two_pieces_is_shown_whole() -> None:
    sink = Sink()
    feed = LiveFeed("stdout", sink)
    data = "日".encode()
    feed.feed(data[:1])
    feed.feed(data[1:] + b"\xff")
    await asyncio.sleep(0)
    feed.close()
    assert "".join(sink.pieces) == "日\\xff"

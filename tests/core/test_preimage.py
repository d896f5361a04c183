"""What files held before an edit."""

import stat
from pathlib import Path

import pytest

from core.errors import StoreError
from core.preimage import ABSENT, PreimageStore, digest


def modes(folder: Path) -> dict[str, int]:
    return {path.name: stat.S_IMODE(path.stat().st_mode) for path in folder.rglob("*")}


async def test_changes_of_a_path_come_back_newest_first(tmp_path: Path) -> None:
    store = PreimageStore(tmp_path)
    await store.save("a", None, b"1")
    await store.save("a", b"1", b"2")
    newest = await store.newest("a")
    assert newest is not None
    assert (newest.before, newest.after) == (digest(b"1"), digest(b"2"))
    assert await store.content(newest) == b"1"
    await store.undone(newest)
    first = await store.newest("a")
    assert first is not None
    assert first.before == ABSENT
    assert await store.content(first) is None
    await store.undone(first)
    assert await store.newest("a") is None


async def test_a_new_store_knows_what_an_earlier_one_kept(tmp_path: Path) -> None:
    store = PreimageStore(tmp_path)
    await store.save("日本.txt", b"\xff\x00", b"x")
    await store.undone(await store.save("b", None, b"x"))
    again = PreimageStore(tmp_path)
    newest = await again.newest("日本.txt")
    assert newest is not None
    assert await again.content(newest) == b"\xff\x00"
    assert await again.newest("b") is None


async def test_a_torn_end_of_the_index_is_cut_off(tmp_path: Path) -> None:
    await PreimageStore(tmp_path).save("a", b"1", b"2")
    with (tmp_path / "preimages.jsonl").open("ab") as index:
        index.write(b'{"path": "torn')
    again = PreimageStore(tmp_path)
    assert (await again.newest("a")) is not None
    await again.save("b", b"1", b"2")
    assert (await PreimageStore(tmp_path).newest("b")) is not None


async def test_what_is_kept_is_for_its_owner_only(tmp_path: Path) -> None:
    await PreimageStore(tmp_path).save("a", b"secret", b"")
    assert modes(tmp_path) == {
        "preimages.jsonl": 0o600,
        "preimages": 0o700,
        digest(b"secret"): 0o600,
    }


async def test_a_folder_that_cannot_be_written_is_an_error_before_the_edit(tmp_path: Path) -> None:
    with pytest.raises(StoreError):
        await PreimageStore(tmp_path / "missing").save("a", b"1", b"2")


async def test_a_damaged_copy_is_not_given_back(tmp_path: Path) -> None:
    store = PreimageStore(tmp_path)
    change = await store.save("a", b"1", b"2")
    (tmp_path / "preimages" / change.before).write_bytes(b"other")
    with pytest.raises(StoreError, match="damaged"):
        await store.content(change)

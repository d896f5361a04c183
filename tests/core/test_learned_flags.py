import json
import stat
from pathlib import Path

import pytest

from core.chat.learned_flags import FileFlagStore, FlagStore, MemoryFlagStore

URL = "http://127.0.0.1:11434/v1"


@pytest.fixture(params=["memory", "file"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> FlagStore:
    return (
        MemoryFlagStore()
        if request.param == "memory"
        else FileFlagStore(tmp_path / "state" / "flags.json")
    )


def test_flags_are_kept_for_each_server_and_model(store: FlagStore) -> None:
    store.save(URL, "a", "vision", "false")
    store.save(URL, "a", "temperature", "omit")
    store.save(URL, "a", "vision", "true")
    assert store.load(URL, "a") == {"vision": "true", "temperature": "omit"}
    assert store.load(URL, "b") == {}
    assert store.load("http://127.0.0.1:1/v1", "a") == {}


def test_a_file_is_read_again_and_only_its_owner_may_read_it(tmp_path: Path) -> None:
    path = tmp_path / "flags.json"
    FileFlagStore(path).save(URL, "a", "vision", "false")
    assert FileFlagStore(path).load(URL, "a") == {"vision": "false"}
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert [item.name for item in tmp_path.iterdir()] == ["flags.json"]


@pytest.mark.parametrize("content", ["", "{", "[]", '{"x": 5}', '"text"', "[" * 100_000])
def test_a_damaged_file_costs_a_try_and_no_more(tmp_path: Path, content: str) -> None:
    path = tmp_path / "flags.json"
    path.write_text(content, encoding="utf-8")
    store = FileFlagStore(path)
    assert store.load(URL, "a") == {}
    store.save(URL, "a", "vision", "false")
    assert json.loads(path.read_text(encoding="utf-8"))[f"{URL} a"] == {"vision": "false"}


def test_a_folder_that_cannot_be_written_is_no_failure(tmp_path: Path) -> None:
    file = tmp_path / "not-a-folder"
    file.write_text("", encoding="utf-8")
    store = FileFlagStore(file / "flags.json")
    store.save(URL, "a", "vision", "false")
    assert store.load(URL, "a") == {}

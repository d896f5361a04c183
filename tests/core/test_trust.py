"""What is trusted: a folder, and the exact bytes of each file in it."""

import stat
from pathlib import Path

import pytest

from core.errors import ConfigError
from core.instructions import GuideFile, read_guides
from core.trust import TrustStore, digest_of, why_never_trusted


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "ws"
    made.mkdir()
    (made / "AGENTS.md").write_text("Be brief.", encoding="utf-8")
    return made


@pytest.fixture
def store(tmp_path: Path) -> TrustStore:
    return TrustStore(tmp_path / "state" / "trust.json")


def others(store: TrustStore, folder: Path) -> list[str]:
    return [file.path for file in store.sort(folder, read_guides(folder).files).others]


def trust(store: TrustStore, folder: Path) -> None:
    store.trust(folder, read_guides(folder).files)


def test_nothing_is_trusted_at_first_and_what_was_trusted_stays_so(
    store: TrustStore, folder: Path
) -> None:
    assert others(store, folder) == ["AGENTS.md"]
    trust(store, folder)
    assert others(store, folder) == []
    assert others(TrustStore(folder.parent / "state" / "trust.json"), folder) == []


def test_a_change_and_a_new_file_ask_again(store: TrustStore, folder: Path) -> None:
    trust(store, folder)
    (folder / "AGENTS.md").write_text("Be very brief.", encoding="utf-8")
    assert others(store, folder) == ["AGENTS.md"]
    trust(store, folder)
    (folder / "sub").mkdir()
    (folder / "sub" / "AGENTS.md").write_text("Be brief.", encoding="utf-8")
    assert others(store, folder) == ["sub/AGENTS.md"]


def test_trust_is_for_the_folder_itself_not_for_its_name(store: TrustStore, folder: Path) -> None:
    trust(store, folder)
    link = folder.parent / "link"
    link.symlink_to(folder)
    assert others(store, link) == []
    folder.rename(folder.parent / "old")
    folder.mkdir()
    (folder / "AGENTS.md").write_text("Be brief.", encoding="utf-8")
    assert others(store, folder) == ["AGENTS.md"]
    assert others(store, folder.parent / "old") == ["AGENTS.md"]


def test_trust_can_be_taken_back(store: TrustStore, folder: Path) -> None:
    assert not store.forget(folder)
    trust(store, folder)
    assert store.forget(folder)
    assert others(store, folder) == ["AGENTS.md"]


@pytest.mark.parametrize("where", ["/", "home"])
def test_root_and_home_are_never_trusted(store: TrustStore, where: str) -> None:
    place = Path.home() if where == "home" else Path("/")
    assert why_never_trusted(place)
    with pytest.raises(ConfigError, match="never trusted"):
        store.trust(place, ())
    file = GuideFile(path="AGENTS.md", kind="instructions", size_bytes=0, sha256="x", text="")
    assert store.sort(place, [file]).others == (file,)


def test_the_store_is_for_its_owner_only_and_leaves_no_litter(
    store: TrustStore, folder: Path
) -> None:
    trust(store, folder)
    path = folder.parent / "state" / "trust.json"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert [one.name for one in path.parent.iterdir()] == ["trust.json"]


@pytest.mark.parametrize("text", ["", "{", '{"version": 1, "workspaces": 3}', "[]"])
def test_a_broken_store_trusts_nothing_and_is_not_written_over(
    store: TrustStore, folder: Path, text: str
) -> None:
    path = folder.parent / "state" / "trust.json"
    path.parent.mkdir()
    path.write_text(text, encoding="utf-8")
    assert others(store, folder) == ["AGENTS.md"]
    with pytest.raises(ConfigError, match=r"trust\.json cannot be read"):
        trust(store, folder)
    assert path.read_text(encoding="utf-8") == text


def test_a_digest_changes_with_any_byte_and_any_path(folder: Path) -> None:
    [file] = read_guides(folder).files
    seen = {digest_of([file])}
    (folder / "AGENTS.md").write_text("Be brief!", encoding="utf-8")
    seen.add(digest_of(read_guides(folder).files))
    (folder / "AGENTS.md").rename(folder / "x")
    (folder / "sub").mkdir()
    (folder / "x").rename(folder / "sub" / "AGENTS.md")
    seen.add(digest_of(read_guides(folder).files))
    assert len(seen) == 3

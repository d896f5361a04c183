from pathlib import Path

from core.changes import changed, look


def test_new_and_changed_files_are_found_and_untouched_ones_are_not(tmp_path: Path) -> None:
    (tmp_path / "same").write_text("a")
    (tmp_path / "grows").write_text("a")
    (tmp_path / "gone").write_text("a")
    before = look(tmp_path)
    (tmp_path / "grows").write_text("ab")
    (tmp_path / "gone").unlink()
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "new").write_text("x")
    assert changed(before, look(tmp_path)) == ("grows", "sub/new")


def test_links_and_tool_folders_are_passed_over(tmp_path: Path) -> None:
    (tmp_path / ".git").mkdir()
    (tmp_path / ".git" / "HEAD").write_text("x")
    outside = tmp_path.parent / "outside"
    outside.mkdir()
    (outside / "secret").write_text("x")
    (tmp_path / "link").symlink_to(outside)
    assert look(tmp_path) == {}


def test_a_missing_folder_is_an_empty_look(tmp_path: Path) -> None:
    assert look(tmp_path / "nowhere") == {}


def test_a_look_stops_at_its_limit(tmp_path: Path) -> None:
    for number in range(30):
        (tmp_path / f"f{number:02}").write_text("")
    assert 10 <= len(look(tmp_path, max_files=10)) <= 30

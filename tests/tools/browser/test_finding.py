"""Finding a Chromium, sweeping what others left, and names of files."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from core.errors import BrowserUnavailableError
from tools.browser.chromium import find_chromium
from tools.browser.leftovers import OWNER, claim, release, sweep
from tools.browser.watch import safe_file_name


def program(path: Path) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("#!/bin/sh\n", encoding="utf-8")
    path.chmod(0o755)
    return path


def test_the_chosen_program_comes_first(tmp_path: Path) -> None:
    chosen, other = program(tmp_path / "mine"), program(tmp_path / "bin/chromium")
    environment = {"HANDRAIL_CHROME": str(chosen), "PATH": str(other.parent), "HOME": str(tmp_path)}
    assert find_chromium("", environment) == str(chosen)
    assert find_chromium(str(other), environment) == str(other)


def test_playwrights_newest_build_comes_before_the_path(tmp_path: Path) -> None:
    program(tmp_path / "builds/chromium-99/chrome-linux/chrome")
    newest = program(tmp_path / "builds/chromium-1255/chrome-linux64/chrome")
    other = program(tmp_path / "bin/google-chrome")
    environment = {
        "PLAYWRIGHT_BROWSERS_PATH": str(tmp_path / "builds"),
        "PATH": str(other.parent),
        "HOME": str(tmp_path),
    }
    assert find_chromium("", environment) == str(newest)
    environment["PLAYWRIGHT_BROWSERS_PATH"] = str(tmp_path / "none")
    assert find_chromium("", environment) == str(other)


def test_a_missing_browser_says_what_to_do(tmp_path: Path) -> None:
    with pytest.raises(BrowserUnavailableError) as caught:
        find_chromium("", {"PATH": str(tmp_path), "HOME": str(tmp_path)})
    assert "playwright install chromium" in caught.value.line()
    with pytest.raises(BrowserUnavailableError, match="nothing-here"):
        find_chromium("", {"HANDRAIL_CHROME": "nothing-here", "PATH": str(tmp_path)})


def browser_folder(sessions: Path, name: str) -> Path:
    folder = sessions / name / "browser"
    for part in ("profile", "downloads", "pictures"):
        (folder / part).mkdir(parents=True)
    return folder


def test_a_running_owner_keeps_its_folder(tmp_path: Path) -> None:
    folder = browser_folder(tmp_path, "one")
    claim(folder)
    assert (folder / OWNER).stat().st_mode & 0o777 == 0o600
    assert sweep(tmp_path) == 0
    assert (folder / "profile").exists()
    release(folder)
    assert sorted(part.name for part in folder.iterdir()) == ["pictures"]


def test_the_folder_of_an_owner_that_is_gone_is_released(tmp_path: Path) -> None:
    folder = browser_folder(tmp_path, "one")
    done = subprocess.run(
        [sys.executable, "-c", "import os; print(os.getpid())"],
        capture_output=True,
        text=True,
        check=True,
    )
    (folder / OWNER).write_text(f"{done.stdout.strip()} 5")
    assert sweep(tmp_path) == 1
    assert sorted(part.name for part in folder.iterdir()) == ["pictures"]


def test_a_number_that_was_used_again_is_another_process(tmp_path: Path) -> None:
    folder = browser_folder(tmp_path, "one")
    (folder / OWNER).write_text(f"{os.getpid()} 5")
    assert sweep(tmp_path) == 1


@pytest.mark.parametrize("note", ["", "x y", "1", "-"])
def test_a_note_that_cannot_be_read_keeps_its_folder(tmp_path: Path, note: str) -> None:
    folder = browser_folder(tmp_path, "one")
    (folder / OWNER).write_text(note)
    assert sweep(tmp_path) == 0


def test_folders_without_a_note_are_left_alone(tmp_path: Path) -> None:
    browser_folder(tmp_path, "one")
    assert sweep(tmp_path) == 0
    assert sweep(tmp_path / "nowhere") == 0


@pytest.mark.parametrize(
    ("given", "safe"),
    [
        ("report.pdf", "report.pdf"),
        ("../../etc/passwd", "_.._etc_passwd"),
        (".bashrc", "bashrc"),
        ("a\x1b[2Jb.txt", "a__2Jb.txt"),
        ("年度报告 (1).xlsx", "年度报告 (1).xlsx"),
        ("", "download"),
        ("..", "download"),
    ],
)
def test_names_of_downloads_are_made_harmless(given: str, safe: str) -> None:
    assert safe_file_name(given) == safe


def test_long_names_keep_their_ending() -> None:
    assert safe_file_name("a" * 300 + ".pdf") == "a" * 116 + ".pdf"

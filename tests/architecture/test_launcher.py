"""The launcher runs the app's own packages, whatever lies where the person works."""

import os
from pathlib import Path

import pytest

from handrail import own_import_paths
from tests.architecture.tree import PACKAGES, REPOSITORY, run_python


@pytest.fixture
def foreign(tmp_path: Path) -> Path:
    """A project whose modules have the names of ours and of what we import, and say so when they run."""
    for name in (*PACKAGES, "textual", "pydantic"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "__init__.py").write_text("print('FOREIGN')\n", encoding="utf-8")
    for name in ("tui/__main__.py", "pathlib.py", "argparse.py"):
        (tmp_path / name).write_text("print('FOREIGN')\n", encoding="utf-8")
    return tmp_path


@pytest.mark.parametrize(
    ("command", "pythonpath"),
    [
        ((str(REPOSITORY / "handrail.py"),), "."),
        ((str(REPOSITORY / "handrail.py"),), os.pathsep),
        (("-m", "handrail"), f"{{foreign}}{os.pathsep}{REPOSITORY}"),
        (("-c", "import handrail; handrail.main()"), f".{os.pathsep}{REPOSITORY}"),
    ],
    ids=["script", "empty-entries", "module", "console-script"],
)
def test_a_foreign_folder_on_pythonpath_is_not_run(
    command: tuple[str, ...], pythonpath: str, foreign: Path
) -> None:
    environment = {"PYTHONPATH": pythonpath.format(foreign=foreign)}
    ended = run_python(*command, "--version", cwd=foreign, **environment)
    assert (ended.returncode, ended.stderr) == (0, "")
    assert ended.stdout.startswith("handrail ")


def test_own_paths_keep_their_order() -> None:
    paths = ["/caller", "/usr/lib/python", "/app", ""]
    assert own_import_paths(paths, "/caller", "/app") == ["/usr/lib/python", "/app"]


def test_the_app_folder_stays_when_the_caller_names_it_too() -> None:
    assert own_import_paths(["/app", "/usr/lib/python"], "/app", "/app") == [
        "/app",
        "/usr/lib/python",
    ]


def test_the_app_folder_is_added_at_the_end() -> None:
    assert own_import_paths(["/usr/lib/python"], "", "/app") == ["/usr/lib/python", "/app"]

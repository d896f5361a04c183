import time
from pathlib import Path

import pytest

from core.changes import look
from core.claims import missing_files


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    for name in ("report.md", "src/app.py", "out/chart.png"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("x")
    return tmp_path


def missing(answer: str, workspace: Path) -> tuple[str, ...]:
    there = look(workspace)
    return missing_files(answer, workspace, there, there)


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        ("I wrote report.md.", ()),
        ("I wrote summary.md.", ("summary.md",)),
        ("See `src/app.py`, `src/lost.py` and [it](out/chart.png).", ("src/lost.py",)),
        ("The chart is chart.png, in a folder.", ()),
        ("Saved to ./out/data.csv, then to ./report.md", ("out/data.csv",)),
        ("结果在 结果.csv。", ("结果.csv",)),
        ("保存为report.csv。", ("report.csv",)),
        ("保存为report.md。", ()),
        ("Two: a.txt, b.txt; and a.txt again", ("a.txt", "b.txt")),
        ("Built with Node.js and Next.js", ()),
        ("The script is `main.js`, and in lib/x.js", ("main.js", "lib/x.js")),
        ("See https://example.org/a/page.html and http://x.md", ()),
        ("Every *.py file, <name>.txt, $HOME/x.txt, ~/y.txt", ()),
        ("It is at /etc/hosts.conf and ../up.txt", ()),
        ("Write to me@mail.md; version 3.11; e.g. this.", ()),
        ("```\ncat made-up.txt\n```\nDone.", ()),
        ("archive.tar.gz and x.py.bak", ()),
        ("", ()),
    ],
)
def test_files_an_answer_names_are_looked_for(
    answer: str, expected: tuple[str, ...], workspace: Path
) -> None:
    assert missing(answer, workspace) == expected


def test_an_absolute_path_into_the_workspace_is_looked_for(workspace: Path) -> None:
    answer = f"{workspace}/report.md {workspace}/none.md /workspace/other.md"
    assert missing(answer, workspace) == ("none.md", "other.md")


def test_what_the_run_removed_is_not_missing(workspace: Path) -> None:
    before = look(workspace)
    (workspace / "report.md").unlink()
    answer = "I removed report.md and old.md."
    assert missing_files(answer, workspace, before, look(workspace)) == ("old.md",)


@pytest.mark.parametrize("piece", ["a/", "a.", "a-", ".a/", "x.py ", "`", "_", "a/b.py/"])
def test_no_answer_takes_long(piece: str, workspace: Path) -> None:
    started_s = time.perf_counter()
    missing(piece * 20_000, workspace)
    assert time.perf_counter() - started_s < 2

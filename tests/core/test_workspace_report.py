"""What a small model is told of the workspace, and what the program holds against its answer."""

from pathlib import Path

import pytest

from core.changes import look
from core.end_check import (
    LAST_FAILED,
    NO_FILE,
    NOT_RUN,
    NOTHING_DONE,
    ONLY_TASK,
    SILENT,
    UNSEEN,
    EndCheck,
    numbers_in,
)
from core.event_log import EventLog
from core.events import RunStarted, ToolEnded
from core.messages import Outcome
from core.workspace_report import MAX_NAMES, MAX_SHOWN_CHARS, WorkspaceReport
from tests.support.fake_clock import FakeClock


class Run:
    """A run in a workspace."""

    def __init__(self, workspace: Path, task: str) -> None:
        self.workspace = workspace
        self.log = EventLog(FakeClock())
        self.start(task)

    def start(self, task: str) -> None:
        self.first = len(self.log)
        self.log.append(RunStarted(task=task, max_steps=1, max_minutes=1, max_cost_usd=1))
        self.report = WorkspaceReport(self.log.records, self.workspace)
        self.check = EndCheck(self.log.records, self.first, self.report)

    def said(self, answer: str) -> str:
        """What is held against an answer."""
        objection = self.check.objection(answer)
        return objection.text if objection else ""

    def ended(
        self,
        output: str = "fine",
        outcome: Outcome = "ok",
        *files: str,
        exit_code: int | None = None,
    ) -> None:
        self.log.append(
            ToolEnded(
                call_id=f"c{len(self.log)}",
                name="shell",
                outcome=outcome,
                output=output,
                duration_s=0.1,
                decided_by="policy",
                files=files,
                exit_code=exit_code,
            )
        )


def test_an_empty_workspace_is_said_to_be_empty(tmp_path: Path) -> None:
    assert Run(tmp_path, "Hello").report.text() == "# Now\n\nFiles in the workspace: none."


def test_files_are_listed_without_hidden_ones_and_links(tmp_path: Path) -> None:
    (tmp_path / "b").mkdir()
    for name in ("a.txt", "b/c.py", ".hidden"):
        (tmp_path / name).write_text("x")
    (tmp_path / "link").symlink_to("/etc/passwd")
    assert "Files in the workspace: a.txt, b/c.py." in Run(tmp_path, "Hello").report.text()


def test_what_is_other_since_the_run_began_is_told(tmp_path: Path) -> None:
    for name in ("old.txt", "kept.txt", "other.txt"):
        (tmp_path / name).write_text("x")
    run = Run(tmp_path, "Tidy up.")
    run.report.begin(look(tmp_path))
    assert "since the task began" not in run.report.text()
    (tmp_path / "old.txt").rename(tmp_path / "new.txt")
    (tmp_path / "other.txt").write_text("longer")
    text = run.report.text()
    assert "New since the task began: new.txt." in text
    assert "Changed since the task began: other.txt." in text
    assert "Gone since the task began: old.txt." in text


def test_a_long_list_is_cut(tmp_path: Path) -> None:
    for number in range(MAX_NAMES + 5):
        (tmp_path / f"f{number:03}.txt").touch()
    text = Run(tmp_path, "Hello").report.text()
    assert f"f{MAX_NAMES - 1:03}.txt, ..." in text
    assert f"f{MAX_NAMES:03}.txt" not in text


def test_files_the_task_names_are_shown_or_said_to_be_missing(tmp_path: Path) -> None:
    (tmp_path / "orders.csv").write_text("id,amount\n1,2\n")
    text = Run(tmp_path, "文件 orders.csv 里有多少, 写入 sum.txt。").report.text()
    assert "orders.csv holds:\n```\nid,amount\n1,2\n```" in text
    assert "sum.txt does not exist yet." in text


def test_files_the_run_has_changed_are_shown_as_they_are_now(tmp_path: Path) -> None:
    run = Run(tmp_path, "Make it.")
    (tmp_path / "made.py").write_text("print(1)\n")
    run.ended("ok", "ok", "made.py")
    assert "made.py holds:\n```\nprint(1)\n```" in run.report.text()


def test_an_earlier_run_is_over(tmp_path: Path) -> None:
    (tmp_path / "old.txt").write_text("secret plan")
    run = Run(tmp_path, "Read old.txt")
    run.start("Say hello.")
    assert "secret plan" not in run.report.text()


def test_long_and_binary_files_and_links_do_not_fill_the_request(tmp_path: Path) -> None:
    (tmp_path / "long.txt").write_text("y" * 100_000)
    (tmp_path / "data.bin").write_bytes(b"\0\1" * 100)
    (tmp_path / "link.txt").symlink_to("/etc/hostname")
    text = Run(tmp_path, "See long.txt, `data.bin` and link.txt").report.text()
    assert 0 < text.count("y") <= MAX_SHOWN_CHARS + 10
    assert "data.bin holds" not in text
    assert "link.txt holds" not in text


@pytest.mark.parametrize(
    "task", ["Read ../../etc/passwd.txt", "Read /etc/hosts.txt", "See http://a.b/c.html"]
)
def test_what_is_outside_is_not_looked_at(task: str, tmp_path: Path) -> None:
    report = Run(tmp_path, task).report
    assert (report.named_in(task), report.missing(task)) == ([], [])


def test_an_answer_before_anything_was_done_is_held_up_once(tmp_path: Path) -> None:
    run = Run(tmp_path, "Say hello.")
    assert run.said("Hello!") == NOTHING_DONE
    assert run.said("Hello!") == ""


def test_an_answer_after_a_failed_call_is_held_up(tmp_path: Path) -> None:
    run = Run(tmp_path, "Try it.")
    run.ended("busy", "failed")
    assert run.said("It works.") == LAST_FAILED


def test_an_answer_that_only_says_the_task_again_is_none(tmp_path: Path) -> None:
    run = Run(tmp_path, "Fix the bug.")
    run.ended()
    assert run.said("fix the bug") == ONLY_TASK
    assert run.said("The bug is fixed.") == ""


def test_a_command_that_printed_nothing_is_no_proof(tmp_path: Path) -> None:
    run = Run(tmp_path, "Rename them.")
    run.ended("exit code 0 (0.0 s), no output", exit_code=0)
    assert run.said("All renamed.") == SILENT
    assert run.said("All renamed.") == ""


def test_a_program_that_was_changed_must_be_run(tmp_path: Path) -> None:
    run = Run(tmp_path, "Fix it.")
    run.ended("found it", exit_code=0)
    run.ended("Changed a.py.", "ok", "a.py")
    run.ended("lines of a.py")
    assert run.said("Done.") == NOT_RUN.format(names="a.py")
    run.ended("OK", exit_code=0)
    assert run.said("Done.") == ""


def test_a_text_that_was_changed_need_not_be_run(tmp_path: Path) -> None:
    run = Run(tmp_path, "Write it.")
    run.ended("Made a.md.", "ok", "a.md")
    assert run.said("Done.") == ""


def test_a_file_the_task_names_must_be_there(tmp_path: Path) -> None:
    run = Run(tmp_path, "Write the result into sum.txt.")
    run.ended()
    assert run.said("Done.") == NO_FILE.format(names="sum.txt")
    (tmp_path / "sum.txt").write_text("3")
    assert run.said("Done.") == ""


def test_numbers_of_an_answer_must_stand_in_the_task_a_file_or_a_result(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("7,12.50\n")
    run = Run(tmp_path, "Add the 2 numbers of a.csv.")
    run.ended("total 1,234.0")
    assert run.said("It is 1234, from 2 numbers, 7 and 12.5.") == ""
    assert run.said("It is 99.") == UNSEEN.format(names="99", seen="1234")
    assert run.said("It is 99.") == ""


def test_exit_code_and_time_of_a_command_are_no_findings(tmp_path: Path) -> None:
    run = Run(tmp_path, "Count them.")
    run.ended("exit code 0 (4.7 s)\nstdout:\n12", exit_code=0)
    assert run.said("There are 0, 4.7 or 12.") == UNSEEN.format(names="0, 4.7", seen="12")


def test_nothing_speaks_against_an_answer_that_was_worked_for(tmp_path: Path) -> None:
    run = Run(tmp_path, "Count the lines.")
    run.ended("237 total")
    assert run.said("一共 237 行。") == ""


@pytest.mark.parametrize(
    ("text", "numbers"),
    [
        ("1,234.50 and 7", ["1234.5", "7"]),
        ("v1.2 x9 file2", []),
        ("总数是5。", ["5"]),
        ("50% of 3", ["3"]),
        ("at 16:30", ["16", "30"]),
    ],
)
def test_numbers_are_written_alike(text: str, numbers: list[str]) -> None:
    assert numbers_in(text) == numbers

import threading
import time
from pathlib import Path

import pytest

from tui.health import HealthRow, Patience, run_checks
from tui.health_machine import installation, program_output, workspace


def row(name: str) -> HealthRow:
    return HealthRow(name=name, ok=True, detail="fine")


def test_rows_come_in_the_order_of_the_checks() -> None:
    gate = threading.Event()

    def slow() -> list[HealthRow]:
        gate.wait(5)
        return [row("a1"), row("a2")]

    def quick() -> list[HealthRow]:
        gate.set()
        return [row("b")]

    assert [one.name for one in run_checks({"a": slow, "b": quick})] == ["a1", "a2", "b"]


def test_a_check_that_hangs_costs_its_row_only() -> None:
    stop = threading.Event()

    def hangs() -> list[HealthRow]:
        stop.wait(30)
        return []

    started_s = time.monotonic()
    rows = run_checks({"engine": hangs, "b": lambda: [row("b")]}, Patience(deadline_s=0.3))
    stop.set()
    assert time.monotonic() - started_s < 5
    assert [(one.name, one.ok) for one in rows] == [("engine", False), ("b", True)]
    assert "0.3 s" in rows[0].detail


def test_this_installation_is_in_order() -> None:
    [found] = installation()
    assert found.ok
    assert found.needed


def test_a_workspace_that_is_not_there_is_not_in_order(tmp_path: Path) -> None:
    assert workspace(tmp_path)[0].ok
    [found] = workspace(tmp_path / "gone")
    assert not found.ok
    assert found.hint


def test_a_program_that_fails_says_nothing() -> None:
    assert program_output(["echo", "hello"]) == "hello"
    assert program_output(["false"]) == ""
    assert program_output(["/nothing/there"]) == ""


@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
def test_a_check_that_fails_itself_counts_as_what_it_checks() -> None:
    def broken() -> list[HealthRow]:
        raise RuntimeError("a defect")

    rows = run_checks({"model": broken, "other": broken}, needed=("model",))
    for thread in threading.enumerate():
        if thread.name.startswith("check "):
            thread.join()  # its end belongs to this test, not to the next one
    assert [(one.ok, one.needed) for one in rows] == [(False, True), (False, False)]

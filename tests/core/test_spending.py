import json
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path

import pytest

from core.errors import StoreError
from core.event_log import SystemClock
from core.spending import FilePurse, PastCosts, past_costs
from tests.support.fake_clock import FakeClock

DAY_S = 24 * 3600.0


class Calendar(FakeClock):
    """A clock that stands at noon of a day near the end of a month."""

    def now_utc(self) -> datetime:
        noon = datetime(2026, 11, 29, 12, tzinfo=UTC)
        return datetime.fromtimestamp(noon.timestamp() + self.now_s - 1000.0, UTC)


ROOT = Path(__file__).resolve().parents[2]
ANOTHER_PROGRAM = """
import sys
from pathlib import Path
from core.event_log import SystemClock
from core.spending import FilePurse
purse = FilePurse(Path(sys.argv[1]), sys.argv[2], SystemClock())
for _ in range(200):
    purse.add(0.001)
"""


def test_what_was_spent_today_is_that_of_all_sessions(tmp_path: Path) -> None:
    clock = Calendar()
    one, other = FilePurse(tmp_path, "one", clock), FilePurse(tmp_path, "other", clock)
    assert one.today_usd() == 0.0
    one.add(0.25)
    other.add(0.5)
    assert one.today_usd() == other.today_usd() == pytest.approx(0.75)
    other.add(None)
    other.add(1.0)
    assert one.today_usd() == pytest.approx(1.75)


def test_another_day_begins_with_nothing_also_in_another_month(tmp_path: Path) -> None:
    clock = Calendar()
    purse = FilePurse(tmp_path, "one", clock)
    purse.add(0.25)
    for _ in range(2):
        clock.advance(DAY_S)
        assert purse.today_usd() == 0.0
        purse.add(0.5)
        assert purse.today_usd() == pytest.approx(0.5)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["2026-11.jsonl", "2026-12.jsonl"]


def test_two_programs_at_once_lose_nothing(tmp_path: Path) -> None:
    others = [
        subprocess.Popen([sys.executable, "-c", ANOTHER_PROGRAM, tmp_path, name], cwd=ROOT)
        for name in ("one", "two")
    ]
    purse = FilePurse(tmp_path, "mine", SystemClock())
    for _ in range(200):
        purse.add(0.001)
        purse.today_usd()
    for other in others:
        assert other.wait(30) == 0
    lines = [line for path in tmp_path.iterdir() for line in path.read_text().splitlines()]
    assert len(lines) == 600
    assert all(json.loads(line)["cost_usd"] == 0.001 for line in lines)
    assert past_costs(tmp_path, SystemClock()).runs == 3


def test_a_line_that_another_program_is_still_writing_counts_when_it_is_whole(
    tmp_path: Path,
) -> None:
    clock = Calendar()
    purse = FilePurse(tmp_path, "one", clock)
    purse.add(0.25)
    (path,) = tmp_path.iterdir()
    whole = path.read_bytes()
    with path.open("ab") as stream:
        stream.write(whole[:20])
    assert purse.today_usd() == pytest.approx(0.25)
    with path.open("ab") as stream:
        stream.write(whole[20:])
    assert purse.today_usd() == pytest.approx(0.5)


def test_damaged_lines_are_passed_over(tmp_path: Path) -> None:
    clock = Calendar()
    purse = FilePurse(tmp_path, "one", clock)
    purse.add(0.25)
    (path,) = tmp_path.iterdir()
    with path.open("ab") as stream:
        stream.write(b'\xff\xfe{\n[1]\n{"cost_usd": -4}\n{"cost_usd": "x", "day": "2026-11-29"}\n')
        stream.write(
            b'{"cost_usd": 1%s, "day": "2026-11-29"}\n' % (b"0" * 400) + b"[" * 100_000 + b"\n"
        )
    purse.add(0.5)
    assert purse.today_usd() == pytest.approx(0.75)


def test_a_file_that_cannot_be_used_is_said_with_what_to_do(tmp_path: Path) -> None:
    clock = Calendar()
    (tmp_path / "2026-11.jsonl").mkdir()
    purse = FilePurse(tmp_path, "one", clock)
    for work in (purse.today_usd, lambda: purse.add(0.5), lambda: past_costs(tmp_path, clock)):
        with pytest.raises(StoreError) as caught:
            work()
        assert "max_cost_per_day_usd" in caught.value.hint


def test_past_runs_have_an_average_and_a_worst(tmp_path: Path) -> None:
    clock = Calendar()
    purse = FilePurse(tmp_path, "one", clock)
    for costs in ([0.1, 0.1], [0.4], [None, 5.0], [0.0]):
        clock.advance(DAY_S)
        purse.start_run()
        for cost in costs:
            purse.add(cost)
    past = past_costs(tmp_path, clock)
    assert (past.runs, past.unpriced_runs) == (2, 1)
    assert [past.average_usd, past.worst_usd] == pytest.approx([0.3, 0.4])
    assert past.line(2.0) == (
        "2 paid runs, on average $0.30, at most $0.40; 1 at an unknown price; today $0.00 of $2.00"
    )


def test_where_nothing_was_spent_nothing_is_said(tmp_path: Path) -> None:
    assert past_costs(tmp_path / "none", SystemClock()) == PastCosts()
    assert PastCosts().line() == ""


def test_what_was_spent_is_for_its_owner_only(tmp_path: Path) -> None:
    purse = FilePurse(tmp_path / "spending", "one", Calendar())
    purse.add(0.5)
    assert (tmp_path / "spending").stat().st_mode & 0o077 == 0
    assert (tmp_path / "spending" / "2026-11.jsonl").stat().st_mode & 0o077 == 0

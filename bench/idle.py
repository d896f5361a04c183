"""`idle`: memory, processor time and output of the app while nothing happens, beside an empty Textual app."""

import os
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

from bench.figure import Figure
from bench.model_process import running_model
from bench.pty_child import Handrail, PtyChild
from bench.start import PROMPT, TIMEOUT_S

TARGET_MB = 120.0
TARGET_CPU_PERCENT = 0.5
SETTLE_S = 8.0
"""After the start, before measuring: what is loaded in the background has come by then."""
MEASURE_S = 10.0
_TICKS_PER_S = os.sysconf("SC_CLK_TCK")


@dataclass(frozen=True, slots=True)
class Idle:
    """What a program uses while nothing happens."""

    rss_mb: float
    cpu_percent: float
    terminal_bytes: int


def measure() -> Figure:
    """Measure the empty app, then ours."""
    empty = _empty_app()
    with running_model(0) as model, Handrail(model.base_url) as app:
        ours = _idle(app, PROMPT)
    return Figure(
        value=ours.rss_mb,
        unit="MB",
        baseline=empty.rss_mb,
        target=TARGET_MB,
        ok=ours.rss_mb <= TARGET_MB
        and ours.cpu_percent <= TARGET_CPU_PERCENT
        and not ours.terminal_bytes,
        parts={
            "cpu_percent": ours.cpu_percent,
            "terminal_bytes": ours.terminal_bytes,
            "empty_app_cpu_percent": empty.cpu_percent,
        },
    )


def _empty_app() -> Idle:
    words = [sys.executable, "-m", "bench.empty_app"]
    with (
        tempfile.TemporaryDirectory() as folder,
        PtyChild(words, Path(folder), {"PYTHONPATH": str(Path(__file__).parent.parent)}) as app,
    ):
        return _idle(app, "READY")


def _idle(app: PtyChild, prompt: str) -> Idle:
    app.wait_for(prompt, TIMEOUT_S)
    time.sleep(SETTLE_S)
    ticks, output = _cpu_ticks(app.pid), app.total_bytes
    time.sleep(MEASURE_S)
    used = _cpu_ticks(app.pid) - ticks
    return Idle(
        rss_mb=_rss_mb(app.pid),
        cpu_percent=100 * used / _TICKS_PER_S / MEASURE_S,
        terminal_bytes=app.total_bytes - output,
    )


def _family(pid: int) -> list[int]:
    """Return a process and all below it."""
    found, waiting = [], [pid]
    while waiting:
        current = waiting.pop()
        found.append(current)
        for task in Path(f"/proc/{current}/task").glob("*/children"):
            waiting.extend(int(child) for child in task.read_text(encoding="ascii").split())
    return found


def _rss_mb(pid: int) -> float:
    pages = sum(
        int(Path(f"/proc/{one}/statm").read_text(encoding="ascii").split()[1])
        for one in _family(pid)
    )
    return pages * os.sysconf("SC_PAGE_SIZE") / 1e6


def _cpu_ticks(pid: int) -> int:
    """Source: proc(5), /proc/pid/stat, fields 14 to 17."""
    total = 0
    for one in _family(pid):
        after_name = (
            Path(f"/proc/{one}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()
        )
        total += sum(int(field) for field in after_name[11:15])
    return total

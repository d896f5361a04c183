"""`core_step`: what core adds to each step, without screen, network, tool and disk waits.

A step's time runs from one request to the next: judging the call, running a tool that does nothing, recording in the
real journal, building the next request. How long the disk takes is printed beside it. The baseline is a loop that
keeps its messages in a list and writes a line a message.
"""

import json
import os
import statistics
import tempfile
import time

from bench.core_session import RESULT, TOOL, TimedJournal, walk
from bench.figure import Figure

STEPS = 300
WARM_STEPS = 20
SYNCED_STEPS = 60
TARGET_MS = 3.0


def measure(steps: int = STEPS, synced_steps: int = SYNCED_STEPS) -> Figure:
    """Measure the steps, then some with the disk, then the bare loop."""
    steps_ms = sorted(walk(steps).steps_ms[min(WARM_STEPS, steps // 2) :])
    synced = walk(synced_steps, TimedJournal)
    journal = synced.journal
    assert isinstance(journal, TimedJournal)
    value_ms = statistics.mean(steps_ms)
    return Figure(
        value=value_ms,
        unit="ms",
        baseline=_bare_ms(steps),
        target=TARGET_MS,
        ok=value_ms <= TARGET_MS,
        parts={
            "median_ms": statistics.median(steps_ms),
            "p95_ms": steps_ms[int(len(steps_ms) * 0.95) - 1],
            "with_syncs_ms": statistics.mean(synced.steps_ms),
            "syncs_ms": 1000 * journal.synced_s / synced_steps,
            "syncs_per_step": journal.syncs / synced_steps,
        },
    )


def _bare_ms(steps: int) -> float:
    messages: list[dict[str, str]] = []
    with tempfile.TemporaryFile() as file:
        started_s = time.perf_counter()
        for step in range(steps):
            for message in (
                {"role": "assistant", "content": f"Step {step}", "call": TOOL},
                {"role": "tool", "content": RESULT},
            ):
                messages.append(message)
                os.write(file.fileno(), json.dumps(message).encode() + b"\n")
        return 1000 * (time.perf_counter() - started_s) / steps

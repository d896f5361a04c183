"""`start`: from the command to a prompt that shows a typed key, beside an empty Textual app in the same run."""

import statistics
import sys
import tempfile
from pathlib import Path

from bench.figure import Figure
from bench.model_process import running_model
from bench.pty_child import Handrail, PtyChild

RUNS = 5
TARGET = 1.5
"""Times the empty app."""
TIMEOUT_S = 60.0
KEY = "§"
"""A key that is nowhere on the screen."""
PROMPT = "What should be done?"
"""What Handrail's empty prompt shows."""


def measure() -> Figure:
    """Start both in turns and compare the medians; the first turn only warms the disk's cache."""
    with running_model(0) as model:
        pairs = [(_empty_app_s(), _handrail_s(model.base_url)) for _ in range(RUNS + 1)][1:]
    baseline_s = statistics.median(empty for empty, _ in pairs)
    value_s = statistics.median(ours for _, ours in pairs)
    return Figure(
        value=value_s,
        unit="s",
        baseline=baseline_s,
        target=TARGET,
        ok=value_s <= TARGET * baseline_s,
        parts={
            "fastest_s": min(ours for _, ours in pairs),
            "slowest_s": max(ours for _, ours in pairs),
        },
    )


def _empty_app_s() -> float:
    words = [sys.executable, "-m", "bench.empty_app"]
    with (
        tempfile.TemporaryDirectory() as folder,
        PtyChild(words, Path(folder), {"PYTHONPATH": str(Path(__file__).parent.parent)}) as app,
    ):
        return _usable_s(app, "READY")


def _handrail_s(base_url: str) -> float:
    with Handrail(base_url) as app:
        return _usable_s(app, PROMPT)


def _usable_s(app: PtyChild, prompt: str) -> float:
    app.wait_for(prompt, TIMEOUT_S)
    app.type(KEY)
    return app.wait_for(KEY, TIMEOUT_S)

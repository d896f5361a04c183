"""`core_step_growth`: how much longer a step of core takes late in a long run than early in it.

The same steps as in `core_step`. With a window that is not known every unit goes into each request; with one of 32,000
tokens, printed beside it, old units are left out.
"""

from collections.abc import Sequence

from bench.core_session import walk
from bench.figure import Figure

EARLY, LATE = 100, 2000
AROUND = 100
"""Steps that are taken together, for one alone says little."""
SMALL_WINDOW = 32_000
TARGET = 1.3


def measure(early: int = EARLY, late: int = LATE, around: int = AROUND) -> Figure:
    """Measure the growth with all units and, beside it, in a small window."""
    early_ms, late_ms = _both(walk(late).steps_ms, early, late, around)
    small_early_ms, small_late_ms = _both(
        walk(late, window=SMALL_WINDOW).steps_ms, early, late, around
    )
    value = late_ms / early_ms
    return Figure(
        value=value,
        unit="x",
        baseline=1.0,
        target=TARGET,
        ok=value <= TARGET,
        parts={
            f"step_{early}_ms": early_ms,
            f"step_{late}_ms": late_ms,
            f"small_window_step_{early}_ms": small_early_ms,
            f"small_window_step_{late}_ms": small_late_ms,
        },
    )


def _both(steps_ms: Sequence[float], early: int, late: int, around: int) -> tuple[float, float]:
    half = around // 2
    return (
        _undisturbed(steps_ms[early - half : early + half]),
        _undisturbed(steps_ms[late - around : late]),
    )


def _undisturbed(steps_ms: Sequence[float]) -> float:
    """Return the quickest quarter's longest: other work of the machine makes steps longer, never shorter."""
    return sorted(steps_ms)[len(steps_ms) // 4]

"""Checks of this machine: what works, what does not, and what to do about it.

Each check runs in a thread of its own, so that one that hangs costs its row and not the answer.
"""

import queue
import threading
import time
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

DEADLINE_S = 8.0
"""All checks together; `handrail doctor` promises 10 s."""


@dataclass(frozen=True, slots=True, kw_only=True)
class HealthRow:
    """One part and its state."""

    name: str
    ok: bool
    detail: str
    """What was found, one line."""
    needed: bool = False
    """Without it no run can work."""
    hint: str = ""
    """What to do when it is not in order."""
    returned: bool = True
    """False: the check did not come back in time and still hangs."""


Check: TypeAlias = Callable[[], Sequence[HealthRow]]
"""Looks at one thing; may block; returns its rows in order."""


def run_checks(
    checks: Mapping[str, Check],
    deadline_s: float = DEADLINE_S,
    needed: Collection[str] = (),
) -> list[HealthRow]:
    """Run all checks at once.

    Args:
        checks: By the name that their row has where they do not come back.
        deadline_s: Seconds they have together.
        needed: Checks without whose part no run can work.

    Returns:
        The rows, in the order of the checks.
    """
    done: queue.SimpleQueue[tuple[str, Sequence[HealthRow]]] = queue.SimpleQueue()
    for name, check in checks.items():
        thread = threading.Thread(
            target=_run, args=(name, check, done), name=f"check {name}", daemon=True
        )
        thread.start()
    found: dict[str, Sequence[HealthRow]] = {}
    end_s = time.monotonic() + deadline_s
    while len(found) < len(checks) and (left_s := end_s - time.monotonic()) > 0:
        try:
            name, rows = done.get(timeout=left_s)
        except queue.Empty:
            break
        found[name] = rows
    missing = f"did not answer within {deadline_s:g} s"
    return [
        row
        for name in checks
        for row in found.get(name)
        or [HealthRow(name=name, ok=False, needed=name in needed, detail=missing, returned=False)]
    ]


def _run(
    name: str, check: Check, done: "queue.SimpleQueue[tuple[str, Sequence[HealthRow]]]"
) -> None:
    rows: Sequence[HealthRow] = [HealthRow(name=name, ok=False, detail="the check itself failed")]
    try:
        rows = check()
    finally:
        done.put((name, rows))

"""Checks of this machine: what works, what does not, and what to do about it.

Each check runs in a thread of its own, so that one that hangs costs its row and not the answer.
"""

import queue
import threading
import time
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TypeAlias

DEADLINE_S = 8.0
"""All checks together; `handrail doctor` promises 10 s, unless a model is slow."""
NEWS_S = 4.0
"""After this it is said what is still waited for."""


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


@dataclass(frozen=True, slots=True, kw_only=True)
class Patience:
    """How long checks may take."""

    deadline_s: float = DEADLINE_S
    longer: Mapping[str, float] = field(default_factory=dict)
    """Seconds for checks that may take longer, by name."""
    waiting: Callable[[Sequence[str]], None] | None = None
    """Told once, after a while, which checks are still waited for."""

    def of(self, name: str) -> float:
        """Return the seconds one check has."""
        return self.longer.get(name, self.deadline_s)


def run_checks(
    checks: Mapping[str, Check],
    patience: Patience | None = None,
    needed: Collection[str] = (),
) -> list[HealthRow]:
    """Run all checks at once.

    Args:
        checks: By the name that their row has where they do not come back.
        patience: How long they may take.
        needed: Checks without whose part no run can work.

    Returns:
        The rows, in the order of the checks.
    """
    patience = patience or Patience()
    done: queue.SimpleQueue[tuple[str, Sequence[HealthRow]]] = queue.SimpleQueue()
    for name, check in checks.items():
        thread = threading.Thread(
            target=_run, args=(name, check, done, name in needed), name=f"check {name}", daemon=True
        )
        thread.start()
    found = _collected(done, list(checks), patience)
    return [
        row
        for name in checks
        for row in found.get(name) or [_missing(name, patience.of(name), needed=name in needed)]
    ]


def _collected(
    done: "queue.SimpleQueue[tuple[str, Sequence[HealthRow]]]",
    names: Sequence[str],
    patience: Patience,
) -> dict[str, Sequence[HealthRow]]:
    """Take results until all are there or the last one waited for is out of time."""
    found: dict[str, Sequence[HealthRow]] = {}
    started_s = time.monotonic()
    told = patience.waiting is None
    while True:
        past_s = time.monotonic() - started_s
        open_names = [name for name in names if name not in found and patience.of(name) > past_s]
        if not open_names:
            return found
        if not told and past_s >= NEWS_S and patience.waiting is not None:
            told = True
            patience.waiting(open_names)
        until_s = max(map(patience.of, open_names))
        with suppress(queue.Empty):
            name, rows = done.get(timeout=max(0.01, (until_s if told else NEWS_S) - past_s))
            found[name] = rows


def _missing(name: str, limit_s: float, *, needed: bool) -> HealthRow:
    detail = f"did not answer within {limit_s:g} s"
    return HealthRow(name=name, ok=False, needed=needed, detail=detail, returned=False)


def _run(
    name: str,
    check: Check,
    done: "queue.SimpleQueue[tuple[str, Sequence[HealthRow]]]",
    needed: bool,
) -> None:
    failed = HealthRow(name=name, ok=False, needed=needed, detail="the check itself failed")
    rows: Sequence[HealthRow] = [failed]
    try:
        rows = check()
    finally:
        done.put((name, rows))

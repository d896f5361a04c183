"""Limits on memory and processes where no control group enforces them: the runner looks, and ends what goes beyond."""

from __future__ import annotations

import os
import signal
import time
from typing import Any

from sandbox.runner import processes
from sandbox.runner.processes import Process

_SWEEPS = 40
"""Rounds in which processes are killed until none is left: a fork bomb makes new ones meanwhile."""


class Caps:
    """Both limits, and how often each was hit."""

    def __init__(self, settings: dict[str, Any]) -> None:
        """Take memory_bytes and processes from the settings; 0 or absent means that the engine enforces it."""
        self._memory_bytes = settings.get("memory_bytes", 0)
        self._processes = settings.get("processes", 0)
        self._hits = dict.fromkeys(("memory", "processes"), 0)
        self._settled = 0

    @property
    def watching(self) -> bool:
        """Whether there is anything to look at."""
        return bool(self._memory_bytes or self._processes)

    def hits(self) -> dict[str, int]:
        """Return how often each limit was hit, whoever enforces it."""
        return dict(self._hits) if self.watching else processes.limit_hits()

    def settle(self, interpreters: set[int], *, idle: bool) -> None:
        """Between commands, end what runs in the background when it has reached the limit of processes.

        Args:
            interpreters: Their process ids; they stay.
            idle: Whether no command runs; a command that runs may be what reached the limit, and answers for it.
        """
        count = self.hits().get("processes", 0)
        if idle and count > self._settled:
            _kill_all(interpreters)
        self._settled = count

    def enforce(self, interpreters: set[int]) -> None:
        """Kill all but the interpreters when there are too many processes, or when together they use too much memory.

        An interpreter goes too when it is what uses the memory.
        """
        if not self.watching:
            return
        table = processes.snapshot()
        below = [table[pid] for pid in processes.descendants(os.getpid(), table)]
        if self._processes and len(below) > self._processes:
            self._hits["processes"] += 1
            _kill_all(interpreters)
        elif self._memory_bytes and _used_bytes(below) > self._memory_bytes:
            self._hits["memory"] += 1
            large = {
                process.pid for process in below if process.memory_bytes > self._memory_bytes // 2
            }
            _kill_all(interpreters - large)


def _used_bytes(below: list[Process]) -> int:
    return sum(process.memory_bytes for process in below)


def _kill_all(but: set[int]) -> None:
    for _ in range(_SWEEPS):
        table = processes.snapshot()
        below = processes.descendants(os.getpid(), table)
        alive = {pid for pid in below if table[pid].state != "Z"} - but
        if not alive:
            return
        processes.send_signal(alive, signal.SIGSTOP)
        processes.send_signal(alive, signal.SIGKILL)
        time.sleep(0.002)

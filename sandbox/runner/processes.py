"""Processes of the sandbox as /proc shows them, and how often its limits were hit."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterable
from typing import NamedTuple

_PAGE_BYTES = os.sysconf("SC_PAGE_SIZE")
_COUNTERS = {
    "memory": (
        "oom_kill",
        ("/sys/fs/cgroup/memory/memory.oom_control", "/sys/fs/cgroup/memory.events"),
    ),
    "processes": ("max", ("/sys/fs/cgroup/pids/pids.events", "/sys/fs/cgroup/pids.events")),
}
"""Limit -> field of the files that count how often it was hit, cgroup v1 and v2.

Source: kernel documentation, admin-guide/cgroup-v1/memory, cgroup-v2 "Memory" and "PID"."""


class Process(NamedTuple):
    """One line of /proc/<pid>/stat."""

    pid: int
    state: str
    """R running, S sleeping, Z ended and not yet reaped, and others."""
    parent: int
    started: int
    """Clock ticks after boot; with the pid it names a process even when pids come round again."""
    memory_bytes: int
    """Resident."""

    @property
    def identity(self) -> tuple[int, int]:
        """Return what no other process has."""
        return self.pid, self.started


def snapshot() -> dict[int, Process]:
    """Return all processes that can be seen, by pid."""
    table = {}
    with os.scandir("/proc") as entries:
        pids = [int(entry.name) for entry in entries if entry.name.isdigit()]
    for pid in pids:
        process = _process(pid)
        if process is not None:
            table[pid] = process
    return table


def _process(pid: int) -> Process | None:
    line = _read(f"/proc/{pid}/stat")
    if not line:
        return None
    # the name, in brackets, may hold anything; the last bracket ends it
    fields = line[line.rindex(b")") + 2 :].split()
    return Process(
        pid, fields[0].decode(), int(fields[1]), int(fields[19]), int(fields[21]) * _PAGE_BYTES
    )


def variable(pid: int, name: str) -> str:
    """Return a variable of the environment a process was started with, "" when it has none of that name."""
    start = name.encode() + b"="
    for entry in _read(f"/proc/{pid}/environ").split(b"\0"):
        if entry.startswith(start):
            return os.fsdecode(entry[len(start) :])
    return ""


def descendants(root: int, table: dict[int, Process]) -> set[int]:
    """Return the pids below `root`, without it."""
    children: dict[int, list[int]] = {}
    for process in table.values():
        children.setdefault(process.parent, []).append(process.pid)
    found: set[int] = set()
    waiting = [root]
    while waiting:
        for child in children.get(waiting.pop(), ()):
            if child not in found:
                found.add(child)
                waiting.append(child)
    return found


def send_signal(pids: Iterable[int], number: signal.Signals) -> None:
    """Signal each of the processes that is still there."""
    for pid in pids:
        try:
            os.kill(pid, number)
        except OSError:
            continue


def limit_hits() -> dict[str, int]:
    """Return how often each limit of this sandbox was hit since it began; limits that nothing counts are left out."""
    hits = {}
    for limit, (field, paths) in _COUNTERS.items():
        for path in paths:
            count = _counter(path, field)
            if count is not None:
                hits[limit] = count
                break
    return hits


def _counter(path: str, field: str) -> int | None:
    for line in _read(path).decode("ascii", "replace").splitlines():
        name, _, value = line.partition(" ")
        if name == field:
            return int(value)
    return None


def _read(path: str) -> bytes:
    """Return the text of a small file of the kernel, b"" when it is not there."""
    try:
        opened = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return b""
    try:
        return os.read(opened, 65536)
    except OSError:  # a process that ends just now
        return b""
    finally:
        os.close(opened)

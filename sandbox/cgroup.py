"""Control groups for bubblewrap when Handrail runs as root: limits on memory and processes that the kernel enforces.

Limits of single processes (`RLIMIT_NPROC`) do not hold for root, and none of them holds for the sum of all.
"""

import contextlib
import os
import secrets
import signal
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from sandbox import owner

ROOT = Path("/sys/fs/cgroup")
_PREFIX = "handrail-"
_REMOVE_TRIES = 50
_ENTER = 'for group in $1; do echo $$ > "$group/cgroup.procs" || exit 9; done; shift; exec env -i "PATH=$PATH" "$@"'
"""Puts a shell into the groups and turns it into the command."""


@dataclass(frozen=True, slots=True)
class _Layout:
    """How limits are set on this machine."""

    folders: Mapping[str, Path]
    """Where groups are made -> for each folder inside under which the runner looks for counters."""
    memory: tuple[str, ...]
    swap: tuple[str, ...]


def _layout(root: Path) -> _Layout | None:
    if (root / "cgroup.controllers").exists():
        enabled = _read(root / "cgroup.subtree_control").split()
        if {"memory", "pids"} <= set(enabled):
            return _Layout({"": root}, ("memory.max",), ("memory.swap.max",))
        return None
    folders = {name: root / name for name in ("memory", "pids")}
    if all(os.access(folder / "cgroup.procs", os.W_OK) for folder in folders.values()):
        return _Layout(folders, ("memory.limit_in_bytes", "memory.memsw.limit_in_bytes"), ())
    return None


class ControlGroup:
    """A group with limits for all processes of one sandbox."""

    def __init__(self, folders: Mapping[str, Path]) -> None:
        """Stand for the groups in `folders`: path below /sys/fs/cgroup inside -> folder outside."""
        self._folders = folders

    @classmethod
    def make(cls, memory_bytes: int, processes: int, root: Path = ROOT) -> "ControlGroup | None":
        """Make a group, None where this user or this machine cannot."""
        layout = _layout(root)
        if layout is None or not os.access(next(iter(layout.folders.values())), os.W_OK):
            return None
        _remove_dead(layout)
        name = _PREFIX + owner.own().replace("/", "~") + f"~{secrets.token_hex(4)}"
        group = cls({inside: folder / name for inside, folder in layout.folders.items()})
        try:
            group._limit(layout, memory_bytes, processes)
        except OSError:
            group.remove()
            return None
        return group

    def _limit(self, layout: _Layout, memory_bytes: int, processes: int) -> None:
        for folder in self._folders.values():
            folder.mkdir()
        memory = self._folders.get("memory") or self._folders[""]
        for name in layout.memory:
            if (memory / name).exists():
                _write(memory / name, str(memory_bytes))
        for name in layout.swap:
            if (memory / name).exists():
                _write(memory / name, "0")
        _write((self._folders.get("pids") or self._folders[""]) / "pids.max", str(processes))

    def enter(self, command: list[str]) -> list[str]:
        """Return a command that runs `command` inside the group."""
        groups = " ".join(str(folder) for folder in self._folders.values())
        return ["/bin/sh", "-c", _ENTER, "sh", groups, *command]

    def mounts(self) -> list[str]:
        """Return the arguments of bubblewrap that show the counters inside, read-only."""
        made: list[str] = []
        for inside, folder in self._folders.items():
            made += ["--ro-bind", str(folder), str(ROOT / inside)]
        return made

    def remove(self) -> None:
        """End what is still in the group, and remove it. Blocks for as long as processes take to die, 1 s at most."""
        for folder in self._folders.values():
            for _ in range(_REMOVE_TRIES):
                _kill_members(folder)
                if _rmdir(folder):
                    break
                time.sleep(0.02)


def _kill_members(folder: Path) -> None:
    for pid in _read(folder / "cgroup.procs").split():
        with contextlib.suppress(OSError):
            os.kill(int(pid), signal.SIGKILL)


def _remove_dead(layout: _Layout) -> None:
    """Remove the empty groups of processes that are gone."""
    for folder in layout.folders.values():
        for group in folder.glob(f"{_PREFIX}*"):
            label = group.name.removeprefix(_PREFIX).rpartition("~")[0].replace("~", "/")
            if owner.is_dead(label):
                _rmdir(group)


def _rmdir(group: Path) -> bool:
    """Remove a group; return whether it is gone."""
    try:
        group.rmdir()
    except FileNotFoundError:
        return True
    except OSError:
        return False
    return True


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="ascii")
    except OSError:
        return ""


def _write(path: Path, text: str) -> None:
    path.write_text(text, encoding="ascii")

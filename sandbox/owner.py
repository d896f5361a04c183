"""Who made a thing that outlives its maker: a label by which a later start finds what a dead process left behind."""

import os
import platform
from pathlib import Path

LABEL = "dev.handrail.owner"
"""Label of containers; its value is HOST/BOOT/PID/START."""


def own() -> str:
    """Return the label of this process."""
    return f"{platform.node()}/{_boot()}/{os.getpid()}/{_start_ticks(os.getpid())}"


def is_dead(owner: str) -> bool:
    """Return whether the process of a label is known to be gone; what belongs to another machine never is."""
    parts = owner.rsplit("/", 3)
    if len(parts) != 4 or not parts[2].isdigit():
        return False
    host, boot, pid, start = parts
    if host != platform.node():
        return False
    return boot != _boot() or _start_ticks(int(pid)) != start


def _boot() -> str:
    return _read("/proc/sys/kernel/random/boot_id").strip() or "unknown"


def _start_ticks(pid: int) -> str:
    """Return when a process started, "" when there is none; without /proc only whether there is one."""
    line = _read(f"/proc/{pid}/stat")
    if line:
        return line.rpartition(")")[2].split()[19]
    if Path("/proc/self").exists():
        return ""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return ""
    except OSError:
        return "0"
    return "0"


def _read(path: str) -> str:
    try:
        return Path(path).read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""

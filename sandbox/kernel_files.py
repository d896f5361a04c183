"""What of /proc and /etc a sandbox does not show, or shows read-only.

For any other user the files' own modes say so. Root owns them: it could have the kernel run a program of its choice on
the machine (/proc/sys/kernel/core_pattern), or look at the pages of others (/proc/kpageflags).
"""

import os
import stat
from pathlib import Path

PROC = Path("/proc")
_HIDDEN = ("acpi", "asound", "kcore", "keys", "latency_stats", "scsi", "sched_debug", "timer_list")
"""Of /proc, besides what only root may read. Source: MaskedPaths of the OCI default of Docker, oci/defaults.go"""
_HIDDEN_IN_ETC = ("/etc/ssl/private",)
"""Keys of this machine, in a folder that is shown for its certificates."""


def covers(proc: Path = PROC) -> list[str]:
    """Return the arguments of bubblewrap that cover them; they follow after /proc is mounted.

    Args:
        proc: Where to look what there is.
    """
    made: list[str] = []
    for entry in sorted(proc.iterdir()):
        if not entry.name.isdigit():
            made += _cover(entry, f"/proc/{entry.name}")
    for path in _HIDDEN_IN_ETC:
        if Path(path).is_dir():
            made += _empty(path)
    return made


def _cover(entry: Path, path: str) -> list[str]:
    mode = entry.lstat().st_mode
    hidden = entry.name in _HIDDEN or not mode & stat.S_IROTH
    if stat.S_ISDIR(mode):
        return _empty(path) if hidden else ["--ro-bind-try", path, path]
    if not stat.S_ISREG(mode):
        return ["--ro-bind-try", path, path] if stat.S_ISCHR(mode) else []
    if hidden:
        return ["--ro-bind", os.devnull, path]
    return ["--ro-bind-try", path, path] if mode & stat.S_IWUSR else []


def _empty(path: str) -> list[str]:
    return ["--tmpfs", path, "--remount-ro", path]

"""What of a workspace a sandbox may not change: programs of the host run it, or trust it."""

import stat
from dataclasses import dataclass
from pathlib import Path

from core.path_names import classes_of

INSIDE_GIT = (".git/hooks", ".git/config")
"""What git on the host runs, and where it is told what to run."""
MAX_MOUNTS = 60
"""More names than any real workspace has; engines refuse a list without end."""


@dataclass(frozen=True, slots=True)
class ProtectedName:
    """A name that is mounted over itself, so that it can be neither moved away nor replaced."""

    name: str
    """Relative to the workspace, "/" between parts."""
    writable: bool = False
    """Its content may change; only the name is pinned."""


def protected_names(workspace: Path) -> list[ProtectedName]:
    """Return what exists of it now, a folder before what is in it; links and what they lead to are left out.

    A repository's own folder stays writable, for git works inside too, but it is pinned: moved away, it could be
    replaced by one with hooks.
    """
    try:
        top = sorted(entry.name for entry in workspace.iterdir())
    except OSError:
        return []
    found = []
    for name in top:
        if classes_of((name,)) & {"own", "protected"} and _is_plain(workspace / name):
            is_repository = name == ".git" and (workspace / name).is_dir()
            found.append(ProtectedName(name, writable=is_repository))
    if ProtectedName(".git", writable=True) in found:
        found += [ProtectedName(name) for name in INSIDE_GIT if _is_plain(workspace / name)]
    return found[:MAX_MOUNTS]


def _is_plain(path: Path) -> bool:
    try:
        mode = path.lstat().st_mode
    except OSError:
        return False
    return stat.S_ISDIR(mode) or stat.S_ISREG(mode)

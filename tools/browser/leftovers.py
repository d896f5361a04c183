"""Whose browser folder is whose: what a killed program left behind is removed when the next one starts."""

import contextlib
import os
import shutil
from pathlib import Path

OWNER = "owner"
"""File in a browser's folder with the process that uses it."""
PASSING = ("profile", "downloads")
"""What is of no use once the browser has ended; pictures and the log stay with the session."""


def claim(folder: Path) -> None:
    """Note that this process uses a browser folder.

    Raises:
        OSError: It cannot be written.
    """
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    path = folder / OWNER
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW, 0o600)
    with os.fdopen(descriptor, "w", encoding="ascii") as file:
        file.write(f"{os.getpid()} {_started(os.getpid())}")


def release(folder: Path) -> None:
    """Remove what is of no use any more, and the note; a folder that was never made is no error."""
    for name in PASSING:
        shutil.rmtree(folder / name, ignore_errors=True)
    with contextlib.suppress(OSError):
        (folder / OWNER).unlink()


def sweep(sessions: Path) -> int:
    """Release the browser folders of processes that are gone.

    Args:
        sessions: Folder of all sessions, each with a `browser` folder in it.

    Returns:
        How many were released.
    """
    swept = 0
    for note in sessions.glob(f"*/browser/{OWNER}"):
        if not _alive(note):
            release(note.parent)
            swept += 1
    return swept


def _alive(note: Path) -> bool:
    """Tell whether the noted process still runs; a note that cannot be read counts as alive."""
    try:
        pid, started = note.read_text(encoding="ascii").split(" ", 1)
        number = int(pid)
    except (OSError, ValueError):
        return True
    try:
        os.kill(number, 0)
    except ProcessLookupError:
        return False
    except OSError:
        # It runs and belongs to somebody else.
        return True
    now = _started(number)
    # Numbers are used again: the start time tells whether it is the same process.
    return not now or not started or now == started


def _started(pid: int) -> str:
    """Return when a process started, in ticks since boot, "" where the system does not say."""
    try:
        line = Path(f"/proc/{pid}/stat").read_text(encoding="ascii", errors="replace")
    except OSError:
        return ""
    # The second field may hold spaces. Source: proc(5), field 22 is starttime.
    return line.rpartition(")")[2].split()[19]

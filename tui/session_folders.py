"""Where sessions are kept, and what is known of each without opening it."""

import fcntl
import re
import secrets
import shutil
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from core.config_layers import state_dir
from core.errors import ConfigError, StoreError
from core.events import RunStarted, SessionOpened
from core.journal import FILE_NAME, LoadedJournal, damage, is_sound, read_journal, read_lines

HEAD_BYTES = 262_144
"""How much of a journal is read for the list: the beginning holds the first task."""
_ID = re.compile(r"[0-9]{8}-[0-9]{6}-[0-9a-f]{6}")


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredSession:
    """One session on the disk."""

    session_id: str
    folder: Path
    task: str
    """First task, "" when none was given."""
    workspace: str
    model: str
    changed_utc: str
    """When its journal was written last, ISO 8601."""
    size_bytes: int
    """Of the journal."""


def sessions_folder() -> Path:
    """Return the folder that holds all sessions, there or not."""
    return state_dir() / "sessions"


def new_session_folder() -> Path:
    """Return a folder for a new session, not made yet; its name is the session's id."""
    stamp = datetime.now(UTC).strftime("%Y%m%d-%H%M%S")
    return sessions_folder() / f"{stamp}-{secrets.token_hex(3)}"


def stored_sessions() -> list[StoredSession]:
    """Return all sessions, the one used last first."""
    folder = sessions_folder()
    paths = list(folder.iterdir()) if folder.is_dir() else []
    found = [_stored(path) for path in paths if _ID.fullmatch(path.name)]
    return sorted(filter(None, found), key=lambda session: session.changed_utc, reverse=True)


def find_session(session_id: str) -> StoredSession:
    """Return a session by its id, or by the beginning of it where that is enough.

    Raises:
        ConfigError: There is none, or there are several.
    """
    matches = [
        one for one in stored_sessions() if session_id and one.session_id.startswith(session_id)
    ]
    if len(matches) == 1:
        return matches[0]
    what = "is not there" if not matches else f"fits {len(matches)} sessions"
    raise ConfigError(
        f"The session {session_id!r} {what}.",
        hint="See `handrail sessions list`.",
        code="no_session",
    )


def read_session(session: StoredSession) -> LoadedJournal:
    """Read all records of a session up to the first damaged line; nothing is changed.

    Raises:
        StoreError: The journal cannot be read.
    """
    return read_journal(session.folder / FILE_NAME)


def require_resumable(session: StoredSession) -> None:
    """Check that a session can be gone on with, before anything is drawn.

    Raises:
        StoreError: It is open in another Handrail, its journal is damaged in the middle, or it cannot be read.
    """
    path = session.folder / FILE_NAME
    try:
        with path.open("rb") as journal:
            fcntl.flock(journal, fcntl.LOCK_EX | fcntl.LOCK_NB)
            data = journal.read()
    except BlockingIOError as error:
        raise StoreError(
            "This session is open in another Handrail.",
            hint="Close that one first.",
            code="session_open",
        ) from error
    except OSError as error:
        raise StoreError(f"{path} cannot be read: {error.strerror}.") from error
    if not is_sound(data) and (line := read_journal(path).damaged_line):
        raise damage(path, line)


def delete_session(session: StoredSession) -> None:
    """Remove a session with all it kept.

    Raises:
        StoreError: It is open, or cannot be removed.
    """
    path = session.folder / FILE_NAME
    try:
        with path.open("rb") as journal:
            fcntl.flock(journal, fcntl.LOCK_EX | fcntl.LOCK_NB)
            shutil.rmtree(session.folder)
    except BlockingIOError as error:
        raise StoreError(
            "This session is open in another Handrail.", hint="Close it first."
        ) from error
    except OSError as error:
        raise StoreError(f"{session.folder} cannot be removed: {error.strerror}.") from error


def forget_without_task(session_id: str) -> bool:
    """Remove a session that was opened and given nothing to do; return whether it is gone.

    One that cannot be read or removed is left alone.
    """
    found = _stored(sessions_folder() / session_id)
    if found is None or found.task:
        return found is None
    with suppress(StoreError):
        delete_session(found)
        return True
    return False


def _stored(folder: Path) -> StoredSession | None:
    path = folder / FILE_NAME
    try:
        status = path.stat()
        with path.open("rb") as journal:
            head = journal.read(HEAD_BYTES)
    except OSError:
        return None
    events = [record.event for record in read_lines(head)[0]]
    opened = next((event for event in events if isinstance(event, SessionOpened)), None)
    task = next((event.task for event in events if isinstance(event, RunStarted)), "")
    changed = datetime.fromtimestamp(status.st_mtime, UTC).isoformat(timespec="seconds")
    return StoredSession(
        session_id=folder.name,
        folder=folder,
        task=task,
        workspace=opened.workspace if opened else "",
        model=opened.model if opened else "",
        changed_utc=changed.replace("+00:00", "Z"),
        size_bytes=status.st_size,
    )

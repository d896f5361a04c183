"""How things stand, for a model that is too small to look around by itself: the files, and those it is about."""

import os
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from core.changes import Look, look
from core.claims import files_named
from core.errors import WorkspaceError
from core.events import RunStarted, ToolEnded
from core.messages import Situation
from core.record import Record
from core.workspace import relative_path

MAX_NAMES = 30
"""Files that are listed."""
MAX_FILES = 5000
"""A look stops here."""
MAX_SHOWN_CHARS = 2500
"""Of one file."""
MAX_ALL_CHARS = 6000
"""Of all files that are shown."""
HEADING = "# Now"


class WorkspaceReport:
    """Looks at the workspace for the newest run of a log; blocks for a moment.

    Args:
        records: The log.
        workspace: Absolute folder.
    """

    def __init__(self, records: Sequence[Record], workspace: Path) -> None:
        self._records = records
        self._workspace = workspace
        self._before: Look | None = None

    def text(self) -> str:
        """Return the files there are, and what those hold that the task names or the run has changed."""
        return self._text(*self._run())

    def _text(self, task: str, changed: Sequence[str]) -> str:
        parts = [HEADING, *self._files()]
        room_chars = MAX_ALL_CHARS
        for path in dict.fromkeys((*self.named_in(task), *changed)):
            shown = self._shown(path, min(room_chars, MAX_SHOWN_CHARS))
            room_chars -= len(shown)
            if shown:
                parts.append(shown)
        return "\n\n".join(parts)

    def situation(self) -> Situation:
        """Return how things stand."""
        task, changed = self._run()
        return Situation(text=self._text(task, changed), missing=tuple(self.missing(task)))

    def begin(self, before: Look) -> None:
        """Note what was there when the run began; what is other since then is told."""
        self._before = before

    def _files(self) -> Iterator[str]:
        now = {
            name: seen for name, seen in look(self._workspace, MAX_FILES).items() if _is_plain(name)
        }
        yield _listed("Files in the workspace", now) or "Files in the workspace: none."
        if self._before is None:
            return
        before = {name: seen for name, seen in self._before.items() if _is_plain(name)}
        others = {
            "New since the task began": now.keys() - before.keys(),
            "Changed since the task began": {
                name for name in now.keys() & before.keys() if now[name] != before[name]
            },
            "Gone since the task began": before.keys() - now.keys(),
        }
        yield from filter(None, (_listed(what, names) for what, names in others.items()))

    def named_in(self, task: str) -> list[str]:
        """Return the workspace paths a text names, there or not."""
        paths = []
        for name in files_named(task):
            try:
                paths.append(relative_path(name, self._workspace))
            except WorkspaceError:
                continue  # outside: none of ours
        return paths

    def missing(self, task: str) -> list[str]:
        """Return the workspace paths a text names that are not there."""
        return [path for path in self.named_in(task) if not os.path.lexists(self._workspace / path)]

    def _run(self) -> tuple[str, list[str]]:
        """Return the task of the newest run and the paths its calls have named as changed."""
        changed: list[str] = []
        for record in reversed(self._records):
            if isinstance(record.event, RunStarted):
                return record.event.task, changed
            if isinstance(record.event, ToolEnded):
                changed += record.event.files
        return "", changed

    def _shown(self, path: str, limit_chars: int) -> str:
        where = self._workspace / path
        if not os.path.lexists(where):
            return f"{path} does not exist yet."
        text = _head(where, limit_chars)
        return f"{path} holds:\n```\n{text}\n```" if text else ""


def _is_plain(name: str) -> bool:
    """Return whether no part of a path is hidden."""
    return not name.startswith(".") and "/." not in name


def _head(path: Path, limit_chars: int) -> str:
    """Return the beginning of a text file, "" for anything else; links are not followed."""
    if limit_chars <= 0 or path.is_symlink() or not path.is_file():
        return ""
    try:
        with path.open("rb") as file:
            data = file.read(limit_chars * 4)
    except OSError:
        return ""
    if b"\0" in data:
        return ""
    text = data.decode("utf-8", "replace").rstrip("\n")
    return text if len(text) <= limit_chars else f"{text[:limit_chars]}\n[...]"


def _listed(what: str, names: Iterable[str]) -> str:
    """Return one line that names some files, "" for none."""
    shown = sorted(names)
    more = ", ..." if len(shown) > MAX_NAMES else ""
    return f"{what}: {', '.join(shown[:MAX_NAMES])}{more}." if shown else ""

"""Finds and reads what a workspace would tell the agent: `AGENTS.md` of its folders, and skills.

Finding only looks at names (`lstat`). Reading follows no link, and gives bytes to hash and to show; nothing is obeyed
before the person has trusted it (`core.trust`).

Source: https://agents.md (the nearest file counts), https://agentskills.io (`<folder>/<name>/SKILL.md`).
"""

import hashlib
import os
from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal

from core import dir_walk
from core.errors import WorkspaceError
from core.workspace import workspace_error

FILE_NAME: Final = "AGENTS.md"
SKILLS_FOLDER: Final = ".agents/skills"
SKILL_NAME: Final = "SKILL.md"
MAX_DEPTH: Final = 4
"""Folders below the workspace whose `AGENTS.md` is found."""
MAX_ENTRIES: Final = 5_000
"""Entries that are looked at for them; the wide and shallow ones come first."""
MAX_FILES: Final = 60
MAX_SIZE_BYTES: Final = 1 << 20
"""A larger file is not read at all."""
SKIPPED: Final = frozenset(
    {"node_modules", "vendor", "venv", "__pycache__", "target", "dist", "build"}
)
"""Folders that hold the work of others, or what is made from the rest."""

GuideKind = Literal["instructions", "skill"]


@dataclass(frozen=True, slots=True, kw_only=True)
class GuideFile:
    """One file, read."""

    path: str
    """Relative to the workspace."""
    kind: GuideKind
    size_bytes: int
    sha256: str
    text: str

    @property
    def folder(self) -> str:
        """The folder it stands in, "" for the workspace itself."""
        return self.path.rpartition("/")[0]


@dataclass(frozen=True, slots=True, kw_only=True)
class Guides:
    """What was found in a workspace."""

    files: Sequence[GuideFile] = ()
    problems: Sequence[str] = ()
    """What cannot be used, one line each."""


def find_guides(workspace: Path) -> list[tuple[str, GuideKind]]:
    """Return the paths of all files that would tell the agent something, outermost first, by looking at names only."""
    found: list[tuple[str, GuideKind]] = [
        (path, "instructions") for path in _instruction_paths(workspace)
    ]
    found += [(path, "skill") for path in _skill_paths(workspace / SKILLS_FOLDER)]
    return found


def read_guides(workspace: Path) -> Guides:
    """Find and read all of them.

    Args:
        workspace: Absolute, resolved.
    """
    files: list[GuideFile] = []
    problems: list[str] = []
    found = find_guides(workspace)
    for path, kind in found[:MAX_FILES]:
        try:
            files.append(_read(workspace, path, kind))
        except WorkspaceError as error:
            problems.append(f"{error.message.rstrip('.')}, so it is ignored.")
    if len(found) > MAX_FILES:
        problems.append(f"Only the first {MAX_FILES} of {len(found)} instruction files are used.")
    return Guides(files=tuple(files), problems=tuple(problems))


def read_skill_files(folder: Path) -> Guides:
    """Read the skills of a folder of the person's own, whose paths are relative to it."""
    files: list[GuideFile] = []
    problems: list[str] = []
    for path in _names_with_skill(folder):
        try:
            files.append(_read(folder, path, "skill"))
        except WorkspaceError as error:
            problems.append(f"{folder}/{error.message.rstrip('.')}, so it is ignored.")
    return Guides(files=tuple(files), problems=tuple(problems))


def cut_text(text: str, limit_bytes: int) -> tuple[str, int]:
    """Return the head of a text that fits, ended at a line where possible, and how many bytes fell out."""
    raw = text.encode("utf-8")
    if len(raw) <= limit_bytes:
        return text, 0
    head = raw[: max(limit_bytes, 0)].decode("utf-8", "ignore")
    head = head[: head.rfind("\n") + 1] or head
    return head, len(raw) - len(head.encode("utf-8"))


def _read(root: Path, path: str, kind: GuideKind) -> GuideFile:
    try:
        raw, size_bytes = dir_walk.read(os.fspath(root), path, 0, MAX_SIZE_BYTES)
    except OSError as error:
        raise workspace_error(path, error.errno, error.strerror or "") from error
    if size_bytes > MAX_SIZE_BYTES:
        raise WorkspaceError(f"{path} is larger than 1 MiB.")
    try:
        text = raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise WorkspaceError(f"{path} is not UTF-8 text.") from error
    if "\0" in text:
        raise WorkspaceError(f"{path} is not a text.")
    return GuideFile(
        path=path,
        kind=kind,
        size_bytes=size_bytes,
        sha256=hashlib.sha256(raw).hexdigest(),
        text=text,
    )


def _instruction_paths(workspace: Path) -> list[str]:
    """Look through the folders, breadth first; folders that are repositories of their own are left alone."""
    found: list[str] = []
    waiting = deque([("", 0)])
    left = MAX_ENTRIES
    while waiting and left > 0:
        folder, depth = waiting.popleft()
        entries = list(_entries(workspace / folder))[:left]
        left -= len(entries)
        names = {entry.name for entry in entries}
        if depth and ".git" in names:
            continue
        if FILE_NAME in names:
            found.append(_joined(folder, FILE_NAME))
        if depth < MAX_DEPTH:
            below = (entry.name for entry in entries if _is_looked_into(entry))
            waiting.extend((_joined(folder, name), depth + 1) for name in sorted(below))
    return found


def _is_looked_into(entry: "os.DirEntry[str]") -> bool:
    if entry.name.startswith(".") or entry.name in SKIPPED:
        return False
    return entry.is_dir(follow_symlinks=False)


def _skill_paths(folder: Path) -> list[str]:
    if _is_link(folder.parent) or _is_link(folder):
        return [SKILLS_FOLDER] if folder.exists() else []
    return [_joined(SKILLS_FOLDER, path) for path in _names_with_skill(folder)]


def _names_with_skill(folder: Path) -> list[str]:
    names = sorted(entry.name for entry in _entries(folder) if not entry.name.startswith("."))
    return [f"{name}/{SKILL_NAME}" for name in names if os.path.lexists(folder / name / SKILL_NAME)]


def _is_link(path: Path) -> bool:
    return path.is_symlink()


def _joined(folder: str, name: str) -> str:
    return f"{folder}/{name}" if folder else name


def _entries(folder: Path) -> "Iterator[os.DirEntry[str]]":
    """Yield what is in a folder, less names that could not be shown as they are."""
    try:
        with os.scandir(folder) as entries:
            yield from (entry for entry in entries if entry.name.isprintable())
    except OSError:
        return

"""Which files of the workspace a run made or changed, by comparing two looks at it."""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import TypeAlias

Look: TypeAlias = Mapping[str, tuple[int, int]]
"""Path relative to the workspace -> (modification time in ns, size in bytes); regular files only."""
SKIPPED_FOLDERS = frozenset(
    {".git", ".venv", "node_modules", "__pycache__", ".mypy_cache", ".ruff_cache"}
)
"""Folders whose files are never a result."""
MAX_FILES = 20_000
"""A look stops here; a larger workspace is not compared beyond it."""


def look(workspace: Path, max_files: int = MAX_FILES) -> Look:
    """Stat the regular files below `workspace`; links are not followed, unreadable folders are passed over."""
    found: dict[str, tuple[int, int]] = {}
    stack = [""]
    while stack and len(found) < max_files:
        folder = stack.pop()
        for entry in _entries(workspace / folder):
            name = f"{folder}/{entry.name}" if folder else entry.name
            if entry.is_file(follow_symlinks=False):
                found.update(_stat(entry, name))
            elif entry.is_dir(follow_symlinks=False) and entry.name not in SKIPPED_FOLDERS:
                stack.append(name)
    return found


def _entries(folder: Path) -> list[os.DirEntry[str]]:
    try:
        with os.scandir(folder) as entries:
            return list(entries)
    except OSError:
        return []


def _stat(entry: os.DirEntry[str], name: str) -> Look:
    try:
        status = entry.stat(follow_symlinks=False)
    except OSError:
        return {}
    return {name: (status.st_mtime_ns, status.st_size)}


def changed(before: Look, after: Look) -> tuple[str, ...]:
    """Return the paths in `after` that are new or different, sorted."""
    return tuple(sorted(path for path, seen in after.items() if before.get(path) != seen))

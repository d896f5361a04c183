"""The workspace as the host sees it: names a call may use, and files reached without following links.

`WorkspaceFiles` is `core.ports.Files` on the host. It serves the model while no sandbox runs, and always the
pre-images, undo and diffs of a bound workspace.
"""

import asyncio
import errno
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Literal, cast

import aiofiles

from core import dir_walk
from core.errors import WorkspaceError
from core.path_names import classes_of
from core.ports import FileContent, FileEntry

INSIDE = "/workspace"
"""Where a sandbox has the workspace."""

_REASONS = {
    errno.ENOENT: "does not exist",
    errno.ENOTDIR: "has a file or a link where a folder should be (links are not followed)",
    errno.ELOOP: "is a link, and links are not followed",
    errno.EISDIR: "is a folder",
    errno.EINVAL: "is not a regular file",
    errno.EACCES: "cannot be accessed: permission denied",
    errno.EPERM: "cannot be accessed: not permitted",
    errno.EROFS: "cannot be written: the file system is read-only",
    errno.ENOSPC: "cannot be written: no space is left",
    errno.EFBIG: "cannot be written: it would be too large",
    errno.ENAMETOOLONG: "has a name that is too long",
}


def workspace_error(path: str, number: int | None, text: str = "") -> WorkspaceError:
    """Return the error for what the system said of a path.

    Args:
        path: As the caller named it.
        number: `errno` of the failure.
        text: The system's own words, for numbers without a text of ours.
    """
    reason = _REASONS.get(number or 0, text or "cannot be used")
    code = errno.errorcode.get(number or 0, "workspace").lower()
    return WorkspaceError(f"{path or '.'} {reason}.", code=code)


def relative_path(path: str, workspace: Path, inside: str = INSIDE) -> str:
    """Return the path below the workspace that a call means, without "." and "..".

    Args:
        path: Relative to the workspace, or absolute under it as the host or the sandbox names it.
        workspace: Absolute folder on the host.
        inside: The same folder as the sandbox names it.

    Returns:
        Parts joined by "/", "" for the workspace itself.

    Raises:
        WorkspaceError: It leads out of the workspace, or cannot be a path.
    """
    if "\0" in path:
        raise WorkspaceError("A path cannot hold a NUL character.", code="einval")
    rest = path
    if path.startswith("/"):
        rest = _below(path, (inside, str(workspace)))
    parts: list[str] = []
    for part in rest.split("/"):
        if part == ".." and not parts:
            raise _outside(path)
        if part == "..":
            parts.pop()
        elif part not in ("", "."):
            parts.append(part)
    if parts and path.startswith("~"):
        raise WorkspaceError(
            f"{path}: ~ is not expanded.", hint="Use a path below the workspace.", code="outside"
        )
    return "/".join(parts)


def _below(path: str, roots: Sequence[str]) -> str:
    plain = os.path.normpath(path)
    for root in roots:
        if plain == root or plain.startswith(root.rstrip("/") + "/"):
            return plain[len(root) :]
    raise _outside(path)


def _outside(path: str) -> WorkspaceError:
    return WorkspaceError(
        f"{path} is outside the workspace.", hint="Use a path below the workspace.", code="outside"
    )


def require_writable_name(path: str) -> None:
    """Refuse Handrail's own files, which no tool writes whatever was approved; other names are the policy's business.

    Args:
        path: From `relative_path`.

    Raises:
        WorkspaceError: It is one of them, or the workspace itself.
    """
    if not path:
        raise WorkspaceError("The workspace itself is a folder.", code="eisdir")
    if "own" in classes_of(path.split("/")):
        raise WorkspaceError(
            f"{path} is protected and is never written by a tool.", code="protected"
        )


class WorkspaceFiles:
    """Files below one folder of the host (`core.ports.Files`)."""

    def __init__(self, workspace: Path) -> None:
        """Serve the files of `workspace` (absolute)."""
        self._workspace = workspace
        self._root = os.fspath(workspace)

    async def read(self, path: str, offset: int = 0, limit: int = 1 << 20) -> FileContent:
        """Read up to `limit` bytes from `offset`.

        Raises:
            WorkspaceError: Not there, not a regular file, or outside the workspace.
        """
        name = relative_path(path, self._workspace)
        try:
            opened = await asyncio.to_thread(dir_walk.open_regular, self._root, name)
            async with aiofiles.open(opened, "rb") as stream:
                size_bytes = os.fstat(opened).st_size
                await stream.seek(offset)
                return FileContent(data=await stream.read(limit), size_bytes=size_bytes)
        except OSError as error:
            raise workspace_error(path, error.errno, error.strerror or "") from error

    async def write(self, path: str, data: bytes) -> None:
        """Write a whole file atomically, making its folders; an existing file keeps its mode and owner.

        Raises:
            WorkspaceError: Outside the workspace, protected, or not writable.
        """
        name = relative_path(path, self._workspace)
        require_writable_name(name)
        try:
            await asyncio.to_thread(dir_walk.write, self._root, name, data)
        except OSError as error:
            raise workspace_error(path, error.errno, error.strerror or "") from error

    async def remove(self, path: str) -> None:
        """Remove one regular file.

        Raises:
            WorkspaceError: Not there, protected or not removable.
        """
        name = relative_path(path, self._workspace)
        require_writable_name(name)
        try:
            await asyncio.to_thread(dir_walk.remove, self._root, name)
        except OSError as error:
            raise workspace_error(path, error.errno, error.strerror or "") from error

    async def list(self, path: str = "", depth: int = 1, limit: int = 1000) -> Sequence[FileEntry]:
        """List a folder down to `depth` levels, links not followed, sorted by path.

        Raises:
            WorkspaceError: Not there or not a folder.
        """
        name = relative_path(path, self._workspace)
        try:
            found = await asyncio.to_thread(dir_walk.list_folder, self._root, name, depth, limit)
        except OSError as error:
            raise workspace_error(path, error.errno, error.strerror or "") from error
        return file_entries(found)


def file_entries(found: Sequence[Sequence[object]]) -> Sequence[FileEntry]:
    """Return listing rows (path, kind, size) as `FileEntry`."""
    return [
        FileEntry(
            path=str(path),
            kind=cast("Literal['file', 'folder', 'link', 'other']", kind),
            size_bytes=int(str(size_bytes)),
        )
        for path, kind, size_bytes in found
    ]

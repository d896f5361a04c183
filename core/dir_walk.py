"""Files below one folder, reached step by step from an open descriptor so that no link leads out of it.

Each part of a path is opened relative to the folder before it with O_NOFOLLOW, so a link that is swapped in at any
moment makes the call fail instead of leading elsewhere. Only the standard library and only syntax of Python 3.7: the
runner inside the sandbox uses this module too.
"""

from __future__ import annotations

import contextlib
import errno
import os
import secrets
import stat

_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_MAX_READ_BYTES = 64 << 20


def split(path: str) -> list[str]:
    """Return the parts of a relative path.

    Raises:
        OSError: EINVAL for an absolute path, "..", or a NUL character.
    """
    parts = [part for part in path.split("/") if part not in ("", ".")]
    if path.startswith("/") or ".." in parts or "\0" in path:
        raise OSError(errno.EINVAL, os.strerror(errno.EINVAL), path)
    return parts


def open_folder(root: str, parts: list[str], *, make: bool = False) -> int:
    """Open a folder below `root`; the caller closes the descriptor.

    Args:
        root: Absolute path of the folder nothing may leave.
        parts: Names from the root down.
        make: Make the folders that are missing.
    """
    folder = os.open(root, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    for part in parts:
        try:
            below = _open_part(folder, part, make)
        finally:
            os.close(folder)
        folder = below
    return folder


def _open_part(folder: int, part: str, make: bool) -> int:
    try:
        return os.open(part, _FOLDER, dir_fd=folder)
    except FileNotFoundError:
        if not make:
            raise
    try:
        os.mkdir(part, 0o777, dir_fd=folder)
        _give_to_owner_of(folder, part)
    except FileExistsError:
        pass
    return os.open(part, _FOLDER, dir_fd=folder)


def _give_to_owner_of(folder: int, part: str) -> None:
    """As root, give a new folder to whoever owns the one it is in."""
    above = os.fstat(folder)
    if os.geteuid() == 0 and above.st_uid != 0:
        with contextlib.suppress(PermissionError):  # a root without CAP_CHOWN, in a container
            os.chown(part, above.st_uid, above.st_gid, dir_fd=folder, follow_symlinks=False)


def open_regular(root: str, path: str) -> int:
    """Open a regular file for reading; the caller closes the descriptor.

    Raises:
        OSError: EISDIR for a folder, EINVAL for pipes, sockets and devices, ELOOP for a link, and what the system says.
    """
    parts = split(path)
    if not parts:
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), path)
    folder = open_folder(root, parts[:-1])
    try:
        # O_NONBLOCK: a pipe without a writer must not hang us before it is seen to be one
        flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
        opened = os.open(parts[-1], flags, dir_fd=folder)
    finally:
        os.close(folder)
    try:
        _require_regular(os.fstat(opened), path)
    except OSError:
        os.close(opened)
        raise
    return opened


def _require_regular(status: os.stat_result, path: str) -> None:
    if stat.S_ISREG(status.st_mode):
        return
    number = errno.EINVAL
    if stat.S_ISDIR(status.st_mode):
        number = errno.EISDIR
    elif stat.S_ISLNK(status.st_mode):
        number = errno.ELOOP
    raise OSError(number, os.strerror(number), path)


def read(root: str, path: str, offset: int, limit: int) -> tuple[bytes, int]:
    """Read part of a regular file.

    Args:
        root: Absolute path of the folder nothing may leave.
        path: Relative to it.
        offset: First byte, from 0.
        limit: Most bytes to read; at most 64 MiB are.

    Returns:
        The bytes, and the size of the whole file.
    """
    opened = open_regular(root, path)
    try:
        size_bytes = os.fstat(opened).st_size
        wanted = min(limit, _MAX_READ_BYTES)
        pieces = []
        while wanted > 0:
            piece = os.pread(opened, wanted, offset)
            if not piece:
                break
            pieces.append(piece)
            offset += len(piece)
            wanted -= len(piece)
    finally:
        os.close(opened)
    return b"".join(pieces), size_bytes


def write(root: str, path: str, data: bytes) -> None:
    """Write a whole file atomically, making its folders; an existing file keeps its mode and owner.

    Raises:
        OSError: EISDIR, EINVAL or ELOOP when something else than a regular file is there, and what the system says.
    """
    parts = split(path)
    if not parts:
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), path)
    folder = open_folder(root, parts[:-1], make=True)
    try:
        before = _status(folder, parts[-1])
        if before is not None:
            _require_regular(before, path)
        _replace(folder, parts[-1], data, before)
    finally:
        os.close(folder)


def _status(folder: int, name: str) -> os.stat_result | None:
    try:
        return os.stat(name, dir_fd=folder, follow_symlinks=False)
    except FileNotFoundError:
        return None


def _replace(folder: int, name: str, data: bytes, before: os.stat_result | None) -> None:
    temporary = f".hr-{secrets.token_hex(8)}.tmp"
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
    opened = os.open(temporary, flags, 0o666, dir_fd=folder)
    try:
        try:
            _fill(opened, data, before, os.fstat(folder))
        finally:
            os.close(opened)
        os.rename(temporary, name, src_dir_fd=folder, dst_dir_fd=folder)
    except OSError:
        os.unlink(temporary, dir_fd=folder)
        raise
    os.fsync(folder)


def _fill(opened: int, data: bytes, before: os.stat_result | None, above: os.stat_result) -> None:
    left = memoryview(data)
    while left:
        left = left[os.write(opened, left) :]
    owner = before or above
    if os.geteuid() == 0 and owner.st_uid != 0:
        with contextlib.suppress(PermissionError):  # a root without CAP_CHOWN, in a container
            os.fchown(opened, owner.st_uid, owner.st_gid)
    if before is not None:
        os.fchmod(opened, stat.S_IMODE(before.st_mode))
    os.fsync(opened)


def remove(root: str, path: str) -> None:
    """Remove one regular file.

    Raises:
        OSError: EISDIR, EINVAL or ELOOP when it is something else, and what the system says.
    """
    parts = split(path)
    if not parts:
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), path)
    folder = open_folder(root, parts[:-1])
    try:
        _require_regular(os.stat(parts[-1], dir_fd=folder, follow_symlinks=False), path)
        os.unlink(parts[-1], dir_fd=folder)
        os.fsync(folder)
    finally:
        os.close(folder)


def list_folder(root: str, path: str, depth: int, limit: int) -> list[tuple[str, str, int]]:
    """List a folder, links not followed, folders that cannot be read passed over.

    Args:
        root: Absolute path of the folder nothing may leave.
        path: Relative to it, "" for the root itself.
        depth: Levels below, from 1.
        limit: Most entries.

    Returns:
        Path relative to the root, kind (file, folder, link, other) and size in bytes of each, sorted by path.
    """
    parts = split(path)
    folder = open_folder(root, parts)
    listing = _Listing(limit)
    try:
        listing.collect(folder, "/".join(parts), depth)
    finally:
        os.close(folder)
    return listing.found


class _Listing:
    """Entries of a folder and of those below it, collected depth first up to a limit."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self.found: list[tuple[str, str, int]] = []

    def collect(self, folder: int, prefix: str, depth: int) -> None:
        """Add the entries of an open folder, and of `depth - 1` levels below it."""
        with os.scandir(folder) as entries:
            names = sorted(entry.name for entry in entries)
        for name in names:
            if len(self.found) >= self._limit:
                return
            status = _status(folder, name)
            if status is None:
                continue
            path = f"{prefix}/{name}" if prefix else name
            kind = _kind(status.st_mode)
            self.found.append((path, kind, status.st_size if kind == "file" else 0))
            if kind == "folder" and depth > 1:
                self._descend(folder, name, path, depth - 1)

    def _descend(self, folder: int, name: str, path: str, depth: int) -> None:
        try:
            below = os.open(name, _FOLDER, dir_fd=folder)
        except OSError:
            return
        try:
            self.collect(below, path, depth)
        finally:
            os.close(below)


def _kind(mode: int) -> str:
    if stat.S_ISREG(mode):
        return "file"
    if stat.S_ISDIR(mode):
        return "folder"
    return "link" if stat.S_ISLNK(mode) else "other"

"""Files of the workspace as the runner reaches them (`core.ports.Files`)."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from core.errors import WorkspaceError
from core.ports import FileContent, FileEntry
from core.workspace import file_entries, relative_path, require_writable_name, workspace_error
from sandbox.client import RunnerClient

PIECE_BYTES = 4 << 20
"""Read at once; larger reads are put together."""
MAX_WRITE_BYTES = 32 << 20


class RunnerFiles:
    """Files inside a sandbox; the walk follows no links, as on the host."""

    def __init__(self, client: RunnerClient, workspace: Path) -> None:
        """Use the runner of `client`; `workspace` is the host's name of the same folder."""
        self._client = client
        self._workspace = workspace

    async def read(self, path: str, offset: int = 0, limit: int = 1 << 20) -> FileContent:
        """Read up to `limit` bytes from `offset`.

        Raises:
            WorkspaceError: Not there, not a regular file, or outside the workspace.
            SandboxGoneError: The sandbox ended meanwhile.
        """
        name = relative_path(path, self._workspace)
        pieces: list[bytes] = []
        left = limit
        while True:
            wanted = min(left, PIECE_BYTES)
            request = {"operation": "read", "path": name, "offset": offset, "limit": wanted}
            reply, data = await self._ask(path, request)
            pieces.append(data)
            left -= len(data)
            offset += len(data)
            if len(data) < wanted or left <= 0:
                return FileContent(data=b"".join(pieces), size_bytes=reply["size_bytes"])

    async def write(self, path: str, data: bytes) -> None:
        """Write a whole file atomically, making its folders; an existing file keeps its mode.

        Raises:
            WorkspaceError: Outside the workspace, protected, not writable, or more than 32 MiB.
            SandboxGoneError: The sandbox ended meanwhile.
        """
        name = relative_path(path, self._workspace)
        require_writable_name(name)
        if len(data) > MAX_WRITE_BYTES:
            raise WorkspaceError(
                f"{path} would be too large.", hint="Write it from shell or python.", code="efbig"
            )
        await self._ask(path, {"operation": "write", "path": name}, data)

    async def remove(self, path: str) -> None:
        """Remove one regular file.

        Raises:
            WorkspaceError: Not there, protected or not removable.
            SandboxGoneError: The sandbox ended meanwhile.
        """
        name = relative_path(path, self._workspace)
        require_writable_name(name)
        await self._ask(path, {"operation": "remove", "path": name})

    async def list(self, path: str = "", depth: int = 1, limit: int = 1000) -> Sequence[FileEntry]:
        """List a folder down to `depth` levels, links not followed, sorted by path.

        Raises:
            WorkspaceError: Not there or not a folder.
            SandboxGoneError: The sandbox ended meanwhile.
        """
        name = relative_path(path, self._workspace)
        request = {"operation": "list", "path": name, "depth": depth, "limit": limit}
        reply, _ = await self._ask(path, request)
        return file_entries(reply["entries"])

    async def _ask(
        self, path: str, request: dict[str, Any], data: bytes = b""
    ) -> tuple[dict[str, Any], bytes]:
        reply, content = await self._client.file(request, data)
        if "errno" in reply:
            raise workspace_error(path, reply["errno"], reply["error"])
        return reply, content

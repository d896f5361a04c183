"""Files of the workspace by whichever way is there now (`core.ports.Files`)."""

from collections.abc import Sequence

from core.ports import FileContent, FileEntry, Files


class SwitchingFiles:
    """Passes every call on: to the runner while one runs, else to the host."""

    def __init__(self, host: Files) -> None:
        """Begin with the host's."""
        self._host = host
        self._now = host

    def use(self, files: Files) -> None:
        """Pass calls on to these from now on."""
        self._now = files

    def use_host(self) -> None:
        """Pass calls on to the host's again."""
        self._now = self._host

    async def read(self, path: str, offset: int = 0, limit: int = 1 << 20) -> FileContent:
        """Read up to `limit` bytes from `offset`."""
        return await self._now.read(path, offset, limit)

    async def write(self, path: str, data: bytes) -> None:
        """Write a whole file."""
        await self._now.write(path, data)

    async def remove(self, path: str) -> None:
        """Remove one regular file."""
        await self._now.remove(path)

    async def list(self, path: str = "", depth: int = 1, limit: int = 1000) -> Sequence[FileEntry]:
        """List a folder."""
        return await self._now.list(path, depth, limit)

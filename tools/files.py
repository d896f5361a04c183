"""`read_file` and `list_files`: looking at the workspace."""

import asyncio
import re
from pathlib import Path
from typing import ClassVar

from pydantic import Field

from core.changes import SKIPPED_FOLDERS
from core.errors import ToolFailedError
from core.messages import JsonObject, ToolForm, ToolResult
from core.ports import CallContext, CallFacts, FileEntry, Files
from core.stored_results import StoredResults, is_handle
from core.workspace import relative_path
from tools.base import ToolArguments, TypedTool, clip
from tools.line_window import LineWindow

OUTPUT_BYTES = 30_000
"""At most what the model gets of one file or listing."""
HEADLINE_BYTES = 500
"""Kept free for the line that says what is shown."""
PIECE_BYTES = 1 << 20
SCANNED_BYTES = 64 << 20
"""Files are read up to here to count their lines."""
MAX_ENTRIES = 1000
MAX_FOLDERS = 300


class ReadFileArguments(ToolArguments):
    """Which part of which file."""

    path: str = Field(
        min_length=1, description="Workspace path, or the handle of a long result such as result:7."
    )
    offset: int = Field(default=1, ge=1, description="First line, from 1.")
    limit: int = Field(default=2000, ge=1, le=20_000, description="Number of lines.")


class ReadFile(TypedTool[ReadFileArguments]):
    """Reads lines of a text file."""

    name = "read_file"
    description = "Read a text file of the workspace, or lines of it; also pages through a long result by its handle."
    arguments = ReadFileArguments
    reads_only = True
    forms = (
        ToolForm(name="read_file", description="read a file.", fields={"path": "path"}, looks=True),
    )
    example: ClassVar[JsonObject] = {"path": "src/main.py", "offset": 1, "limit": 200}

    def __init__(self, files: Files, workspace: Path, results: StoredResults) -> None:
        """Read from `files`, whose root is `workspace`, and page through `results`."""
        self._files = files
        self._workspace = workspace
        self._results = results

    async def look(self, arguments: ReadFileArguments) -> CallFacts:
        """Name the file."""
        if is_handle(arguments.path):
            return CallFacts(title=f"read {arguments.path}", parts=(arguments.path,))
        path = relative_path(arguments.path, self._workspace)
        return CallFacts(title=f"read {path}", parts=(path,))

    async def act(self, arguments: ReadFileArguments, context: CallContext) -> ToolResult:
        """Read it.

        Raises:
            WorkspaceError: Not there, not a regular file, or outside the workspace.
            StoreError: There is no such stored result.
        """
        if is_handle(arguments.path):
            return await self._page(arguments)
        path = relative_path(arguments.path, self._workspace)
        room_bytes = min(OUTPUT_BYTES, self._results.limit_bytes - HEADLINE_BYTES)
        window = LineWindow(arguments.offset, arguments.limit, room_bytes)
        size_bytes = await feed_file(self._files, path, window)
        if size_bytes == 0:
            return ToolResult(output=f"{path} is empty.")
        if arguments.offset > window.total:
            raise ToolFailedError(
                f"{path} has only {window.total} lines.", hint="Use a smaller offset."
            )
        head = f"{path}: lines {arguments.offset}-{window.last} of {window.total}, {size_bytes:,} bytes"
        if window.last < min(window.total, arguments.offset + arguments.limit - 1):
            head += f" (too long to show at once; read on with offset={window.last + 1})"
        if size_bytes > SCANNED_BYTES:
            head += f" (only the first {SCANNED_BYTES:,} bytes were looked at)"
        return ToolResult(output=head + "\n" + "\n".join(window.lines))

    async def _page(self, arguments: ReadFileArguments) -> ToolResult:
        """Show lines of a stored result."""
        page = await asyncio.to_thread(
            self._results.page, arguments.path, arguments.offset, arguments.limit
        )
        if arguments.offset > page.total:
            raise ToolFailedError(
                f"{arguments.path} has only {page.total} lines.", hint="Use a smaller offset."
            )
        last = page.first - 1 + len(page.lines)
        head = f"{arguments.path}: lines {page.first}-{last} of {page.total}, {page.size_bytes:,} bytes"
        if last < page.total:
            head += f" (read on with offset={last + 1})"
        return ToolResult(output="\n".join((head, *page.lines)))


async def feed_file(files: Files, path: str, window: LineWindow) -> int:
    """Feed a text file to a window of lines and return its size in bytes.

    Raises:
        ToolFailedError: It holds no text.
        WorkspaceError: It cannot be read.
    """
    offset = 0
    while True:
        content = await files.read(path, offset, PIECE_BYTES)
        if offset == 0 and b"\0" in content.data[:8192]:
            raise ToolFailedError(
                f"{path} is a binary file of {content.size_bytes:,} bytes.",
                hint="Look at it with python or shell.",
            )
        window.feed(content.data)
        offset += len(content.data)
        if not content.data or offset >= min(content.size_bytes, SCANNED_BYTES):
            window.close()
            return content.size_bytes


class ListFilesArguments(ToolArguments):
    """Which folder, how deep, which names."""

    path: str = Field(
        default="", description="Folder in the workspace; the workspace itself when left out."
    )
    depth: int = Field(default=2, ge=1, le=10, description="Levels of folders.")
    glob: str = Field(
        default="", max_length=300, description="Only files like this: *.py, src/**/*.ts."
    )


class ListFiles(TypedTool[ListFilesArguments]):
    """Lists a folder of the workspace."""

    name = "list_files"
    description = (
        "List files and folders of the workspace with their sizes. Links are listed, not followed."
    )
    arguments = ListFilesArguments
    reads_only = True
    forms = ()  # a model that works step by step is shown the files
    example: ClassVar[JsonObject] = {"path": "src", "depth": 2, "glob": "*.py"}

    def __init__(self, files: Files, workspace: Path) -> None:
        """List from `files`, whose root is `workspace`."""
        self._files = files
        self._workspace = workspace

    async def look(self, arguments: ListFilesArguments) -> CallFacts:
        """Name the folder."""
        path = relative_path(arguments.path, self._workspace)
        return CallFacts(title=f"list {path or 'the workspace'}", parts=(path or ".",))

    async def act(self, arguments: ListFilesArguments, context: CallContext) -> ToolResult:
        """List it.

        Raises:
            WorkspaceError: Not there or not a folder.
        """
        path = relative_path(arguments.path, self._workspace)
        wanted = glob_pattern(arguments.glob, path)
        entries, cut = await self._walk(path, arguments.depth)
        shown = [entry for entry in entries if wanted is None or _fits(entry, wanted)]
        if not shown:
            what = f"no file like {arguments.glob}" if wanted else "nothing"
            return ToolResult(
                output=f"{path or 'The workspace'} holds {what} within {arguments.depth} levels."
            )
        lines = [_line(entry) for entry in shown]
        if cut:
            lines.append(
                f"[only the first {MAX_ENTRIES} entries; list a folder below, or use glob and depth]"
            )
        return ToolResult(output=clip("\n".join(lines), OUTPUT_BYTES))

    async def _walk(self, path: str, depth: int) -> tuple[list[FileEntry], bool]:
        """Return the entries in the order of their paths, and whether there were too many."""
        found: list[FileEntry] = []
        folders = [(path, depth)]
        for _ in range(MAX_FOLDERS):
            if not folders or len(found) >= MAX_ENTRIES:
                break
            folder, levels = folders.pop()
            entries = await self._files.list(folder, 1, MAX_ENTRIES + 1)
            found.extend(entries)
            if levels > 1:
                folders += [
                    (entry.path, levels - 1) for entry in reversed(entries) if _opened(entry)
                ]
        found.sort(key=lambda entry: entry.path.split("/"))
        return found[:MAX_ENTRIES], bool(folders) or len(found) > MAX_ENTRIES


def _opened(entry: FileEntry) -> bool:
    return entry.kind == "folder" and entry.path.rsplit("/", 1)[-1] not in SKIPPED_FOLDERS


def _fits(entry: FileEntry, wanted: re.Pattern[str]) -> bool:
    return entry.kind != "folder" and wanted.fullmatch(entry.path) is not None


def _line(entry: FileEntry) -> str:
    if entry.kind == "folder":
        note = "  (not listed further)" if entry.path.rsplit("/", 1)[-1] in SKIPPED_FOLDERS else ""
        return f"{entry.path}/{note}"
    if entry.kind == "file":
        return f"{entry.path}  {entry.size_bytes:,}"
    return f"{entry.path}  ({entry.kind})"


def glob_pattern(glob: str, folder: str = "") -> re.Pattern[str] | None:
    """Return the pattern for whole paths that a glob means, None for an empty one.

    A glob without "/" means a name at any depth; with "/" it is relative to `folder`, or to the workspace; "**" spans
    folders, "*" and "?" do not.
    """
    if not glob:
        return None
    if "/" not in glob:
        return re.compile(r"(?:.*/)?" + _translated(glob), re.DOTALL)
    plain = glob.lstrip("/").removeprefix("./")
    prefix = f"(?:{re.escape(folder)}/)?" if folder else ""
    return re.compile(prefix + _translated(plain), re.DOTALL)


_GLOB_PIECES = {"**/": r"(?:.*/)?", "**": r".*", "*": r"[^/]*", "?": r"[^/]"}


def _translated(glob: str) -> str:
    pieces = re.split(r"(\*\*/|\*\*|\*|\?)", glob)
    return "".join(_GLOB_PIECES.get(piece, re.escape(piece)) for piece in pieces)

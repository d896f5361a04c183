"""`edit_file`: view, make and change text files, with the diff before and an undo after."""

import asyncio
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar, Literal

from pydantic import Field, model_validator

from core.errors import ToolFailedError, WorkspaceError
from core.messages import JsonObject, ToolForm, ToolResult
from core.ports import CallContext, CallFacts, Files
from core.preimage import Preimage, PreimageStore, digest
from core.workspace import relative_path, require_writable_name
from tools.base import ToolArguments, TypedTool, clip
from tools.python_source import mended
from tools.text_edit import appended, inserted, lines_of, replaced, unified_diff

MAX_FILE_BYTES = 8 << 20
"""Larger files are not edited as text."""
VIEW_CHARS = 30_000
SHOWN_DIFF_CHARS = 3_000
"""How much of the diff the model gets back."""


class EditFileArguments(ToolArguments):
    """One change of one file."""

    command: Literal["view", "create", "replace", "insert", "append", "undo"] = Field(
        description="view: with line numbers; create: whole file from file_text; replace: old_str, which must stand "
        "exactly once, by new_str; insert: new_str after line insert_line (0 = beginning); append: file_text at the "
        "end; undo: take back the last change."
    )
    path: str = Field(min_length=1, description="Workspace path.")
    file_text: str | None = Field(default=None, description="For create and append.")
    old_str: str | None = Field(
        default=None, description="For replace: exact text with its white space."
    )
    new_str: str | None = Field(default=None, description="For replace and insert.")
    insert_line: int | None = Field(default=None, ge=0, description="For insert.")

    @model_validator(mode="after")
    def _complete(self) -> "EditFileArguments":
        if self.command == "create" and self.path.endswith(".py") and self.file_text:
            self.file_text = mended(self.file_text)
        if self.command == "append" and self.file_text is None:
            self.file_text = self.new_str
        if self.command == "insert" and self.new_str is None:
            self.new_str = self.file_text
        needed = {
            "create": ("file_text",),
            "append": ("file_text",),
            "replace": ("old_str", "new_str"),
            "insert": ("new_str", "insert_line"),
        }.get(self.command, ())
        missing = [name for name in needed if getattr(self, name) is None]
        if missing:
            raise ValueError(f"command {self.command} needs {' and '.join(missing)}")
        if self.command == "replace" and not self.old_str:
            raise ValueError("old_str is empty: use insert or append to add text")
        return self


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """What an edit would do to a file."""

    path: str
    before: bytes | None
    """None when the file is not there."""
    after: bytes | None
    """None when it would be removed."""
    undoes: Preimage | None = None
    """The change that an undo takes back."""

    def diff(self) -> str:
        """Return the unified diff; bytes that are not UTF-8 are shown as escapes."""
        return unified_diff(_shown(self.before or b""), _shown(self.after or b""), self.path)


class EditFile(TypedTool[EditFileArguments]):
    """Changes text files; what they held before is kept for undo."""

    name = "edit_file"
    description = "View, create or change a text file of the workspace. Changes can be undone."
    arguments = EditFileArguments
    forms = (
        ToolForm(
            name="write_file",
            description="write the whole text of a file, new or not.",
            fields={"path": "path", "text": "file_text"},
            fixed={"command": "create"},
            changes="path",
        ),
        ToolForm(
            name="replace_text",
            description="change a file: `old` is exact text that stands in it once, `new` comes in its place.",
            fields={"path": "path", "old": "old_str", "new": "new_str"},
            fixed={"command": "replace"},
            changes="path",
        ),
    )
    example: ClassVar[JsonObject] = {
        "command": "replace",
        "path": "src/main.py",
        "old_str": "x = 1",
        "new_str": "x = 2",
    }

    def __init__(
        self, files: Files, host_files: Files, preimages: PreimageStore, workspace: Path
    ) -> None:
        """Make the tool.

        Args:
            files: Where the model's edits are read and written.
            host_files: The same workspace as the host sees it, for diffs and undo.
            preimages: Keeps what files held.
            workspace: The workspace on the host, absolute.
        """
        self._files = files
        self._host_files = host_files
        self._preimages = preimages
        self._workspace = workspace

    async def look(self, arguments: EditFileArguments) -> CallFacts:
        """Work the change out, with its diff.

        Raises:
            ToolFailedError: It does not fit the file.
            WorkspaceError: The path cannot be used.
        """
        path = relative_path(arguments.path, self._workspace)
        if arguments.command == "view":
            return CallFacts(title=f"view {path}", parts=(path,))
        change = await self._change(arguments, path, self._host_files)
        verb = {"create": "write", "undo": "undo the last edit of"}.get(arguments.command, "edit")
        return CallFacts(
            title=f"{verb} {path}" + (" (new file)" if change.before is None else ""),
            parts=(path,),
            diff=await asyncio.to_thread(change.diff),
            bindings={
                "file": path,
                "pre_image": digest(change.before),
                "post_image": digest(change.after),
            },
        )

    async def act(self, arguments: EditFileArguments, context: CallContext) -> ToolResult:
        """Make the change, keeping first what the file holds.

        Raises:
            ToolFailedError: It does not fit the file.
            WorkspaceError: The file cannot be used.
            StoreError: What the file holds cannot be kept; nothing was changed.
        """
        path = relative_path(arguments.path, self._workspace)
        if arguments.command == "view":
            return await self._view(path)
        change = await self._change(arguments, path, self._files)
        if change.undoes is None:
            await self._preimages.save(path, change.before, change.after)
        if change.after is None:
            await self._files.remove(path)
        else:
            await self._files.write(path, change.after)
        if change.undoes is not None:
            await self._preimages.undone(change.undoes)
        return await self._done(arguments, change)

    async def _done(self, arguments: EditFileArguments, change: Change) -> ToolResult:
        if change.after is None:
            return ToolResult(output=f"Undone: {change.path} is gone again.")
        lines = len(lines_of(_shown(change.after)))
        if change.before is None:
            return ToolResult(output=f"Made {change.path} ({lines} lines).", files=(change.path,))
        what = {"create": "Replaced", "undo": "Undone the last change of"}.get(
            arguments.command, "Changed"
        )
        shown = clip(await asyncio.to_thread(change.diff), SHOWN_DIFF_CHARS)
        return ToolResult(
            output=f"{what} {change.path} ({lines} lines).\n{shown}".rstrip(), files=(change.path,)
        )

    async def _change(self, arguments: EditFileArguments, path: str, files: Files) -> Change:
        require_writable_name(path)
        before = await _content(files, path)
        if arguments.command == "undo":
            return await self._undo(path, before)
        if arguments.command == "create":
            return Change(path=path, before=before, after=_bytes(arguments.file_text or ""))
        if before is None and arguments.command != "append":
            raise WorkspaceError(
                f"{path} does not exist.", hint="Use create to make it.", code="enoent"
            )
        if b"\0" in (before or b""):
            raise ToolFailedError(f"{path} is a binary file and is not edited as text.")
        return Change(
            path=path, before=before, after=_bytes(_edited(arguments, _text(before or b""), path))
        )

    async def _undo(self, path: str, before: bytes | None) -> Change:
        newest = await self._preimages.newest(path)
        if newest is None:
            raise ToolFailedError(f"There is no change of {path} to undo.")
        if newest.after != digest(before):
            raise ToolFailedError(
                f"{path} was changed since by something else, so its last edit cannot be undone.",
                hint="View it and edit it.",
            )
        return Change(
            path=path, before=before, after=await self._preimages.content(newest), undoes=newest
        )

    async def _view(self, path: str) -> ToolResult:
        content = await _content(self._files, path)
        if content is None:
            raise WorkspaceError(
                f"{path} does not exist.", hint="Use create to make it.", code="enoent"
            )
        if b"\0" in content:
            raise ToolFailedError(f"{path} is a binary file of {len(content):,} bytes.")
        numbered = "".join(
            f"{number:>5}\t{line}" for number, line in enumerate(lines_of(_shown(content)), 1)
        )
        return ToolResult(
            output=clip(numbered, VIEW_CHARS, whole="use read_file") or f"{path} is empty."
        )


def _edited(arguments: EditFileArguments, text: str, path: str) -> str:
    if arguments.command == "replace":
        return replaced(text, arguments.old_str or "", arguments.new_str or "", path)
    if arguments.command == "insert":
        return inserted(text, arguments.new_str or "", arguments.insert_line or 0, path)
    return appended(text, arguments.file_text or "")


async def _content(files: Files, path: str) -> bytes | None:
    """Return a file's bytes, None when it is not there."""
    try:
        content = await files.read(path, 0, MAX_FILE_BYTES)
    except WorkspaceError as error:
        if error.code == "enoent":
            return None
        raise
    if content.size_bytes > MAX_FILE_BYTES:
        raise ToolFailedError(
            f"{path} has {content.size_bytes:,} bytes; only files up to {MAX_FILE_BYTES:,} are edited as text.",
            hint="Use shell or python.",
        )
    return content.data


def _text(data: bytes) -> str:
    return data.decode("utf-8", "surrogateescape")


def _shown(data: bytes) -> str:
    return data.decode("utf-8", "backslashreplace")


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogateescape")

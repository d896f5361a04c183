"""`shell`: a command in the persistent shell of the sandbox."""

import posixpath
from dataclasses import replace
from pathlib import Path
from typing import Annotated, ClassVar

from pydantic import Field, StringConstraints

from core.errors import WorkspaceError
from core.messages import JsonObject, ToolForm, ToolResult
from core.ports import CallContext, CallFacts, Sandbox
from core.workspace import relative_path
from tools.base import ToolArguments, TypedTool
from tools.command_hint import command_hint
from tools.command_text import LiveOutput, tool_result

Source = Annotated[str, StringConstraints(min_length=1, pattern=r"^[^\x00]*$")]
"""Program text; NUL cannot be passed to a shell."""
TimeoutS = Annotated[
    float, Field(gt=0, le=3600, description="Seconds until it is stopped; 120 when left out.")
]


class ShellArguments(ToolArguments):
    """What to run."""

    command: Source = Field(description="Bash source, one or more lines.")
    cwd: str | None = Field(
        default=None, description="Folder to change to first; the shell stays there."
    )
    timeout_s: TimeoutS = 120.0
    session: Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9_-]{1,32}$")] = Field(
        default="main", description="Another name opens a second shell beside the first."
    )


class Shell(TypedTool[ShellArguments]):
    """Runs bash commands; folder, variables and functions stay from call to call."""

    name = "shell"
    description = (
        "Run bash in the sandbox, in the workspace. State stays between calls: folder, variables, functions. "
        "stdin is empty: programs that ask get end of file. For long-running programs use `cmd > log 2>&1 &`."
    )
    arguments = ShellArguments
    forms = (
        ToolForm(
            name="shell",
            description="run a bash command in the workspace and get its output.",
            fields={"command": "command"},
        ),
    )
    example: ClassVar[JsonObject] = {"command": "ls -la", "timeout_s": 60}

    def __init__(self, sandbox: Sandbox, workspace: Path) -> None:
        """Run in `sandbox`; `workspace` is the host's folder that it shows."""
        self._sandbox = sandbox
        self._workspace = workspace
        self._folders: dict[str, str] = {}
        """Where each shell said it is."""

    def unavailable(self) -> str:
        """Return why there is no sandbox."""
        return self._sandbox.unavailable()

    async def look(self, arguments: ShellArguments) -> CallFacts:
        """Say where it would run."""
        bindings: dict[str, str] = {"sandbox": self._sandbox.info.tier}
        # where paths in the command start from: a given folder is meant from the workspace on
        folder = self._folders.get(arguments.session)
        if arguments.cwd is not None:
            bindings["folder"] = self._sandbox.info.workspace
        elif folder is not None:
            bindings["folder"] = folder
        return CallFacts(
            title=f"shell {where(self._sandbox)}", parts=(arguments.command,), bindings=bindings
        )

    async def act(self, arguments: ShellArguments, context: CallContext) -> ToolResult:
        """Run it.

        Raises:
            SandboxUnavailableError: There is no sandbox.
            SandboxGoneError: It ended meanwhile.
        """
        cwd = None if arguments.cwd is None else self._inside(arguments.cwd)
        result = await self._sandbox.shell(
            arguments.command,
            on_output=LiveOutput(context),
            timeout_s=arguments.timeout_s,
            cwd=cwd,
            session=arguments.session,
        )
        if result.cwd:
            self._folders[arguments.session] = result.cwd
        hint = command_hint(result.exit_code, result.stderr)
        return tool_result(replace(result, note="; ".join(filter(None, (result.note, hint)))))

    def _inside(self, cwd: str) -> str:
        """Return the folder as the sandbox names it; one outside the workspace is the sandbox's own."""
        inside = self._sandbox.info.workspace
        try:
            return posixpath.join(inside, relative_path(cwd, self._workspace, inside)).rstrip("/")
        except WorkspaceError:
            return posixpath.normpath(posixpath.join(inside, cwd))


def where(sandbox: Sandbox) -> str:
    """Return where code would run, for a title."""
    info = sandbox.info
    if info.tier == "none":
        return "in the sandbox"
    network = "network off" if info.network == "none" else f"network {info.network}"
    return f"in sandbox ({info.label}, {network})"

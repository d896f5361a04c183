"""`finish`: the agent ends the run with its answer."""

from pathlib import Path
from typing import Any, ClassVar, Literal

from pydantic import Field, field_validator

from core.errors import WorkspaceError
from core.messages import JsonObject, ToolForm, ToolResult
from core.ports import CallContext, CallFacts, Files
from core.workspace import relative_path
from tools.base import ToolArguments, TypedTool

_DONE = frozenset({"success", "succeeded", "done", "complete", "completed", "finished", "ok"})
_NOT_DONE = frozenset({"failure", "failed", "incomplete", "impossible", "blocked", "error"})


class FinishArguments(ToolArguments):
    """The answer."""

    answer: str = Field(min_length=1, description="The whole answer to the person, in Markdown.")
    status: Literal["answered", "gave_up"] = Field(
        default="answered",
        description="gave_up when the task could not be done; say why in the answer.",
    )
    files: list[str] = Field(
        default_factory=list,
        max_length=200,
        description="Workspace paths of the files that are the result.",
    )

    @field_validator("status", mode="before")
    @classmethod
    def _common_words(cls, value: Any) -> Any:
        word = value.strip().casefold() if isinstance(value, str) else ""
        if word in _DONE:
            return "answered"
        return "gave_up" if word in _NOT_DONE else value


class Finish(TypedTool[FinishArguments]):
    """Ends the run; the files it names are looked up on the disk first."""

    name = "finish"
    description = (
        "End the task with your final answer. Name the files you made; they are checked on disk."
    )
    arguments = FinishArguments
    forms = (
        ToolForm(
            name="finish",
            description="end the task with the answer for the person, in their language.",
            fields={"answer": "answer"},
            ends=True,
        ),
    )
    example: ClassVar[JsonObject] = {
        "answer": "The report is in report.md.",
        "status": "answered",
        "files": ["report.md"],
    }

    def __init__(self, files: Files, workspace: Path) -> None:
        """Look files up in `files`, whose root is `workspace`."""
        self._files = files
        self._workspace = workspace
        self._told: frozenset[str] = frozenset()

    async def look(self, arguments: FinishArguments) -> CallFacts:
        """Say how the run would end."""
        return CallFacts(title=f"end the run: {arguments.status}", parts=tuple(arguments.files))

    async def act(self, arguments: FinishArguments, context: CallContext) -> ToolResult:
        """Check the files and end the run.

        Files that are not there are told to the model once; if it insists, the run ends without them and says so.
        """
        reasons = {path: await self._missing(path) for path in arguments.files}
        missing = frozenset(path for path, reason in reasons.items() if reason)
        if missing - self._told:
            self._told |= missing
            lines = "\n".join(f"- {reasons[path]}" for path in arguments.files if path in missing)
            text = f"Not ended: these files are not there. Make them or leave them out, then finish again.\n{lines}"
            return ToolResult(
                outcome="failed", output=text, error="files that do not exist were named"
            )
        answer = arguments.answer
        if missing:
            answer += f"\n\nNot found on disk: {', '.join(sorted(missing))}."
        return ToolResult(
            output="The run ends.",
            final_answer=answer,
            gave_up=arguments.status == "gave_up",
            files=tuple(
                relative_path(path, self._workspace)
                for path in arguments.files
                if path not in missing
            ),
        )

    async def _missing(self, path: str) -> str:
        try:
            await self._files.read(path, 0, 1)
        except WorkspaceError as error:
            return "" if error.code == "eisdir" else error.message
        return ""

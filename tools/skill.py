"""`skill`: the text of one skill, when its kind of work comes up."""

from collections.abc import Sequence
from typing import ClassVar, Final

from pydantic import Field

from core.errors import BadArgumentsError, WorkspaceError
from core.instructions import SKILL_NAME, cut_text
from core.messages import JsonObject, ToolResult
from core.ports import CallContext, CallFacts, Files
from core.skills import Skill, SkillShelf
from tools.base import ToolArguments, TypedTool

MAX_BODY_BYTES: Final = 32_768
MAX_LISTED_FILES: Final = 40


class SkillArguments(ToolArguments):
    """Which one."""

    name: str = Field(min_length=1, description="Name of a skill, as it is listed.")


class SkillTool(TypedTool[SkillArguments]):
    """Gives the body of a skill, as it was trusted, and the names of the files beside it."""

    name = "skill"
    description = "Read a skill: how a certain kind of work is done here. Read it before you start on such work."
    arguments = SkillArguments
    reads_only = True
    example: ClassVar[JsonObject] = {"name": "release-notes"}

    def __init__(self, shelf: SkillShelf, files: Files) -> None:
        """Offer the skills of `shelf`; the files beside those of the workspace are listed with `files`."""
        self._shelf = shelf
        self._files = files

    def unavailable(self) -> str:
        """Return why it cannot be offered now: there are no skills."""
        return "" if self._shelf.skills else "There are no skills."

    async def look(self, arguments: SkillArguments) -> CallFacts:
        """Say which skill is read.

        Raises:
            BadArgumentsError: There is none of that name.
        """
        return CallFacts(title=f"read the skill {self._found(arguments.name).name}")

    async def act(self, arguments: SkillArguments, context: CallContext) -> ToolResult:
        """Give the text.

        Raises:
            BadArgumentsError: There is none of that name.
        """
        skill = self._found(arguments.name)
        body, missing = cut_text(skill.body, MAX_BODY_BYTES)
        parts = [body or "(this skill has no text)"]
        if missing:
            parts.append(f"[{missing:,} bytes more were left out: a skill has at most 32 KiB]")
        if beside := await self._beside(skill):
            parts.append("Files of this skill:\n" + "\n".join(beside))
        return ToolResult(output="\n\n".join(parts))

    def _found(self, name: str) -> Skill:
        skill = self._shelf.skills.get(name.strip())
        if skill is None:
            names = ", ".join(sorted(self._shelf.skills))
            raise BadArgumentsError(f"There is no skill {name!r}. Skills: {names}.")
        return skill

    async def _beside(self, skill: Skill) -> Sequence[str]:
        """Return the other files of a skill of the workspace; no tool reaches those of the person's own."""
        if skill.source == "user":
            return ()
        try:
            found = await self._files.list(skill.folder, 3, MAX_LISTED_FILES)
        except WorkspaceError:
            return ()
        paths = [entry.path for entry in found if entry.kind == "file"]
        return [path for path in paths if path != f"{skill.folder}/{SKILL_NAME}"]

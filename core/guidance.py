"""Facts about what the files of a workspace, or of the person, tell the agent."""

from dataclasses import dataclass
from typing import Literal

GuidanceSource = Literal["workspace", "user"]
"""workspace: files of the folder worked in, which the person has trusted · user: the configuration folder."""


@dataclass(frozen=True, slots=True, kw_only=True)
class InstructionsLoaded:
    """Text of a file stands at the beginning of memory from now on; of one path, the newest counts."""

    path: str
    """Relative to the workspace; "skills" for the list of skills."""
    text: str
    """As the model gets it."""
    sha256: str
    """Hex digest of the file, or of the list."""
    source: GuidanceSource = "workspace"
    kind: Literal["instructions_loaded"] = "instructions_loaded"

"""Skills: a text on how to do a certain kind of work, of which the model first knows only a name and one line.

Source: https://agentskills.io, format of `SKILL.md`: front matter with `name` and `description`, then Markdown.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final

from core.errors import ConfigError
from core.guidance import GuidanceSource
from core.instructions import GuideFile

FENCE: Final = "---"
MAX_DESCRIPTION_CHARS: Final = 1024
_KEY: Final = re.compile(r"^([A-Za-z][\w-]*)\s*:\s*(.*)$")
_BLOCK: Final = re.compile(r"^[|>][+-]?$")


@dataclass(frozen=True, slots=True, kw_only=True)
class Skill:
    """One skill."""

    name: str
    description: str
    body: str
    """Markdown."""
    path: str
    """Of its `SKILL.md`: below the workspace, or below the person's folder of skills."""
    source: GuidanceSource

    @property
    def folder(self) -> str:
        """Folder of its `SKILL.md`."""
        return self.path.rpartition("/")[0]


class SkillShelf:
    """The skills of a session by name; a skill of the workspace stands before one of the person with its name."""

    def __init__(self) -> None:
        """Start empty."""
        self._skills: dict[str, Skill] = {}

    @property
    def skills(self) -> Mapping[str, Skill]:
        """All skills by name."""
        return self._skills

    def add(self, skills: Iterable[Skill]) -> None:
        """Put skills in; of one name, the last one counts."""
        self._skills.update({skill.name: skill for skill in skills})

    def listing(self) -> str:
        """Return one line a skill, "" where there is none."""
        return "\n".join(
            f"- {name}: {skill.description}" for name, skill in sorted(self._skills.items())
        )


def parse_skill(file: GuideFile, source: GuidanceSource) -> Skill:
    """Read a `SKILL.md`.

    Args:
        file: Read, and trusted where it is the workspace's.
        source: Whose it is.

    Raises:
        ConfigError: Its front matter cannot be read; one line with file and line.
    """
    fields, body = _front_matter(file)
    name = file.folder.rpartition("/")[2]
    description = " ".join(fields.get("description", "").split())
    if not description:
        raise _wrong(file, 1, "its front matter has no description")
    given = fields.get("name", name)
    if given != name:
        raise _wrong(file, 1, f"its name is {given!r}, and that of its folder {name!r}")
    return Skill(
        name=name,
        description=description[:MAX_DESCRIPTION_CHARS],
        body=body.strip(),
        path=file.path,
        source=source,
    )


def _front_matter(file: GuideFile) -> tuple[dict[str, str], str]:
    """Return the plain fields of the front matter and the text after it; lists and tables in it are passed over."""
    lines = file.text.splitlines()
    if not lines or lines[0].rstrip() != FENCE:
        raise _wrong(file, 1, f"it does not begin with {FENCE} and its front matter")
    end = next((at for at, line in enumerate(lines[1:], 1) if line.rstrip() == FENCE), 0)
    if not end:
        raise _wrong(file, len(lines), f"the {FENCE} that ends the front matter is missing")
    fields: dict[str, str] = {}
    name = ""
    for number, line in enumerate(lines[1:end], 2):
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        if line[0] in " \t-":
            fields[name] = f"{fields.get(name, '')} {line.strip()}".strip()
        elif found := _KEY.match(line):
            name = found[1].casefold()
            fields[name] = "" if _BLOCK.match(found[2]) else _unquoted(found[2])
        else:
            raise _wrong(file, number, "it is no line of the form name: text")
    return fields, "\n".join(lines[end + 1 :])


def _unquoted(value: str) -> str:
    value = value.strip()
    if len(value) >= 2 and value[0] == value[-1] and value[0] in "\"'":
        return value[1:-1]
    return value


def _wrong(file: GuideFile, line: int, text: str) -> ConfigError:
    return ConfigError(f"{file.path} line {line}: {text}.", hint="The skill is not offered.")

"""Names of files that mean more than other files: secrets, what programs run by themselves, and what nobody may touch.

The names are data in `path_names.toml`. They are compared folded (case, compatibility forms, characters that are not
seen, blanks and dots at the end), as file systems that fold names would find them.
"""

import re
import tomllib
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from fnmatch import translate
from functools import cache
from importlib.resources import files
from itertools import pairwise
from typing import Final, Literal

NameClass = Literal["own", "protected", "host_run", "secret"]
"""own: Handrail's · protected: git's data, shell start-up, ssh · host_run: run by programs of the host · secret: may
hold secrets."""

_UNSEEN: Final = re.compile(
    r"[\u00ad\u034f\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufe00-\ufe0f\ufeff]"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Names:
    """The names of one class."""

    parts: frozenset[str]
    """Fit anywhere in a path."""
    folders: tuple[tuple[str, ...], ...]
    """Names that follow each other."""
    names: re.Pattern[str]
    """Fits the last name."""
    but_not: re.Pattern[str]
    """Last names that are none of it after all."""

    def holds(self, path: Sequence[str]) -> bool:
        """Return whether a path of folded names is one of these."""
        if not path:
            return False
        if self.parts.intersection(path) or any(_follow(path, folder) for folder in self.folders):
            return True
        return bool(self.names.fullmatch(path[-1])) and not self.but_not.fullmatch(path[-1])


@cache
def known_names() -> dict[NameClass, Names]:
    """Return the names by class, read once from the data file."""
    data = tomllib.loads(files("core").joinpath("path_names.toml").read_text("utf-8"))
    classes: tuple[NameClass, ...] = ("own", "protected", "host_run", "secret")
    return {
        name: Names(
            parts=frozenset(data[name]["parts"]),
            folders=tuple(tuple(folder) for folder in data[name]["folders"]),
            names=_pattern(data[name]["names"]),
            but_not=_pattern(data[name].get("but_not", [])),
        )
        for name in classes
    }


def folded(part: str) -> str:
    """Return a name as a folding file system compares it."""
    plain = _UNSEEN.sub("", unicodedata.normalize("NFKC", part)).casefold()
    plain = plain.partition("::$")[0] or plain
    return plain.rstrip(". ") or plain


def classes_of(parts: Sequence[str]) -> frozenset[NameClass]:
    """Return what the path of these parts is, by its names alone.

    Args:
        parts: Names from the workspace, or from the root, down; links resolved.
    """
    path = [folded(part) for part in parts]
    found = {name for name, names in known_names().items() if names.holds(path)}
    if any(
        above.endswith(".git") and below in ("hooks", "config") for above, below in pairwise(path)
    ):
        found.add("host_run")
    return frozenset(found)


def _pattern(globs: Sequence[str]) -> re.Pattern[str]:
    return re.compile("|".join(translate(glob) for glob in globs) or r"(?!)")


def _follow(path: Sequence[str], folder: Sequence[str]) -> bool:
    length = len(folder)
    return any(
        tuple(path[start : start + length]) == folder for start in range(len(path) - length + 1)
    )

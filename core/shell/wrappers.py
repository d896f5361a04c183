"""Takes one wrapper off a command: what `env`, `xargs`, `sh -c`, `find -exec` and their like run."""

import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Final

from core.shell.lexer import Token

_ASSIGNMENT: Final = re.compile(r"[A-Za-z_]\w*=")
_FIND_RUNS: Final = frozenset({"-exec", "-execdir", "-ok", "-okdir"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Wrapper:
    """How one program runs another; the fields are explained in `wrappers.toml`."""

    values: frozenset[str] = frozenset()
    skip: int = 0
    assign: bool = False
    more: bool = False


@cache
def _wrappers() -> Mapping[str, Wrapper]:
    raw = tomllib.loads(files("core.shell").joinpath("wrappers.toml").read_text("utf-8"))
    return {
        name: Wrapper(
            values=frozenset(entry.get("values", ())),
            skip=entry.get("skip", 0),
            assign=entry.get("assign", False),
            more=entry.get("more", False),
        )
        for name, entry in raw.items()
    }


def base_name(text: str) -> str:
    """Return the program's name without folder and version: "/usr/bin/python3.11" is python."""
    name = text.rpartition("/")[2]
    return re.sub(r"^(python|pypy|perl|ruby|lua|php|node|pip)[\d.]+$", r"\1", name)


def wrapped(words: Sequence[Token]) -> tuple[tuple[Token, ...], bool] | None:
    """Return the words of the program that the first word runs, and whether it gets more operands.

    Args:
        words: A command, program first.

    Returns:
        None where the first word is no wrapper, or runs nothing.
    """
    name = base_name(words[0].text)
    wrapper = _wrappers().get(name)
    if wrapper is None:
        return None
    rest = list(words[1:])
    if name == "command" and rest and rest[0].text in ("-v", "-V"):
        return None
    skip = wrapper.skip
    while rest:
        text = rest[0].text
        if text == "--":
            rest.pop(0)
        elif text in wrapper.values:
            del rest[:2]
        elif (text.startswith("-") and len(text) > 1) or (
            wrapper.assign and _ASSIGNMENT.match(text)
        ):
            rest.pop(0)
        elif skip:
            skip -= 1
            rest.pop(0)
        else:
            break
    return (tuple(rest), wrapper.more) if rest else None


def run_by_find(words: Sequence[Token]) -> Iterator[tuple[Token, ...]]:
    """Yield the commands that `find -exec` and its like run, their {} put as where find starts."""
    starts = []
    for word in words[1:]:
        if word.text.startswith("-") or word.text in ("(", "!"):
            break
        starts.append(word)
    starts = starts or [Token(".")]
    taken: list[Token] | None = None
    for word in words[1:]:
        if word.text in _FIND_RUNS:
            taken = []
        elif taken is not None and word.text in (";", "+", "\\;"):
            yield tuple(taken)
            taken = None
        elif taken is not None:
            taken.extend(starts if word.text == "{}" else [word])
    if taken:
        yield tuple(taken)

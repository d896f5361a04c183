"""Whether plain commands provably only read, and what they read."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from core.reach import Reach, Target
from core.shell.checkers import checker
from core.shell.folders import Folders
from core.shell.git import why_git_may_run
from core.shell.options import CommandForm, UnverifiedError, known_forms, parse, read_operands
from core.shell.words import PlainCommand, Word

GLOB_STARTS: Final = "*?["


@dataclass(frozen=True, slots=True, kw_only=True)
class Verified:
    """One command that only reads."""

    reads: tuple[Target, ...] = ()
    """Files and folders, in every folder it may run in."""
    secrets: tuple[str, ...] = ()
    """Files that may hold secrets in a folder it reads as a whole."""


def verify(command: PlainCommand, folders: Folders, reach: Reach) -> Verified:
    """Check that a command only reads.

    Args:
        command: From `core.shell.words.take_apart`.
        folders: Where it may run.
        reach: The model's view of the file system.

    Raises:
        UnverifiedError: It is not known to be harmless; the text says why.
    """
    name = command.words[0].text
    form = known_forms().get(name)
    if form is None:
        raise UnverifiedError(f"{name} is not known to only read")
    if name == "git":
        for folder in folders.now:
            problem = why_git_may_run(reach, folder)
            if problem:
                raise UnverifiedError(f"git may start a program: {problem}")
    words, deep = _read_words(command, form)
    targets = _targets(words, folders, reach)
    secrets = _secrets(targets, reach) if deep else ()
    return Verified(reads=tuple(targets), secrets=secrets)


def _read_words(command: PlainCommand, form: CommandForm) -> tuple[Sequence[Word], bool]:
    """Return the words that are read, and whether folders among them are read as a whole."""
    if form.operands == "check":
        return checker(command.words[0].text)(command), False
    parsed = parse(command, form)
    words = [*read_operands(parsed, form), *parsed.paths]
    for word in parsed.operands:
        if word.glob and not form.glob and word.text[0] in GLOB_STARTS:
            raise UnverifiedError(f"a pattern that could become an option: {word.text}")
        if word.glob and form.operands == "one_read":
            raise UnverifiedError("a pattern where one name is meant")
    deep = form.deep_always or bool(parsed.names & form.deep)
    if (deep or form.here) and not words:
        words = [Word(".")]
    return words, deep


def _targets(words: Sequence[Word], folders: Folders, reach: Reach) -> list[Target]:
    found: list[Target] = []
    for word in words:
        for folder in folders.now:
            names = reach.expand(word.text, folder) if word.glob else [word.text]
            found.extend(reach.resolve(name, folder) for name in names)
    return found


def _secrets(targets: Sequence[Target], reach: Reach) -> tuple[str, ...]:
    return tuple(name for target in targets for name in reach.secrets_below(target))

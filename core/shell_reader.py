"""Reads the text of a shell call: what provably only reads, what it would change, and what is dangerous in it.

Two readers work side by side. The strict one lets through what is beyond doubt; the loose one looks for harm in
everything else. Neither is a boundary: the sandbox is.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import Final

from core.reach import Reach, Target
from core.shell.commands import CommandFinder
from core.shell.dangers import dangers, installs
from core.shell.effects import Effect, EffectKind, effects
from core.shell.fed import written_and_run
from core.shell.folders import Folders
from core.shell.git_effects import GitDeed, deeds
from core.shell.lexer import UNKNOWN_TEXT, Token
from core.shell.options import UnverifiedError
from core.shell.read_only import Verified, verify
from core.shell.seen import Seen
from core.shell.words import PlainCommand, take_apart
from core.shell.wrappers import base_name

MAX_CHANGES: Final = 200
"""Changes that are looked at one by one; more are a danger of their own."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckedCommand:
    """One command of a text that could be taken apart."""

    command: PlainCommand
    verified: Verified | None
    """What it reads, when it provably only reads."""
    problem: str = ""
    """Why it is not known to only read."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """One change to files, where it leads."""

    kind: EffectKind
    target: Target
    exact: bool
    """Its name is known."""
    by: str
    """The command."""


@dataclass(slots=True, kw_only=True)
class CommandReading:
    """Everything that was read out of a text."""

    opaque: str
    """Why it cannot be taken apart, "" when it can."""
    commands: tuple[CheckedCommand, ...]
    seen: tuple[Seen, ...]
    changes: list[Change] = field(default_factory=list)
    dangers: list[str] = field(default_factory=list)
    commits: bool = False
    pushes: bool = False
    installs: bool = False

    @property
    def only_reads(self) -> bool:
        """Whether every command provably only reads."""
        return not self.opaque and all(item.verified is not None for item in self.commands)


def read_command(text: str, reach: Reach, cwd: str | None = None) -> CommandReading:
    """Read a command text.

    Args:
        text: Bash source.
        reach: The model's view of the file system.
        cwd: Folder it starts in, inside; None is the workspace, "" is not known.
    """
    plain = take_apart(text)
    finder = CommandFinder(reach.home)
    finder.find(text, Folders(reach, cwd))
    for script in list(written_and_run(finder.sight.commands)):
        finder.find(script, Folders(reach, cwd), depth=1)
    reading = CommandReading(
        opaque=plain.opaque,
        commands=tuple(_checked(plain.commands, reach, cwd)),
        seen=tuple(finder.sight.commands),
        dangers=list(dict.fromkeys(dangers(finder.sight))),
    )
    for seen in finder.sight.commands:
        _add_changes(seen, reach, reading)
        if len(reading.changes) > MAX_CHANGES:
            reading.dangers.append(f"more than {MAX_CHANGES} changes to files")
            break
    return reading


def _checked(
    commands: Sequence[PlainCommand], reach: Reach, cwd: str | None
) -> Iterator[CheckedCommand]:
    folders = Folders(reach, cwd)
    for place, command in enumerate(commands):
        folders.joined(command.before)
        try:
            verified = verify(command, folders, reach)
            yield CheckedCommand(command=command, verified=verified)
        except UnverifiedError as error:
            yield CheckedCommand(command=command, verified=None, problem=str(error))
        piped = command.before == "|" or (
            place + 1 < len(commands) and commands[place + 1].before == "|"
        )
        if command.words[0].text == "cd" and not piped:
            folders.changed(command.words[1].text if command.words[1:] else "")


def _add_changes(seen: Seen, reach: Reach, reading: CommandReading) -> None:
    reading.installs = reading.installs or installs(seen)
    for effect in islice(effects(seen), MAX_CHANGES + 1):
        reading.changes.extend(islice(_changes(effect, reach), MAX_CHANGES + 1))
        if len(reading.changes) > MAX_CHANGES:
            return
    if seen.words and base_name(seen.words[0].text) == "git":
        for deed in deeds(seen.words):
            _add_deed(deed, seen, reach, reading)


def _add_deed(deed: GitDeed, seen: Seen, reach: Reach, reading: CommandReading) -> None:
    if deed.kind == "commit":
        reading.commits = True
        return
    if deed.kind == "push":
        reading.pushes = True
        return
    kinds: dict[str, EffectKind] = {"destroy": "destroy", "delete": "delete"}
    target = Token(".") if deed.kind == "destroy" else deed.target
    folders = seen.folders
    if deed.folder:
        inner = Folders(reach, folders[0])
        inner.changed(deed.folder)
        folders = inner.now
    effect = Effect(kind=kinds.get(deed.kind, "write"), target=target, folders=folders, seen=seen)
    reading.changes.extend(_changes(effect, reach))


def _changes(effect: Effect, reach: Reach) -> Iterator[Change]:
    """Yield where an effect leads, in every folder it may be relative to."""
    by = " ".join(effect.seen.argv)[:200]
    follow = effect.kind == "write"
    for folder in effect.folders:
        for text, exact, kind in _names(effect, folder, reach):
            target = reach.resolve(text, folder, follow=follow)
            yield Change(kind=kind, target=target, exact=exact, by=by)


def _names(effect: Effect, folder: str, reach: Reach) -> Iterator[tuple[str, bool, EffectKind]]:
    """Yield the names a target stands for, with whether they are known and what happens to them."""
    token, kind = effect.target, effect.kind
    if not token.exact or UNKNOWN_TEXT in token.text:
        yield token.text.partition(UNKNOWN_TEXT)[0], False, kind
        return
    if not token.glob:
        yield token.text, True, kind
        return
    above, _, last = token.text.rpartition("/")
    if last in ("*", ".*", "**", "{*,.*}"):
        whole = above or ("/" if token.text.startswith("/") else ".")
        yield whole, True, "tree" if kind in ("delete", "tree") else kind
    for name in reach.expand(token.text, folder):
        yield name, True, kind

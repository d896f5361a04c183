"""Checks the options of one command against the table of harmless ones."""

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files
from typing import Any, Final, Literal

from core.shell.words import PlainCommand, Word

OperandKind = Literal["none", "text", "read", "one_read", "names", "pattern", "check"]


@dataclass(frozen=True, slots=True, kw_only=True)
class CommandForm:
    """The harmless ways to call one command; the fields are explained in `commands.toml`."""

    operands: OperandKind
    short: frozenset[str] = frozenset()
    short_value: frozenset[str] = frozenset()
    short_path: frozenset[str] = frozenset()
    long: frozenset[str] = frozenset()
    long_value: frozenset[str] = frozenset()
    long_path: frozenset[str] = frozenset()
    equal: frozenset[str] = frozenset()
    pattern_by: frozenset[str] = frozenset()
    deep: frozenset[str] = frozenset()
    number: bool = False
    deep_always: bool = False
    here: bool = False
    glob: bool = False


@dataclass(slots=True)
class Parsed:
    """Options and operands of one command, all of them known."""

    names: set[str] = field(default_factory=set)
    """Options given, without dashes."""
    operands: list[Word] = field(default_factory=list)
    paths: list[Word] = field(default_factory=list)
    """Values of options that are read as files."""


class UnverifiedError(ValueError):
    """A command that is not known to be harmless; the text says why."""


@cache
def known_forms() -> Mapping[str, CommandForm]:
    """Return the table, read once."""
    text = files("core.shell").joinpath("commands.toml").read_text("utf-8")
    raw: dict[str, dict[str, Any]] = tomllib.loads(text)
    return {
        name: _form(raw[entry["like"]] if "like" in entry else entry) for name, entry in raw.items()
    }


_LETTERS: Final = ("short", "short_value", "short_path")


def _form(entry: Mapping[str, Any]) -> CommandForm:
    values: dict[str, Any] = {}
    for key, value in entry.items():
        values[key] = frozenset(value) if isinstance(value, list) or key in _LETTERS else value
    return CommandForm(**values)


def parse(command: PlainCommand, form: CommandForm) -> Parsed:
    """Split a command into options and operands.

    Raises:
        UnverifiedError: An option is not among the harmless ones.
    """
    parsed = Parsed()
    words = list(command.words[1:])
    while words:
        word = words.pop(0)
        if word.text == "--":
            parsed.operands.extend(words)
            break
        if word.text == "-" or not word.text.startswith("-"):
            parsed.operands.append(word)
        elif word.glob:
            raise UnverifiedError(f"pattern in an option: {word.text}")
        elif word.text.startswith("--"):
            _long(word.text, words, form, parsed)
        elif form.number and word.text[1:].isdigit():
            parsed.names.add("number")
        else:
            _short(word.text, words, form, parsed)
    return parsed


def _long(text: str, rest: list[Word], form: CommandForm, parsed: Parsed) -> None:
    name, equals, value = text[2:].partition("=")
    parsed.names.add(name)
    if name in form.long and not equals:
        return
    if name in form.equal and (equals or name not in form.long_value):
        return
    if name in form.long_value or name in form.long_path:
        taken = Word(value) if equals else _value(rest, text)
        if name in form.long_path:
            parsed.paths.append(taken)
        return
    raise UnverifiedError(f"option {text.partition('=')[0]}")


def _short(text: str, rest: list[Word], form: CommandForm, parsed: Parsed) -> None:
    letters = text[1:]
    for place, letter in enumerate(letters):
        parsed.names.add(letter)
        if letter in form.short_value or letter in form.short_path:
            attached = letters[place + 1 :]
            taken = Word(attached) if attached else _value(rest, text)
            if letter in form.short_path:
                parsed.paths.append(taken)
            return
        if letter not in form.short:
            raise UnverifiedError(f"option -{letter}")


def _value(rest: list[Word], option: str) -> Word:
    if not rest or rest[0].glob:
        raise UnverifiedError(f"option {option} without a plain value")
    return rest.pop(0)


def read_operands(parsed: Parsed, form: CommandForm) -> Sequence[Word]:
    """Return the operands that are read as files or folders.

    Raises:
        UnverifiedError: There are operands that the form does not know.
    """
    operands = parsed.operands
    if form.operands == "none" and operands:
        raise UnverifiedError(f"operand {operands[0].text}")
    if form.operands == "one_read" and len(operands) > 1:
        raise UnverifiedError("a second operand, which is written")
    if form.operands == "pattern" and not parsed.names & form.pattern_by:
        operands = operands[1:]
    if form.operands in ("text", "none"):
        return ()
    return [word for word in operands if word.text != "-"]

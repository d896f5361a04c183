"""The strict tokenizer: takes apart only text whose meaning is beyond doubt, and calls everything else opaque.

Plain text is ASCII words, quotes around whole words, and `&&`, `||`, `;`, `|` and newlines between commands. Of
redirects only those that drop output are known.
"""

import re
from dataclasses import dataclass
from typing import Final

MAX_LENGTH: Final = 4096
"""Longer text is opaque: nobody reads it in a dialog."""
RESERVED: Final = frozenset(
    {
        "if", "then", "elif", "else", "fi", "for", "while", "until", "do", "done", "case", "esac", "in",
        "function", "select", "time", "coproc", "[[", "]]", "{", "}", "!",
    }
)  # fmt: skip
"""Source: bash(1), reserved words."""

_BLANK: Final = re.compile(r" +")
_OPERATOR: Final = re.compile(r"&&|\|\||[;|\n]")
_DROPS: Final = re.compile(r"(?:[12]?>|&>) ?/dev/null(?=[ ;|&\n]|$)|2>&1(?=[ ;|&\n]|$)")
_BARE: Final = re.compile(
    r"(?:[A-Za-z0-9_./:=,+@%^*?-]|(?<=[A-Za-z0-9^])~(?=[0-9^~ ;|&\n]|$)|\[[A-Za-z0-9_-]+\])+"
)
_SINGLE: Final = re.compile(r"'([^'\n]*)'")
_DOUBLE: Final = re.compile(r'"((?:[^"\\$`!\n]|\\(?=[^"\\$`!\n]))*)"')
_NAMED: Final = re.compile(r"--?[A-Za-z0-9][A-Za-z0-9-]*=")
_LONE: Final = re.compile(r"\\[();]|\{\}|!")
_ASSIGNMENT: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*\+?=")
_GLOB: Final = re.compile(r"[*?\[]")
_WHY: Final = (
    (re.compile(r"\$\(|`"), "command substitution"),
    (re.compile(r"[<>]\("), "process substitution"),
    (re.compile(r"\$"), "expansion"),
    (re.compile(r"<<"), "here-document"),
    (re.compile(r"[<>]"), "redirect"),
    (re.compile(r"\("), "subshell or function"),
    (re.compile(r"&"), "background"),
    (re.compile(r"#"), "comment"),
    (re.compile(r"[\"']"), "quotes inside a word"),
    (re.compile(r"\\"), "backslash"),
    (re.compile(r"[{}]"), "braces"),
    (re.compile(r"~"), "home folder"),
)


@dataclass(frozen=True, slots=True)
class Word:
    """One word as the program gets it."""

    text: str
    glob: bool = False
    """Unquoted * ? or [: the shell puts file names in its place."""


@dataclass(frozen=True, slots=True)
class PlainCommand:
    """One command whose words are known."""

    words: tuple[Word, ...]
    before: str = ""
    """Operator in front of it, "" for the first."""
    drops_output: bool = False
    """It has a redirect to /dev/null, or of stderr to stdout."""

    @property
    def argv(self) -> tuple[str, ...]:
        """Texts of the words."""
        return tuple(word.text for word in self.words)


@dataclass(frozen=True, slots=True)
class PlainText:
    """A command text taken apart, or why it cannot be."""

    commands: tuple[PlainCommand, ...] = ()
    opaque: str = ""


def take_apart(text: str) -> PlainText:
    """Take command text apart.

    Args:
        text: Bash source.

    Returns:
        All its commands in order, or none and the reason in `opaque`.
    """
    problem = _unfit(text)
    if problem:
        return PlainText(opaque=problem)
    taker = _Taker(text.strip(" \n"))
    problem = taker.take_all()
    return PlainText(opaque=problem) if problem else _checked(taker.commands)


class _Taker:
    """Walks once through a text."""

    def __init__(self, text: str) -> None:
        """Start at the beginning."""
        self.commands: list[PlainCommand] = []
        self._text = text
        self._at = 0
        self._words: list[Word] = []
        self._before = ""
        self._drops = False

    def take_all(self) -> str:
        """Walk to the end; return why it could not be done, "" when it could."""
        while self._at < len(self._text):
            problem = self._take()
            if problem:
                return problem
        if self._words:
            self._end_command()
            return ""
        return "" if self._before == ";" and self.commands else "an operator without a command"

    def _take(self) -> str:
        if (blank := _BLANK.match(self._text, self._at)) is not None:
            self._at = blank.end()
        elif (operator := _OPERATOR.match(self._text, self._at)) is not None:
            self._at = operator.end()
            return self._operator(operator.group())
        elif (dropped := _DROPS.match(self._text, self._at)) is not None:
            self._at, self._drops = dropped.end(), True
        else:
            word, self._at = _word(self._text, self._at)
            if word is None:
                return _why(self._text[self._at :])
            self._words.append(word)
        return ""

    def _operator(self, operator: str) -> str:
        if self._words:
            self._end_command()
            self._before = operator
            return ""
        blank_line = operator == "\n" and self._before in ("\n", ";", "&&", "||", "|")
        return "" if blank_line and not self._drops else "an operator without a command"

    def _end_command(self) -> None:
        self.commands.append(PlainCommand(tuple(self._words), self._before, self._drops))
        self._words, self._drops = [], False


def _unfit(text: str) -> str:
    if len(text) > MAX_LENGTH:
        return f"longer than {MAX_LENGTH} characters"
    if not text.isascii():
        return "characters that are not ASCII"
    if re.search(r"[\x00-\x09\x0b-\x1f\x7f]", text):
        return "control characters"
    return "" if text.strip() else "empty"


def _word(text: str, at: int) -> tuple[Word | None, int]:
    """Return the word at `at` and where it ends, or None and where it cannot be read."""
    for quoted in (_SINGLE, _DOUBLE):
        if (found := quoted.match(text, at)) is not None:
            return _ended(Word(found[1]), text, found.end(), at)
    if (found := _LONE.match(text, at)) is not None:
        return _ended(Word(found.group().removeprefix("\\")), text, found.end(), at)
    if (name := _NAMED.match(text, at)) is not None:
        for quoted in (_SINGLE, _DOUBLE):
            if (value := quoted.match(text, name.end())) is not None:
                return _ended(Word(name.group() + value[1]), text, value.end(), at)
    if (found := _BARE.match(text, at)) is not None:
        word = Word(found.group(), glob=_GLOB.search(found.group()) is not None)
        return _ended(word, text, found.end(), at)
    return None, at


def _ended(word: Word, text: str, end: int, start: int) -> tuple[Word | None, int]:
    """Return the word if it really ends there."""
    if end == len(text) or text[end] in " ;|&\n":
        return word, end
    return None, start


def _why(rest: str) -> str:
    for pattern, reason in _WHY:
        if pattern.search(rest):
            return reason
    return "something that is not plain"


def _checked(commands: list[PlainCommand]) -> PlainText:
    for command in commands:
        first = command.words[0]
        if first.glob:
            return PlainText(opaque="a pattern as a command")
        if first.text in RESERVED or not first.text:
            return PlainText(opaque="shell grammar")
        if _ASSIGNMENT.match(first.text):
            return PlainText(opaque="environment set in front of a command")
    return PlainText(tuple(commands))

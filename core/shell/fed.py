"""Texts that a command reads from its input or from a file the same text writes, and that are run."""

from collections.abc import Iterator, Sequence
from typing import Final

from core.shell.lexer import Token, unescaped
from core.shell.scripts import CODE_OPTIONS, STDIN_RUNNERS, calls, inline_code
from core.shell.seen import Seen
from core.shell.wrappers import base_name

WRITERS: Final = frozenset({"echo", "printf"})
"""Programs that write their own words."""


def written_text(seen: Seen) -> str:
    """Return what a command writes of its own words, "" where it writes something else."""
    if seen.name not in WRITERS:
        return ""
    words = (word.text for word in seen.words[1:] if not word.text.startswith("-"))
    return unescaped(" ".join(words))


def fed_words(seen: Seen) -> tuple[Token, ...]:
    """Return the words that `xargs` and its like get from a text that is known."""
    return tuple(Token(word) for word in seen.body.split())


def read_scripts(seen: Seen) -> Sequence[str]:
    """Return texts that a shell reads from its input."""
    name = base_name(seen.words[0].text)
    if name in STDIN_RUNNERS:
        return (seen.body,)
    return tuple(calls(seen.body)) if name in CODE_OPTIONS and seen.body else ()


def code_of(seen: Seen) -> Iterator[str]:
    """Yield code an interpreter is given, in its words or on its input."""
    if not seen.words:
        return
    yield from inline_code(seen.words)
    name = base_name(seen.words[0].text)
    if seen.body and name in CODE_OPTIONS and not name.endswith("awk"):
        yield seen.body


def written_and_run(commands: Sequence[Seen]) -> Iterator[str]:
    """Yield what is written to a file that the same text then runs."""
    named = [seen for seen in commands if seen.words]
    ran = {word.text.rpartition("/")[2] for seen in named for word in _run_words(seen)}
    for seen in commands:
        targets = [item.target.text for item in seen.redirects if item.operator.startswith(">")]
        if seen.name == "tee":
            targets += [word.text for word in seen.words[1:]]
        if ran.intersection(target.rpartition("/")[2] for target in targets if target):
            yield seen.body or written_text(seen)


def _run_words(seen: Seen) -> Sequence[Token]:
    """Return the words of a command that may be a file it runs."""
    name = base_name(seen.words[0].text)
    runs = name in STDIN_RUNNERS or name in CODE_OPTIONS or name in (".", "source")
    return seen.words[:4] if runs else seen.words[:1]

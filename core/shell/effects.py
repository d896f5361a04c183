"""What a command would do to files, as far as its words say."""

import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any, Final, Literal

from core.shell.fed import code_of
from core.shell.lexer import Token
from core.shell.scripts import literals
from core.shell.seen import Seen
from core.shell.wrappers import base_name

EffectKind = Literal["write", "delete", "tree", "destroy"]
"""write: makes or changes · delete: removes a file · tree: removes a folder with all in it · destroy: makes the content
unreadable or removes what was not named."""

WRITING_REDIRECTS: Final = frozenset({">", ">>", ">|", "&>", "&>>", "<>", ">&"})
_RECURSIVE: Final = re.compile(
    r"-[A-Za-z]*[rR][A-Za-z]*|--r(?:e(?:c(?:u(?:r(?:s(?:i(?:v(?:e)?)?)?)?)?)?)?)?"
)
_CODE_DELETES: Final = re.compile(
    r"rmtree|\bunlink|os\.remove|removedirs|os\.rmdir|rmSync|rmdirSync|unlinkSync|fs\.rm\b|FileUtils\.(?:rm|remove)"
    r"|File\.delete|Dir\.(?:rmdir|delete)|remove_tree|\.unlink\("
)
_CODE_WRITES: Final = re.compile(
    r"open\s*\([^)]*,\s*['\"][rb]*[wax+]|write_text|write_bytes|writeFile|appendFile|createWriteStream|copyfile|copy2?\("
    r"|copytree|os\.(?:rename|replace|symlink|link|makedirs|mkdir|chmod)|shutil\.(?:copy|move)|File\.(?:write|open)"
    r"|file_put_contents|fopen|open\s*\(?\s*\w*\s*,?\s*['\"]\s*>|>\s*\"|\.touch\(|\.mkdir\("
)
_SED_WRITES: Final = re.compile(r"(?:^|[;{}\d$/gpI\s])[wW]\s+([^\s;}]+)")
_AWK_WRITES: Final = re.compile(r">>?\s*\"([^\"]+)\"")


@dataclass(frozen=True, slots=True, kw_only=True)
class Effect:
    """One change a command would make."""

    kind: EffectKind
    target: Token
    folders: tuple[str, ...]
    """Where the target is relative to."""
    seen: Seen
    """The command."""


@cache
def _habits() -> Mapping[str, Mapping[str, Any]]:
    raw: dict[str, dict[str, Any]] = tomllib.loads(
        files("core.shell").joinpath("effects.toml").read_text("utf-8")
    )
    return raw


def effects(seen: Seen) -> Iterator[Effect]:
    """Yield what a command would do to files.

    Args:
        seen: From `core.shell.commands.CommandFinder`.
    """
    for redirect in seen.redirects:
        if redirect.operator in WRITING_REDIRECTS and not re.fullmatch(
            r"\d+-?|-", redirect.target.text
        ):
            yield Effect(kind="write", target=redirect.target, folders=seen.folders, seen=seen)
    if not seen.words:
        return
    name = base_name(seen.words[0].text)
    for kind, target in _by_name(name, seen):
        yield Effect(kind=kind, target=target, folders=seen.folders, seen=seen)


def _by_name(name: str, seen: Seen) -> Iterator[tuple[EffectKind, Token]]:
    yield from _by_habit(name, seen)
    special = SPECIAL.get(name)
    if special is not None:
        yield from special(seen.words[1:])
    for code in code_of(seen):
        yield from _by_code(code)
    if name.startswith("mkfs."):
        yield from (("destroy", word) for word in seen.words[1:] if word.text.startswith("/"))


def _by_habit(name: str, seen: Seen) -> Iterator[tuple[EffectKind, Token]]:
    habit = _habits().get(name)
    if habit is None:
        return
    into: list[Token] = []
    operands = list(_operands(seen.words[1:], habit, into))
    yield from (("write", word) for word in into)
    if habit.get("folder") and not into:
        yield "write", Token(".")
    yield from (
        ("write", word)
        for word in _chosen(habit.get("writes", ""), operands, given_into=bool(into))
    )
    yield from (("destroy", word) for word in _chosen(habit.get("destroys", ""), operands))
    recursive = any(_RECURSIVE.fullmatch(word.text) for word in seen.words[1:])
    kind: EffectKind = "tree" if recursive and name == "rm" else "delete"
    deleted = _chosen(habit.get("deletes", ""), operands)
    yield from ((kind, word) for word in deleted)
    if seen.more and (habit.get("deletes") or habit.get("destroys")):
        yield kind, Token("", exact=False)


def _operands(
    words: Sequence[Token], habit: Mapping[str, Any], into: list[Token]
) -> Iterator[Token]:
    """Yield the operands; values of options that are written go to `into`."""
    rest = list(words)
    written, skipped = habit.get("into", ()), habit.get("values", ())
    while rest:
        word = rest.pop(0)
        name, equals, value = word.text.partition("=")
        attached = next((option for option in written if _attached(word.text, option)), "")
        if word.text == "--":
            yield from rest
            return
        if word.text in written and rest:
            into.append(rest.pop(0))
        elif equals and name in written:
            into.append(Token(value, exact=word.exact, glob=word.glob))
        elif attached:
            into.append(Token(word.text[len(attached) :], exact=word.exact, glob=word.glob))
        elif word.text in skipped and rest:
            rest.pop(0)
        elif not word.text.startswith("-") or word.text == "-":
            yield word


def _attached(text: str, option: str) -> bool:
    """Return whether a one-letter option has its value in the same word."""
    return len(option) == 2 and text.startswith(option) and len(text) > 2


def _chosen(which: str, operands: Sequence[Token], *, given_into: bool = False) -> Sequence[Token]:
    if which == "all" or not which:
        return operands if which else ()
    if which == "last":
        return () if given_into or len(operands) < 2 else operands[-1:]
    places = {
        "first": slice(0, 1),
        "second": slice(1, 2),
        "rest": slice(1, None),
        "others": slice(0, -1),
    }
    return operands[places[which]]


def _find(words: Sequence[Token]) -> Iterator[tuple[EffectKind, Token]]:
    starts = []
    for word in words:
        if word.text.startswith("-") or word.text in ("(", "!"):
            break
        starts.append(word)
    texts = [word.text for word in words]
    if "-delete" in texts:
        chosen = any(
            re.fullmatch(r"-i?(?:name|path|regex|wholename)|-empty|-newer|-size", text)
            for text in texts
        )
        kind: EffectKind = "destroy" if chosen else "tree"
        yield from ((kind, word) for word in starts or [Token(".")])
    for place, text in enumerate(texts[:-1]):
        if text in ("-fprint", "-fprintf", "-fprint0", "-fls"):
            yield "write", words[place + 1]


def _dd(words: Sequence[Token]) -> Iterator[tuple[EffectKind, Token]]:
    for word in words:
        if word.text.startswith("of="):
            yield "destroy", Token(word.text[3:], exact=word.exact)


def _sed(words: Sequence[Token]) -> Iterator[tuple[EffectKind, Token]]:
    texts = [word.text for word in words]
    for text in texts:
        yield from (("write", Token(found[1])) for found in _SED_WRITES.finditer(text))
    if any(re.match(r"-[nErsz]*i|--in-place", text) for text in texts):
        operands = [word for word in words if not word.text.startswith("-")]
        given = any(text in ("-e", "-f", "--expression", "--file") for text in texts)
        yield from (("write", word) for word in operands[0 if given else 1 :])


def _perl(words: Sequence[Token]) -> Iterator[tuple[EffectKind, Token]]:
    if any(re.match(r"-\w*i", word.text) for word in words):
        yield from (("write", word) for word in words if not word.text.startswith("-"))


def _awk(words: Sequence[Token]) -> Iterator[tuple[EffectKind, Token]]:
    for word in words:
        yield from (("write", Token(found[1])) for found in _AWK_WRITES.finditer(word.text))


def _tar(words: Sequence[Token]) -> Iterator[tuple[EffectKind, Token]]:
    texts = [word.text for word in words]
    mode = next((text for text in texts if not text.startswith("--")), "").lstrip("-")
    extracts = "x" in mode or "--extract" in texts or "--get" in texts
    folders = [
        words[place + 1] for place, text in enumerate(texts[:-1]) if text in ("-C", "--directory")
    ]
    folders += [Token(text.partition("=")[2]) for text in texts if text.startswith("--directory=")]
    if extracts:
        yield from (("write", word) for word in folders or [Token(".")])
    elif "f" in mode and ("c" in mode or "r" in mode or "u" in mode) and len(words) > 1:
        yield "write", words[1]
    yield from (
        ("write", Token(text.partition("=")[2])) for text in texts if text.startswith("--file=")
    )


def _curl(words: Sequence[Token]) -> Iterator[tuple[EffectKind, Token]]:
    if any(re.fullmatch(r"-\w*O\w*|--remote-name(?:-all)?", word.text) for word in words):
        yield "write", Token(".")


def _wget(words: Sequence[Token]) -> Iterator[tuple[EffectKind, Token]]:
    if not any(word.text.startswith(("-O", "-qO", "--output-document")) for word in words):
        yield "write", Token(".")


def _rsync(words: Sequence[Token]) -> Iterator[tuple[EffectKind, Token]]:
    if any(word.text.startswith(("--delete", "--remove-source")) for word in words) and words:
        yield "destroy", words[-1]


def _unzip(words: Sequence[Token]) -> Iterator[tuple[EffectKind, Token]]:
    listing = any(re.fullmatch(r"-[lvtpzZ]\w*", word.text) for word in words)
    if not listing and "-d" not in (word.text for word in words):
        yield "write", Token(".")


def _by_code(code: str) -> Iterator[tuple[EffectKind, Token]]:
    """Yield what inline code may do to the paths in its text."""
    paths = [text for text in literals(code) if text and not re.fullmatch(r"[rwabx+]{1,3}", text)]
    if _CODE_DELETES.search(code):
        yield from (("tree", Token(text)) for text in paths)
    elif _CODE_WRITES.search(code):
        yield from (("write", Token(text)) for text in paths)


SPECIAL: Final = {
    "find": _find,
    "dd": _dd,
    "sed": _sed,
    "perl": _perl,
    "ruby": _perl,
    "awk": _awk,
    "gawk": _awk,
    "mawk": _awk,
    "tar": _tar,
    "bsdtar": _tar,
    "curl": _curl,
    "wget": _wget,
    "rsync": _rsync,
    "unzip": _unzip,
}
"""Programs whose words need more than a habit."""

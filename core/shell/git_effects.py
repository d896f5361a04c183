"""What a git command would do, by its words."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final, Literal

from core.shell.lexer import Token

GitKind = Literal["commit", "push", "destroy", "delete", "config", "write"]

HARMLESS_SETTINGS: Final = re.compile(
    r"(?:user\.(?:name|email|signingkey)|init\.defaultbranch|pull\.(?:rebase|ff)|push\.default|color\.\w+|core\.(?:autocrlf"
    r"|eol|filemode|ignorecase|quotepath|abbrev)|advice\.\w+|commit\.gpgsign|safe\.directory)",
    re.IGNORECASE,
)
"""Settings that start no program and send nothing elsewhere."""
_WITH_VALUE: Final = frozenset(
    {"-C", "-c", "--git-dir", "--work-tree", "--namespace", "--exec-path", "--config-env"}
)
_HARD: Final = {
    "reset": {"--hard", "--merge", "--keep"},
    "checkout": {"-f", "--force", "--", "."},
    "switch": {"-f", "--force", "--discard-changes", "-C"},
    "stash": {"drop", "clear"},
    "branch": {"-D", "-d", "--delete", "-M"},
    "tag": {"-d", "--delete"},
    "reflog": {"expire", "delete"},
    "update-ref": {"-d"},
    "worktree": {"remove", "prune"},
    "gc": {"--prune=now", "--prune=all"},
    "remote": {"remove", "rm"},
    "submodule": {"deinit"},
}
_ALWAYS_HARD: Final = frozenset({"clean", "filter-branch", "filter-repo", "restore", "replace"})


@dataclass(frozen=True, slots=True, kw_only=True)
class GitDeed:
    """One thing a git command does."""

    kind: GitKind
    target: Token
    """A path for delete, config and write; else the sub-command."""
    folder: str = ""
    """From -C, "" where it stays."""


def deeds(words: Sequence[Token]) -> Iterator[GitDeed]:
    """Yield what `git ...` does.

    Args:
        words: All words, "git" first.
    """
    rest = list(words[1:])
    folder = ""
    while rest and rest[0].text.startswith("-"):
        option = rest.pop(0).text
        if option in _WITH_VALUE and rest:
            value = rest.pop(0).text
            folder = value if option == "-C" else folder
    if not rest:
        return
    name, texts = rest[0].text, [word.text for word in rest[1:]]
    for kind, target in _by_name(name, rest, texts):
        yield GitDeed(kind=kind, target=target, folder=folder)
    for place, text in enumerate(texts):
        if text.startswith("--output="):
            yield GitDeed(kind="write", target=Token(text.partition("=")[2]), folder=folder)
        elif text in ("--output", "--output-directory") and place + 1 < len(texts):
            yield GitDeed(kind="write", target=rest[place + 2], folder=folder)


def _by_name(
    name: str, rest: Sequence[Token], texts: Sequence[str]
) -> Iterator[tuple[GitKind, Token]]:
    if name in ("push", "send-email", "send-pack"):
        yield "push", rest[0]
    elif name in ("commit", "merge", "am", "cherry-pick", "revert", "rebase"):
        yield "commit", rest[0]
    elif name == "rm":
        yield from (("delete", word) for word in rest[1:] if not word.text.startswith("-"))
    elif name in ("clone", "init", "worktree", "submodule"):
        yield from (("write", word) for word in rest[1:] if _is_place(word))
    elif name == "config":
        yield from _config(rest[1:], texts)
    elif _is_hard(name, texts):
        yield "destroy", rest[0]


def _is_place(word: Token) -> bool:
    """Return whether an operand may be the folder a repository is put in."""
    return not word.text.startswith("-") and "://" not in word.text and "@" not in word.text


def _is_hard(name: str, texts: Sequence[str]) -> bool:
    """Return whether work that is not committed, or history, is lost."""
    if name == "clean":
        return not any(re.fullmatch(r"-\w*n\w*|--dry-run", text) for text in texts)
    return name in _ALWAYS_HARD or bool(_HARD.get(name, set()) & set(texts))


def _config(words: Sequence[Token], texts: Sequence[str]) -> Iterator[tuple[GitKind, Token]]:
    """Yield a write of the configuration, unless it is only read or the setting is harmless."""
    if {"--get", "--get-all", "--get-regexp", "--list", "-l", "list", "get"} & set(texts):
        return
    operands = [text for text in texts if not text.startswith("-") and text not in ("set", "unset")]
    named = [text.partition("=")[2] for text in texts if text.startswith("--file=")]
    named += [texts[place + 1] for place, text in enumerate(texts[:-1]) if text in ("-f", "--file")]
    if len(operands) < 2 and not {
        "--unset",
        "--unset-all",
        "-e",
        "--edit",
        "--remove-section",
    } & set(texts):
        return
    if operands and HARMLESS_SETTINGS.fullmatch(operands[0]) and not named:
        return
    place = "~/.gitconfig" if {"--global", "--system"} & set(texts) else ".git/config"
    yield "config", Token(named[0] if named else place)

"""Texts inside a command that a shell or an interpreter is given: `sh -c`, `eval`, `python -c`, pagers and hooks."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Final

from core.shell.lexer import Token
from core.shell.wrappers import base_name

SHELLS: Final = frozenset(
    {
        "sh",
        "bash",
        "zsh",
        "dash",
        "ksh",
        "mksh",
        "ash",
        "fish",
        "csh",
        "tcsh",
        "rbash",
        "yash",
        "pwsh",
    }
)
STDIN_RUNNERS: Final = SHELLS | {"at", "batch", "crontab", "parallel"}
"""Programs that run what they read."""
CODE_OPTIONS: Final[Mapping[str, tuple[str, ...]]] = {
    "python": ("-c",),
    "perl": ("-e", "-E", "-ne", "-pe", "-i", "-ie", "-pie"),
    "ruby": ("-e", "-ne", "-pe"),
    "node": ("-e", "--eval", "-p", "--print"),
    "nodejs": ("-e", "--eval", "-p", "--print"),
    "deno": ("eval",),
    "bun": ("-e", "--eval"),
    "php": ("-r",),
    "lua": ("-e",),
    "osascript": ("-e",),
    "tclsh": (),
    "awk": (),
    "gawk": (),
    "mawk": (),
    "nawk": (),
}
"""Interpreters, and the options behind which their code stands; awk's code is its first operand."""
EXEC_OPTIONS: Final = (
    "--checkpoint-action=exec", "--to-command", "--use-compress-program", "-I", "--pre", "--compress-program",
    "--rsh", "-e", "--rsync-path", "--pager", "-P", "--exec", "-x", "--upload-pack", "--receive-pack", "-oProxyCommand",
    "--hostname-bin", "-TT", "--unzip-command", "--filter", "--editor", "--init-command",
)  # fmt: skip
"""Options that name a program to run, where the command is one of `EXEC_COMMANDS`."""
EXEC_COMMANDS: Final = frozenset(
    {"tar", "rg", "sort", "rsync", "man", "git", "scp", "sftp", "zip", "split", "ssh"}
)

C_OPTION: Final = frozenset({"su", "runuser", "script", "flock"})
"""Others that take a text behind -c."""

_CALL: Final = re.compile(
    r"(?:system|popen\w*|exec\w*|spawn\w*|run|call|check_call|check_output|getoutput|shell_exec|passthru|qx|os\.\w+"
    r"|subprocess\.\w+|Popen)\s*\(?\s*\[?\s*(.*)",
    re.DOTALL,
)
_LITERAL: Final = re.compile(
    r"'((?:[^'\\]|\\.)*)'|\"((?:[^\"\\]|\\.)*)\"|`([^`]*)`|qx\{([^}]*)\}", re.DOTALL
)
_AWK_PIPE: Final = re.compile(r"\|\s*\"([^\"]+)\"|\"([^\"]+)\"\s*\|\s*getline")
_SED_RUN: Final = re.compile(r"(?:^|[;{\n\d$/])\s*e\s+([^\n]+)")
_EDITOR_RUN: Final = re.compile(r"^\+?(?::|r)?!\s*(.+)")


def scripts(words: Sequence[Token]) -> Iterator[str]:
    """Yield texts that the command gives to a shell."""
    name = base_name(words[0].text)
    texts = [word.text for word in words[1:]]
    if name in SHELLS or name in C_OPTION:
        yield from _behind(texts, "c")
    giver = GIVERS.get(name)
    if giver is not None:
        yield from giver(texts)
    if name in EXEC_COMMANDS:
        yield from _exec_options(texts)
    if name in CODE_OPTIONS:
        for code in inline_code(words):
            yield from calls(code)


def inline_code(words: Sequence[Token]) -> Iterator[str]:
    """Yield code that stands in the words of an interpreter."""
    name = base_name(words[0].text)
    options = CODE_OPTIONS.get(name)
    if options is None:
        return
    texts = [word.text for word in words[1:]]
    if name.endswith("awk"):
        yield from (text for text in texts if re.search(r"[{(/]", text))
        return
    for place, text in enumerate(texts):
        if text in options or (re.fullmatch(r"-\w*[ecE]", text) and len(options) > 0):
            yield from texts[place + 1 : place + 2]


def _behind(texts: Sequence[str], letter: str) -> Iterator[str]:
    """Yield the word behind an option cluster that holds `letter` ("-c", "-lc", "--command")."""
    for place, text in enumerate(texts):
        if re.fullmatch(rf"[-+]\w*{letter}\w*|--command", text) and place + 1 < len(texts):
            yield next((t for t in texts[place + 1 :] if not t.startswith("-")), "")
            return
        if text.startswith("--command="):
            yield text.partition("=")[2]
            return


def _split_string(texts: Sequence[str]) -> Iterator[str]:
    for place, text in enumerate(texts):
        if text in ("-S", "--split-string"):
            yield " ".join(texts[place + 1 :])
        elif text.startswith(("-S", "--split-string=")):
            yield " ".join(
                [text.removeprefix("--split-string=").removeprefix("-S"), *texts[place + 1 :]]
            )


def _git_runs(texts: Sequence[str]) -> Iterator[str]:
    for text in texts:
        name, equals, value = text.partition("=")
        if equals and (
            value.startswith("!")
            or name.lower().endswith(("pager", "command", "editor", "monitor"))
        ):
            yield value.removeprefix("!")
    for marker in (["submodule", "foreach"], ["bisect", "run"], ["stash", "foreach"]):
        if texts[:2] == marker:
            yield " ".join(texts[2:])


def _exec_options(texts: Sequence[str]) -> Iterator[str]:
    for place, text in enumerate(texts):
        for option in EXEC_OPTIONS:
            if text.startswith(option + "="):
                yield text[len(option) + 1 :]
            elif text == option and place + 1 < len(texts):
                yield texts[place + 1].removeprefix("ProxyCommand=")


def calls(code: str) -> Iterator[str]:
    """Yield texts that code hands to a shell or starts as a program."""
    for found in _CALL.finditer(code):
        literals = [_text(item) for item in _LITERAL.finditer(found[1])]
        if literals:
            yield literals[0]
            yield " ".join(literals[:12])
    yield from (item[3] for item in _LITERAL.finditer(code) if item[3])
    yield from (found[1] or found[2] for found in _AWK_PIPE.finditer(code))


def _text(literal: re.Match[str]) -> str:
    return next((group for group in literal.groups() if group is not None), "")


def literals(code: str) -> list[str]:
    """Return the texts in quotes in a piece of code."""
    return [_text(item) for item in _LITERAL.finditer(code)]


def _all(texts: Sequence[str]) -> Iterator[str]:
    yield " ".join(texts)


def _operands(texts: Sequence[str]) -> Iterator[str]:
    yield " ".join(text for text in texts if not text.startswith("-"))


def _first(texts: Sequence[str]) -> Iterator[str]:
    yield from texts[:1]


def _values(texts: Sequence[str]) -> Iterator[str]:
    yield from (text.partition("=")[2] for text in texts if "=" in text)


def _editor(texts: Sequence[str]) -> Iterator[str]:
    yield from (found[1] for text in texts if (found := _EDITOR_RUN.match(text)))


def _sed(texts: Sequence[str]) -> Iterator[str]:
    yield from (found[1] for text in texts for found in _SED_RUN.finditer(text))


GIVERS: Final[Mapping[str, Callable[[Sequence[str]], Iterator[str]]]] = {
    "eval": _all,
    "watch": _operands,
    "trap": _first,
    "complete": _first,
    "alias": _values,
    "env": _split_string,
    "sed": _sed,
    "git": _git_runs,
    **dict.fromkeys(("less", "more", "vim", "vi", "nvim", "ex", "ed", "view", "emacs"), _editor),
}
"""By program: which of its words it gives to a shell."""

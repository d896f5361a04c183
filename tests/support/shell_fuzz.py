"""Random command texts, and what bash really runs when it is given one."""

import random
import subprocess
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

PROGRAMS = (
    "ls",
    "cat",
    "echo",
    "pwd",
    "head",
    "wc",
    "grep",
    "find",
    "sort",
    "cut",
    "sed",
    "awk",
    "date",
    "stat",
    "true",
    "printf",
    "uniq",
    "tr",
    "diff",
    "cd",
    "test",
    "type",
    "command",
    "which",
    "basename",
    "env",
    "rm",
    "id",
    "git",
    "jq",
    "eval",
    "xargs",
)
WORDS = (
    "a",
    "b.txt",
    "src",
    "-l",
    "-la",
    "-n",
    "-r",
    "5",
    "--color",
    "--",
    "-",
    ".",
    "./x",
    "src/y",
    "x=1",
    "a,b",
    "%s",
    "+%F",
    "-name",
    "-type",
    "f",
    "-exec",
    "-delete",
    "-o",
    "-e",
    "1,5p",
    "{print}",
    "HEAD~1",
    "a^b",
    "@",
    "in",
    "do",
    "!",
    "-v",
    "rm",
)
ODD = (
    "$x",
    "$(rm z)",
    "`rm z`",
    "${x}",
    "$((1+1))",
    "<(rm z)",
    ">(rm z)",
    "> z",
    ">> z",
    "< a",
    "2> z",
    "&> z",
    "<<E",
    "<<<a",
    "*",
    "?",
    "[a-b]",
    "*.txt",
    "{a,b}",
    "~",
    "~/x",
    "a~",
    "#c",
    "a#b",
    "\\",
    "\\\n",
    "\\;",
    "\\(",
    "\\)",
    "{}",
    "a\\b",
    "'",
    '"',
    "'a b'",
    '"a b"',
    '"a$b"',
    '"a`rm z`"',
    '"a\\"b"',
    '"a\\b"',
    "'a'b",
    "a'b'",
    'a"b"',
    "--x='a b'",
    '--x="c"',
    "$'rm'",
    '$"x"',
    "''",
    '""',
    "\t",
    "\r",
    "\u00a0",
    "\u200b",
    "\x00",
    "é",
    "=",
    "a=",
    "A=b",
    "A+=b",
    "a[0]=b",
    "()",
    "(",
    ")",
    "{",
    "}",
    "[[",
    "]]",
    "[",
    "]",
    "if",
    "then",
    "fi",
    "for",
    "while",
    "done",
    "case",
    "esac",
    "time",
    "function",
    "coproc",
    "2>/dev/null",
    "> /dev/null",
    "2>&1",
    "&>/dev/null",
    "2>&1x",
    ">/dev/nullx",
    "1>&2",
    "!!",
    "^a^b",
    ":",
    ".",
)
JOINS = (
    "&&",
    "||",
    ";",
    "|",
    "\n",
    " && ",
    " || ",
    " ; ",
    " | ",
    "&",
    ";;",
    "|&",
    "\n\n",
    ";\n",
    " & ",
    "&&\n",
    "\r\n",
    ";&",
)


def random_text(source: random.Random) -> str:
    """Return a text that is mostly plain, with something odd now and then."""
    commands = []
    for _ in range(source.choice((1, 1, 1, 2, 2, 3))):
        words = [source.choice(PROGRAMS)]
        for _ in range(source.randrange(5)):
            words.append(source.choice(ODD if source.random() < 0.12 else WORDS))
        if source.random() < 0.08:
            words.insert(0, source.choice(ODD))
        commands.append(
            source.choice((" ", " ", " ", "  ", "")).join(words)
            if source.random() < 0.04
            else " ".join(words)
        )
    text = commands[0]
    for command in commands[1:]:
        text += source.choice(JOINS[:9] if source.random() < 0.8 else JOINS) + command
    if source.random() < 0.15:
        at = source.randrange(len(text) + 1)
        text = text[:at] + source.choice("$`'\"\\;|&<>(){}*?[]~#!=\n\t ") + text[at:]
    return text


@dataclass(frozen=True)
class Ran:
    """What bash did with a text."""

    external: tuple[tuple[str, ...], ...]
    """Programs it looked for, with their words."""
    traced: tuple[str, ...]
    """First word of every command it traced."""


class Bash:
    """Runs texts in a bash that can start nothing: every program it looks for is only written down."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        for name in ("a", "b.txt", "x"):
            (folder / name).write_text("a\n")
        (folder / "src").mkdir()
        (folder / "src/y").write_text("a\n")
        self._log = folder.parent / "programs"
        self._trace = folder.parent / "trace"
        # one printf a program: the commands of a pipeline write at the same time
        self._prelude = (
            "command_not_found_handle() { local IFS=$'\\1'; printf '%s\\1\\2' \"$*\" "
            f">> {self._log}; }}\n"
            f"exec 9> {self._trace}; BASH_XTRACEFD=9; PS4='+'; PATH=/nonexistent; set -x\n"
        )

    def run(self, text: str) -> Ran:
        """Run a text and return what was started."""
        self._log.write_bytes(b"")
        subprocess.run(
            ["/bin/bash", "--norc", "--noprofile", "-c", self._prelude + text],
            cwd=self._folder,
            env={"HOME": "/nonexistent"},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            timeout=20,
            check=False,
        )
        pieces = self._log.read_bytes().decode("utf-8", "replace").split("\2")
        external = tuple(tuple(piece.split("\1")[:-1]) for piece in pieces if piece)
        lines = self._trace.read_text("utf-8", "replace").splitlines()
        traced = tuple(line.lstrip("+").split(" ", 1)[0] for line in lines if line.startswith("+"))
        own = {"command_not_found_handle", "printf", "local"}
        return Ran(external, tuple(name for name in traced if name not in own))

    def files(self) -> list[str]:
        """Return every path in the folder, to see whether one was made."""
        return sorted(str(path.relative_to(self._folder)) for path in self._folder.rglob("*"))


def differences(ran: Ran, argvs: Sequence[tuple[str, ...]]) -> Iterator[str]:
    """Yield what bash started that a reading of the text does not list."""
    names = {argv[0] for argv in argvs}
    patterns = any(character in word for argv in argvs for word in argv for character in "*?[")
    for words in ran.external:
        if words[0] not in names:
            yield f"program {words}"
        elif words not in argvs and not patterns:
            yield f"words {words}"
    yield from (f"traced {name}" for name in ran.traced if name.strip("'") not in names)

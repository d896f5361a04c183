"""Commands whose options are a language of their own: find, sed, awk and a few more."""

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Final, TypeAlias

from core.shell.git import check_git
from core.shell.options import UnverifiedError
from core.shell.words import PlainCommand, Word

Checker: TypeAlias = Callable[[PlainCommand], Sequence[Word]]
"""Returns the words that are read as files or folders; raises UnverifiedError where more could happen."""

FIND_TESTS: Final = frozenset(
    """
    -name -iname -path -ipath -wholename -iwholename -regex -iregex -regextype -type -xtype -size -mtime -mmin -atime
    -amin -ctime -cmin -newer -anewer -cnewer -maxdepth -mindepth -perm -user -group -uid -gid -links -inum -samefile
    -printf -lname -ilname -fstype -newermt
    """.split()  # noqa: SIM905
)
"""With a value."""
FIND_FLAGS: Final = frozenset(
    """
    -empty -print -print0 -ls -not -and -or -a -o ! ( ) , -prune -quit -depth -d -xdev -mount -readable -writable
    -executable -true -false -daystart -noleaf -ignore_readdir_race -nouser -nogroup
    """.split()  # noqa: SIM905
)
"""Without one."""
_SED_PRINT: Final = re.compile(r"(?:\d+|\$)(?:,(?:\d+|\$|\+\d+))?p|/[^/\\]*/p")
_SED_REPLACE: Final = re.compile(r"s/(?:[^/\\\n]|\\[^\n])*/(?:[^/\\\n]|\\[^\n])*/[gpiI0-9]*")
_SED_DELETE: Final = re.compile(r"(?:\d+|\$)(?:,(?:\d+|\$))?d|/[^/\\]*/d")
_AWK_FIELD: Final = r"(?:\$(?:\d+|NF|\(NF-\d+\))|NR|NF|FILENAME|\"[^\"\\]*\"|\d+)"
_AWK_TEST: Final = rf"(?:/[^/\\]*/|(?:NR|NF|\$\d+) ?(?:==|!=|<=|>=|<|~) ?(?:{_AWK_FIELD}|/[^/\\]*/)|!seen\[\$\d+\]\+\+)"
_AWK: Final = re.compile(
    rf" *(?:{_AWK_TEST})? *(?:\{{ *print(?: +{_AWK_FIELD}(?: *,? *{_AWK_FIELD})*)? *;? *\}})? *"
    rf"| *\{{ *(?:\w+ ?\+= ?\$\d+|\w+\+\+) *\}} *END *\{{ *print \w+ *\}} *"
)
VERSION_WORDS: Final = frozenset({"--version", "-V", "-version", "version"})


def _echo(command: PlainCommand) -> Sequence[Word]:
    return ()


def _cd(command: PlainCommand) -> Sequence[Word]:
    if len(command.words) > 2 or any(word.glob for word in command.words):
        raise UnverifiedError("cd with more than one word")
    if command.words[1:] and command.words[1].text.startswith("-"):
        raise UnverifiedError("cd with an option")
    return ()


def _find(command: PlainCommand) -> Sequence[Word]:
    words = list(command.words[1:])
    starts: list[Word] = []
    while words and words[0].text in ("-L", "-P", "-H"):
        words.pop(0)
    while words and not words[0].text.startswith("-") and words[0].text not in ("(", "!"):
        starts.append(words.pop(0))
    while words:
        word = words.pop(0)
        if word.glob:
            raise UnverifiedError(f"a pattern without quotes: {word.text}")
        if word.text in FIND_TESTS and words:
            value = words.pop(0)
            if value.glob:
                raise UnverifiedError(f"a pattern without quotes: {value.text}")
        elif word.text not in FIND_FLAGS:
            raise UnverifiedError(f"find {word.text}")
    return starts or [Word(".")]


def _sed(command: PlainCommand) -> Sequence[Word]:
    words = list(command.words[1:])
    scripts: list[Word] = []
    quiet = False
    while words and words[0].text in ("-n", "-e", "-E", "-r", "-s"):
        option = words.pop(0).text
        quiet = quiet or option == "-n"
        if option == "-e" and words:
            scripts.append(words.pop(0))
    if not scripts and words:
        scripts.append(words.pop(0))
    for script in scripts:
        printing = _SED_PRINT.fullmatch(script.text) is not None and quiet
        changing = _SED_REPLACE.fullmatch(script.text) or _SED_DELETE.fullmatch(script.text)
        if script.glob or not (printing or changing):
            raise UnverifiedError("a sed script that is not known to only print")
    return _files("sed", words)


def _awk(command: PlainCommand) -> Sequence[Word]:
    words = list(command.words[1:])
    while words and words[0].text.startswith("-"):
        option = words.pop(0).text
        if option == "-F" and words:
            words.pop(0)
        elif not re.fullmatch(r"-F.{1,4}", option):
            raise UnverifiedError(f"awk {option}")
    if not words or words[0].glob or not _AWK.fullmatch(words[0].text):
        raise UnverifiedError("an awk program that is not known to only print")
    return _files("awk", words[1:])


def _files(name: str, words: Sequence[Word]) -> Sequence[Word]:
    """Return words that are files, if they are."""
    for word in words:
        if word.text.startswith("-") and word.text != "-":
            raise UnverifiedError(f"{name} {word.text}")
        if word.glob and word.text[0] in "*?[":
            raise UnverifiedError(f"a pattern that could become an option: {word.text}")
        if name == "awk" and "=" in word.text:
            raise UnverifiedError("awk with a variable among its files")
    return [word for word in words if word.text != "-"]


def _date(command: PlainCommand) -> Sequence[Word]:
    for word in command.words[1:]:
        if word.text not in ("-u", "--utc", "-R", "--iso-8601", "-I") and not re.match(
            r"\+|--iso-8601=|-I\w|--rfc-3339=", word.text
        ):
            raise UnverifiedError(f"date {word.text}")
    return ()


def _command(command: PlainCommand) -> Sequence[Word]:
    if len(command.words) < 3 or command.words[1].text not in ("-v", "-V"):
        raise UnverifiedError("command runs its words")
    return ()


def _test(command: PlainCommand) -> Sequence[Word]:
    words = [word.text for word in command.words[1:]]
    if words[:1] == ["!"]:
        words.pop(0)
    one = len(words) == 2 and re.fullmatch(r"-[abcdefghknprsuwxzLOSG]", words[0])
    two = len(words) == 3 and words[1] in ("=", "==", "!=", "-nt", "-ot", "-ef")
    if not (one or two):
        raise UnverifiedError("test of more than one thing")
    return ()


def _tar(command: PlainCommand) -> Sequence[Word]:
    words = list(command.words[1:])
    if len(words) < 2 or not re.fullmatch(r"-?(?=\w*t)(?=\w*f$)[tvzjJf]+", words[0].text):
        raise UnverifiedError("tar other than listing")
    return [words[1], *_files("tar", words[2:])][:1]


def _unzip(command: PlainCommand) -> Sequence[Word]:
    words = list(command.words[1:])
    if len(words) != 2 or words[0].text not in ("-l", "-v", "-Z1", "-Z"):
        raise UnverifiedError("unzip other than listing")
    return words[1:]


def _version(command: PlainCommand) -> Sequence[Word]:
    texts = [word.text for word in command.words[1:]]
    if len(texts) != 1 or texts[0] not in VERSION_WORDS:
        raise UnverifiedError(f"{command.argv[0]} runs code")
    return ()


def _node(command: PlainCommand) -> Sequence[Word]:
    if command.argv[1:] in (("-v",), ("--version",)):
        return ()
    raise UnverifiedError("node runs code")


def _pip(command: PlainCommand) -> Sequence[Word]:
    texts = command.argv[1:]
    if texts[:1] in (("list",), ("freeze",)) and len(texts) == 1:
        return ()
    if texts[:1] == ("show",) and len(texts) > 1 and not any(t.startswith("-") for t in texts):
        return ()
    return _version(command)


CHECKERS: Final[Mapping[str, Checker]] = {
    "echo": _echo,
    "cd": _cd,
    "find": _find,
    "sed": _sed,
    "awk": _awk,
    "gawk": _awk,
    "mawk": _awk,
    "git": check_git,
    "date": _date,
    "command": _command,
    "test": _test,
    "tar": _tar,
    "unzip": _unzip,
    "node": _node,
    "pip": _pip,
    "pip3": _pip,
}
"""By command; the rest of those that are checked only say their version."""


def checker(name: str) -> Checker:
    """Return what checks the command."""
    return CHECKERS.get(name, _version)

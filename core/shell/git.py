"""When a git command only reads: by its own words, and by what the repository's configuration may make it run."""

import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Final

from core import dir_walk
from core.reach import Reach
from core.shell.options import UnverifiedError
from core.shell.words import PlainCommand, Word

MAX_CONFIG_BYTES: Final = 65_536
"""A longer configuration is not read."""
SAFE_SETTINGS: Final = re.compile(
    r"core\.(?:repositoryformatversion|filemode|bare|logallrefupdates|ignorecase|precomposeunicode|symlinks|autocrlf"
    r"|eol|safecrlf|abbrev|quotepath|compression)"
    r"|remote\..*\.(?:url|fetch|pushurl|mirror|tagopt)|branch\..*\.(?:remote|merge|rebase)"
    r"|user\.(?:name|email)|init\.defaultbranch|pull\.rebase|push\.default|color\.\w+|gc\.auto|extensions\.objectformat"
    r"|submodule\.active|advice\.\w+|fetch\.prune|merge\.conflictstyle|rerere\.enabled"
)
"""Settings that start no program. Source: git-config(1)."""

_COUNT: Final = re.compile(r"-\d+|-n\d*|-U\d+")
_SEARCH: Final = re.compile(r"-[SG][^-].*|-L\d+,\d+:.+")
_SECTION: Final = re.compile(r'\[\s*([A-Za-z0-9.-]+)(?:\s+"((?:[^"\\]|\\.)*)")?\s*\]\s*')
_SETTING: Final = re.compile(r"([A-Za-z][A-Za-z0-9-]*)\s*(?:=.*)?")


@dataclass(frozen=True, slots=True, kw_only=True)
class GitForm:
    """The harmless ways to call one sub-command; the fields are explained in `git.toml`."""

    flags: frozenset[str] = frozenset()
    values: frozenset[str] = frozenset()
    operands: bool = True


@cache
def _forms() -> Mapping[str, GitForm]:
    raw = tomllib.loads(files("core.shell").joinpath("git.toml").read_text("utf-8"))
    return {
        name: GitForm(
            flags=frozenset(entry.get("flags", ())),
            values=frozenset(entry.get("values", ())),
            operands=entry.get("operands", True),
        )
        for name, entry in raw.items()
    }


def check_git(command: PlainCommand) -> Sequence[Word]:
    """Return what is read.

    Raises:
        UnverifiedError: The words may do more than read.
    """
    words = [word for word in command.words[1:] if word.text != "--no-pager"]
    if not words:
        raise UnverifiedError("git alone")
    name, rest = words[0].text, words[1:]
    texts = [word.text for word in rest]
    if (name, texts) in (
        ("--version", []),
        ("stash", ["list"]),
        ("config", ["--list"]),
        ("config", ["-l"]),
    ):
        return ()
    if (
        name == "config"
        and len(texts) == 2
        and texts[0] == "--get"
        and not texts[1].startswith("-")
    ):
        return ()
    form = _forms().get(name)
    if form is None:
        raise UnverifiedError(f"git {name}")
    for word in rest:
        _check_word(name, word, form)
    return [word for word in rest if not word.text.startswith("-")]


def _check_word(name: str, word: Word, form: GitForm) -> None:
    text = word.text
    if word.glob and text[0] in "*?[":
        raise UnverifiedError(f"a pattern that could become an option: {text}")
    if not text.startswith("-"):
        if form.operands:
            return
        raise UnverifiedError(f"git {name} {text}")
    option, equals, value = text.removeprefix("--").partition("=")
    # %G in a format starts gpg
    known_value = bool(equals) and option in form.values and "%G" not in value
    known = text == "--" or text in form.flags or known_value
    counted = name in ("log", "show", "diff", "shortlog", "rev-list", "blame") and (
        _COUNT.fullmatch(text) or _SEARCH.fullmatch(text)
    )
    if not (known or counted):
        raise UnverifiedError(f"git {name} {text.partition('=')[0]}")


def why_git_may_run(reach: Reach, cwd: str | None) -> str:
    """Say why git in a folder may start a program, "" when it cannot.

    Args:
        reach: The model's view of the file system.
        cwd: Folder inside, None for the workspace.
    """
    folder = reach.resolve(".", cwd)
    if folder.place != "workspace" or folder.host is None:
        return "a folder outside the workspace"
    current = folder.host
    while True:
        problem = _folder_problem(current)
        if problem or current == reach.workspace or current == current.parent:
            return problem
        current = current.parent


def _folder_problem(folder: Path) -> str:
    if (folder / "HEAD").exists() or (folder / ".gitmodules").exists():
        return "a repository inside the repository"
    git = folder / ".git"
    if git.is_symlink() or git.is_file():
        return ".git is a link or a file"
    if not git.is_dir():
        return ""
    if (git / "config.worktree").exists() or (git / "commondir").exists():
        return "a shared or split configuration"
    if any(not hook.name.endswith(".sample") for hook in _listing(git / "hooks")):
        return "a hook is installed"
    return _config_problem(git)


def _listing(folder: Path) -> list[Path]:
    try:
        return list(folder.iterdir())
    except OSError:
        return []


def _config_problem(git: Path) -> str:
    try:
        data, size = dir_walk.read(str(git), "config", 0, MAX_CONFIG_BYTES)
    except FileNotFoundError:
        return ""
    except OSError:
        return "a configuration that cannot be read"
    if size > MAX_CONFIG_BYTES:
        return "a long configuration"
    section = ""
    for line in data.decode("utf-8", "replace").splitlines():
        plain = line.strip()
        if not plain or plain[0] in "#;":
            continue
        header = _SECTION.match(plain)
        if header is not None:
            section = header[1].lower() + (f".{header[2]}" if header[2] is not None else "")
            plain = plain[header.end() :]
        if plain and not _safe_setting(section, plain):
            return f"its configuration sets {section}"
    return ""


def _safe_setting(section: str, line: str) -> bool:
    setting = _SETTING.fullmatch(line)
    if setting is None or line.endswith("\\"):
        return False
    return SAFE_SETTINGS.fullmatch(f"{section}.{setting[1].lower()}") is not None

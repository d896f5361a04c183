"""A workspace and a situation for judging calls in tests."""

import os
from dataclasses import replace
from pathlib import Path

from core.assessment import Assessment, Situation
from core.dispatch import Judgement
from core.messages import JsonObject
from core.policy import judge
from core.policy_table import STRICTNESS
from core.ports import CallFacts
from core.risk import assess
from core.rules import Rule
from core.vocabulary import Mode, Verdict

GIT_CONFIG = """[core]
\trepositoryformatversion = 0
\tfilemode = true
\tbare = false
[remote "origin"]
\turl = https://code.test/x.git
\tfetch = +refs/heads/*:refs/remotes/origin/*
"""


def make_workspace(folder: Path) -> Path:
    """Fill a folder with a small project, a repository and odd links; return it."""
    workspace = folder.resolve() / "ws"
    for name in (
        "README.md", "notes.txt", "a.txt", "b.txt", "f", "x", "y", "a", "b", "x.sh", "start.sh", "x.tar", "x.zip",
        "data.csv", "data.bin", "data.json", "log.txt", "package.json", "one.py", "src/main.py", "src/b.py",
        "tests/test_a.py", "build/f0", "build/f1", "build/f2", ".git/HEAD", ".git/hooks/x.sample",
    ):  # fmt: skip
        path = workspace / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("x\n")
    (workspace / ".git/config").write_text(GIT_CONFIG)
    return workspace


def add_links(workspace: Path) -> None:
    """Add links that lead out, into the repository, in a circle, and a second name of a protected file."""
    for name, target in {
        "link": "/etc",
        "dangling": "/root/.bashrc",
        "gitlink": ".git",
        "loop": "loop",
        "up": "..",
    }.items():
        (workspace / name).symlink_to(target)
    os.link(workspace / ".git/config", workspace / "second_name")


class PolicyWorld:
    """Judges calls in one workspace."""

    def __init__(self, folder: Path) -> None:
        self.workspace = make_workspace(folder)
        self.situation = Situation(workspace=self.workspace, inside="/ws", home="/root")

    def with_situation(self, **changes: object) -> "PolicyWorld":
        """Return the same workspace in another situation."""
        other = object.__new__(PolicyWorld)
        other.workspace = self.workspace
        other.situation = replace(self.situation, **changes)  # type: ignore[arg-type]
        return other

    def assess(
        self, tool: str, arguments: JsonObject, facts: CallFacts | None = None
    ) -> Assessment:
        """Assess one call."""
        return assess(tool, arguments, facts or CallFacts(), self.situation)

    def judge(
        self,
        tool: str,
        arguments: JsonObject,
        *,
        mode: Mode = "ask",
        rules: tuple[Rule, ...] = (),
        facts: CallFacts | None = None,
    ) -> Judgement:
        """Judge one call."""
        return judge(self.assess(tool, arguments, facts), mode=mode, rules=rules)

    def shell(self, command: str, mode: Mode = "ask", rules: tuple[Rule, ...] = ()) -> Verdict:
        """Return the verdict on a command."""
        return self.judge("shell", {"command": command}, mode=mode, rules=rules).verdict


def at_least(got: Verdict, wanted: Verdict) -> bool:
    """Return whether a verdict is as strict as wanted."""
    return STRICTNESS.index(got) >= STRICTNESS.index(wanted)


def listed(path: Path) -> list[str]:
    """Return the lines of a data file, comments left out."""
    lines = path.read_text("utf-8").splitlines()
    return [line for line in lines if line.strip() and not line.startswith("# ")]


def unescaped(text: str) -> str:
    """Return a line of a data file with its escapes undone."""
    return text.encode("latin-1", "backslashreplace").decode("unicode_escape")

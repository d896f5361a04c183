"""What is known when a call is judged, and what judging it found."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Final, Literal

from core.messages import JsonValue
from core.policy_table import ROWS, highest
from core.ports import CallFacts
from core.reach import Reach
from core.vocabulary import RiskLevel

Tier = Literal["docker", "bubblewrap", "landlock", "none", "fake"]
"""Cage that commands and code run in; `none` is no cage."""

SANDBOX_HOME: Final = "/home/agent"
"""Home folder inside the sandbox."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OriginText:
    """Text in the memory window, with where it came from."""

    origin: str
    """user, workspace:PATH, web:ORIGIN, mcp:SERVER, model."""
    text: str
    untrusted: bool = field(init=False, compare=False)
    """Whether somebody else than the person or the workspace wrote it; looked at for each text at each call."""

    def __post_init__(self) -> None:
        """Work out who wrote it."""
        object.__setattr__(self, "untrusted", self.origin.startswith(("web:", "mcp:")))


@dataclass(frozen=True, kw_only=True)
class Situation:
    """The world a call would run in."""

    workspace: Path
    """Absolute folder on the host."""
    tier: Tier = "docker"
    inside: str = "/workspace"
    """The workspace as commands and file tools name it."""
    home: str = ""
    """Home folder as commands name it; "" is the sandbox's own, or the person's where there is no cage."""
    cwd: str | None = None
    """Folder the shell is in, inside; None is the workspace, "" is not known."""
    network: bool = False
    """Commands in the sandbox can reach the network."""
    taint: tuple[OriginText, ...] = ()
    """Texts of the window by origin."""
    visited: frozenset[str] = frozenset()
    """Origins the person or the run has been to in this session."""
    hosts_listed: bool = False
    """Allow-list mode: only origins that a rule names are opened without a question."""
    private_allowed: frozenset[tuple[str, int]] = frozenset()
    """Private hosts and ports the person has opened, as `core.private_hosts` has them."""
    own_tools: frozenset[str] = frozenset()
    """Names of the tools that are the person's own."""

    @cached_property
    def reach(self) -> Reach:
        """How paths are read."""
        inside = str(self.workspace) if self.tier == "none" else self.inside
        home = self.home or (str(Path.home()) if self.tier == "none" else SANDBOX_HOME)
        return Reach(workspace=self.workspace, inside=inside, home=home)

    @property
    def tainted(self) -> bool:
        """Whether text of a page or another program is in the window."""
        return True in [item.untrusted for item in self.taint]


@dataclass(frozen=True, slots=True)
class Finding:
    """One effect of a call: a row of the table, and what it was found in."""

    row: str
    """Key of `core.policy_table.ROWS`."""
    part: str = ""
    """Command, path or host it was found in."""
    detail: str = ""
    """What exactly, in a few words."""

    @property
    def risk(self) -> RiskLevel:
        """Level of the row."""
        return ROWS[self.row].risk

    def reason(self) -> str:
        """Return one line for the dialog."""
        what = ROWS[self.row].what
        about = self.detail or self.part
        return f"{what}: {about}" if about else what


@dataclass(frozen=True, slots=True, kw_only=True)
class Words:
    """A plain command as rules see it."""

    words: tuple[str, ...]
    """As the program gets them."""
    verified: bool = False
    """It provably only reads: every option of it is known."""
    inside: bool = True
    """Every word, read as a path, is an ordinary one in the workspace."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Subject:
    """What rules are matched against."""

    tool: str
    text: str = ""
    """All argument texts, one a line; `core.risk.assess` fills it."""
    commands: tuple[Words, ...] = ()
    """Plain commands of a shell call; empty when it is opaque."""
    seen: tuple[tuple[str, ...], ...] = ()
    """Every command that may be in it, wrappers taken off; for rules that make stricter."""
    opaque: str = ""
    """Why a command text cannot be taken apart, "" when it can."""
    origin: str = ""
    """scheme://host:port the call goes to or acts on."""
    action: str = ""
    """Action of a browser call."""
    where: Literal["", "sandbox", "host"] = ""
    """Where commands and code run."""


@dataclass(frozen=True, kw_only=True)
class Assessment:
    """What a call would do, in rows of the table."""

    subject: Subject
    title: str
    findings: tuple[Finding, ...]
    parts: tuple[str, ...] = ()
    """The call in parts, as the dialog shows it."""
    notes: tuple[str, ...] = ()
    """More reasons to show that are no rows: "opaque: command substitution"."""
    tainted: bool = False

    @property
    def risk(self) -> RiskLevel:
        """The highest level of its findings."""
        return highest([finding.risk for finding in self.findings])


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """One call with all that judging it needs."""

    tool: str
    arguments: Mapping[str, JsonValue]
    facts: CallFacts = field(default_factory=CallFacts)
    situation: Situation

    def text(self, name: str) -> str:
        """Return a text argument, "" where it is missing or of another type."""
        value = self.arguments.get(name)
        return value if isinstance(value, str) else ""

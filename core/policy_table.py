"""What each kind of effect needs in each mode, as data.

A row is one kind of effect. `core.risk` says which rows fit a call; `core.policy` takes the strictest of them.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from core.vocabulary import Mode, RiskLevel, Verdict

STRICTNESS: Final[tuple[Verdict, ...]] = ("allow", "ask", "ask_strong", "deny", "block")
"""From least to most strict."""
LEVELS: Final[tuple[RiskLevel, ...]] = ("R0", "R1", "R2", "R3", "R4")


@dataclass(frozen=True, slots=True)
class Row:
    """One kind of effect."""

    risk: RiskLevel
    what: str
    """In plain words, for the dialog: "deletes a whole folder"."""
    read: Verdict
    ask: Verdict
    auto: Verdict
    full: Verdict

    def verdict(self, mode: Mode) -> Verdict:
        """Return what the mode says."""
        return {"read": self.read, "ask": self.ask, "auto": self.auto, "full": self.full}[mode]


def _row(risk: RiskLevel, verdicts: str, what: str) -> Row:
    """Make a row; `verdicts` are four words for read, ask, auto and full, or one for all."""
    words = verdicts.split()
    read, ask, auto, full = (words * 4)[:4] if len(words) == 1 else words
    for word in (read, ask, auto, full):
        if word not in STRICTNESS:
            raise ValueError(word)
    return Row(risk, what, read, ask, auto, full)  # type: ignore[arg-type]


ROWS: Final[Mapping[str, Row]] = {
    # files, by file tools
    "read": _row("R0", "allow", "reads in the workspace"),
    "read_secret": _row("R2", "ask", "reads a file that may hold secrets"),
    "read_outside": _row("R2", "ask ask ask allow", "reads outside the workspace"),
    "write": _row("R2", "deny ask allow allow", "writes in the workspace"),
    "write_host_run": _row(
        "R3", "deny ask_strong ask allow", "writes a file that programs outside the sandbox run"
    ),
    "protected": _row("R4", "block block block ask_strong", "changes a protected file"),
    "own": _row("R4", "block", "changes Handrail's own files"),
    "delete": _row("R2", "deny ask allow allow", "deletes files in the workspace"),
    "delete_tree": _row(
        "R3", "deny ask_strong ask_strong ask_strong", "deletes many files at once"
    ),
    "change_outside": _row(
        "R4", "deny ask_strong ask_strong ask", "writes or deletes outside the workspace"
    ),
    "delete_root": _row(
        "R4", "block", "deletes the root, the home folder or a mounted file system"
    ),
    # commands and code in the sandbox
    "shell_plain": _row("R0", "allow", "only reads"),
    "shell_reads_secret": _row("R2", "ask ask allow allow", "reads a file that may hold secrets"),
    "shell_reads_outside": _row("R2", "ask ask allow allow", "reads outside the workspace"),
    "shell": _row("R2", "deny ask allow allow", "runs a command in the sandbox"),
    "shell_writes": _row("R2", "deny ask allow allow", "writes in the workspace"),
    "shell_deletes": _row("R2", "deny ask allow allow", "deletes files in the workspace"),
    "shell_writes_host_run": _row(
        "R3", "deny ask_strong allow allow", "writes a file that programs outside the sandbox run"
    ),
    "shell_changes_scratch": _row(
        "R3", "deny ask_strong allow allow", "writes outside the workspace, in scratch space"
    ),
    "shell_changes_outside": _row(
        "R4", "deny ask_strong allow allow", "writes or deletes outside the workspace"
    ),
    "shell_danger": _row("R3", "deny ask_strong allow allow", "is a known danger"),
    "shell_destroys": _row("R3", "deny ask_strong ask allow", "destroys files of the workspace"),
    "python": _row("R2", "deny ask allow allow", "runs Python code in the sandbox"),
    "install": _row("R3", "deny ask ask allow", "installs packages in the sandbox"),
    "network_on": _row("R3", "deny ask_strong ask ask", "runs with the network on"),
    "git_commit": _row("R2", "deny ask allow allow", "records a commit"),
    "git_push": _row("R4", "deny ask_strong ask_strong ask", "sends commits to another machine"),
    "host_code": _row(
        "R4", "deny ask_strong ask_strong ask", "runs on this machine itself, in no sandbox"
    ),
    # the web
    "web_search": _row("R1", "allow", "searches the web"),
    "navigate": _row("R1", "allow", "opens a public page"),
    "navigate_private": _row("R3", "deny", "opens an address that is not public"),
    "navigate_new": _row("R1", "ask", "opens a site that is new in this session"),
    "navigate_unlisted": _row("R1", "ask", "opens a site that no rule names"),
    "sends_private": _row("R3", "ask", "carries private text out"),
    "look": _row("R0", "allow", "looks at the page"),
    "click_link": _row("R1", "allow", "follows a link"),
    "page_input": _row("R2", "deny ask allow allow", "acts on the page"),
    "final_action": _row(
        "R4", "deny ask_strong ask_strong ask", "may submit, send, buy, delete or authorise"
    ),
    "secret_field": _row("R4", "deny", "fills a field the person alone fills"),
    "stored_secret": _row("R4", "deny ask_strong ask_strong ask_strong", "types a stored secret"),
    "upload": _row("R3", "deny ask ask ask", "uploads a file of the workspace"),
    "upload_outside": _row(
        "R4", "deny ask_strong ask_strong ask_strong", "uploads a file from elsewhere"
    ),
    "download": _row("R2", "deny ask allow allow", "downloads a file"),
    "page_script": _row("R3", "deny ask ask allow", "runs a script in the page"),
    "page_permission": _row("R4", "block", "gives a page access to a device or the clipboard"),
    # the rest
    "mcp_reads": _row("R1", "ask ask allow allow", "asks another program for data"),
    "mcp": _row("R3", "deny ask ask allow", "calls another program"),
    "mcp_destructive": _row(
        "R4", "deny ask_strong ask_strong ask", "calls another program that may destroy"
    ),
    "own_tool": _row("R3", "deny ask ask ask", "is a tool of your own, which runs in no sandbox"),
    "note": _row("R2", "deny ask allow allow", "writes a lasting note"),
    "delegate": _row("R1", "allow", "hands a part to a sub-agent with the same rights"),
    "open_on_host": _row(
        "R3", "deny ask_strong ask_strong ask", "opens something with a program of this machine"
    ),
    "talk": _row("R0", "allow", "talks to the person"),
    "unknown": _row("R3", "deny ask_strong ask ask", "is a tool without a row in the table"),
    "unreadable": _row("R3", "deny ask_strong ask ask", "could not be judged"),
    "unreadable_high": _row(
        "R4", "deny ask_strong ask_strong ask", "could not be judged and may be final"
    ),
}
"""Every kind of effect by its key."""


def strictest(verdicts: "list[Verdict]") -> Verdict:
    """Return the strictest of the verdicts, allow when there are none."""
    return max(verdicts, key=STRICTNESS.index, default="allow")


def highest(risks: "list[RiskLevel]") -> RiskLevel:
    """Return the highest of the levels, R0 when there are none."""
    return max(risks, key=LEVELS.index, default="R0")

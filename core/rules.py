"""Rules of the person: what to allow, ask or deny beyond the table, and how a rule is matched."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Final, Literal

from core.assessment import Assessment, Subject, Words
from core.vocabulary import Mode

RuleDecision = Literal["allow", "ask", "ask_strong", "deny"]
REST: Final = "..."
"""As the last word of `argv`: any more verified options and operands."""
PATH: Final = "path:"
"""In front of a glob in `argv`: one or more paths in the workspace."""
MANAGED_MODES: Final[tuple[Mode, ...]] = ("ask", "auto", "full")
"""Modes of a rule that names none; an allow in read mode must be asked for by name."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """One rule. Every field that is set must fit."""

    id: str
    """Shown in dialogs and the journal."""
    decision: RuleDecision
    tool: str = "*"
    """Exact tool name, "*", or a pattern for the tools of an MCP server: "mcp:github/list_*"."""
    argv: tuple[str, ...] = ()
    """Words of one plain command; the last may be "..."."""
    where: Literal["", "sandbox", "host"] = ""
    """Where commands must run; "" is anywhere."""
    origin: str = ""
    """scheme://host[:port]."""
    actions: tuple[str, ...] = ()
    """Browser actions; empty is all."""
    text: str = ""
    """Plain substring of the arguments."""
    modes: tuple[Mode, ...] = ()
    taint: Literal["", "clean"] = ""
    """clean: void while text of a page or another program is in the window."""
    reason: str = ""
    """Told to the model when it denies."""
    source: str = "session"
    """Where it comes from: file:line, "session", "built-in"."""
    covers: tuple[str, ...] = ()
    """Rows of the table an allow given in a dialog was asked for; empty is any that a rule can open."""

    def fits_mode(self, mode: Mode) -> bool:
        """Return whether it holds in the mode."""
        if self.modes:
            return mode in self.modes
        return self.decision != "allow" or mode in MANAGED_MODES

    def restricts(self, assessment: Assessment) -> bool:
        """Return whether a stricter decision of this rule fits any part of the call."""
        subject = assessment.subject
        if not self._fits_call(subject):
            return False
        if not self.argv:
            return True
        commands = (*(item.words for item in subject.commands), *subject.seen)
        return any(self._same(words) for words in commands)

    def allowed_commands(self, assessment: Assessment) -> frozenset[tuple[str, ...]]:
        """Return the plain commands of the call that an allow of this rule covers."""
        subject = assessment.subject
        if not self.argv or not self._fits_call(subject) or self._void(assessment):
            return frozenset()
        return frozenset(item.words for item in subject.commands if self._covers(item))

    def allows_call(self, assessment: Assessment) -> bool:
        """Return whether an allow of this rule, that names no command, covers the call."""
        if self.argv or self._void(assessment):
            return False
        return self._fits_call(assessment.subject)

    def _void(self, assessment: Assessment) -> bool:
        return self.taint == "clean" and assessment.tainted

    def _fits_call(self, subject: Subject) -> bool:
        if self.tool not in ("*", subject.tool) and not (
            self.tool.startswith("mcp:") and fnmatchcase(subject.tool, self.tool)
        ):
            return False
        if self.where and self.where != subject.where:
            return False
        if self.origin and self.origin.rstrip("/") != subject.origin:
            return False
        if self.actions and _action(subject.action) not in map(_action, self.actions):
            return False
        return not self.text or self.text in subject.text

    def _covers(self, item: Words) -> bool:
        """Return whether it allows the command; its "..." stands for known options and operands inside only."""
        if not self._same(item.words):
            return False
        if self.argv[-1] != REST and not any(word.startswith(PATH) for word in self.argv):
            return True
        rest = item.words[len(self.argv) - 1 :] if self.argv[-1] == REST else ()
        options = any(word.startswith("-") and word != "-" for word in rest)
        return item.inside and (item.verified or not options)

    def _same(self, words: Sequence[str]) -> bool:
        return fits(self.argv, words)


def fits(pattern: Sequence[str], words: Sequence[str]) -> bool:
    """Return whether words fit the words of a rule.

    Args:
        pattern: Plain words; "{-q,-k *}" is any number of these options, "path:GLOB" one or more paths,
            a last "..." any more words.
        words: One plain command.
    """
    if not pattern:
        return not words
    first, rest = pattern[0], pattern[1:]
    if first == REST and not rest:
        return True
    if first.startswith("{") and first.endswith("}"):
        taken = _options_taken(first[1:-1].split(","), words)
        return any(fits(rest, words[count:]) for count in taken)
    if first.startswith(PATH):
        return any(fits(rest, words[count:]) for count in _paths_taken(first[len(PATH) :], words))
    return bool(words) and words[0] == first and fits(rest, words[1:])


def _options_taken(options: Sequence[str], words: Sequence[str]) -> Iterator[int]:
    """Yield how many words can be taken as options of the set, none included."""
    taken = 0
    yield taken
    known = [option.split() for option in options]
    while taken < len(words):
        option = next((item for item in known if item and item[0] == words[taken]), None)
        if option is None or taken + len(option) > len(words):
            return
        taken += len(option)
        yield taken


def _paths_taken(glob: str, words: Sequence[str]) -> Iterator[int]:
    pattern = re.compile(
        "".join(
            _GLOB_PIECES.get(piece, re.escape(piece)) for piece in re.split(r"(\*\*/?|\*|\?)", glob)
        )
    )
    for count, word in enumerate(words, start=1):
        if (
            word.startswith(("-", "/", "~"))
            or ".." in word.split("/")
            or not pattern.fullmatch(word)
        ):
            return
        yield count


_GLOB_PIECES: Final = {"**": ".*", "**/": "(?:.*/)?", "*": "[^/]*", "?": "[^/]"}


def _action(name: str) -> str:
    """Return the usual name of a browser action."""
    names = {"navigate": "go_to", "goto": "go_to", "go_to_url": "go_to", "open": "go_to"}
    names |= {"new_tab": "go_to", "open_tab": "go_to", "fill": "type", "input_text": "type"}
    return names.get(name, name)

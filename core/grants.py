"""What "allow this for the session" would allow: never wider than the call that is on the screen."""

from typing import Final

from core.assessment import Assessment, Finding
from core.policy import NEVER_OPENED
from core.policy_table import ROWS
from core.rules import Rule
from core.vocabulary import Mode

LOW_RISKS: Final = frozenset({"R0", "R1", "R2"})
"""Levels that may be allowed for longer than once."""
BY_ORIGIN: Final = frozenset({"browser"})
"""Tools whose grants hold for one origin and one action."""


def proposed_rule(assessment: Assessment, *, mode: Mode) -> Rule | None:
    """Return the rule a key "for the session" would make, None where there must be none.

    Args:
        assessment: The call on the screen, not cut and not edited since.
        mode: The mode it asks in; the rule holds in this one only.

    Returns:
        None for strong questions, R3 and up, opaque text, and while strangers' text is in the window.
    """
    subject = assessment.subject
    asking = [finding for finding in assessment.findings if _asks(finding, mode)]
    if not asking or assessment.tainted or assessment.risk not in LOW_RISKS:
        return None
    if any(ROWS[finding.row].verdict(mode) != "ask" for finding in asking):
        return None
    if any(finding.row in NEVER_OPENED for finding in asking):
        return None
    number = f"session-{subject.tool}-{asking[0].row}"
    if subject.tool == "shell":
        return _for_command(assessment, number, mode)
    if subject.tool in BY_ORIGIN and not subject.origin:
        return None
    rows = tuple(dict.fromkeys(finding.row for finding in asking))
    actions = (subject.action,) if subject.action else ()
    return Rule(
        id=number,
        decision="allow",
        tool=subject.tool,
        origin=subject.origin,
        actions=actions,
        modes=(mode,),
        covers=rows,
    )


def _for_command(assessment: Assessment, number: str, mode: Mode) -> Rule | None:
    """Return a rule for exactly the one command of a text that is not allowed anyway."""
    subject = assessment.subject
    needed = [item for item in subject.commands if not (item.verified and item.inside)]
    if subject.opaque or len(needed) != 1:
        return None
    return Rule(
        id=number,
        decision="allow",
        tool="shell",
        argv=needed[0].words,
        where=subject.where,
        modes=(mode,),
    )


def _asks(finding: Finding, mode: Mode) -> bool:
    return ROWS[finding.row].verdict(mode) != "allow"

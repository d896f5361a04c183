"""What is decided of a call that was assessed: table, taint and rules, the strictest of all parts.

block > deny > ask_strong > ask > allow > what the mode says by itself
"""

from collections.abc import Sequence
from typing import Final

from core.assessment import Assessment, Finding
from core.dispatch import Judgement
from core.policy_table import ROWS, STRICTNESS, strictest
from core.rules import Rule
from core.vocabulary import Mode, Verdict

NEVER_OPENED: Final = frozenset(
    {
        "navigate_private",
        "secret_field",
        "own",
        "delete_root",
        "page_permission",
        "sends_private",
        "final_action",
        "stored_secret",
        "host_code",
        "git_push",
        "change_outside",
        "upload_outside",
        "unreadable",
        "unreadable_high",
    }
)
"""Rows that no allow rule opens: each time is its own decision."""
TAINT_SENSITIVE: Final = frozenset({"R3", "R4"})
"""Levels that ask in every mode once text of others is in the window."""
NAVIGATION_ROWS: Final = frozenset({"navigate", "navigate_new", "navigate_unlisted", "look"})


def judge(
    assessment: Assessment,
    *,
    mode: Mode,
    rules: Sequence[Rule] = (),
    headless: bool = False,
) -> Judgement:
    """Decide on a call.

    Args:
        assessment: From `core.risk.assess`.
        mode: The mode of now.
        rules: An immutable snapshot; order does not matter.
        headless: Nobody can answer, so what would ask is denied. Leave it out where a gate says so itself.

    Returns:
        Verdict, risk and what a dialog shows, reasons of the strictest parts first.
    """
    by_default = [(finding, _default(finding, assessment, mode)) for finding in assessment.findings]
    holding = [rule for rule in rules if rule.fits_mode(mode)]
    opened = _opened(by_default, assessment, holding)
    verdict = strictest([decided for _, decided in opened])
    rule = _allowing(by_default, opened, holding, assessment)
    for restricting in holding:
        if restricting.decision == "allow" or not restricting.restricts(assessment):
            continue
        if _stricter(restricting.decision, verdict):
            verdict, rule = restricting.decision, restricting
    if headless and verdict in ("ask", "ask_strong"):
        verdict = "deny"
    return Judgement(
        verdict=verdict,
        risk=assessment.risk,
        title=assessment.title,
        parts=assessment.parts,
        reasons=_reasons(opened, assessment, rule),
        rule=rule.id if rule is not None else "",
    )


def _default(finding: Finding, assessment: Assessment, mode: Mode) -> Verdict:
    verdict = ROWS[finding.row].verdict(mode)
    if verdict == "allow" and assessment.tainted and finding.risk in TAINT_SENSITIVE:
        return "ask"
    return verdict


def _opened(
    by_default: list[tuple[Finding, Verdict]], assessment: Assessment, rules: Sequence[Rule]
) -> list[tuple[Finding, Verdict]]:
    """Return the verdicts after allow rules; they open ask and deny, never ask_strong or block."""
    allows = [rule for rule in rules if rule.decision == "allow"]
    whole = [rule for rule in allows if rule.allows_call(assessment)]
    by_command = _all_commands_allowed(assessment, allows)
    result: list[tuple[Finding, Verdict]] = []
    for finding, verdict in by_default:
        openable = verdict in ("ask", "deny") and finding.row not in NEVER_OPENED
        if openable and (by_command or any(_covers(rule, finding) for rule in whole)):
            verdict = "allow"
        result.append((finding, verdict))
    return result


def _covers(rule: Rule, finding: Finding) -> bool:
    """Return whether a rule without a command opens a row: commands need `argv`, sites need `origin`."""
    if rule.covers:
        return finding.row in rule.covers
    if finding.row.startswith("shell"):
        return False
    if finding.row in NAVIGATION_ROWS:
        return bool(rule.origin)
    return True


def _all_commands_allowed(assessment: Assessment, allows: Sequence[Rule]) -> bool:
    subject = assessment.subject
    if subject.opaque or not subject.commands:
        return False
    covered = {words for rule in allows for words in rule.allowed_commands(assessment)}
    if not covered:
        return False
    return all(
        item.words in covered or (item.verified and item.inside) for item in subject.commands
    )


def _allowing(
    by_default: list[tuple[Finding, Verdict]],
    opened: list[tuple[Finding, Verdict]],
    rules: Sequence[Rule],
    assessment: Assessment,
) -> Rule | None:
    """Return the allow rule that made the difference, if one did."""
    if by_default == opened:
        return None
    for rule in rules:
        if rule.decision == "allow" and (
            rule.allows_call(assessment) or rule.allowed_commands(assessment)
        ):
            return rule
    return None


def _stricter(one: Verdict, other: Verdict) -> bool:
    return STRICTNESS.index(one) > STRICTNESS.index(other)


def _reasons(
    decided: list[tuple[Finding, Verdict]], assessment: Assessment, rule: Rule | None
) -> tuple[str, ...]:
    ordered = sorted(decided, key=lambda pair: STRICTNESS.index(pair[1]), reverse=True)
    lines = [finding.reason() for finding, _ in ordered]
    if rule is not None:
        why = f": {rule.reason}" if rule.reason else ""
        lines.insert(0, f"rule {rule.id} ({rule.source}) says {rule.decision}{why}")
    lines.extend(assessment.notes)
    if assessment.tainted:
        lines.append("text of web pages or other programs is in the window")
    return tuple(dict.fromkeys(lines))

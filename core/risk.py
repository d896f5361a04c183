"""What a call would do: rows of the policy table, found from its arguments and from what the tool knows.

Nothing here runs or changes anything, and nothing the model says of a call lowers what is found.
"""

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Final, TypeAlias

from core.assessment import Assessment, Case, Finding, Situation, Subject
from core.messages import JsonValue
from core.ports import CallFacts
from core.risk_code import assess_python
from core.risk_files import assess_edit, assess_read
from core.risk_shell import assess_shell
from core.risk_web import assess_browser, assess_fetch, assess_search

Assessor: TypeAlias = Callable[[Case], Assessment]

ERRORS: Final = (ValueError, KeyError, TypeError, IndexError, OSError, RecursionError)
"""What hostile arguments can make a classifier raise; the call is then judged one level up."""
HIGH_TOOLS: Final = frozenset({"browser", "edit_file", "upload", "desktop"})
"""Tools whose calls may be final; unreadable ones count as R4."""


def _fixed(row: str) -> Assessor:
    def assessed(case: Case) -> Assessment:
        return Assessment(
            subject=Subject(tool=case.tool),
            title=case.facts.title or case.tool,
            findings=(Finding(row),),
            parts=case.facts.parts,
        )

    return assessed


ASSESSORS: Final[Mapping[str, Assessor]] = {
    "shell": assess_shell,
    "python": assess_python,
    "run_code": assess_python,
    "read_file": assess_read,
    "list_files": assess_read,
    "search_files": assess_read,
    "look_at_image": assess_read,
    "edit_file": assess_edit,
    "browser": assess_browser,
    "fetch_page": assess_fetch,
    "web_search": assess_search,
    "ask_human": _fixed("talk"),
    "finish": _fixed("talk"),
    "skill": _fixed("read"),
    "plan": _fixed("talk"),
    "note": _fixed("note"),
    "delegate": _fixed("delegate"),
}
"""By tool name; a tool without an entry is R3."""


def assess(
    tool_name: str,
    arguments: Mapping[str, JsonValue],
    facts: CallFacts,
    situation: Situation,
) -> Assessment:
    """Find what a call would do.

    Args:
        tool_name: Name of a registered tool.
        arguments: Validated arguments as JSON.
        facts: What the tool knows of the call; it can add to what is found, never take away.
        situation: The world it would run in.

    Returns:
        The rows of the table that fit; judge it with `core.policy.judge`. Never raises for odd arguments.
    """
    case = Case(tool=tool_name, arguments=arguments, facts=facts, situation=situation)
    usual = "own_tool" if tool_name in situation.own_tools else "unknown"
    assessor = ASSESSORS.get(tool_name, _fixed(usual))
    try:
        found = assessor(case)
    except ERRORS as error:
        found = _unreadable(case, type(error).__name__)
    subject = replace(found.subject, text=all_text(arguments))
    return replace(found, subject=subject, tainted=situation.tainted)


def all_text(value: JsonValue) -> str:
    """Return every string of a JSON value, one a line."""
    if isinstance(value, str):
        return value
    if isinstance(value, Mapping):
        return "\n".join(filter(None, (all_text(item) for item in value.values())))
    if isinstance(value, (list, tuple)):
        return "\n".join(filter(None, (all_text(item) for item in value)))
    return ""


def _unreadable(case: Case, problem: str) -> Assessment:
    row = "unreadable_high" if case.tool in HIGH_TOOLS else "unreadable"
    return Assessment(
        subject=Subject(tool=case.tool, opaque="could not be read"),
        title=case.facts.title or case.tool,
        findings=(Finding(row, detail=problem),),
        parts=case.facts.parts,
    )

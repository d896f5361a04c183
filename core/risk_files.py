"""What a call of a file tool would touch."""

from core.assessment import Assessment, Case, Finding, Subject
from core.reach import Target

READING = frozenset({"view", "undo"})
"""Commands of `edit_file` that write nothing new: undo puts back what the person had."""


def assess_read(case: Case) -> Assessment:
    """Assess a call that reads a file or lists a folder."""
    target = case.situation.reach.resolve(case.text("path") or ".")
    return _result(case, target, read_findings(target), "reads")


def assess_edit(case: Case) -> Assessment:
    """Assess `edit_file`."""
    command = case.text("command")
    target = case.situation.reach.resolve(case.text("path"))
    if command == "view":
        return _result(case, target, read_findings(target), "reads")
    return _result(case, target, write_findings(target), f"{command or 'edit'}s")


def read_findings(target: Target) -> tuple[Finding, ...]:
    """Return the rows for reading a target with a file tool."""
    found = []
    if target.place not in ("workspace", "device"):
        found.append(Finding("read_outside", target.shown))
    if "secret" in target.names:
        found.append(Finding("read_secret", target.shown))
    return tuple(found) or (Finding("read", target.shown),)


def write_findings(target: Target) -> tuple[Finding, ...]:
    """Return the rows for writing a target with a file tool."""
    found = []
    if "own" in target.names:
        found.append(Finding("own", target.shown))
    if "protected" in target.names:
        found.append(Finding("protected", target.shown))
    if target.place != "workspace":
        found.append(Finding("change_outside", target.shown))
    elif "host_run" in target.names or target.linked:
        detail = f"{target.shown} (reached by a link)" if target.linked else target.shown
        found.append(Finding("write_host_run", target.shown, detail))
    return tuple(found) or (Finding("write", target.shown),)


def _result(case: Case, target: Target, findings: tuple[Finding, ...], verb: str) -> Assessment:
    return Assessment(
        subject=Subject(tool=case.tool),
        title=case.facts.title or f"{verb} {target.shown}",
        findings=findings,
        parts=(target.shown,),
    )

"""What a call that runs commands or code would do."""

from core.assessment import Assessment, Case, Finding, Subject


def assess_python(case: Case) -> Assessment:
    """Assess `python` and `run_code`: code is not read, the cage decides."""
    return Assessment(
        subject=Subject(tool=case.tool, text=case.text("code"), opaque="code"),
        title=case.facts.title or f"{case.tool} {where(case)}",
        findings=tuple(_ground(case, "python")),
        parts=case.facts.parts,
    )


def assess_shell(case: Case) -> Assessment:
    """Assess `shell`."""
    return Assessment(
        subject=Subject(tool=case.tool, text=case.text("command"), opaque="not read"),
        title=case.facts.title or f"{case.tool} {where(case)}",
        findings=tuple(_ground(case, "shell")),
        parts=case.facts.parts,
    )


def _ground(case: Case, row: str) -> list[Finding]:
    """Return the rows that hold for anything that runs: the cage, or that there is none."""
    if case.situation.tier == "none":
        return [Finding("host_code")]
    found = [Finding(row)]
    if case.situation.network:
        found.append(Finding("network_on"))
    return found


def where(case: Case) -> str:
    """Return where it would run, for a title."""
    if case.situation.tier == "none":
        return "on this machine, in no sandbox"
    network = "on" if case.situation.network else "off"
    return f"in sandbox (network {network})"

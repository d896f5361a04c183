"""What a call that runs code would do: code is not read, the cage decides."""

from collections.abc import Iterator
from typing import Literal

from core.assessment import Assessment, Case, Finding, Subject


def assess_python(case: Case) -> Assessment:
    """Assess `python` and `run_code`."""
    return Assessment(
        subject=Subject(tool=case.tool, opaque="code", where=ground_name(case)),
        title=case.facts.title or f"{case.tool} {where(case)}",
        findings=tuple(ground(case, "python", "")),
        parts=case.facts.parts or tuple(case.text("code").splitlines()),
    )


def ground(case: Case, row: str, why: str) -> Iterator[Finding]:
    """Yield the rows that hold for anything that runs: the cage, or that there is none."""
    if case.situation.tier == "none":
        yield Finding("host_code")
        return
    yield Finding(row, detail=why)
    if case.situation.network:
        yield Finding("network_on")


def ground_name(case: Case) -> Literal["sandbox", "host"]:
    """Return where it would run, for rules."""
    return "host" if case.situation.tier == "none" else "sandbox"


def where(case: Case) -> str:
    """Return where it would run, for a title."""
    if case.situation.tier == "none":
        return "on this machine, in no sandbox"
    network = "on" if case.situation.network else "off"
    return f"in sandbox (network {network})"

"""Compares what the product decided with what a case expects."""

from collections.abc import Mapping
from typing import Any

from core.policy_table import STRICTNESS


def passed(case: Mapping[str, Any], result: Mapping[str, Any]) -> tuple[bool | None, str]:
    """Return whether the case passes (None where that cannot be said), and what is wrong."""
    expected = case.get("expected")
    if not result["judged"] or expected is None:
        return None, ""
    wanted = expected["decision"]
    if wanted not in STRICTNESS:
        right = result["outcome"] == wanted
        return right, "" if right else f"expected {wanted}, got {result['outcome']}"
    weak = [got for got in result["got"] if STRICTNESS.index(got) < STRICTNESS.index(wanted)]
    return not weak, f"expected {wanted}, got {', '.join(result['got'])}" if weak else ""

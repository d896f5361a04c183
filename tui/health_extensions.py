"""Checks of what the person has added: their own tools."""

from collections.abc import Sequence
from pathlib import Path

from core.config_layers import config_dir
from core.risk import ASSESSORS
from tools.own_tools import OWN_TOOLS, load_own_tools
from tui.health import HealthRow

OWN = "own tools"


def own_tools() -> Sequence[HealthRow]:
    """Return a row a loaded tool and a row a broken one, or one row that says there are none."""
    folder = config_dir() / OWN_TOOLS
    found = load_own_tools(folder, frozenset(ASSESSORS))
    rows = [
        HealthRow(name=OWN, ok=True, detail=f"{tool.name} from {_short(tool.source)}")
        for tool in found.tools
    ]
    rows += [
        HealthRow(name=OWN, ok=False, detail=problem.line(), hint="See docs/own_tool.md.")
        for problem in found.problems
    ]
    return rows or [HealthRow(name=OWN, ok=True, detail=f"none ({folder})")]


def _short(source: str) -> str:
    return Path(source).name if source.startswith("/") else source

"""Checks of what the person has added beside the settings: tools, rules, profiles, providers."""

from collections.abc import Sequence
from pathlib import Path

from core.config_layers import config_dir
from core.errors import ConfigError
from core.profile import load_profile, profile_names
from core.provider_file import load_own_providers
from core.risk import ASSESSORS
from core.rule_file import POLICY_NAME, load_rules
from tools.own_tools import OWN_TOOLS, load_own_tools
from tui.health import HealthRow

OWN, FILES = "own tools", "own files"


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


def own_files(profile: str) -> Sequence[HealthRow]:
    """Check the rules, all profiles and all providers of the person; only what is wrong has a row of its own.

    Args:
        profile: The one runs begin with; without it no run can work.
    """
    folder = config_dir()
    rules = load_rules(folder / POLICY_NAME)
    rows = [HealthRow(name="policy", ok=not rules.warning, detail=rules.warning or "usable")]
    if rules.problem is not None:
        rows = [_wrong("policy", rules.problem)]
    for name in sorted({profile, *profile_names(folder)}):
        try:
            load_profile(name, folder)
        except ConfigError as error:
            rows.append(_wrong("profile", error, needed=name == profile))
    try:
        load_own_providers(folder)
    except ConfigError as error:
        rows.append(_wrong("provider", error, needed=True))
    wrong = [row for row in rows if not row.ok]
    return wrong or [HealthRow(name=FILES, ok=True, detail=f"rules, profiles, providers: {folder}")]


def _wrong(name: str, error: ConfigError, *, needed: bool = False) -> HealthRow:
    return HealthRow(name=name, ok=False, needed=needed, detail=error.message, hint=error.hint)


def _short(source: str) -> str:
    return Path(source).name if source.startswith("/") else source

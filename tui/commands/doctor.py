"""`handrail doctor`: what works on this machine, and what to do about the rest."""

import os
import sys
from argparse import Namespace
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

from core.config_load import Configuration, load_or_excuse
from core.errors import ConfigError
from tui.arguments import OneLineParser, common_overrides
from tui.console import print_object, say, tell
from tui.exits import ANSWERED, GAVE_UP
from tui.health import Check, HealthRow, Patience, run_checks
from tui.health_extensions import FILES, OWN, own_files, own_tools
from tui.health_machine import chromium, installation, terminal, workspace
from tui.health_model import MODEL, PATIENCE_S, forget_learned, model_rows
from tui.health_sandbox import ENGINE, sandbox_rows

HELP = "say what works on this machine, and what to do about the rest"


def add_arguments(parser: OneLineParser) -> None:
    """Add the form of the output."""
    parser.add_argument("--json", action="store_true", help="one JSON object")
    parser.add_argument(
        "--forget", action="store_true", help="first forget what was learned of the model's server"
    )


def run(options: Namespace) -> int:
    """Look at everything and print a row a part; leaves at once, whatever still hangs."""
    configuration, rows = _settings(options)
    if options.forget:
        say(forget_learned(configuration))
    patience = Patience(longer={MODEL: PATIENCE_S}, waiting=_tell_waiting)
    folder = Path(options.workspace).expanduser().absolute()
    rows += run_checks(_checks(configuration, folder), patience, needed=(MODEL,))
    ok = all(row.ok for row in rows if row.needed)
    if options.json:
        print_object({"ok": ok, "rows": [_fields(row) for row in rows]})
    else:
        _print_table(rows, ok=ok)
    code = ANSWERED if ok else GAVE_UP
    sys.stdout.flush()
    sys.stderr.flush()
    if any(not row.returned for row in rows):
        os._exit(code)
    return code


def _tell_waiting(names: Sequence[str]) -> None:
    """Say what takes so long."""
    hint = (
        " A model that is loaded first can take a minute; Ctrl-C stops." if MODEL in names else ""
    )
    say(f"Still waiting for: {', '.join(names)}.{hint}")


def _settings(options: Namespace) -> tuple[Configuration, list[HealthRow]]:
    """Load the settings; a file with a mistake is a row, not the end."""
    configuration = load_or_excuse(common_overrides(options))
    problem: ConfigError | None = configuration.problem
    if problem is None:
        there = configuration.path.is_file()
        detail = str(configuration.path) if there else f"none ({configuration.path})"
        return configuration, [HealthRow(name="settings", ok=True, needed=True, detail=detail)]
    row = HealthRow(
        name="settings", ok=False, needed=True, detail=problem.message, hint=problem.hint
    )
    return configuration, [row]


def _checks(configuration: Configuration, folder: Path) -> dict[str, Check]:
    settings = configuration.settings
    browser = settings.browser
    return {
        "installation": installation,
        "workspace": lambda: workspace(folder),
        MODEL: lambda: model_rows(configuration),
        "chromium": lambda: chromium(browser.executable, enabled=browser.enabled),
        ENGINE: lambda: sandbox_rows(settings.sandbox),
        "terminal": terminal,
        OWN: own_tools,
        FILES: lambda: own_files(settings.profile),
    }


def _fields(row: HealthRow) -> dict[str, object]:
    fields = asdict(row)
    del fields["returned"]
    return fields


def _print_table(rows: Sequence[HealthRow], *, ok: bool) -> None:
    width = max(len(row.name) for row in rows)
    for row in rows:
        mark = "ok" if row.ok else "NO" if row.needed else "--"
        tell(f"{mark}  {row.name:{width}}  {row.detail}")
        if row.hint and not row.ok:
            tell(f"    {'':{width}}  {row.hint}")
    tell("A run would work." if ok else "A run would not work: mend the rows marked NO.")

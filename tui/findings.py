"""What was found on this machine, as the rows of the first screen."""

import asyncio
from collections.abc import Sequence

from core.config_load import Configuration
from core.probe import LocalServer, find_local_servers
from tui.findings_model import find_model
from tui.fixes import install_chromium, use_server
from tui.health import HealthRow, Patience, run_checks
from tui.health_machine import chromium
from tui.health_sandbox import sandbox_rows
from tui.run_limits import spent_line
from tui.session_port import Finding, Findings, OpenSession

CHROMIUM = "chromium"
INSTALL_KEY = "c"
SHOWN_MODELS = 5
LOOK_DEADLINE_S = 4.0
"""The first screen does not wait longer for a check."""


async def look_around(configuration: Configuration, tour: OpenSession) -> Findings:
    """Look for model, local servers, engine, cage and Chromium.

    Args:
        configuration: Settings.
        tour: Opens the tour.
    """
    settings = configuration.settings
    checks = {
        "container engine": lambda: sandbox_rows(settings.sandbox),
        CHROMIUM: lambda: chromium(settings.browser.executable, enabled=settings.browser.enabled),
    }
    model, spent, servers, rows = await asyncio.gather(
        find_model(configuration),
        asyncio.to_thread(_spent, configuration),
        find_local_servers(),
        asyncio.to_thread(run_checks, checks, Patience(deadline_s=LOOK_DEADLINE_S)),
    )
    found = _servers(servers, offered=not model.usable)
    return Findings(
        rows=(model.finding, *spent, *found, *map(_finding, rows)),
        has_model=model.usable,
        tour=tour,
    )


def _spent(configuration: Configuration) -> Sequence[Finding]:
    """Return a row on what past runs cost, none where nothing was ever spent."""
    line = spent_line(configuration)
    return [Finding(name="Spent", state="ok", text=line)] if line else []


def _servers(servers: Sequence[LocalServer], *, offered: bool) -> Sequence[Finding]:
    """Return a row a server, and where models are offered a row a model with the key that takes it."""
    found: list[Finding] = []
    keys = iter("123456789" if offered else "")
    for server in servers:
        names = ", ".join(server.models[:SHOWN_MODELS]) or "no model is loaded"
        text = f"answers at {server.base_url}: {names}"
        found.append(Finding(name=server.label, state="ok", text=text))
        found += [
            Finding(
                name="",
                state="partly",
                text=f"{model} can be used",
                key=key,
                fix=f"use {model} from now on",
                act=use_server(server, model),
            )
            for model, key in zip(server.models[:SHOWN_MODELS], keys, strict=False)
        ]
    return found


def _finding(row: HealthRow) -> Finding:
    if row.name == CHROMIUM and not row.ok:
        return Finding(
            name="Chromium",
            state="missing",
            text=row.detail,
            key=INSTALL_KEY,
            fix="install Playwright's own Chromium (some minutes)",
            act=install_chromium,
        )
    return Finding(
        name=row.name.capitalize(),
        state="ok" if row.ok else "missing",
        text=row.detail,
        fix=row.hint,
    )

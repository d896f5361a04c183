"""What was found on this machine, as the rows of the first screen."""

import asyncio
from collections.abc import Sequence

from core.config_load import Configuration
from core.errors import ConfigError
from core.model_options import OPENAI_BASE_URL
from core.probe import find_local_servers
from tui.health import HealthRow, run_checks
from tui.health_machine import chromium
from tui.health_sandbox import sandbox_rows
from tui.model_choice import ModelChoice, check_model, choose_model
from tui.session_port import Finding, Findings, OpenSession

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
        "chromium": lambda: chromium(settings.browser.executable, enabled=settings.browser.enabled),
    }
    model, servers, rows = await asyncio.gather(
        asyncio.to_thread(_model, configuration),
        _servers(),
        asyncio.to_thread(run_checks, checks, LOOK_DEADLINE_S),
    )
    return Findings(
        rows=(model, *servers, *map(_finding, rows)), has_model=model.state == "ok", tour=tour
    )


def _model(configuration: Configuration) -> Finding:
    try:
        choice = choose_model(configuration)
        check_model(configuration, choice)
    except ConfigError as error:
        return Finding(name="Model", state="missing", text=error.message, fix=error.hint)
    return Finding(name="Model", state="ok", text=_described(configuration, choice))


def _described(configuration: Configuration, choice: ModelChoice) -> str:
    where = "OpenAI" if choice.base_url == OPENAI_BASE_URL else choice.base_url
    key = f", key from {choice.key.origin}" if choice.key.value else ", no key"
    return f"{configuration.settings.model.name} at {where}{key}"


async def _servers() -> Sequence[Finding]:
    found = await find_local_servers()
    return [
        Finding(
            name=server.label,
            state="ok",
            text=f"answers at {server.base_url}: {', '.join(server.models[:5]) or 'no model'}",
            fix=f"handrail --base-url {server.base_url} --model NAME",
        )
        for server in found
    ]


def _finding(row: HealthRow) -> Finding:
    return Finding(
        name=row.name.capitalize(),
        state="ok" if row.ok else "missing",
        text=row.detail,
        fix=row.hint,
    )

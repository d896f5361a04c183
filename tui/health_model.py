"""Checks of the model: is one configured, does it answer, does it call tools, how much does it take in."""

import asyncio
from collections.abc import Sequence

from core.config_load import Configuration
from core.errors import ConfigError, ModelError
from core.probe import ModelFacts, probe_model
from tui.health import HealthRow
from tui.model_choice import check_model, choose_model, options_of, price_line

MODEL, TOOLS, WINDOW, VISION, PRICE = "model", "tool calls", "context window", "vision", "price"
PROBE_TIMEOUT_S = 6.0


def model_rows(configuration: Configuration) -> Sequence[HealthRow]:
    """Ask the model one short question and report what came of it."""
    name = configuration.settings.model.name
    try:
        choice = choose_model(configuration)
        check_model(configuration, choice)
        options = options_of(configuration, choice)
        facts = asyncio.run(asyncio.wait_for(probe_model(options), PROBE_TIMEOUT_S))
    except (ConfigError, ModelError) as error:
        return [HealthRow(name=MODEL, ok=False, needed=True, detail=error.message, hint=error.hint)]
    except TimeoutError:
        detail = f"{name} at {choice.base_url} did not answer within {PROBE_TIMEOUT_S:g} s"
        return [HealthRow(name=MODEL, ok=False, needed=True, detail=detail)]
    key = f", key from {choice.key.origin}" if choice.key.value else ", no key"
    where = f"{name} at {choice.base_url} ({choice.provider.label}{key})"
    price = HealthRow(
        name=PRICE, ok=options.price is not None, detail=price_line(name, options.price)
    )
    return [HealthRow(name=MODEL, ok=True, needed=True, detail=where), *_abilities(facts), price]


def _abilities(facts: ModelFacts) -> Sequence[HealthRow]:
    listed = facts.listed is not False
    others = ", ".join(facts.models[:8])
    rows = [
        HealthRow(
            name=TOOLS,
            ok=facts.tools is not False,
            needed=True,
            detail=facts.tools_line,
            hint="" if facts.tools is not False else "Choose a model that takes tools.",
        ),
        HealthRow(name=WINDOW, ok=facts.window > 0, detail=facts.window_line),
        HealthRow(name=VISION, ok=facts.vision is not False, detail=facts.vision_line),
    ]
    if not listed:
        detail = f"the server does not list {facts.model}; it lists: {others}"
        rows.append(HealthRow(name="model list", ok=False, detail=detail))
    return rows

"""Checks of the model: is its server there, is the key taken, does it answer, call tools, see, how much fits in."""

import asyncio
from collections.abc import Sequence
from dataclasses import replace

from core.chat.flag_words import TOOL_PROTOCOL, learned_words
from core.chat.options import ModelOptions
from core.config_load import Configuration
from core.errors import ConfigError, ModelError, ModelUnreachableError
from core.probe import LOCAL_FIRST_WORD_S, ModelFacts, probe_model
from tui.health import HealthRow
from tui.model_choice import (
    ModelChoice,
    check_model,
    choose_fallbacks,
    choose_model,
    learned_store,
    options_of,
    price_line,
)

SERVER, KEY, MODEL, SPEED = "model server", "key", "model", "speed"
TOOLS, WINDOW, VISION, PRICE = "tool calls", "context window", "vision", "price"
LEARNED, STAND_IN = "learned", "stand-in"
STEPS_LINE = "not offered: it works step by step, each reply in a given form"
PATIENCE_S = LOCAL_FIRST_WORD_S + 10.0
"""A model of one's own may take this long; all other checks are done long before."""


def model_rows(configuration: Configuration) -> Sequence[HealthRow]:
    """Ask the model one short question and report what came of it: a row for each thing a run needs of it."""
    try:
        choice = choose_model(configuration)
        check_model(configuration, choice)
        options = options_of(configuration, choice)
        others = choose_fallbacks(configuration)
    except ConfigError as error:
        return [HealthRow(name=MODEL, ok=False, needed=True, detail=error.message, hint=error.hint)]
    try:
        if choice.problem is not None:
            raise choice.problem
        facts = asyncio.run(probe_model(options))
    except (ConfigError, ModelError) as error:
        tried = [_tried(configuration, one) for one in others]
        works = any(row.ok for row in tried)
        return [*_failed(choice, options, error, needed=not works), *tried]
    where = _row(MODEL, options.model)
    price = HealthRow(
        name=PRICE, ok=options.price is not None, detail=price_line(options.model, options.price)
    )
    slow = [HealthRow(name=SPEED, ok=False, detail=facts.speed_line)] if facts.speed_line else []
    if _works_by_steps(options):
        facts = replace(facts, tools=False, tools_line=STEPS_LINE)
    rows = [*_reached(choice, options), where, *slow, *_abilities(facts), price]
    return [*rows, *_learned(options), *map(_stand_in, others)]


def forget_learned(configuration: Configuration) -> str:
    """Forget what the servers of the models in the settings taught us; return a line on it.

    Raises:
        ConfigError: No server can be told from the settings, or the file cannot be written.
    """
    chosen = [choose_model(configuration), *choose_fallbacks(configuration)]
    store = learned_store()
    try:
        count = sum(store.forget(one.base_url.rstrip("/"), one.settings.name) for one in chosen)
    except OSError as error:
        raise ConfigError(f"What was learned cannot be forgotten: {error.strerror}.") from error
    names = ", ".join(one.settings.name or "no model" for one in chosen)
    return f"Forgotten of {names}: {count} learned flag{'' if count == 1 else 's'}."


def _row(name: str, detail: str) -> HealthRow:
    return HealthRow(name=name, ok=True, needed=True, detail=detail)


def _reached(choice: ModelChoice, options: ModelOptions) -> list[HealthRow]:
    key = f"from {choice.key.origin}" if choice.key.value else "none, none is needed"
    server = f"{choice.provider.label} answers at {options.base_url}"
    return [_row(SERVER, server), _row(KEY, key)]


def _failed(
    choice: ModelChoice, options: ModelOptions, error: ConfigError | ModelError, *, needed: bool
) -> list[HealthRow]:
    """Return the rows up to the one that failed; the model's own row is needed where nothing stands in for it."""
    failed = HealthRow(name=MODEL, ok=False, needed=needed, detail=error.message, hint=error.hint)
    if isinstance(error, ConfigError):
        return [HealthRow(name=KEY, ok=False, detail=error.message, hint=error.hint), failed]
    if isinstance(error, ModelUnreachableError):
        what = f"{options.base_url} does not answer"
        return [HealthRow(name=SERVER, ok=False, detail=what, hint=error.hint), failed]
    server, key = _reached(choice, options)
    if error.code == "auth":
        return [server, HealthRow(name=KEY, ok=False, detail="refused", hint=error.hint), failed]
    return [server, key, failed]


def _works_by_steps(options: ModelOptions) -> bool:
    """Return whether no tools are offered, by hand, by the provider's flags or by what was learned."""
    if options.tools != "auto":
        return options.tools == "steps"
    learned = learned_store().load(options.base_url, options.model)
    return learned.get(TOOL_PROTOCOL, options.provider.flags.tool_protocol) == "steps"


def _learned(options: ModelOptions) -> list[HealthRow]:
    flags = learned_store().load(options.base_url, options.model)
    if not flags:
        return []
    words = "; ".join(learned_words(f"{name}={value}") for name, value in sorted(flags.items()))
    return [HealthRow(name=LEARNED, ok=True, detail=f"{words} (doctor --forget forgets it)")]


def _stand_in(choice: ModelChoice) -> HealthRow:
    """Return the row of a model that stands in; it is not asked anything."""
    where = f"{choice.settings.name} at {choice.base_url} ({choice.provider.label})"
    problem = choice.problem
    if problem is None:
        return HealthRow(name=STAND_IN, ok=True, detail=where)
    return HealthRow(
        name=STAND_IN, ok=False, detail=f"{where}: {problem.message}", hint=problem.hint
    )


def _tried(configuration: Configuration, choice: ModelChoice) -> HealthRow:
    """Return the row of a model that has to stand in now, and is asked the one question."""
    row = _stand_in(choice)
    if not row.ok:
        return row
    try:
        asyncio.run(probe_model(options_of(configuration, choice)))
    except ModelError as error:
        detail = f"{choice.settings.name}: {error.message}"
        return HealthRow(name=STAND_IN, ok=False, detail=detail, hint=error.hint)
    return HealthRow(name=STAND_IN, ok=True, detail=f"{row.detail} answers")


def _abilities(facts: ModelFacts) -> Sequence[HealthRow]:
    others = ", ".join(facts.models[:8])
    rows = [
        HealthRow(
            name=TOOLS,
            ok=facts.tools is not False,
            detail=facts.tools_line,
            hint="Choose a model that takes tools where you can.",
        ),
        HealthRow(
            name=WINDOW,
            ok=facts.window > 0,
            detail=facts.window_line,
            hint="Set it: handrail config set model.context_window TOKENS.",
        ),
        HealthRow(name=VISION, ok=facts.vision is not False, detail=facts.vision_line),
    ]
    if facts.listed is False:
        detail = f"the server does not list {facts.model}; it lists: {others}"
        rows.append(HealthRow(name="model list", ok=False, detail=detail))
    return rows

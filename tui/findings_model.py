"""What the first screen says of the model: read from its server's own documents, so that looking costs nothing."""

import asyncio
from dataclasses import dataclass

from core.chat.options import OPENAI_BASE_URL, ModelOptions
from core.config_load import Configuration
from core.errors import ConfigError, HandrailError, ModelError
from core.probe import ModelFacts, look_at_model, probe_model
from tui.fixes import Fix
from tui.model_choice import ModelChoice, check_model, choose_fallbacks, choose_model, options_of
from tui.session_port import Finding

MODEL = "Model"
PROBE_KEY = "p"
PROBE = "ask it one short question"
LOOK_TIMEOUT_S = 3.0
"""The first screen does not wait longer for the documents of a server."""
SHOWN_MODELS = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelFinding:
    """The row of the model, and whether a task can be given to it."""

    finding: Finding
    usable: bool


async def find_model(configuration: Configuration) -> ModelFinding:
    """Return what is known of the model in the settings without asking it anything."""
    try:
        choice, options = await asyncio.to_thread(_chosen, configuration)
    except ConfigError as error:
        return _missing(error.message, error.hint)
    where = _described(choice, options)
    try:
        if choice.problem is not None:
            raise choice.problem
        facts = await asyncio.wait_for(look_at_model(options), LOOK_TIMEOUT_S)
    except (ConfigError, ModelError) as error:
        return await asyncio.to_thread(_unusable, configuration, where, error)
    except TimeoutError:
        return _found("partly", f"{where}; its server has not answered yet", options)
    if facts.listed is False:
        listed = ", ".join(facts.models[:SHOWN_MODELS])
        text = f"{where}; the server does not list it, but: {listed}"
        return _found("partly", text, options)
    return _found("ok", f"{where}{_abilities(facts)}", options)


def ask_model(options: ModelOptions) -> Fix:
    """Return the fix that asks the model one short question and says what came of it."""

    async def fix() -> str:
        facts = await probe_model(options)
        if facts.first_word_s is None:
            return f"{options.model} is slow: {facts.speed_line}."
        speed = facts.speed_line or f"first word after {facts.first_word_s:.1f} s"
        return f"{options.model} answers ({speed}); tools: {facts.tools_line}."

    return fix


def _chosen(configuration: Configuration) -> tuple[ModelChoice, ModelOptions]:
    choice = choose_model(configuration)
    check_model(configuration, choice)
    return choice, options_of(configuration, choice)


def _unusable(configuration: Configuration, where: str, error: HandrailError) -> ModelFinding:
    """Return why a model cannot be used, and what stands in for it."""
    others = [one.settings.name for one in choose_fallbacks(configuration) if one.problem is None]
    if not others:
        return _missing(where, error.line())
    fix = f"{error.line().rstrip('.')}. Until then {others[0]} stands in."
    return ModelFinding(
        finding=Finding(name=MODEL, state="partly", text=where, fix=fix), usable=True
    )


def _missing(text: str, fix: str) -> ModelFinding:
    return ModelFinding(
        finding=Finding(name=MODEL, state="missing", text=text, fix=fix), usable=False
    )


def _found(state: str, text: str, options: ModelOptions) -> ModelFinding:
    finding = Finding(
        name=MODEL,
        state="ok" if state == "ok" else "partly",
        text=text,
        key=PROBE_KEY,
        fix=PROBE,
        act=ask_model(options),
    )
    return ModelFinding(finding=finding, usable=True)


def _described(choice: ModelChoice, options: ModelOptions) -> str:
    where = "OpenAI" if options.base_url == OPENAI_BASE_URL else options.base_url
    key = f", key from {choice.key.origin}" if choice.key.value else ", no key"
    price = "" if options.price else ", price unknown"
    return f"{options.model} at {where}{key}{price}"


def _abilities(facts: ModelFacts) -> str:
    """Return what a person should know of it before they give it a task."""
    parts = [f"window {facts.window:,} tokens"] if facts.window else []
    parts += ["no tools: calls are written as text"] if facts.tools is False else []
    parts += ["sees no pictures"] if facts.vision is False else []
    return "".join(f", {part}" for part in parts)

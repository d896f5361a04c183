"""Finds out, before a run does, whether a model can be used, and which servers on this machine could be.

A person who waits at the first screen or reads `doctor` wants one clear line each, not the failure of a run. To look at
a model costs nothing: only documents of its server are read. To probe it costs one question of some hundred tokens.
"""

import asyncio
from collections.abc import AsyncIterator
from contextlib import aclosing, asynccontextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from core.chat.json_shape import items_of, mapping_of, text_of
from core.chat.options import ModelOptions
from core.errors import ConfigError, ModelRefusedError, ModelStreamError
from core.events import ModelRequested
from core.messages import ModelRequest, ToolSpec, UserMessage
from core.model_documents import Told, is_same, read_documents
from core.model_events import ModelDowngraded
from core.model_piece import ModelPiece
from core.provider import Provider, all_providers, built_in_providers, named_provider
from core.small_http import fetch_json

if TYPE_CHECKING:
    from core.model_openai import OpenAIModel

LOOK_TIMEOUT_S = 0.25
"""For a server on loopback: one that takes longer does not answer."""
PROBE_TOKENS = 16
"""Longest answer to the one question that is asked."""
FIRST_WORD_S = 20.0
"""For the first word of a model in a data centre."""
LOCAL_FIRST_WORD_S = 90.0
"""For the first word of a model on the person's own machine, which may have to be loaded first."""
SLOW_S = 5.0
"""A first word that takes longer is called slow."""
_OWNERS = {
    "vllm": "vllm",
    "llamacpp": "llama_cpp",
    "library": "ollama",
    "organization_owner": "lmstudio",
}
"""What local servers write as the owner of their models."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LocalServer:
    """A model server found on this machine."""

    provider: str
    label: str
    base_url: str
    models: tuple[str, ...]
    """Names of its models; none when nothing is loaded."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelFacts:
    """What is known of a model that answered."""

    model: str
    label: str
    """The server, for people."""
    models: tuple[str, ...] = ()
    """Models the server lists, none where it does not tell."""
    listed: bool | None = None
    """Whether ours is among them; None where it does not tell."""
    tools: bool | None = None
    """Whether it takes tools; None where that is not known."""
    tools_line: str = ""
    vision: bool | None = None
    vision_line: str = ""
    window: int = 0
    """Context window in tokens, 0 where unknown."""
    window_line: str = ""
    first_word_s: float | None = None
    """Seconds until its first word; None where it was not asked, or said nothing in the time it had."""
    speed_line: str = ""
    """Says that it is slow, "" where it is not."""


async def find_local_servers() -> list[LocalServer]:
    """Return the model servers that answer on the usual loopback ports; takes at most 0.3 s."""
    known = {port: one for one in _all_providers() for port in one.ports}
    found = await asyncio.gather(*(_look(port, provider) for port, provider in known.items()))
    return [server for server in found if server is not None]


async def look_at_model(options: ModelOptions) -> ModelFacts:
    """Read what a server says of a model; nothing is asked of the model itself.

    Raises:
        ModelError: It cannot be used: not there, or the key is refused. Message and hint are for people.
    """
    async with _opened(options) as model:
        told = await read_documents(model, options)
    return _facts(options, told, told.tools)


async def probe_model(options: ModelOptions, slow_s: float = SLOW_S) -> ModelFacts:
    """Ask a model one short question, and its server what it knows of it; cancel it to stop waiting.

    A model on the person's own machine that says nothing in time, while its server answers, is slow, not unusable.

    Args:
        options: The model; nothing is learned for later runs.
        slow_s: A first word that takes longer is called slow.

    Returns:
        What is known of a usable model.

    Raises:
        ModelError: It cannot be used: not there, key refused, no such model. Message and hint are for people.
    """
    limit_s = LOCAL_FIRST_WORD_S if options.provider.local else FIRST_WORD_S
    limits = replace(options.time_outs, first_token_s=min(limit_s, options.time_outs.first_token_s))
    async with _opened(replace(options, time_outs=limits)) as model:
        told = await read_documents(model, options)
        try:
            takes_tools, first_word_s = await _ask(model)
        except ModelStreamError as error:
            if error.code != "idle_timeout" or not options.provider.local:
                raise
            unheard = _facts(options, told, told.tools)
            waits = f"a run waits up to {options.time_outs.first_token_s:g} s"
            return replace(
                unheard, speed_line=f"no word within {limits.first_token_s:g} s; {waits}"
            )
    facts = _facts(options, told, takes_tools and told.tools is not False)
    line = f"answers slowly: first word after {first_word_s:.1f} s" if first_word_s > slow_s else ""
    return replace(facts, first_word_s=round(first_word_s, 3), speed_line=line)


@asynccontextmanager
async def _opened(options: ModelOptions) -> "AsyncIterator[OpenAIModel]":
    from core.model_openai import OpenAIModel

    model = OpenAIModel(options)
    try:
        yield model
    finally:
        await model.close()


def _all_providers() -> list[Provider]:
    """Return all providers; a mistake in a file of the person's own is told where a model is chosen."""
    try:
        return list(all_providers().values())
    except ConfigError:
        return list(built_in_providers().values())


async def _look(port: int, usual: Provider) -> LocalServer | None:
    base_url = f"http://127.0.0.1:{port}/v1"
    document = mapping_of(await fetch_json(f"{base_url}/models", timeout_s=LOOK_TIMEOUT_S))
    if not isinstance(document.get("data"), list):
        return None
    entries = [mapping_of(item) for item in items_of(document["data"])]
    owner = text_of(entries[0].get("owned_by")) if entries else ""
    provider = named_provider(_OWNERS[owner]) if owner in _OWNERS else usual
    names = tuple(text_of(entry.get("id")) for entry in entries if entry.get("id"))
    return LocalServer(
        provider=provider.name, label=provider.label, base_url=base_url, models=names
    )


async def _ask(model: "OpenAIModel") -> tuple[bool, float]:
    """Put one question that offers a tool; return whether tools are taken, and the seconds until the first word.

    Raises:
        ModelError: The model cannot be used.
    """
    ping = ToolSpec(
        name="ping", description="Answers pong.", parameters={"type": "object", "properties": {}}
    )
    request = ModelRequest(
        system="",
        messages=(UserMessage(text="Say ok."),),
        tools=(ping,),
        max_output_tokens=PROBE_TOKENS,
    )
    heard = _Heard()
    try:
        async with aclosing(model.reply(request)) as pieces:
            async for piece in pieces:
                heard.take(piece)
    except ModelRefusedError as error:
        if error.code != "tools_unsupported":
            raise
        heard.takes_tools = False
    return heard.takes_tools, heard.first_word_s


class _Heard:
    """What the answer to the one question showed."""

    def __init__(self) -> None:
        self._clock = asyncio.get_running_loop().time
        self._started_s = self._clock()
        self.first_word_s = 0.0
        self.takes_tools = True

    def take(self, piece: ModelPiece) -> None:
        """Take a piece of the answer."""
        if isinstance(piece, ModelDowngraded):
            self.takes_tools = self.takes_tools and piece.what != "tools"
        elif not self.first_word_s and not isinstance(piece, ModelRequested):
            self.first_word_s = self._clock() - self._started_s


def _facts(options: ModelOptions, told: Told, tools: bool | None) -> ModelFacts:
    flags = options.provider.flags
    window = told.window or options.window
    vision = told.vision if flags.vision else False
    listed = any(is_same(name, options.model) for name in told.names) if told.names else None
    by_text = flags.text_tool_calls and told.tools is not True
    return ModelFacts(
        model=options.model,
        label=options.provider.label,
        models=told.names,
        listed=listed,
        tools=tools,
        tools_line=_tools_line(tools, by_text=by_text),
        vision=vision,
        vision_line={
            True: "it sees pictures",
            False: "it sees no pictures: pages are described in words",
            None: "not told by the server",
        }[vision],
        window=window,
        window_line=f"{window:,} tokens" if window else "not known; set model.context_window",
    )


def _tools_line(tools: bool | None, *, by_text: bool) -> str:
    if tools is None:
        return "not known"
    if not tools:
        return "it takes no tools: calls are written as text, which works less well"
    return "taken; calls in the text are read too" if by_text else "taken"

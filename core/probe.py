"""Finds out, before a run does, whether a model can be used, and which servers on this machine could be.

A person who waits at the first screen or reads `doctor` wants one clear line each, not the failure of a run.
"""

import asyncio
import re
from collections.abc import Awaitable, Callable, Mapping
from contextlib import aclosing
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING
from urllib.parse import quote, urlsplit

from core.chat.json_shape import count_of, items_of, mapping_of, text_of
from core.chat.options import ModelOptions
from core.errors import ModelRefusedError
from core.messages import ModelRequest, ToolSpec, UserMessage
from core.provider import named_provider
from core.small_http import fetch_json

if TYPE_CHECKING:
    from core.model_openai import OpenAIModel

LOCAL_PROVIDERS = ("ollama", "lmstudio", "llama_cpp", "vllm")
"""Looked for on this machine, on the ports of their files."""
LOOK_TIMEOUT_S = 0.25
"""For a server on loopback: one that takes longer does not answer."""
ASK_TIMEOUT_S = 2.0
"""For a small document of a local server."""
PROBE_TOKENS = 16
"""Longest answer to the one question that is asked."""
_OWNERS = {
    "vllm": "vllm",
    "llamacpp": "llama_cpp",
    "library": "ollama",
    "organization_owner": "lmstudio",
}
"""What local servers write as the owner of their models."""
_WINDOW_KEYS = (
    *("max_model_len", "loaded_context_length", "context_length", "context_window"),
    *("max_context_length", "n_ctx"),
)


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


@dataclass(frozen=True, slots=True)
class _Told:
    """What a server says of a model in its own documents."""

    names: tuple[str, ...] = ()
    window: int = 0
    tools: bool | None = None
    vision: bool | None = None


async def find_local_servers() -> list[LocalServer]:
    """Return the model servers that answer on the usual loopback ports; takes at most 0.3 s."""
    known = {port: name for name in LOCAL_PROVIDERS for port in named_provider(name).ports}
    found = await asyncio.gather(*(_look(port, name) for port, name in known.items()))
    return [server for server in found if server is not None]


async def probe_model(options: ModelOptions) -> ModelFacts:
    """Ask a model one short question, and its server what it knows of it.

    Args:
        options: The model; nothing is learned for later runs.

    Returns:
        What is known of a usable model.

    Raises:
        ModelError: It cannot be used: not there, key refused, no such model. Message and hint are for people.
    """
    from core.model_openai import OpenAIModel

    model = OpenAIModel(options)
    try:
        told = await _told(model, options)
        tools = await _ask(model, options, told)
    finally:
        await model.close()
    return _facts(options, told, tools)


async def _look(port: int, name: str) -> LocalServer | None:
    base_url = f"http://127.0.0.1:{port}/v1"
    document = mapping_of(await fetch_json(f"{base_url}/models", timeout_s=LOOK_TIMEOUT_S))
    if not isinstance(document.get("data"), list):
        return None
    entries = [mapping_of(item) for item in items_of(document["data"])]
    owner = text_of(entries[0].get("owned_by")) if entries else ""
    provider = named_provider(_OWNERS.get(owner, name))
    names = tuple(text_of(entry.get("id")) for entry in entries if entry.get("id"))
    return LocalServer(
        provider=provider.name, label=provider.label, base_url=base_url, models=names
    )


async def _told(model: "OpenAIModel", options: ModelOptions) -> _Told:
    """Return what the list of models and, for local servers, their own documents say."""
    entries = await model.model_entries()
    names = tuple(text_of(entry.get("id")) for entry in entries)
    mine = next(
        (entry for entry in entries if _is_same(text_of(entry.get("id")), options.model)), {}
    )
    told = _Told(names=names, window=_window_of(mine), vision=_sees(mine))
    reader = _LOCAL_DOCUMENTS.get(options.provider.name)
    if reader is None or not options.base_url.startswith("http://"):
        return told
    parts = urlsplit(options.base_url)
    own = await reader(f"{parts.scheme}://{parts.netloc}", options.model)
    return replace(
        told,
        window=own.window or told.window,
        tools=own.tools if own.tools is not None else told.tools,
        vision=own.vision if own.vision is not None else told.vision,
    )


async def _ask(model: "OpenAIModel", options: ModelOptions, told: _Told) -> bool | None:
    """Put one question that offers a tool; return whether tools are taken.

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
    try:
        async with aclosing(model.reply(request)) as pieces:
            async for _ in pieces:
                pass
    except ModelRefusedError as error:
        if error.code == "tools_unsupported":
            return False
        raise
    return True if told.tools is None else told.tools


def _facts(options: ModelOptions, told: _Told, tools: bool | None) -> ModelFacts:
    flags = options.provider.flags
    window = told.window or options.window
    vision = told.vision if flags.vision else False
    listed = any(_is_same(name, options.model) for name in told.names) if told.names else None
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
            False: "it sees no pictures",
            None: "not told by the server",
        }[vision],
        window=window,
        window_line=f"{window:,} tokens" if window else "not known; set model.context_window",
    )


def _tools_line(tools: bool | None, *, by_text: bool) -> str:
    if tools is None:
        return "not known"
    if not tools:
        return "it takes no tools; choose a model that does"
    return "taken; calls in the text are read too" if by_text else "taken"


def _is_same(listed: str, wanted: str) -> bool:
    """Return whether two names are one model; Ollama adds :latest, Gemini puts models/ before it."""
    return listed.removeprefix("models/").removesuffix(":latest") == wanted.removeprefix(
        "models/"
    ).removesuffix(":latest")


def _window_of(entry: Mapping[str, object]) -> int:
    places = (entry, mapping_of(entry.get("meta")), mapping_of(entry.get("top_provider")))
    sizes = (count_of(place.get(key)) for key in _WINDOW_KEYS for place in places)
    return next((size for size in sizes if size), 0)


def _sees(entry: Mapping[str, object]) -> bool | None:
    """Return whether a model takes pictures, from what OpenRouter, Mistral and LM Studio list."""
    inputs = mapping_of(entry.get("architecture")).get("input_modalities")
    if isinstance(inputs, list):
        return "image" in inputs
    ability = mapping_of(entry.get("capabilities")).get("vision")
    return ability if isinstance(ability, bool) else None


async def _ollama(root: str, model: str) -> _Told:
    """Source: Ollama API reference, "Show Model Information"."""
    document = mapping_of(
        await fetch_json(f"{root}/api/show", {"model": model}, timeout_s=ASK_TIMEOUT_S)
    )
    abilities = document.get("capabilities")
    known = abilities if isinstance(abilities, list) else None
    # What the model could take in is not what the server gives it: that is num_ctx, 4096 unless set.
    size = re.search(r"num_ctx\s+(\d+)", text_of(document.get("parameters")))
    return _Told(
        window=int(size.group(1)) if size else 0,
        tools=None if known is None else "tools" in known,
        vision=None if known is None else "vision" in known,
    )


async def _llama_cpp(root: str, model: str) -> _Told:
    """Source: llama.cpp, tools/server/README.md, GET /props."""
    document = mapping_of(await fetch_json(f"{root}/props", timeout_s=ASK_TIMEOUT_S))
    size = count_of(mapping_of(document.get("default_generation_settings")).get("n_ctx")) or 0
    sees = mapping_of(document.get("modalities")).get("vision")
    return _Told(window=size, vision=sees if isinstance(sees, bool) else None)


async def _lmstudio(root: str, model: str) -> _Told:
    """Source: LM Studio documentation, REST API v0, GET /api/v0/models/{model}."""
    document = mapping_of(
        await fetch_json(f"{root}/api/v0/models/{quote(model)}", timeout_s=ASK_TIMEOUT_S)
    )
    if not document:
        return _Told()
    abilities = document.get("capabilities")
    return _Told(
        window=_window_of(document),
        tools="tool_use" in abilities if isinstance(abilities, list) else None,
        vision=document.get("type") == "vlm",
    )


_LOCAL_DOCUMENTS: Mapping[str, Callable[[str, str], Awaitable[_Told]]] = {
    "ollama": _ollama,
    "llama_cpp": _llama_cpp,
    "lmstudio": _lmstudio,
}
"""What local servers say of themselves beside the list of models."""

"""What a server says of its models in documents of its own: asking for them costs nothing."""

import re
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING
from urllib.parse import quote, urlsplit

from core.chat.json_shape import count_of, mapping_of, text_of
from core.chat.options import ModelOptions
from core.small_http import fetch_json

if TYPE_CHECKING:
    from core.chat.model import ChatModel

ASK_TIMEOUT_S = 2.0
"""For a small document of a local server."""
_WINDOW_KEYS = (
    *("max_model_len", "loaded_context_length", "context_length", "context_window"),
    *("max_context_length", "n_ctx"),
)


@dataclass(frozen=True, slots=True)
class Told:
    """What a server says of a model, None and 0 where it does not."""

    names: tuple[str, ...] = ()
    window: int = 0
    tools: bool | None = None
    vision: bool | None = None


async def read_documents(model: "ChatModel", options: ModelOptions) -> Told:
    """Return what the list of models and, for local servers, their own documents say.

    Raises:
        ModelUnreachableError: Nobody is there.
        ModelRefusedError: The key is refused.
    """
    entries = await model.model_entries()
    names = tuple(text_of(entry.get("id")) for entry in entries)
    mine = next(
        (entry for entry in entries if is_same(text_of(entry.get("id")), options.model)), {}
    )
    told = Told(names=names, window=_window_of(mine), vision=_sees(mine))
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


def is_same(listed: str, wanted: str) -> bool:
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


async def _ollama(root: str, model: str) -> Told:
    """Source: Ollama API reference, "Show Model Information"."""
    document = mapping_of(
        await fetch_json(f"{root}/api/show", {"model": model}, timeout_s=ASK_TIMEOUT_S)
    )
    abilities = document.get("capabilities")
    known = abilities if isinstance(abilities, list) else None
    # What the model could take in is not what the server gives it: that is num_ctx, 4096 unless set.
    size = re.search(r"num_ctx\s+(\d+)", text_of(document.get("parameters")))
    return Told(
        window=int(size.group(1)) if size else 0,
        tools=None if known is None else "tools" in known,
        vision=None if known is None else "vision" in known,
    )


async def _llama_cpp(root: str, model: str) -> Told:
    """Source: llama.cpp, tools/server/README.md, GET /props."""
    document = mapping_of(await fetch_json(f"{root}/props", timeout_s=ASK_TIMEOUT_S))
    size = count_of(mapping_of(document.get("default_generation_settings")).get("n_ctx")) or 0
    sees = mapping_of(document.get("modalities")).get("vision")
    return Told(window=size, vision=sees if isinstance(sees, bool) else None)


async def _lmstudio(root: str, model: str) -> Told:
    """Source: LM Studio documentation, REST API v0, GET /api/v0/models/{model}."""
    document = mapping_of(
        await fetch_json(f"{root}/api/v0/models/{quote(model)}", timeout_s=ASK_TIMEOUT_S)
    )
    if not document:
        return Told()
    abilities = document.get("capabilities")
    return Told(
        window=_window_of(document),
        tools="tool_use" in abilities if isinstance(abilities, list) else None,
        vision=document.get("type") == "vlm",
    )


_LOCAL_DOCUMENTS: Mapping[str, Callable[[str, str], Awaitable[Told]]] = {
    "ollama": _ollama,
    "llama_cpp": _llama_cpp,
    "lmstudio": _lmstudio,
}
"""What local servers say of themselves beside the list of models."""

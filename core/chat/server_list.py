"""The list of models a server offers, and what it is good for: naming them where ours is not there."""

import json
import re
from collections.abc import Mapping
from typing import Protocol

from core.chat.connection import ConnectionFailedError, HttpAnswer
from core.chat.json_shape import items_of, mapping_of, text_of
from core.chat.options import ModelOptions
from core.errors import ModelError, ModelRefusedError, ModelUnreachableError

MAX_NAMES_SHOWN = 8
"""Models of the server that are named when ours is not among them."""
Entries = tuple[Mapping[str, object], ...]
"""What a server says of each model."""


class Reads(Protocol):
    """Reads small documents of a server."""

    async def get(self, path: str, connect_s: float = 5.0) -> HttpAnswer:
        """Read a document.

        Raises:
            ConnectionFailedError: No answer came.
        """
        ...


async def listed_models(connection: Reads) -> Entries:
    """Return what the server says of each model it offers, nothing where it does not tell.

    Raises:
        ModelUnreachableError: Nobody is there.
        ModelRefusedError: The key is refused.
    """
    try:
        answer = await connection.get("/models")
    except ConnectionFailedError as error:
        if error.kind == "unreachable":
            text = f"The model server cannot be reached: {error.reason}."
            raise ModelUnreachableError(text) from error
        return ()
    if answer.status == 401:
        raise ModelRefusedError("The model server refused the key.", code="auth")
    try:
        listed = mapping_of(json.loads(answer.text))
    except ValueError:
        return ()
    entries = (mapping_of(item) for item in items_of(listed.get("data")))
    return tuple(entry for entry in entries if text_of(entry.get("id")))


async def with_hint(error: ModelError, options: ModelOptions, connection: Reads) -> ModelError:
    """Return an error with what to do about it: the variable of the key, the models there are, how to start it."""
    message, hint = error.message, error.hint
    if error.code == "auth":
        verb = "Put a valid key into" if options.api_key else "No key is set: put one into"
        hint = f"{verb} {options.key_env}."
    elif error.code == "model_not_found" and options.lists_models:
        names = await _names(connection)
        shown = ", ".join(names[:MAX_NAMES_SHOWN]) + (
            ", ..." if len(names) > MAX_NAMES_SHOWN else ""
        )
        message = f"{message} (model {options.model!r})"
        hint = f"It offers: {shown}." if names else "Check the model's name."
    elif isinstance(error, ModelUnreachableError) and not hint:
        message = f"{message.rstrip('.')} ({without_login(options.base_url)})."
        hint = options.provider.start_hint or "Check base_url and the network."
    return type(error)(message, hint=hint, code=error.code)


def without_login(url: str) -> str:
    """Return an address without the name and password that may stand in it."""
    return re.sub(r"(?<=//)[^/?#]*@", "", url)


async def _names(connection: Reads) -> list[str]:
    try:
        return [text_of(entry.get("id")) for entry in await listed_models(connection)]
    except ModelError:
        return []

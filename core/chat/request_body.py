"""Builds the bytes of a request: history, tools and parameters as the server wants them."""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from core.chat.history import write_history
from core.chat.json_shape import whole_text
from core.chat.schema_subset import reduced_schema
from core.chat.step_choice import useless_forms, withheld_forms
from core.chat.step_report import stepped
from core.chat.stepwise import StepForms
from core.chat.tool_names import ToolNames
from core.chat.wire_messages import WireMessage, clean_messages
from core.messages import JsonObject, ModelRequest, ToolSpec, pictures_of
from core.provider import ProviderFlags

HistoryWriter = Callable[[ModelRequest], list[WireMessage]]
_LENGTH_FIELDS = ("max_tokens", "max_completion_tokens")
_NUL = "\\u0000"


@dataclass(frozen=True, slots=True)
class BuiltBody:
    """A request ready to be sent."""

    data: bytes
    names: ToolNames
    """Names of the tools in it."""
    parameters: frozenset[str]
    """Top-level fields of the body."""
    has_images: bool
    pictures_in_words: bool = False
    """Pictures of the history are described, for the model sees none."""
    request: ModelRequest | None = None
    """The form in which it was sent to a model that works step by step, None where it was sent as it is."""
    forms: StepForms | None = None
    """Forms of its tools in that case."""


class BodyBuilder:
    """Builds the requests for one model.

    Args:
        model: Its name on the server.
        parameters: Further request parameters the person has set, such as temperature.
        history: Writes the messages in another way; serves tests of odd histories.
    """

    def __init__(
        self,
        model: str,
        parameters: JsonObject | None = None,
        history: HistoryWriter | None = None,
    ) -> None:
        self._model = model
        self._parameters = dict(parameters or {})
        self._history = history

    def build(
        self, request: ModelRequest, flags: ProviderFlags, learned: Mapping[str, str]
    ) -> BuiltBody:
        """Return the body of a request.

        Args:
            request: What to ask.
            flags: The server's ways, with what was learned in them.
            learned: What was learned, by flag.
        """
        if flags.tool_protocol == "steps":
            return self._stepwise(request, flags, learned)
        names = ToolNames(request.tools)
        body = self._begun(request, names, flags)
        if names.sent:
            body["tools"] = [_tool(name, spec, flags) for name, spec in names.sent]
        return self._ended(body, request, names, flags, learned)

    def _stepwise(
        self, request: ModelRequest, flags: ProviderFlags, learned: Mapping[str, str]
    ) -> BuiltBody:
        """Return the body for a model that works step by step."""
        forms = StepForms(request.tools)
        missing = request.situation.missing if request.situation else ()
        withheld = withheld_forms(request.messages, forms, missing)
        sent = stepped(request, forms, useless_forms(request.messages, forms), withheld)
        names = ToolNames(request.tools)
        body = self._begun(sent, names, flags)
        if forms.offered:
            wanted = forms.response_format(withheld, flags.schema_choice)
            self._add_parameter(body, "response_format", wanted, flags)
        built = self._ended(body, sent, names, flags, learned)
        return replace(built, request=sent, forms=forms if forms.offered else None)

    def _begun(
        self, request: ModelRequest, names: ToolNames, flags: ProviderFlags
    ) -> dict[str, Any]:
        written = (
            self._history(request)
            if self._history is not None
            else write_history(request, pictures=flags.vision)
        )
        return {"model": self._model, "messages": clean_messages(written, flags, names)}

    def _ended(
        self,
        body: dict[str, Any],
        request: ModelRequest,
        names: ToolNames,
        flags: ProviderFlags,
        learned: Mapping[str, str],
    ) -> BuiltBody:
        self._add_parameters(body, request, flags, learned)
        body["stream"] = True
        if flags.stream_usage:
            body["stream_options"] = {"include_usage": True}
        for name in flags.omit:
            body.pop(name, None)
        has_images = any(isinstance(message["content"], list) for message in body["messages"])
        in_words = not flags.vision and any(pictures_of(message) for message in request.messages)
        return BuiltBody(_encoded(body), names, frozenset(body), has_images, in_words)

    def _add_parameters(
        self,
        body: dict[str, Any],
        request: ModelRequest,
        flags: ProviderFlags,
        learned: Mapping[str, str],
    ) -> None:
        set_here = dict(self._parameters)
        if request.max_output_tokens is not None:
            set_here = {key: value for key, value in set_here.items() if key not in _LENGTH_FIELDS}
            set_here[flags.max_tokens_field] = request.max_output_tokens
        for name, value in set_here.items():
            # The person's own spelling counts until the server refuses it.
            renamed = name in _LENGTH_FIELDS and "max_tokens_field" in learned
            self._add_parameter(body, flags.max_tokens_field if renamed else name, value, flags)

    def _add_parameter(
        self, body: dict[str, Any], name: str, value: object, flags: ProviderFlags
    ) -> None:
        left_out = {
            "temperature": flags.temperature == "omit",
            "parallel_tool_calls": not flags.parallel_calls or "tools" not in body,
            "tool_choice": "tools" not in body or _is_refused_choice(value, flags),
            "response_format": flags.response_format == "omit",
        }
        if left_out.get(name, False):
            return
        if name == "response_format" and flags.response_format == "json_object":
            value = {"type": "json_object"}
        body[name] = value


def _tool(name: str, spec: ToolSpec, flags: ProviderFlags) -> dict[str, Any]:
    parameters: Mapping[str, Any] = spec.parameters
    if flags.schema == "openapi_subset":
        parameters = reduced_schema(spec.parameters)
    if "type" not in parameters or "properties" not in parameters:
        parameters = {"type": "object", "properties": {}, **parameters}
    function: dict[str, Any] = {"name": name, "parameters": parameters}
    if spec.description:
        function["description"] = spec.description
    return {"type": "function", "function": function}


def _is_refused_choice(choice: object, flags: ProviderFlags) -> bool:
    """Return whether the server takes no such tool choice; some thinking models may not be forced to call."""
    is_forced = choice not in ("auto", "none")
    return flags.tool_choice == "omit" or (is_forced and not flags.tool_choice_forced)


def _encoded(body: Mapping[str, Any]) -> bytes:
    """Return the body as UTF-8 JSON without half surrogate pairs and NUL characters, which servers choke on."""
    text = _dumped(body)
    try:
        if _NUL not in text:
            return text.encode()
    except UnicodeEncodeError:
        pass
    return _dumped(_sendable(body)).encode()


def _dumped(body: object) -> str:
    return json.dumps(body, ensure_ascii=False, separators=(",", ":"))


def _sendable(value: Any) -> Any:
    if isinstance(value, str):
        return whole_text(value).replace("\0", "\ufffd")
    if isinstance(value, Mapping):
        return {_sendable(key): _sendable(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_sendable(item) for item in value]
    return value

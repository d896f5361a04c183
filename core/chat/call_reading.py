"""Makes calls of what was put together: known name, readable arguments that fit the schema, unique id."""

import difflib
import json
import uuid
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

from core.chat.argument_repair import Arguments, ReadArguments, read_arguments
from core.chat.json_schema import SchemaCheck
from core.chat.json_shape import items_of, mapping_of, text_of, whole_text
from core.chat.tool_names import ToolNames, bare_name
from core.messages import JsonValue, ToolCall, ToolSpec

MAX_NAMES_SHOWN = 20
"""Names of tools told to a model that asked for one that does not exist."""
_WRAPPER = "multi_tool_use.parallel"
"""Source: seen from OpenAI models: a made-up tool whose argument tool_uses lists real calls."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RawCall:
    """A call as a model wrote it."""

    id: str = ""
    name: str
    arguments: str
    source: Literal["native", "text"] = "native"
    extra: dict[str, JsonValue] = field(default_factory=dict)
    repaired: bool = False
    """It was not in the form it should have."""


class CallIds:
    """Ids of calls, each used once in a session."""

    def __init__(self) -> None:
        self._taken: set[str] = set()

    def reserve(self, ids: Iterable[str]) -> None:
        """Note ids that are in use already."""
        self._taken.update(ids)

    def claim(self, wanted: str = "") -> str:
        """Return `wanted` when it is new, else an id of our own."""
        call_id = wanted
        while not call_id or call_id in self._taken:
            call_id = f"call_{uuid.uuid4().hex[:12]}"
        self._taken.add(call_id)
        return call_id


class CallReader:
    """Reads the calls of one reply.

    Args:
        names: Tools that were offered.
        ids: Ids of the session.
    """

    def __init__(self, names: ToolNames, ids: CallIds) -> None:
        self._names = names
        self._ids = ids

    def read(self, raw: Sequence[RawCall]) -> tuple[ToolCall, ...]:
        """Return all calls, those that may not run included; one raw call can hold several."""
        return tuple(call for item in raw for part in _unwrapped(item) for call in self._read(part))

    def _read(self, raw: RawCall) -> list[ToolCall]:
        blank = ToolCall(
            id="",
            name=whole_text(raw.name),
            raw_arguments=whole_text(raw.arguments),
            source=raw.source,
            extra=raw.extra,
        )
        found = self._names.find(raw.name)
        if found is None:
            problem = self._unknown(raw.name)
            return [
                replace(blank, id=self._ids.claim(raw.id), status="unknown_tool", problem=problem)
            ]
        named = replace(blank, name=found.spec.name, repaired=found.changed or raw.repaired)
        read = read_arguments(raw.arguments)
        if not read.objects:
            return [replace(_unreadable(named, read, found.spec), id=self._ids.claim(raw.id))]
        calls = []
        for number, arguments in enumerate(read.objects):
            call_id = self._ids.claim(raw.id if number == 0 else "")
            fitted = _fitted(replace(named, id=call_id), arguments, found.spec)
            calls.append(replace(fitted, repaired=fitted.repaired or read.repaired))
        return calls

    def _unknown(self, name: str) -> str:
        known = [spec.name for _, spec in self._names.sent]
        close = difflib.get_close_matches(bare_name(name), known, n=3, cutoff=0.5)
        rest = [other for other in known if other not in close]
        shown = ", ".join((close + rest)[:MAX_NAMES_SHOWN]) or "none"
        return f"There is no tool named {name!r}. The tools are: {shown}."


def cut_off(call: ToolCall) -> ToolCall:
    """Return the call as one that was cut off: it never runs."""
    return replace(
        call,
        arguments=None,
        status="truncated",
        problem="The reply was cut off, so this call was not run. Make it again, shorter or in parts.",
    )


def _unwrapped(raw: RawCall) -> list[RawCall]:
    """Return the calls inside the wrapper for parallel calls, or the call itself."""
    if raw.name.removeprefix("functions.") != _WRAPPER:
        return [raw]
    arguments = next(iter(read_arguments(raw.arguments).objects), {})
    uses = [mapping_of(use) for use in items_of(arguments.get("tool_uses"))]
    inner = [_inner_call(raw, number, use) for number, use in enumerate(uses)]
    return inner or [raw]


def _inner_call(raw: RawCall, number: int, use: object) -> RawCall:
    fields = mapping_of(use)
    return RawCall(
        id=raw.id if number == 0 else "",
        name=bare_name(text_of(fields.get("recipient_name"))),
        arguments=json.dumps(fields.get("parameters") or {}, ensure_ascii=False),
        source=raw.source,
    )


def _unreadable(call: ToolCall, read: ReadArguments, spec: ToolSpec) -> ToolCall:
    if read.truncated:
        return cut_off(call)
    return replace(call, status="invalid", problem=f"Not run: {read.problem}. {signature(spec)}")


def _fitted(call: ToolCall, arguments: Arguments, spec: ToolSpec) -> ToolCall:
    """Return the call with arguments as the original schema asks for them, or as one that may not run."""
    check = SchemaCheck(spec.parameters)
    coerced = check.coerced(arguments)
    if not isinstance(coerced, dict) or not check.check(coerced):
        return replace(
            call,
            status="invalid",
            problem=f"Not run: {'; '.join(check.problems)}. {signature(spec)}",
        )
    return replace(call, arguments=coerced, repaired=call.repaired or coerced != arguments)


def signature(spec: ToolSpec) -> str:
    """Return the arguments a tool takes in one line, optional ones with "?"."""
    required = {text_of(name) for name in items_of(spec.parameters.get("required"))}
    names = [
        f"{name}{'' if name in required else '?'}: {_type(mapping_of(schema))}"
        for name, schema in mapping_of(spec.parameters.get("properties")).items()
    ]
    return f"Arguments: {spec.name}({', '.join(names)})."


def _type(schema: object) -> str:
    fields = mapping_of(schema)
    if isinstance(fields.get("enum"), list):
        return "|".join(str(item) for item in items_of(fields["enum"]))
    kind = fields.get("type")
    if isinstance(kind, list):
        return "|".join(str(item) for item in kind)
    return text_of(kind) or "any"

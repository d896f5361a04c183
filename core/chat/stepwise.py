"""Tools for models that have no tool calling of their own: every reply is one JSON object that names one call.

Where the server can, the shape is forced by `response_format`. A tool is offered in plain forms, each with a few
required fields, because a small model fills in every field it is told of.
"""

import json
import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from core.chat.argument_repair import read_arguments
from core.chat.call_reading import RawCall
from core.chat.json_shape import items_of, mapping_of, text_of
from core.messages import JsonValue, ToolCall, ToolForm, ToolSpec

THOUGHT, CALL, NAME, ARGUMENTS = "thought", "call", "name", "arguments"
NO_CALL = "(none)"
"""Name of the call of a step that has none: it is told that there is no such tool."""
MAX_THOUGHT_CHARS = 160
"""A small model that may think for long does not come to the call."""
_GUIDE = """# Replies

Every reply is one JSON object, and nothing else:
{"thought": "one short sentence: what the task needs next", "call": {"name": "<tool>", "arguments": {...}}}
You get the result, then reply again, until a tool ends the task.

# Tools
"""
_KEYS = re.compile(rf'"(?:{CALL}|{ARGUMENTS})"\s*:')
_KINDS = {"integer": "number", "number": "number", "array": "list", "boolean": "true or false"}


@dataclass(frozen=True, slots=True)
class Step:
    """A reply that was read."""

    thought: str
    call: RawCall


@dataclass(frozen=True, slots=True)
class OfferedForm:
    """A form and the tool it belongs to."""

    tool: str
    form: ToolForm
    fields: Mapping[str, Any]
    """JSON schema of each argument, by the name the model uses."""


class StepForms:
    """The forms of the tools of one request.

    Args:
        tools: Tools that are offered.
    """

    def __init__(self, tools: Sequence[ToolSpec]) -> None:
        self.offered: Mapping[str, OfferedForm] = {
            form.name: OfferedForm(tool.name, form, _fields(form, tool))
            for tool in tools
            for form in forms_of(tool)
        }
        """All forms, by the name the model uses."""

    def guide(self, hidden: Collection[str] = ()) -> str:
        """Return what a model is told of replies and tools, as part of the system message.

        Args:
            hidden: Names of forms it is not told of.
        """
        return _GUIDE + "\n".join(
            _line(one) for name, one in self.offered.items() if name not in hidden
        )

    def response_format(self, withheld: Collection[str], keyword: str = "anyOf") -> dict[str, Any]:
        """Return the `response_format` that forces a step.

        Args:
            withheld: Names of forms that may not be chosen now.
            keyword: anyOf or oneOf, whichever the server's grammar knows.
        """
        calls = [
            _call_schema(name, one.fields)
            for name, one in self.offered.items()
            if name not in withheld
        ]
        thought = {"type": "string", "maxLength": MAX_THOUGHT_CHARS}
        schema = _object({THOUGHT: thought, CALL: {keyword: calls}})
        return {
            "type": "json_schema",
            "json_schema": {"name": "step", "strict": True, "schema": schema},
        }

    def read(self, text: str) -> Step | None:
        """Return the step a reply consists of, None when it is anything else.

        What was meant as a step and cannot be read is one without a call, never an answer.
        """
        read = read_arguments(text.strip())
        if len(read.objects) != 1 or not text.strip():
            return Step("", RawCall(name=NO_CALL, arguments="{}")) if _is_meant(text) else None
        step = read.objects[0]
        call = mapping_of(step.get(CALL)) or mapping_of(step)
        name = text_of(call.get(NAME))
        if not name and not {THOUGHT, CALL} & step.keys():
            return None
        name = name or NO_CALL
        arguments = mapping_of(call.get(ARGUMENTS))
        return Step(text_of(step.get(THOUGHT)), self._raw(name, arguments, repaired=read.repaired))

    def shown(self, call: ToolCall) -> tuple[str, Mapping[str, JsonValue]]:
        """Return name and arguments of a call of the history as the model wrote them."""
        arguments: Mapping[str, JsonValue] = call.arguments or {}
        for one in self.offered.values():
            if one.tool == call.name and one.form.fixed.items() <= arguments.items():
                return one.form.name, {
                    field: arguments[argument]
                    for field, argument in one.form.fields.items()
                    if argument in arguments
                }
        return call.name, arguments

    def form_of(self, call: ToolCall) -> ToolForm | None:
        """Return the form a call of the history was made in, None where it is not offered."""
        one = self.offered.get(self.shown(call)[0])
        return None if one is None else one.form

    def _raw(self, name: str, given: Mapping[str, object], *, repaired: bool) -> RawCall:
        one = self.offered.get(name)
        tool = one.tool if one else name
        named = dict(given)
        if one is not None:
            named = {one.form.fields.get(field, field): value for field, value in given.items()}
            named = {**one.form.fixed, **named}
        written = json.dumps(named, ensure_ascii=False)
        return RawCall(name=tool, arguments=written, source="text", repaired=repaired)


def _is_meant(text: str) -> bool:
    """Return whether a text that is no step was meant as one: cut, doubled, or with words around it."""
    return _KEYS.search(text) is not None


def forms_of(tool: ToolSpec) -> tuple[ToolForm, ...]:
    """Return the plain forms of a tool: its own, or one with its required arguments."""
    if tool.forms is not None:
        return tool.forms
    required = [text_of(name) for name in items_of(tool.parameters.get("required"))]
    fields = {name: name for name in required}
    return (ToolForm(name=tool.name, description=tool.description, fields=fields),)


def _fields(form: ToolForm, tool: ToolSpec) -> Mapping[str, Any]:
    properties = mapping_of(tool.parameters.get("properties"))
    return {field: mapping_of(properties.get(name)) for field, name in form.fields.items()}


def _call_schema(name: str, fields: Mapping[str, Any]) -> dict[str, Any]:
    arguments = _object({field: _shape(schema) for field, schema in fields.items()})
    return _object({NAME: {"const": name}, ARGUMENTS: arguments})


def _shape(schema: Mapping[str, Any]) -> dict[str, Any]:
    """Return what a grammar needs of the schema of one argument."""
    if "enum" in schema:
        return {"enum": list(schema["enum"])}
    kind = schema.get("type")
    if kind == "array":
        return {"type": "array", "items": _shape(mapping_of(schema.get("items")))}
    return {"type": kind if kind in _KINDS else "string"}


def _object(properties: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": dict(properties),
        "required": list(properties),
        "additionalProperties": False,
    }


def _line(one: OfferedForm) -> str:
    fields = ", ".join(
        f"{field}: {kind}" if (kind := _kind(schema)) else field
        for field, schema in one.fields.items()
    )
    return f"- {one.form.name}({fields}): {one.form.description}"


def _kind(schema: Mapping[str, Any]) -> str:
    if "enum" in schema:
        return "|".join(str(item) for item in schema["enum"])
    return _KINDS.get(str(schema.get("type")), "")

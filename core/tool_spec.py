"""Tools as a model is told of them."""

from collections.abc import Mapping, Sequence
from functools import cache

from pydantic import BaseModel

from core.messages import JsonValue, ToolSpec
from core.ports import Tool


def specs(tools: Sequence[Tool]) -> tuple[ToolSpec, ...]:
    """Describe each tool, in the order given."""
    return tuple(
        ToolSpec(
            name=tool.name,
            description=tool.description,
            parameters=schema(tool.arguments),
            forms=getattr(tool, "forms", None),
        )
        for tool in tools
    )


@cache
def schema(arguments: type[BaseModel]) -> Mapping[str, JsonValue]:
    """Return the JSON schema of an arguments model, without titles, definitions inlined."""
    raw = arguments.model_json_schema()
    definitions = raw.pop("$defs", {})
    cleaned = _clean(raw, definitions)
    assert isinstance(cleaned, dict)
    cleaned.pop("description", None)
    return cleaned


def _clean(node: JsonValue, definitions: Mapping[str, JsonValue]) -> JsonValue:
    if isinstance(node, Mapping):
        return _clean_object(node, definitions)
    if isinstance(node, Sequence) and not isinstance(node, str):
        return [_clean(item, definitions) for item in node]
    return node


def _clean_object(node: Mapping[str, JsonValue], definitions: Mapping[str, JsonValue]) -> JsonValue:
    reference = node.get("$ref")
    if isinstance(reference, str):
        return _clean(definitions[reference.rsplit("/", 1)[-1]], definitions)
    options = node.get("anyOf")
    if isinstance(options, Sequence) and len(options) == 2 and {"type": "null"} in options:
        rest = {key: value for key, value in node.items() if key not in ("anyOf", "default")}
        chosen = next(option for option in options if option != {"type": "null"})
        assert isinstance(chosen, Mapping)
        return _clean_object({**rest, **chosen}, definitions)
    return {
        key: _clean_property(key, value, definitions)
        for key, value in node.items()
        if not (key == "title" and isinstance(value, str))
        and not (key == "default" and value is None)
    }


def _clean_property(key: str, value: JsonValue, definitions: Mapping[str, JsonValue]) -> JsonValue:
    if key == "properties" and isinstance(value, Mapping):
        return {name: _clean(item, definitions) for name, item in value.items()}
    return _clean(value, definitions)

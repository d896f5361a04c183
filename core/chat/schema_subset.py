"""Reduces a JSON schema to the part of OpenAPI that Gemini's tools take; arguments are checked with the original.

Source: https://ai.google.dev/api/caching#Schema
"""

import json
from collections.abc import Mapping
from typing import Any

from core.chat.json_shape import items_of, mapping_of, text_of
from core.messages import JsonObject

MAX_DEPTH = 24
"""A schema that refers to itself ends here."""
_COPIED = ("title", "description", "minimum", "maximum", "minItems", "maxItems")
_FORMATS = frozenset(("int32", "int64", "float", "double", "date-time", "enum"))
_NAMES = {
    str: "string",
    bool: "boolean",
    int: "integer",
    float: "number",
    list: "array",
    dict: "object",
}


def reduced_schema(root: JsonObject) -> dict[str, Any]:
    """Return an equal or wider schema without references, branches and other keywords the subset lacks."""
    return _reduced(root, root, MAX_DEPTH)


def _reduced(schema: Mapping[str, object], root: JsonObject, depth: int) -> dict[str, Any]:
    if depth <= 0:
        return {"type": "object"}
    flat, nullable = _flat(schema, root)
    made: dict[str, Any] = {key: flat[key] for key in _COPIED if key in flat}
    made["type"] = _one_type(flat)
    if nullable:
        made["nullable"] = True
    if flat.get("format") in _FORMATS:
        made["format"] = flat["format"]
    _choices(made, flat)
    if made["type"] == "object":
        _properties(made, flat, root, depth)
    elif made["type"] == "array":
        made["items"] = _reduced(
            mapping_of(flat.get("items")) or {"type": "string"}, root, depth - 1
        )
    return made


def _properties(
    made: dict[str, Any], flat: Mapping[str, object], root: JsonObject, depth: int
) -> None:
    properties = mapping_of(flat.get("properties"))
    made["properties"] = {
        name: _reduced(mapping_of(schema), root, depth - 1) for name, schema in properties.items()
    }
    required = [name for name in items_of(flat.get("required")) if name in properties]
    if required:
        made["required"] = required


def _flat(schema: Mapping[str, object], root: JsonObject) -> tuple[Mapping[str, object], bool]:
    """Follow references, join allOf, take the first branch that is not null; say whether null is allowed."""
    nullable = False
    for _ in range(MAX_DEPTH):
        reference = text_of(schema.get("$ref"))
        branches = [*items_of(schema.get("anyOf")), *items_of(schema.get("oneOf"))]
        rest = {
            key: value
            for key, value in schema.items()
            if key not in ("$ref", "anyOf", "oneOf", "allOf")
        }
        if reference:
            schema = {**_target(root, reference), **rest}
        elif branches:
            real = [
                mapping_of(branch)
                for branch in branches
                if mapping_of(branch).get("type") != "null"
            ]
            nullable = nullable or len(real) < len(branches)
            schema = {**(real[0] if real else {}), **rest}
        elif "allOf" in schema:
            schema = _joined([*(mapping_of(part) for part in items_of(schema["allOf"])), rest])
        else:
            break
    types = schema.get("type")
    return schema, nullable or (isinstance(types, list) and "null" in types)


def _joined(parts: list[Mapping[str, object]]) -> Mapping[str, object]:
    made: dict[str, object] = {}
    properties: dict[str, object] = {}
    required: list[object] = []
    for part in parts:
        made |= part
        properties |= mapping_of(part.get("properties"))
        required += items_of(part.get("required"))
    return {**made, "properties": properties, "required": required} if properties else made


def _target(root: JsonObject, reference: str) -> Mapping[str, object]:
    here: object = root
    for part in reference.removeprefix("#").split("/")[1:]:
        here = mapping_of(here).get(part.replace("~1", "/").replace("~0", "~"))
    return mapping_of(here)


def _one_type(schema: Mapping[str, object]) -> str:
    declared = schema.get("type")
    if isinstance(declared, list):
        declared = next((name for name in declared if name != "null"), "string")
    if isinstance(declared, str) and declared != "null":
        return declared
    if "properties" in schema:
        return "object"
    if "items" in schema:
        return "array"
    known = [schema["const"]] if "const" in schema else items_of(schema.get("enum"))
    return _NAMES.get(type(known[0]), "string") if known else "string"


def _choices(made: dict[str, Any], schema: Mapping[str, object]) -> None:
    """Keep a choice of strings; any other can only be told in words."""
    allowed = [schema["const"]] if "const" in schema else list(items_of(schema.get("enum")))
    if not allowed:
        return
    if made["type"] == "string" and all(isinstance(item, str) for item in allowed):
        made["enum"] = allowed
        return
    words = f"One of: {', '.join(json.dumps(item, ensure_ascii=False) for item in allowed)}."
    made["description"] = f"{made.get('description', '')} {words}".strip()

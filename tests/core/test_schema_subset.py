from typing import Any

import pytest
from pydantic import BaseModel

from core.chat.schema_subset import reduced_schema
from core.messages import JsonObject

FORBIDDEN = {
    "$schema",
    "$ref",
    "$defs",
    "anyOf",
    "oneOf",
    "allOf",
    "additionalProperties",
    "exclusiveMinimum",
    "const",
}


def inner(schema: dict[str, Any]) -> list[dict[str, Any]]:
    found = [schema]
    for item in schema.get("properties", {}).values():
        found += inner(item)
    if "items" in schema:
        found += inner(schema["items"])
    return found


def reduced(schema: dict[str, Any]) -> dict[str, Any]:
    made = reduced_schema(
        {"type": "object", "properties": {"x": schema}, "$defs": {"P": {"type": "integer"}}}
    )
    for part in inner(made):
        assert not FORBIDDEN & set(part)
        assert isinstance(part["type"], str)
    x: dict[str, Any] = made["properties"]["x"]
    return x


@pytest.mark.parametrize(
    ("schema", "expected"),
    [
        ({"$ref": "#/$defs/P"}, {"type": "integer"}),
        ({"type": ["number", "null"]}, {"type": "number", "nullable": True}),
        ({"anyOf": [{"type": "integer", "exclusiveMinimum": 0}, {"type": "null"}]},
         {"type": "integer", "nullable": True}),
        ({"const": 1}, {"type": "integer", "description": "One of: 1."}),
        ({"const": "a"}, {"type": "string", "enum": ["a"]}),
        ({"enum": [0, 1]}, {"type": "integer", "description": "One of: 0, 1."}),
        ({"enum": ["a", "b"]}, {"type": "string", "enum": ["a", "b"]}),
        ({"type": "string", "format": "uri", "minLength": 1}, {"type": "string"}),
        ({"type": "string", "format": "date-time"}, {"type": "string", "format": "date-time"}),
        ({"type": "array"}, {"type": "array", "items": {"type": "string"}}),
        ({}, {"type": "string"}),
        ({"allOf": [{"properties": {"a": {"type": "string"}}},
                    {"properties": {"b": {"type": "string"}}, "required": ["b"]}]},
         {"type": "object", "properties": {"a": {"type": "string"}, "b": {"type": "string"}}, "required": ["b"]}),
        ({"type": "object", "properties": {"const": {"type": "string"}}, "required": ["const", "gone"]},
         {"type": "object", "properties": {"const": {"type": "string"}}, "required": ["const"]}),
    ],
)  # fmt: skip
def test_a_schema_is_reduced_to_what_the_subset_knows(
    schema: dict[str, Any], expected: dict[str, Any]
) -> None:
    assert reduced(schema) == expected


def test_a_schema_that_refers_to_itself_ends() -> None:
    node: JsonObject = {"type": "object", "properties": {"next": {"$ref": "#/$defs/Node"}}}
    made = reduced_schema({"$ref": "#/$defs/Node", "$defs": {"Node": node}})
    assert made["properties"]["next"]["properties"]["next"]["type"] == "object"


def test_the_schema_of_a_pydantic_model_is_reduced() -> None:
    class Part(BaseModel):
        name: str | None = None

    class Arguments(BaseModel):
        parts: list[Part]
        size: int = 3

    made = reduced_schema(Arguments.model_json_schema())
    assert made["properties"]["parts"]["items"]["properties"]["name"]["nullable"] is True
    assert made["required"] == ["parts"]

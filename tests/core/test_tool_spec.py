import json
from typing import Literal

from pydantic import BaseModel, Field

from core.tool_spec import schema


class Inner(BaseModel):
    """A part."""

    title: str
    size: int | None = None


class Arguments(BaseModel):
    """Arguments of a tool."""

    kind: Literal["a", "b"] = "a"
    title: str = Field(description="What it is called.")
    part: Inner | None = None
    parts: list[Inner] = Field(default_factory=list)


def test_schemas_hold_no_references_titles_or_null_unions() -> None:
    text = json.dumps(schema(Arguments))
    for word in ("$ref", "$defs", "anyOf", '"null"', '"title": "'):
        assert word not in text


def test_a_property_may_be_called_title() -> None:
    made = schema(Arguments)
    properties = made["properties"]
    assert isinstance(properties, dict)
    assert properties["title"] == {"type": "string", "description": "What it is called."}
    assert made["required"] == ["title"]
    assert properties["part"]["properties"]["size"] == {"type": "integer"}
    assert properties["kind"]["enum"] == ["a", "b"]

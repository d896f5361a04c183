from typing import Any

import pytest

from core.chat.json_schema import SchemaCheck

INTEGER = {"type": "integer"}


def problems(schema: dict[str, Any], value: Any) -> list[str]:
    check = SchemaCheck(schema)
    check.check(value)
    return check.problems


def of(schema: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"type": "object", "properties": {"x": schema}, **more}


@pytest.mark.parametrize(
    ("schema", "given", "expected"),
    [
        (INTEGER, "20", 20),
        (INTEGER, "-3", -3),
        (INTEGER, 20.0, 20),
        ({"type": "number"}, "2.5", 2.5),
        ({"type": "boolean"}, "True", True),
        ({"type": "boolean"}, "false", False),
        ({"type": ["integer", "null"]}, "null", None),
        ({"type": "array", "items": {"type": "integer"}}, "[1, 2]", [1, 2]),
        ({"type": "array", "items": {"type": "integer"}}, ["1", "2"], [1, 2]),
        ({"type": "object"}, '{"a": 1}', {"a": 1}),
        ({"anyOf": [INTEGER, {"type": "null"}]}, "7", 7),
        ({"$ref": "#/$defs/N"}, "7", 7),
    ],
)
def test_a_string_becomes_what_the_schema_asks_for(
    schema: dict[str, Any], given: Any, expected: Any
) -> None:
    check = SchemaCheck(of(schema, **{"$defs": {"N": INTEGER}}))
    made = check.coerced({"x": given})
    assert made == {"x": expected}
    assert type(made["x"]) is type(expected)
    assert check.check(made)


@pytest.mark.parametrize(
    ("schema", "given"),
    [
        ({"type": "string"}, "20"),
        ({"type": "string"}, '{"a": 1}'),
        ({}, "20"),
        ({"anyOf": [{"type": "string"}, INTEGER]}, "20"),
        ({"type": ["string", "null"]}, "null"),
        (INTEGER, "twenty"),
        (INTEGER, "20.5"),
        ({"type": "boolean"}, "yes"),
        ({"type": "array"}, '{"a": 1}'),
        ({"type": "string"}, 5),
        ({"type": "boolean"}, 1),
    ],
)
def test_nothing_else_is_changed(schema: dict[str, Any], given: Any) -> None:
    assert SchemaCheck(of(schema)).coerced({"x": given}) == {"x": given}


@pytest.mark.parametrize(
    ("schema", "value"),
    [
        (INTEGER, "20"),
        (INTEGER, True),
        (INTEGER, 2.5),
        ({"type": "string"}, None),
        ({"enum": ["a", "b"]}, "c"),
        ({"const": 1}, 2),
        ({"type": "integer", "minimum": 1}, 0),
        ({"type": "integer", "exclusiveMinimum": 0}, 0),
        ({"type": "integer", "maximum": 3}, 4),
        ({"type": "number", "exclusiveMaximum": 3}, 3),
        ({"type": "string", "minLength": 1}, ""),
        ({"type": "string", "maxLength": 1}, "ab"),
        ({"type": "array", "minItems": 1}, []),
        ({"type": "array", "items": INTEGER}, [1, "x"]),
        ({"anyOf": [INTEGER, {"type": "null"}]}, "x"),
        ({"oneOf": [{"const": 1}, {"const": 2}]}, 3),
        ({"allOf": [INTEGER, {"minimum": 5}]}, 4),
        ({"type": "object", "required": ["y"]}, {}),
        ({"type": "object", "properties": {}, "additionalProperties": False}, {"z": 1}),
        ({"type": "object", "additionalProperties": INTEGER}, {"z": "a"}),
        ({"$ref": "#/$defs/N"}, "x"),
    ],
)
def test_what_does_not_fit_is_named(schema: dict[str, Any], value: Any) -> None:
    found = problems(of(schema, **{"$defs": {"N": INTEGER}}), {"x": value})
    assert found
    assert all(problem.startswith("x") for problem in found)


@pytest.mark.parametrize(
    ("schema", "value"),
    [
        ({}, {"anything": [1, None]}),
        ({"type": "number"}, 3),
        ({"type": "integer"}, 3),
        ({"enum": ["a"]}, "a"),
        (
            {"type": "object", "patternProperties": {".*": {}}, "additionalProperties": False},
            {"z": 1},
        ),
        ({"type": "object", "unknownKeyword": True}, {}),
        ({"$ref": "#/$defs/missing"}, 1),
    ],
)
def test_what_fits_is_not_held_back(schema: dict[str, Any], value: Any) -> None:
    assert problems(of(schema), {"x": value}) == []


def test_a_missing_argument_is_named_by_its_place() -> None:
    schema = of({"type": "object", "properties": {"y": INTEGER}, "required": ["y"]}, required=["x"])
    assert problems(schema, {"x": {}}) == ["x.y: is required"]
    assert problems(schema, {}) == ["x: is required"]


def test_a_schema_that_refers_to_itself_ends() -> None:
    schema = {"$ref": "#", "type": "object"}
    assert problems(schema, {}) == []
    node = {"type": "object", "properties": {"next": {"$ref": "#/$defs/Node"}}}
    assert problems(
        of({"$ref": "#/$defs/Node"}, **{"$defs": {"Node": node}}), {"x": {"next": {"next": 1}}}
    )


def test_only_the_first_problems_are_told() -> None:
    schema = {"type": "object", "required": [f"a{n}" for n in range(50)]}
    assert len(problems(schema, {})) == 5

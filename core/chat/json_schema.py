"""Checks arguments against a tool's JSON schema, and turns strings into what the schema asks for.

Only the keywords that tools use are known; others never refuse anything, for the tool checks once more.
Source: https://json-schema.org/draft/2020-12/json-schema-validation
"""

import json
import re
from collections.abc import Callable, Mapping, Sequence

from core.chat.json_shape import items_of, mapping_of, text_of
from core.messages import JsonObject, JsonValue

MAX_PROBLEMS = 5
"""More would not help a model."""
MAX_REFERENCES = 32
"""Longest way of references that is followed; a schema may refer to itself."""
Schema = Mapping[str, object]
_NUMBER = re.compile(r"[+-]?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?")
_NAMES: dict[type, str] = {
    dict: "object",
    list: "array",
    str: "string",
    bool: "boolean",
    int: "integer",
    float: "number",
}


class SchemaCheck:
    """One check of arguments.

    Args:
        root: The whole schema; references point into it.
    """

    def __init__(self, root: JsonObject) -> None:
        self._root = root
        self.problems: list[str] = []
        """What does not fit, at most `MAX_PROBLEMS` lines such as "path: is required"."""

    def coerced(self, value: JsonValue, schema: Schema | None = None) -> JsonValue:
        """Return the value with strings turned into what the schema asks for, wherever no string is allowed."""
        here = self._resolved(self._root if schema is None else schema)
        if isinstance(value, str):
            value = _from_string(value, self._types(here))
        elif isinstance(value, float) and value.is_integer() and self._types(here) == {"integer"}:
            value = int(value)
        if isinstance(value, dict):
            properties = self._all_properties(here)
            extra = mapping_of(here.get("additionalProperties"))
            return {
                key: self.coerced(item, properties.get(key, extra)) for key, item in value.items()
            }
        if isinstance(value, list) and isinstance(here.get("items"), dict):
            item_schema = mapping_of(here["items"])
            return [self.coerced(item, item_schema) for item in value]
        return value

    def check(self, value: JsonValue, schema: Schema | None = None, where: str = "") -> bool:
        """Return whether the value fits; what does not is added to `problems`."""
        here = self._resolved(self._root if schema is None else schema)
        before = len(self.problems)
        types = self._types(here)
        if types and not _is_one_of(value, types):
            self._add(where, f"must be {' or '.join(sorted(types))}, not {_type_name(value)}")
            return False
        self._check_choice(value, here, where)
        if isinstance(value, dict):
            self._check_object(value, here, where)
        elif isinstance(value, list):
            self._check_list(value, here, where)
        elif isinstance(value, str):
            self._check_size(len(value), here, ("minLength", "maxLength", "characters"), where)
        elif isinstance(value, int | float) and not isinstance(value, bool):
            self._check_number(value, here, where)
        self._check_branches(value, here, where)
        return len(self.problems) == before

    def _check_choice(self, value: JsonValue, schema: Schema, where: str) -> None:
        allowed = schema.get("enum")
        if isinstance(allowed, list) and value not in allowed:
            self._add(where, f"must be one of {json.dumps(allowed, ensure_ascii=False)}")
        if "const" in schema and value != schema["const"]:
            self._add(where, f"must be {json.dumps(schema['const'], ensure_ascii=False)}")

    def _check_object(self, value: Mapping[str, JsonValue], schema: Schema, where: str) -> None:
        properties = mapping_of(schema.get("properties"))
        for name in items_of(schema.get("required")):
            if isinstance(name, str) and name not in value:
                self._add(_join(where, name), "is required")
        extra = schema.get("additionalProperties")
        for key, item in value.items():
            if key in properties:
                self.check(item, mapping_of(properties[key]), _join(where, key))
            elif extra is False and "patternProperties" not in schema:
                self._add(_join(where, key), "is not an argument")
            elif isinstance(extra, dict):
                self.check(item, extra, _join(where, key))

    def _check_list(self, value: Sequence[JsonValue], schema: Schema, where: str) -> None:
        self._check_size(len(value), schema, ("minItems", "maxItems", "items"), where)
        items = schema.get("items")
        if isinstance(items, dict):
            for number, item in enumerate(value):
                if not self.check(item, items, f"{where}[{number}]"):
                    return

    def _check_size(
        self, size: int, schema: Schema, words: tuple[str, str, str], where: str
    ) -> None:
        least, most = schema.get(words[0]), schema.get(words[1])
        if isinstance(least, int) and size < least:
            self._add(where, f"must have at least {least} {words[2]}")
        if isinstance(most, int) and size > most:
            self._add(where, f"must have at most {most} {words[2]}")

    def _check_number(self, value: float, schema: Schema, where: str) -> None:
        bounds: tuple[tuple[str, str, Callable[[float], bool]], ...] = (
            ("minimum", "at least", lambda bound: value >= bound),
            ("maximum", "at most", lambda bound: value <= bound),
            ("exclusiveMinimum", "above", lambda bound: value > bound),
            ("exclusiveMaximum", "below", lambda bound: value < bound),
        )
        for keyword, words, fits in bounds:
            bound = schema.get(keyword)
            if isinstance(bound, int | float) and not isinstance(bound, bool) and not fits(bound):
                self._add(where, f"must be {words} {bound}")

    def _check_branches(self, value: JsonValue, schema: Schema, where: str) -> None:
        for part in items_of(schema.get("allOf")):
            self.check(value, mapping_of(part), where)
        for keyword in ("anyOf", "oneOf"):
            branches = items_of(schema.get(keyword))
            if branches and not any(self._fits(value, mapping_of(branch)) for branch in branches):
                self._add(where, "fits none of the forms it may have")

    def _fits(self, value: JsonValue, schema: Schema) -> bool:
        return SchemaCheck(self._root).check(value, schema)

    def _types(self, schema: Schema) -> frozenset[str]:
        """Return the types a value may have; none means that any will do."""
        declared = schema.get("type")
        if isinstance(declared, str):
            return frozenset((declared,))
        if isinstance(declared, list):
            return frozenset(name for name in declared if isinstance(name, str))
        branches = [*items_of(schema.get("anyOf")), *items_of(schema.get("oneOf"))]
        found = [self._types(self._resolved(mapping_of(branch))) for branch in branches]
        return frozenset().union(*found) if found and all(found) else frozenset()

    def _all_properties(self, schema: Schema) -> dict[str, Schema]:
        """Return the properties of an object, those of its branches too where they agree on a name."""
        made: dict[str, Schema] = {}
        for keyword in ("allOf", "anyOf", "oneOf"):
            for branch in items_of(schema.get(keyword)):
                inner = self._resolved(mapping_of(branch))
                made |= {
                    key: mapping_of(item)
                    for key, item in mapping_of(inner.get("properties")).items()
                }
        return made | {
            key: mapping_of(item) for key, item in mapping_of(schema.get("properties")).items()
        }

    def _resolved(self, schema: Schema) -> Schema:
        for _ in range(MAX_REFERENCES):
            reference = text_of(schema.get("$ref"))
            if not reference.startswith("#"):
                break
            schema = _follow(self._root, reference)
        return schema

    def _add(self, where: str, problem: str) -> None:
        if len(self.problems) < MAX_PROBLEMS:
            self.problems.append(f"{where or 'arguments'}: {problem}")


def _follow(root: JsonObject, reference: str) -> Schema:
    """Return what a local reference such as #/$defs/P points to; nothing at all fits anything."""
    here: object = root
    for part in reference.removeprefix("#").split("/")[1:]:
        here = mapping_of(here).get(part.replace("~1", "/").replace("~0", "~"))
    return mapping_of(here)


def _from_string(text: str, types: frozenset[str]) -> JsonValue:
    if not types or "string" in types:
        return text
    word = text.strip()
    if types & {"integer", "number"} and _NUMBER.fullmatch(word) and len(word) < 64:
        number = float(word)
        if "number" in types or number.is_integer():
            return (
                int(word)
                if word.lstrip("+-").isdigit()
                else (int(number) if number.is_integer() else number)
            )
    if "boolean" in types and word.lower() in ("true", "false"):
        return word.lower() == "true"
    if "null" in types and word.lower() in ("null", "none"):
        return None
    return _parsed(text, types)


def _parsed(text: str, types: frozenset[str]) -> JsonValue:
    wanted = tuple(kind for name, kind in (("array", list), ("object", dict)) if name in types)
    if not wanted or text.lstrip()[:1] not in ("[", "{"):
        return text
    try:
        value: JsonValue = json.loads(text, strict=False)
    except (ValueError, RecursionError):
        return text
    return value if isinstance(value, wanted) else text


def _is_one_of(value: JsonValue, types: frozenset[str]) -> bool:
    name = _type_name(value)
    if name == "integer":
        return bool(types & {"integer", "number"})
    if name == "number":
        return "number" in types or (
            "integer" in types and isinstance(value, float) and value.is_integer()
        )
    return name in types


def _type_name(value: JsonValue) -> str:
    return "null" if value is None else _NAMES[type(value)]


def _join(where: str, name: str) -> str:
    return f"{where}.{name}" if where else name

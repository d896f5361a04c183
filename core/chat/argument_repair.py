"""Reads the arguments of a call as a model wrote them, mending only what can be mended without guessing.

Never done: closing JSON that was cut off, turning ' into ", putting {} for garbage, unescaping HTML. Arguments that
are too large, nested too deep or hold a key twice are refused, for two readers could see two different calls in them.
"""

import ast
import json
import re
import warnings
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import TypeVar

from core.chat.json_shape import whole_text
from core.messages import JsonValue

MAX_ARGUMENT_BYTES = 1 << 20
"""Longest arguments that are read."""
MAX_DEPTH = 64
"""Deepest nesting that is read."""
Arguments = dict[str, JsonValue]
T = TypeVar("T")

_FENCE = re.compile(r"^```[\w-]*\s*\n?(.*?)\n?\s*```$", re.DOTALL)
_OPEN_FENCE = re.compile(r"^```[\w-]*\s*")
_WORD = re.compile(r"^json\s*(?=[{\[])", re.IGNORECASE)
_STRING = re.compile(r'"(?:[^"\\]|\\.)*"', re.DOTALL)
_OUTSIDE_ESCAPE = re.compile(r"\\[nrt]")
_BAD_ESCAPE = re.compile(r"\\(?:(u(?![0-9a-fA-F]{4}))|([^\"\\/bfnrtu]))", re.DOTALL)
_TRAILING_COMMA = re.compile(r",(?=\s*[}\]])")
_CLOSERS = re.compile(r"(?:[\s}\])`;]|</[\w:.-]+>|<[|\uff5c][^>]*>)*")
_CUT_LITERAL = re.compile(r"-?\d*\.?\d*(?:[eE][+-]?\d*)?|t(?:ru?)?|f(?:a(?:ls?)?)?|n(?:ul?)?")
_CUT_ESCAPE = re.compile(r"\\u?[0-9a-fA-F]{0,3}")


class UnfitArgumentsError(ValueError):
    """Arguments that are refused whatever could be made of them."""


@dataclass(frozen=True, slots=True)
class ReadArguments:
    """What was found in the text of a call's arguments."""

    objects: tuple[Arguments, ...] = ()
    """One object a call; more than one when several were glued together."""
    repaired: bool = False
    truncated: bool = False
    """The text ends inside an object: cut off."""
    problem: str = ""
    """Why it cannot be read, "" when it can."""


def read_arguments(text: str) -> ReadArguments:
    """Read the arguments of a call.

    Args:
        text: As received; "" and null mean no arguments.

    Returns:
        At least one object, or a problem.
    """
    try:
        return _read(text)
    except UnfitArgumentsError as error:
        return ReadArguments(problem=str(error))


def plain_object(text: str) -> Arguments | None:
    """Return the object in `text` when it is strict JSON within the limits, else None."""
    try:
        _check_limits(text)
        value = _strict(text)
    except ValueError:
        return None
    return value if isinstance(value, dict) else None


def _read(text: str) -> ReadArguments:
    _check_limits(text)
    stripped = text.strip().removeprefix("\ufeff")
    if not stripped or stripped == "null":
        return ReadArguments(objects=({},))
    try:
        value = _strict(stripped)
    except UnfitArgumentsError:
        raise
    except ValueError:
        return _mended(stripped)
    return _from_value(value)


def _from_value(value: JsonValue) -> ReadArguments:
    if isinstance(value, dict):
        whole = _whole(value)
        return ReadArguments(objects=(whole,), repaired=whole != value)
    if isinstance(value, str):
        inner = _read(value) if value.lstrip()[:1] in ("{", '"') else ReadArguments()
        if inner.objects or inner.truncated:
            return replace(inner, repaired=True)
    return ReadArguments(problem="the arguments must be one JSON object")


def _mended(text: str) -> ReadArguments:
    """Try one mending after the other; each keeps what the ones before it did."""
    unwrapped = _unwrapped(text)
    escaped = _fix_escapes(unwrapped)
    tidy = _outside_strings(escaped, lambda part: _TRAILING_COMMA.sub("", part))
    for candidate in (unwrapped, escaped, tidy):
        value = _attempt(_loose, candidate)
        if isinstance(value, dict):
            return ReadArguments(objects=(_whole(value),), repaired=True)
        if value is not None:
            return _from_value(value)
    for candidate in (unwrapped, tidy):
        objects = _attempt(_several, candidate)
        if objects:
            return ReadArguments(objects=objects, repaired=True)
    literal = _attempt(_python_literal, unwrapped)
    if isinstance(literal, dict):
        return ReadArguments(objects=(_whole(literal),), repaired=True)
    opened = _OPEN_FENCE.sub("", escaped)
    if _is_cut(opened) or _is_cut_literal(unwrapped):
        return ReadArguments(truncated=True, problem="the arguments are cut off")
    return ReadArguments(problem="the arguments are not valid JSON")


def _attempt(reader: Callable[[str], T], text: str) -> T | None:
    try:
        return reader(text)
    except UnfitArgumentsError:
        raise
    except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError):
        return None


def _unwrapped(text: str) -> str:
    fenced = _FENCE.match(text)
    return _WORD.sub("", fenced.group(1).strip() if fenced else text)


def _strict(text: str) -> JsonValue:
    value: JsonValue = json.loads(text, object_pairs_hook=_without_twins, parse_constant=_refuse)
    return value


def _loose(text: str) -> JsonValue:
    """Read JSON whose strings may hold raw line breaks and tabs."""
    value: JsonValue = LOOSE_JSON.decode(text)
    return value


def _several(text: str) -> tuple[Arguments, ...]:
    """Read objects that follow each other, and drop placeholders, repeats and stray closing marks."""
    found: list[Arguments] = []
    at = 0
    while at < len(text) and _CLOSERS.fullmatch(text, at) is None:
        value, at = LOOSE_JSON.raw_decode(text, at)
        if not isinstance(value, dict):
            raise ValueError("not an object")
        whole = _whole(value)
        if whole not in found:
            found.append(whole)
        while at < len(text) and text[at] in " \t\r\n,":
            at += 1
    return tuple(item for item in found if item) or tuple(found[:1])


def _without_twins(pairs: list[tuple[str, JsonValue]]) -> Arguments:
    made = dict(pairs)
    if len(made) != len(pairs):
        raise UnfitArgumentsError("a key stands twice in the arguments")
    return made


def _refuse(constant: str) -> JsonValue:
    raise ValueError(f"{constant} is not JSON")


LOOSE_JSON = json.JSONDecoder(
    strict=False, object_pairs_hook=_without_twins, parse_constant=_refuse
)
"""Reads JSON whose strings may hold raw line breaks; a key that stands twice is refused."""


def _python_literal(text: str) -> JsonValue:
    """Read a Python literal, which some models write for JSON."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        tree = ast.parse(text.strip(), mode="eval")
    return _literal_value(tree.body)


def _literal_value(node: ast.expr) -> JsonValue:
    match node:
        case ast.Constant(value=bool() | int() | float() | str() | None as value):
            return value
        case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=int() | float() as number)):
            return -number
        case ast.List(elts=parts) | ast.Tuple(elts=parts):
            return [_literal_value(part) for part in parts]
        case ast.Dict(keys=keys, values=values):
            return _without_twins(
                list(zip(_literal_keys(keys), map(_literal_value, values), strict=True))
            )
    raise ValueError("not a literal of JSON values")


def _literal_keys(keys: Iterable[ast.expr | None]) -> list[str]:
    names = []
    for key in keys:
        if not isinstance(key, ast.Constant) or not isinstance(key.value, str):
            raise ValueError("a key is not a string")
        names.append(key.value)
    return names


def _outside_strings(text: str, change: Callable[[str], str]) -> str:
    made: list[str] = []
    at = 0
    for string in _STRING.finditer(text):
        made += (change(text[at : string.start()]), string.group())
        at = string.end()
    return "".join((*made, change(text[at:])))


def _fix_escapes(text: str) -> str:
    """Blank out escapes between tokens; inside strings make an illegal one a plain backslash."""
    if "\\" not in text:
        return text
    blanked = _outside_strings(text, lambda part: _OUTSIDE_ESCAPE.sub(" ", part))
    return _STRING.sub(lambda string: _fixed_string(string.group()), blanked)


def _fixed_string(string: str) -> str:
    # Pairs of backslashes are read together, so that the second one never starts an escape of its own.
    parts = re.split(r"(\\\\)", string)
    return "".join(
        part if part == "\\\\" else _BAD_ESCAPE.sub(_legal_escape, part) for part in parts
    )


def _legal_escape(bad: re.Match[str]) -> str:
    return "'" if bad.group(2) == "'" else f"\\\\{bad.group(1) or bad.group(2)}"


def _is_cut(text: str) -> bool:
    """Return whether JSON ends before its last object does."""
    at = 0
    while text[at:].lstrip(" \t\r\n,").startswith(("{", "[", '"{')):
        at = len(text) - len(text[at:].lstrip(" \t\r\n,"))
        try:
            _, at = LOOSE_JSON.raw_decode(text, at)
        except json.JSONDecodeError as error:
            return _ends_inside(text, error)
        except ValueError:
            return False
    return False


def _ends_inside(text: str, error: json.JSONDecodeError) -> bool:
    """Return whether a reader stopped only because nothing more came."""
    if error.msg.startswith("Unterminated string"):
        return True
    rest = text[error.pos :].rstrip()
    if error.msg.startswith("Invalid \\u"):
        return len(rest) < len("u0000")
    return not rest or bool(_CUT_LITERAL.fullmatch(rest) or _CUT_ESCAPE.fullmatch(rest))


def _is_cut_literal(text: str) -> bool:
    """Return whether a Python dict ends before its last bracket."""
    if not re.match(r"\{\s*'", text):
        return False
    bare = re.sub(r"'(?:[^'\\]|\\.)*'|" + _STRING.pattern, "", text, flags=re.DOTALL)
    return bare.count("{") > bare.count("}") or bare.count("[") > bare.count("]")


def _check_limits(text: str) -> None:
    if (
        len(text) > MAX_ARGUMENT_BYTES
        or len(text.encode(errors="surrogatepass")) > MAX_ARGUMENT_BYTES
    ):
        raise UnfitArgumentsError("the arguments are longer than 1 MiB")
    if text.count("{") + text.count("[") <= MAX_DEPTH:
        return
    depth = 0
    for mark in re.findall(r"[{\[\]}]", _STRING.sub("", text)):
        depth += 1 if mark in "{[" else -1
        if depth > MAX_DEPTH:
            raise UnfitArgumentsError(f"the arguments are nested deeper than {MAX_DEPTH}")


def _whole(value: Arguments) -> Arguments:
    made = _whole_value(value)
    return made if isinstance(made, dict) else {}


def _whole_value(value: JsonValue) -> JsonValue:
    """Return the value with surrogates joined or replaced, which nothing after us can write."""
    if isinstance(value, str):
        return whole_text(value)
    if isinstance(value, dict):
        return {whole_text(key): _whole_value(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_whole_value(item) for item in value]
    return value

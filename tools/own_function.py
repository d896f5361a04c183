"""A plain typed function of the person as a tool: its name, its docstring and its arguments are all there is to say.

Source: the arguments go through pydantic like those of every other tool; `Annotated[str, Field(...)]` works as usual.
"""

import asyncio
import inspect
import json
import re
import threading
import typing
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from pydantic import BaseModel, ConfigDict, Field, create_model
from pydantic.fields import FieldInfo
from pydantic_core import PydanticSerializationError, to_jsonable_python

from core.errors import ConfigError, ToolFailedError
from core.messages import ToolResult
from core.ports import CallContext, CallFacts
from tools.base import ToolArguments, clip

MAX_RESULT_CHARS: Final = 65_536
"""Longest text of a result; the middle of a longer one is left out."""
_SECTION: Final = re.compile(r"^\s*(Args|Arguments|Parameters)\s*:\s*$")
_ANY_SECTION: Final = re.compile(r"^\s*[A-Z][A-Za-z ]*:\s*$")
_ARGUMENT: Final = re.compile(r"^\s+\*{0,2}(\w+)\s*(?:\([^)]*\))?\s*:\s*(.+)$")


class _OwnArguments(ToolArguments):
    """Base of the arguments of functions: a name may begin as the person likes."""

    model_config = ConfigDict(protected_namespaces=())


@dataclass(frozen=True, slots=True)
class _Raised:
    """What a function raised in its thread; some exceptions cannot be set on a future."""

    error: BaseException


class FunctionTool:
    """A function as `core.ports.Tool`."""

    reads_only = False

    def __init__(self, function: Callable[..., object]) -> None:
        """Read the signature of `function`.

        Raises:
            ConfigError: It cannot be a tool; the text says why.
        """
        self._function = function
        self._is_async = inspect.iscoroutinefunction(function)
        self.name = function.__name__
        text = inspect.getdoc(function) or ""
        self.description = _summary(text)
        if not self.description:
            raise ConfigError("it has no docstring, which is what the model is told of it")
        self._context_name = ""
        self.arguments: type[BaseModel] = self._arguments_model(_argument_texts(text))

    def unavailable(self) -> str:
        """Return "": it can always be offered."""
        return ""

    async def facts(self, arguments: BaseModel) -> CallFacts:
        """Say which function would be called."""
        return CallFacts(title=f"own tool {self.name}")

    async def run(self, arguments: BaseModel, context: CallContext) -> ToolResult:
        """Call it: in the event loop where it is async, else in a thread of its own.

        Raises:
            ToolFailedError: What it returned is no result.
            Exception: Whatever the function raised.
        """
        given = {name: getattr(arguments, name) for name in type(arguments).model_fields}
        if self._context_name:
            given[self._context_name] = context
        if self._is_async:
            return result_of(await self._function(**given))  # type: ignore[misc]  # it is a coroutine function
        return result_of(await _in_thread(self._function, given))

    def _arguments_model(self, texts: Mapping[str, str]) -> type[BaseModel]:
        hints = typing.get_type_hints(self._function, include_extras=True)
        fields: dict[str, Any] = {}
        for parameter in inspect.signature(self._function).parameters.values():
            hint = hints.get(parameter.name)
            if hint is CallContext and self._is_async:
                self._context_name = parameter.name
                continue
            _check_parameter(parameter, hint)
            fields[parameter.name] = (hint, _field(parameter, texts.get(parameter.name, "")))
        return create_model(f"{self.name}_arguments", __base__=_OwnArguments, **fields)


def result_of(value: object) -> ToolResult:
    """Return what a function gave back as the result of its call.

    Args:
        value: A text, a `ToolResult`, None, or anything that JSON can hold.

    Raises:
        ToolFailedError: It is none of these.
    """
    if isinstance(value, ToolResult):
        return value
    if value is None:
        return ToolResult(output="Done; there is no result to show.")
    text = value if isinstance(value, str) else _json(value)
    text = text.encode("utf-8", "replace").decode("utf-8")
    return ToolResult(output=clip(text, MAX_RESULT_CHARS) or "(an empty text)")


def _json(value: object) -> str:
    try:
        return json.dumps(to_jsonable_python(value), ensure_ascii=False, indent=1)
    except (PydanticSerializationError, ValueError, TypeError, RecursionError) as error:
        raise ToolFailedError(
            f"It returned a {type(value).__name__}, which is no text and no JSON.",
            hint="Return a str, a ToolResult, or lists and dicts of plain values.",
        ) from error


async def _in_thread(function: Callable[..., object], given: Mapping[str, object]) -> object:
    """Call a blocking function; when it is cancelled, the thread goes on alone and its result is thrown away.

    A thread of its own: one of a pool would be waited for at the end of the program.
    """
    loop = asyncio.get_running_loop()
    done: asyncio.Future[object] = loop.create_future()

    def settle(value: object) -> None:
        if not done.done():
            done.set_result(value)

    def call() -> None:
        try:
            value = function(**given)
        except BaseException as error:  # noqa: BLE001 - own-tool call: raised again where it can be handled
            value = _Raised(error)
        if not loop.is_closed():
            loop.call_soon_threadsafe(settle, value)

    threading.Thread(target=call, name=f"own tool {function.__name__}", daemon=True).start()
    value = await done
    if not isinstance(value, _Raised):
        return value
    if isinstance(value.error, Exception) and not isinstance(value.error, StopIteration):
        raise value.error
    # These would end more than the call: the program, or the coroutine.
    raise RuntimeError(f"{type(value.error).__name__} {value.error}".strip()) from value.error


def _check_parameter(parameter: inspect.Parameter, hint: object) -> None:
    name = parameter.name
    if parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD):
        raise ConfigError(f"*{name} cannot be described to a model: name every argument")
    if parameter.kind is parameter.POSITIONAL_ONLY:
        raise ConfigError(f"the argument {name} is positional only, and calls name their arguments")
    if hint is CallContext:
        raise ConfigError(
            f"the argument {name} is a CallContext, which only an async function gets"
        )
    if hint is None:
        raise ConfigError(f"the argument {name} has no type, such as {name}: str")
    if name.startswith("_") or hasattr(BaseModel, name):
        raise ConfigError(f"the argument {name} cannot have that name; choose another")


def _field(parameter: inspect.Parameter, text: str) -> Any:
    default = parameter.default
    if isinstance(default, FieldInfo):
        return default
    required = default is parameter.empty
    if text:
        return Field(... if required else default, description=text)
    return ... if required else default


def _summary(text: str) -> str:
    """Return the part of a docstring before its sections, in one line."""
    lines: list[str] = []
    for line in text.splitlines():
        if _ANY_SECTION.match(line):
            break
        lines.append(line.strip())
    return " ".join(" ".join(lines).split())


def _argument_texts(text: str) -> dict[str, str]:
    """Return what the section `Args:` of a docstring says of each argument; further lines are added to it."""
    found: dict[str, str] = {}
    name, inside = "", False
    for line in text.splitlines():
        if _ANY_SECTION.match(line):
            inside, name = bool(_SECTION.match(line)), ""
        elif inside and (argument := _ARGUMENT.match(line)):
            name = argument[1]
            found[name] = argument[2].strip()
        elif inside and name and line.strip():
            found[name] += f" {line.strip()}"
    return found

"""Loads the person's own tools: files of the configuration folder, and packages that offer some.

Nothing of the workspace is ever loaded. A tool that cannot be loaded, or that raises, costs only itself.
"""

import asyncio
import contextlib
import functools
import importlib.metadata
import importlib.util
import inspect
import os
import re
import stat
import sys
import traceback
from collections.abc import Awaitable, Callable, Collection, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from types import ModuleType
from typing import Any, Final, TypeVar

from pydantic import BaseModel, TypeAdapter, ValidationError

from core.errors import ConfigError, HandrailError, ToolFailedError
from core.messages import ToolResult
from core.ports import CallContext, CallFacts, Tool
from core.tool_spec import schema
from tools.base import ToolArguments, TypedTool
from tools.own_function import FunctionTool

GROUP: Final = "handrail.tools"
"""Entry points of this group are own tools too."""
OWN_TOOLS: Final = "tools"
"""Folder of them in the configuration folder."""
MAX_SOURCE_BYTES: Final = 1 << 20
_NAME: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,63}")
"""What every model server takes as the name of a tool."""
KindT = TypeVar("KindT", CallFacts, ToolResult)


@dataclass(frozen=True, slots=True, kw_only=True)
class OwnProblem:
    """Why something is not offered."""

    source: str
    """File, with its line where one is known, or entry point."""
    text: str
    """One line."""

    def line(self) -> str:
        """Return the whole problem as one line."""
        return f"{self.source}: {self.text}"


@dataclass(frozen=True, slots=True, kw_only=True)
class OwnTools:
    """What was found."""

    tools: Sequence["OwnTool"] = ()
    problems: Sequence[OwnProblem] = ()


class OwnTool:
    """A tool of the person; whatever its code raises becomes the result of the call."""

    def __init__(self, inner: Tool, source: str) -> None:
        """Take over a tool that is loaded.

        Args:
            inner: Function or class of the person.
            source: Its file, or the name of its entry point.

        Raises:
            ConfigError: It lacks what a model must be told; the text says what.
        """
        self._inner = inner
        self.source = source
        self.name = _checked_name(inner.name)
        self.description = str(inner.description).strip()
        self.arguments = inner.arguments
        self.reads_only = bool(getattr(inner, "reads_only", False))
        self.example = getattr(inner, "example", None)
        if not self.description:
            raise ConfigError("it has no description")
        given: object = inner.arguments
        if not inspect.isclass(given) or not issubclass(given, ToolArguments):
            raise ConfigError("its `arguments` is no class of ToolArguments")
        schema(self.arguments)  # raises what cannot be described

    def unavailable(self) -> str:
        """Return why it cannot be offered now, "" when it can."""
        try:
            return str(self._inner.unavailable())
        except (Exception, SystemExit) as error:  # noqa: BLE001 - own-tool call: foreign code
            return self._told(error)

    async def facts(self, arguments: BaseModel) -> CallFacts:
        """Look at what a call would do.

        Raises:
            ToolFailedError: Its code raised.
        """
        return await self._guarded(lambda: self._inner.facts(arguments), CallFacts)

    async def run(self, arguments: BaseModel, context: CallContext) -> ToolResult:
        """Do it.

        Raises:
            ToolFailedError: Its code raised.
        """
        return await self._guarded(lambda: self._inner.run(arguments, context), ToolResult)

    async def _guarded(self, work: Callable[[], Awaitable[object]], kind: type[KindT]) -> KindT:
        try:
            value = await work()
        except asyncio.CancelledError as error:
            if (task := asyncio.current_task()) is not None and task.cancelling():
                raise
            raise ToolFailedError(self._told(error)) from error
        except HandrailError:
            raise
        except GeneratorExit:  # this call itself is thrown away
            raise
        except BaseException as error:
            raise ToolFailedError(self._told(error)) from error
        if not isinstance(value, kind):
            raise ToolFailedError(
                f"{self.name} gave back a {type(value).__name__}, not a {kind.__name__}."
            )
        return self._checked(value, kind)

    def _checked(self, value: KindT, kind: type[KindT]) -> KindT:
        """Return what it gave back with every field of its type: what is not cannot be read again from the journal.

        Raises:
            ToolFailedError: A field cannot be what it is.
        """
        given = {item.name: _whole(getattr(value, item.name)) for item in fields(value)}
        try:
            checked: KindT = _forms()[kind].validate_python(given)
        except ValidationError as error:
            first = error.errors(include_url=False)[0]
            where = ".".join(str(part) for part in first["loc"])
            raise ToolFailedError(
                f"{self.name} gave back a {kind.__name__} whose {where} is wrong: {first['msg']}."
            ) from error
        return checked

    def _told(self, error: BaseException) -> str:
        line = _line_in(error, self.source) or _line_in(error.__cause__, self.source)
        where = f" ({Path(self.source).name}, line {line})" if line else ""
        return f"{self.name} failed: {described(error)}{where}"


@functools.cache
def _forms() -> dict[type, TypeAdapter[Any]]:
    return {CallFacts: TypeAdapter(CallFacts), ToolResult: TypeAdapter(ToolResult)}


def _whole(value: object) -> object:
    """Return a text without half characters, which no file can hold; anything else as it is."""
    return value.encode("utf-8", "replace").decode() if isinstance(value, str) else value


def load_own_tools(folder: Path, taken: Collection[str]) -> OwnTools:
    """Load all own tools.

    Args:
        folder: `tools` in the configuration folder, there or not.
        taken: Names that are in use.
    """
    loading = _Loading(set(taken))
    with contextlib.redirect_stdout(sys.stderr):  # stdout may be JSON
        for path in own_tool_files(folder):
            loading.load_file(path)
        for point in importlib.metadata.entry_points(group=GROUP):
            loading.load_point(point)
    return OwnTools(tools=tuple(loading.tools), problems=tuple(loading.problems))


def own_tool_files(folder: Path) -> list[Path]:
    """Return the files that own tools are loaded from, sorted by name; names that begin with _ or . are left alone."""
    try:
        paths = sorted(folder.iterdir())
    except OSError:
        return []
    return [path for path in paths if path.suffix == ".py" and path.name[0] not in "_."]


class _Loading:
    """One round of loading."""

    def __init__(self, taken: set[str]) -> None:
        self._taken = taken
        self.tools: list[OwnTool] = []
        self.problems: list[OwnProblem] = []

    def load_file(self, path: Path) -> None:
        """Take what a file offers."""
        try:
            module = _executed(path)
        except KeyboardInterrupt:
            raise
        except BaseException as error:  # noqa: BLE001 - own-tool load: foreign code
            self._refuse(str(path), error, _line_of(error, path))
            return
        offered = _offered(module)
        if not offered:
            self._refuse(str(path), ConfigError("it has no public function and no TypedTool class"))
        for item in offered:
            self._take(item, str(path), _first_line(item))

    def load_point(self, point: importlib.metadata.EntryPoint) -> None:
        """Take what an entry point offers."""
        source = f"entry point {point.name} ({point.value})"
        try:
            item = point.load()
        except KeyboardInterrupt:
            raise
        except BaseException as error:  # noqa: BLE001 - own-tool load: foreign code
            self._refuse(source, error)
            return
        self._take(item, source)

    def _take(self, item: object, source: str, line: int = 0) -> None:
        try:
            tool = OwnTool(_as_tool(item), source)
            if tool.name in self._taken:
                raise ConfigError(f"the name {tool.name} is in use; give it another one")
        except (Exception, SystemExit) as error:  # noqa: BLE001 - own-tool load: foreign code
            name = getattr(item, "__name__", type(item).__name__)
            self._refuse(source, ConfigError(f"{name}: {described(error)}"), line)
            return
        self._taken.add(tool.name)
        self.tools.append(tool)

    def _refuse(self, source: str, error: BaseException, line: int = 0) -> None:
        where = f"{source}, line {line}" if line else source
        self.problems.append(OwnProblem(source=where, text=described(error)))


def described(error: BaseException) -> str:
    """Return what an error says, in one line; ours are said without their kind."""
    text = " ".join(str(error).split())
    if isinstance(error, SyntaxError):
        return f"SyntaxError: {error.msg}"
    if isinstance(error, HandrailError):
        return error.line()
    kind = type(error).__name__
    return f"{kind}: {text}" if text else kind


def _executed(path: Path) -> ModuleType:
    """Run a file of tools as a module."""
    status = path.stat()
    if not stat.S_ISREG(status.st_mode) or status.st_size > MAX_SOURCE_BYTES:
        raise ConfigError("it is no regular file of at most 1 MiB")
    if status.st_mode & 0o022 or status.st_uid not in (os.geteuid(), 0):
        raise ConfigError(f"it can be written by others and is not run; chmod 600 {path}")
    name = f"handrail_own_{path.stem}"
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise ConfigError("it cannot be loaded")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module  # dataclasses and type hints look their module up
    try:
        spec.loader.exec_module(module)
    except BaseException:
        del sys.modules[name]
        raise
    return module


def _offered(module: ModuleType) -> list[object]:
    """Return the tools that a module defines itself, in the order of their lines."""
    own = [
        item
        for name, item in vars(module).items()
        if not name.startswith("_")
        and getattr(item, "__module__", "") == module.__name__
        and (inspect.isfunction(item) or _is_tool_class(item))
    ]
    return sorted(own, key=_first_line)


def _is_tool_class(item: object) -> bool:
    return isinstance(item, type) and issubclass(item, TypedTool) and not inspect.isabstract(item)


def _as_tool(item: object) -> Tool:
    if isinstance(item, type):
        made: Tool = item()
        return made
    if inspect.isfunction(item):
        return FunctionTool(item)
    if isinstance(item, TypedTool):
        return item
    raise ConfigError("it is no function and no TypedTool")


def _checked_name(name: object) -> str:
    if not isinstance(name, str) or not _NAME.fullmatch(name):
        raise ConfigError(f"{name!r} cannot be the name of a tool: letters, digits and _ only")
    return name


def _first_line(item: object) -> int:
    try:
        return inspect.getsourcelines(item)[1]  # type: ignore[arg-type]  # a function or a class
    except (OSError, TypeError):
        return 0


def _line_of(error: BaseException, path: Path) -> int:
    """Return the line of a file that an error came from, 0 where it is not known."""
    if isinstance(error, SyntaxError) and error.filename == str(path):
        return error.lineno or 0
    return _line_in(error, str(path))


def _line_in(error: BaseException | None, file: str) -> int:
    if error is None:
        return 0
    frames = traceback.extract_tb(error.__traceback__)
    lines = [frame.lineno or 0 for frame in frames if frame.filename == file]
    return lines[-1] if lines else 0

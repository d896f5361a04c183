"""What the tools share: arguments that refuse what they do not know, and a base that hands them over typed.

The names in `__all__` are what a person's own tools import (docs/own_tool.md); they keep their meaning.
"""

from abc import ABC, abstractmethod
from typing import ClassVar, Generic, TypeVar

from pydantic import BaseModel, ConfigDict

from core.errors import ToolFailedError
from core.messages import JsonObject, ToolForm, ToolResult
from core.ports import CallContext, CallFacts

__all__ = [
    "CallContext",
    "CallFacts",
    "ToolArguments",
    "ToolFailedError",
    "ToolResult",
    "TypedTool",
    "clip",
]


class ToolArguments(BaseModel):
    """Base of all arguments: unknown names are refused, values may be coerced ("5" for 5)."""

    model_config = ConfigDict(extra="forbid", hide_input_in_errors=True)


ArgumentsT = TypeVar("ArgumentsT", bound=ToolArguments)


class TypedTool(ABC, Generic[ArgumentsT]):
    """A tool whose `look` and `act` get their arguments as its own type (`core.ports.Tool`)."""

    name: ClassVar[str]
    description: ClassVar[str]
    arguments: ClassVar[type[BaseModel]]
    reads_only: ClassVar[bool] = False
    forms: ClassVar[tuple[ToolForm, ...] | None] = None
    """Plain ways to use it, for small models (`core.messages.ToolSpec`)."""
    example: ClassVar[JsonObject]
    """Arguments that fit, shown to the model when its own do not."""

    def unavailable(self) -> str:
        """Return why it cannot be offered now, "" when it can."""
        return ""

    async def facts(self, arguments: BaseModel) -> CallFacts:
        """Look at what a call would do, changing nothing.

        Raises:
            HandrailError: The call cannot work; nobody needs to be asked about it.
        """
        return await self.look(self._own(arguments))

    async def run(self, arguments: BaseModel, context: CallContext) -> ToolResult:
        """Do it."""
        return await self.act(self._own(arguments), context)

    @abstractmethod
    async def look(self, arguments: ArgumentsT) -> CallFacts:
        """Do the work of `facts`."""

    @abstractmethod
    async def act(self, arguments: ArgumentsT, context: CallContext) -> ToolResult:
        """Do the work of `run`."""

    def _own(self, arguments: BaseModel) -> ArgumentsT:
        if not isinstance(arguments, self.arguments):
            raise TypeError(f"{self.name} got arguments of {type(arguments).__name__}")
        return arguments  # type: ignore[return-value]  # `arguments` is the class of ArgumentsT


def clip(text: str, limit_chars: int, *, whole: str = "") -> str:
    """Return `text`, or its head and tail with a line between that says what is missing.

    Args:
        text: Any text.
        limit_chars: Most characters kept of it; half of that when it is not all ASCII, where one takes up to 4 bytes.
        whole: Where all of it can be read, "" for nowhere.
    """
    if not text.isascii():
        limit_chars //= 2
    if len(text) <= limit_chars:
        return text
    head = text[: limit_chars * 2 // 3]
    tail = text[-(limit_chars - len(head)) :]
    where = f"; the whole text: {whole}" if whole else ""
    return f"{head}\n[... {len(text) - limit_chars:,} characters left out{where} ...]\n{tail}"

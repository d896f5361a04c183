"""The tools of a session: which there are, which can be offered now, and how a model is told of them."""

from collections.abc import Iterable, Mapping

from core.errors import ConfigError
from core.messages import ToolSpec
from core.ports import Tool
from core.tool_spec import specs


class ToolRegistry:
    """Tools in a fixed order."""

    def __init__(self, tools: Iterable[Tool]) -> None:
        """Hold `tools`.

        Raises:
            ConfigError: Two have the same name.
        """
        self._tools: dict[str, Tool] = {}
        for tool in tools:
            if tool.name in self._tools:
                raise ConfigError(f"Two tools are called {tool.name}.", code="tool_name")
            self._tools[tool.name] = tool

    @property
    def names(self) -> tuple[str, ...]:
        """Names of all tools."""
        return tuple(self._tools)

    def get(self, name: str) -> Tool | None:
        """Return the tool of that name, None when there is none."""
        return self._tools.get(name)

    def only(self, names: Iterable[str]) -> "ToolRegistry":
        """Return a registry with the tools of these names, in their order; unknown names are passed over."""
        return ToolRegistry(self._tools[name] for name in names if name in self._tools)

    def offered(self) -> tuple[Tool, ...]:
        """Return the tools that can be called now."""
        return tuple(tool for tool in self._tools.values() if not tool.unavailable())

    def unavailable(self) -> Mapping[str, str]:
        """Return name -> reason of the tools that cannot be called now."""
        reasons = {name: tool.unavailable() for name, tool in self._tools.items()}
        return {name: reason for name, reason in reasons.items() if reason}

    def specs(self) -> tuple[ToolSpec, ...]:
        """Return the tools that can be called now as a model is told of them."""
        return specs(self.offered())

"""`python`: code in the persistent interpreter of the sandbox."""

from typing import Annotated, ClassVar

from pydantic import AfterValidator, Field

from core.messages import JsonObject, ToolResult
from core.ports import CallContext, CallFacts, Sandbox
from tools.base import ToolArguments, TypedTool
from tools.command_text import LiveOutput, tool_result
from tools.python_source import runnable
from tools.shell import Source, TimeoutS, where


class PythonArguments(ToolArguments):
    """What to run."""

    code: Annotated[Source, AfterValidator(runnable)] = Field(
        description="Python source. The value of a last expression is shown."
    )
    timeout_s: TimeoutS = 120.0


class Python(TypedTool[PythonArguments]):
    """Runs Python; variables and imports stay from call to call."""

    name = "python"
    description = (
        "Run Python in the sandbox, in the workspace. Variables and imports stay between calls. "
        "The value of the last expression is shown; print the rest."
    )
    arguments = PythonArguments
    forms = ()  # the shell runs Python too, and a small model confuses the two
    example: ClassVar[JsonObject] = {"code": "import math\nmath.sqrt(2)"}

    def __init__(self, sandbox: Sandbox) -> None:
        """Run in `sandbox`."""
        self._sandbox = sandbox

    def unavailable(self) -> str:
        """Return why there is no sandbox."""
        return self._sandbox.unavailable()

    async def look(self, arguments: PythonArguments) -> CallFacts:
        """Say where it would run."""
        return CallFacts(
            title=f"python {where(self._sandbox)}",
            parts=(arguments.code,),
            bindings={"sandbox": self._sandbox.info.tier},
        )

    async def act(self, arguments: PythonArguments, context: CallContext) -> ToolResult:
        """Run it.

        Raises:
            SandboxUnavailableError: There is no sandbox.
            SandboxGoneError: It ended meanwhile.
        """
        result = await self._sandbox.python(
            arguments.code, on_output=LiveOutput(context), timeout_s=arguments.timeout_s
        )
        return tool_result(result)

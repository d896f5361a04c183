"""Tools and a policy for tests of the loop."""

import asyncio
from collections.abc import Mapping

from pydantic import BaseModel

from core.dispatch import Judgement
from core.errors import ToolFailedError
from core.messages import JsonValue, ToolResult
from core.ports import CallContext, CallFacts
from core.record import Record
from core.vocabulary import Mode, RiskLevel, Verdict


class EchoArguments(BaseModel):
    """Arguments of the doubles."""

    text: str
    times: int = 1


class EchoTool:
    """Gives its text back."""

    description = "Gives the text back."
    arguments: type[EchoArguments] = EchoArguments

    def __init__(self, name: str = "echo", *, reads_only: bool = False) -> None:
        self.name = name
        self.reads_only = reads_only
        self.binding = "1"
        self.ran: list[str] = []

    def unavailable(self) -> str:
        return ""

    async def facts(self, arguments: BaseModel) -> CallFacts:
        return CallFacts(title="echo", bindings={"seen": self.binding})

    async def run(self, arguments: BaseModel, context: CallContext) -> ToolResult:
        assert isinstance(arguments, EchoArguments)
        self.ran.append(arguments.text)
        context.output("stdout", arguments.text)
        return ToolResult(output=arguments.text * arguments.times)


class FailingTool(EchoTool):
    """Raises what it is given."""

    def __init__(self, error: Exception | None = None) -> None:
        super().__init__("fail")
        self.error = error or ToolFailedError("It broke.", hint="Mend it.")

    async def run(self, arguments: BaseModel, context: CallContext) -> ToolResult:
        raise self.error


class HangingTool(EchoTool):
    """Runs until it is cancelled."""

    def __init__(self, *, reads_only: bool = False) -> None:
        super().__init__("hang", reads_only=reads_only)
        self.started = asyncio.Event()
        self.cancelled = 0

    async def run(self, arguments: BaseModel, context: CallContext) -> ToolResult:
        self.started.set()
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            self.cancelled += 1
            raise
        raise AssertionError("nothing sets that event")


class FakePolicy:
    """Gives each tool the verdict it is told."""

    def __init__(self, verdicts: Mapping[str, tuple[Verdict, RiskLevel]] | None = None) -> None:
        self.verdicts = dict(verdicts or {})
        self.judged: list[tuple[str, Mapping[str, JsonValue], Mode]] = []
        self.noted: list[Record] = []

    def judge(
        self, name: str, arguments: Mapping[str, JsonValue], facts: CallFacts, mode: Mode
    ) -> Judgement:
        self.judged.append((name, arguments, mode))
        verdict, risk = self.verdicts.get(name, ("allow", "R0"))
        return Judgement(
            verdict=verdict, risk=risk, title=facts.title, reasons=(f"{name} is {verdict}",)
        )

    def note(self, record: Record) -> None:
        self.noted.append(record)

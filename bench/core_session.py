"""A session of core with doubles for model and tool, and the real journal."""

import asyncio
import gc
import itertools
import json
import tempfile
import time
from collections.abc import AsyncGenerator, Sequence
from dataclasses import dataclass
from pathlib import Path

from pydantic import BaseModel

from core.assessment import Situation
from core.budget import Limits
from core.events import TextStreamed
from core.journal import Journal
from core.messages import ModelReply, ModelRequest, ToolCall, ToolResult, Usage
from core.model_piece import ModelPiece
from core.ports import CallContext, CallFacts, Places
from core.rules import Rule
from core.session import Session, SessionParts, SessionSettings
from core.session_policy import SessionPolicy

TOOL = "bench_tool"
ALLOWED = Rule(id="bench", decision="allow", tool=TOOL)
RESULT = "a line of some result, as long as results often are\n" * 4


class NoteArguments(BaseModel):
    """Arguments of the tool."""

    text: str


class NoteTool:
    """Gives a text back. No table knows it, so it counts as risky, and its intent is brought to the disk first."""

    name = TOOL
    description = "Takes a note."
    arguments = NoteArguments
    reads_only = False

    def unavailable(self) -> str:
        """Return "", for it always can be used."""
        return ""

    async def facts(self, arguments: BaseModel) -> CallFacts:
        """Name the call."""
        return CallFacts(title="take a note")

    async def run(self, arguments: BaseModel, context: CallContext) -> ToolResult:
        """Do nothing."""
        return ToolResult(output=RESULT)


class InstantReplies:
    """Asks for the tool `steps` times, then ends; keeps when each request came."""

    name = "instant"

    def __init__(self, steps: int, window: int) -> None:
        """Have a window of `window` tokens, 0 for one that is not known."""
        self.window = window
        self._steps = steps
        self.asked_s: list[float] = []

    def body(self, request: ModelRequest) -> bytes:
        """Return nothing: nothing is sent."""
        return b""

    async def reply(self, request: ModelRequest) -> AsyncGenerator[ModelPiece, None]:
        """Answer at once."""
        self.asked_s.append(time.perf_counter())
        number = len(self.asked_s)
        text = f"Step {number}: the next note."
        yield TextStreamed(text=text)
        usage = Usage(input_tokens=100, output_tokens=20)
        if number > self._steps:
            yield ModelReply(outcome="message", text=text, usage=usage)
            return
        arguments = {"text": f"note {number}, and what was seen there"}
        call = ToolCall(
            id=f"call-{number}",
            name=TOOL,
            arguments=arguments,
            raw_arguments=json.dumps(arguments),
        )
        yield ModelReply(outcome="tool_calls", text=text, calls=(call,), usage=usage)

    def cost_usd(self, usage: Usage) -> float | None:
        """Return a price, so that money is counted."""
        return 0.0


class UnsyncedJournal(Journal):
    """The journal, but for the waits for the disk."""

    def _sync_file(self) -> None:
        return


class TimedJournal(Journal):
    """The journal, which knows how long it waited for the disk."""

    synced_s: float = 0.0
    syncs: int = 0

    def _sync_file(self) -> None:
        started_s = time.perf_counter()
        super()._sync_file()
        self.synced_s += time.perf_counter() - started_s
        self.syncs += 1


@dataclass(frozen=True, slots=True)
class Walk:
    """What a run of many steps took."""

    steps_ms: Sequence[float]
    """From one request to the next, step by step."""
    journal: Journal


def walk(steps: int, journal: type[Journal] = UnsyncedJournal, *, window: int = 0) -> Walk:
    """Run that many steps and return what each took."""
    model = InstantReplies(steps, window)
    opened: list[Journal] = []

    def open_journal(folder: Path) -> Journal:
        opened.append(journal(folder))
        return opened[0]

    async def work(folder: Path) -> None:
        workspace = folder / "workspace"
        workspace.mkdir()
        session = Session(
            SessionParts(
                settings=SessionSettings(
                    session_id="bench",
                    version="0",
                    system="You are a careful assistant.",
                    mode="full",
                    limits=Limits(max_steps=0, max_minutes=0, max_cost_usd=0),
                ),
                places=Places(workspace=workspace, session=folder / "session"),
                model=model,
                tools=[NoteTool()],
                policy=SessionPolicy(Situation(workspace=workspace), rules=lambda: (ALLOWED,)),
                attended=False,
                open_journal=open_journal,
            )
        )
        ended = await session.run("Take notes.")
        await session.close()
        if ended.reason != "answered":
            raise RuntimeError(f"the run ended by {ended.reason}: {ended.error}")

    with tempfile.TemporaryDirectory(prefix="handrail-bench-") as folder:
        gc.collect()
        asyncio.run(work(Path(folder)))
    asked = model.asked_s
    gaps = [1000 * (later - earlier) for earlier, later in itertools.pairwise(asked)]
    return Walk(gaps, opened[0])

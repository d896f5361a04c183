"""A process that works the plan off and is killed at a named point; and one that goes on where it was left.

`serve` reads orders from stdin, one JSON object a line, and forks a fresh process for each, so that starting one costs
milliseconds. What must survive the process (effects, acknowledged records) is kept in files of their own beside it.
"""

import asyncio
import json
import os
import signal
import sys
import time
import traceback
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import BaseModel

from core.budget import Limits
from core.decision import ApprovalPrompt, DecisionOpened
from core.journal import Journal, encode
from core.messages import ToolResult
from core.ports import Answer, CallContext, CallFacts, Places, Tool
from core.preimage import PreimageStore
from core.record import Record
from core.recovery import LOOK
from core.session import Session, SessionParts, SessionSettings
from core.stored_results import StoredResults
from core.workspace import WorkspaceFiles
from tests.faults.invariants import memory_of
from tests.faults.plan import PlanModel, plan_of
from tests.support.fake_sandbox import FakeSandbox
from tests.support.fake_tools import EchoTool, FakePolicy
from tools.ask_human import AskHuman
from tools.edit import EditFile
from tools.files import ListFiles, ReadFile
from tools.finish import Finish
from tools.python import Python
from tools.shell import Shell

VERDICTS = {
    "browser": ("ask_strong", "R3"),
    "shell": ("allow", "R2"),
    "python": ("allow", "R3"),  # as a rule of the person's may allow it
    "edit_file": ("allow", "R1"),
}


@dataclass(frozen=True, kw_only=True)
class Order:
    """What a process is to do."""

    folder: Path
    """Holds everything of it: session, workspace, effects, acks, result."""
    seed: int
    step: int = 0
    """Step in which it is killed, 0 for never."""
    point: str = ""
    """Name of the event, or "effect", then ":before" or ":after"."""
    kill_after_s: float = 0.0
    """It is killed from outside this long after it began, wherever it is then; 0 for never."""
    torn: float = 0.0
    """How much of the line is written when it is killed before a record, 0 to 1."""


class Killer:
    """Ends the process, without any warning, at one point."""

    def __init__(self, order: Order) -> None:
        self._order = order
        self.step = 0

    def is_due(self, point: str) -> bool:
        return self._order.step == self.step and self._order.point == point

    def at(self, point: str) -> None:
        if self.is_due(point):
            os.kill(os.getpid(), signal.SIGKILL)

    def tear(self, descriptor: int, line: bytes) -> None:
        """Write the beginning of a line."""
        os.write(descriptor, line[: int(len(line) * self._order.torn)])


class KillingJournal(Journal):
    """The real journal; notes each record once it is acknowledged."""

    def __init__(self, folder: Path, killer: Killer, acks: Path) -> None:
        super().__init__(folder)
        self._killer = killer
        self._acks = os.open(acks, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
        self._kind = ""

    def write(self, record: Record) -> None:
        self._kind = record.event.kind
        if self._kind in ("step_started", "step_ended") or record.step:
            self._killer.step = record.step
        _, crc = encode(record, self._crc)
        super().write(record)
        os.write(self._acks, b"%d %d\n" % (record.n, crc))
        self._killer.at(f"{self._kind}:after")

    def _put(self, data: bytes) -> int:
        point = f"{self._kind}:before"
        if self._killer.is_due(point):
            self._killer.tear(self._fd, data)
            self._killer.at(point)
        return super()._put(data)


class Effects:
    """Counts what calls did, in a file of its own."""

    def __init__(self, path: Path) -> None:
        self._file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
        self.call_id = ""

    def happen(self) -> None:
        os.write(self._file, f"{self.call_id}\n".encode())


class CountedFiles(WorkspaceFiles):
    """The real workspace; each write is an effect."""

    def __init__(self, workspace: Path, effects: Effects) -> None:
        super().__init__(workspace)
        self._effects = effects

    async def write(self, path: str, data: bytes) -> None:
        await super().write(path, data)
        self._effects.happen()


class CountedSandbox(FakeSandbox):
    """Each command is an effect."""

    def __init__(self, effects: Effects) -> None:
        super().__init__()
        self._effects = effects

    async def _play(self, run: Any, on_output: Any) -> Any:
        self._effects.happen()
        return await super()._play(run, on_output)


class CountedBrowser(EchoTool):
    """Each call is sent off to somewhere that cannot be asked."""

    def __init__(self, effects: Effects) -> None:
        super().__init__("browser")
        self._effects = effects

    async def run(self, arguments: BaseModel, context: CallContext) -> ToolResult:
        self._effects.happen()
        return await super().run(arguments, context)


class PointedTool:
    """A real tool with a point before and after what it does (`core.ports.Tool`)."""

    def __init__(self, tool: Tool, killer: Killer, effects: Effects) -> None:
        self._tool = tool
        self._killer = killer
        self._effects = effects
        self.name, self.description = tool.name, tool.description
        self.arguments, self.reads_only = tool.arguments, tool.reads_only
        self.example = getattr(tool, "example", {})
        self.on_start: Callable[[str], None] | None = None
        """Told the id of a call that begins."""

    def unavailable(self) -> str:
        return self._tool.unavailable()

    async def facts(self, arguments: BaseModel) -> CallFacts:
        return await self._tool.facts(arguments)

    async def run(self, arguments: BaseModel, context: CallContext) -> ToolResult:
        self._killer.at("effect:before")
        self._effects.call_id = context.call_id
        if self.on_start is not None:
            self.on_start(context.call_id)
        result = await self._tool.run(arguments, context)
        self._killer.at("effect:after")
        return result


class Answering:
    """The person: approves, answers, and leaves unknown calls to the model."""

    def __init__(self, session: Session) -> None:
        self._session = session
        for record in session.log.records[-20:]:
            self.take(record)
        session.log.follow(self.take)

    def take(self, record: Record) -> None:
        if isinstance(record.event, DecisionOpened):
            asyncio.get_running_loop().call_soon(self._answer, record.event)

    def _answer(self, opened: DecisionOpened) -> None:
        prompt = opened.prompt
        if isinstance(prompt, ApprovalPrompt):
            answer = Answer(resolution="approved", decided_by="person", digest=prompt.digest)
        else:
            text = LOOK if LOOK in prompt.options else "blue"
            answer = Answer(resolution="answered", decided_by="person", text=text)
        self._session.answer(opened.decision_id, answer)


def opened_session(order: Order, open_journal: Any = None) -> Session:
    """Open the session of an order, with everything real but the model, the sandbox and the browser."""
    killer, effects = Killer(order), Effects(order.folder / "effects")
    workspace = order.folder / "workspace"
    files, host_files = CountedFiles(workspace, effects), WorkspaceFiles(workspace)
    sandbox = CountedSandbox(effects)
    session = order.folder / "session"
    tools: list[Tool] = [
        Shell(sandbox, workspace),
        Python(sandbox),
        ReadFile(files, workspace, StoredResults(session)),
        ListFiles(files, workspace),
        EditFile(files, host_files, PreimageStore(session), workspace),
        AskHuman(),
        Finish(files, workspace),
        CountedBrowser(effects),
    ]
    return Session(
        SessionParts(
            settings=SessionSettings(
                session_id="s1", version="0", system="Plan.", limits=Limits(max_steps=40)
            ),
            places=Places(workspace=workspace, session=session),
            model=PlanModel(plan_of(order.seed)),
            tools=[PointedTool(tool, killer, effects) for tool in tools],
            policy=FakePolicy(VERDICTS),  # type: ignore[arg-type]  # a dict of literals
            attended=True,
            open_journal=open_journal
            or (lambda folder: KillingJournal(folder, killer, order.folder / "acks")),
        )
    )


async def work(order: Order) -> dict[str, object]:
    """Work the plan off, or go on with it, and say how that went."""
    started_s = time.perf_counter()
    session = opened_session(order)
    opened_s = time.perf_counter() - started_s
    Answering(session)
    ended = await session.run("Go on.")
    live = memory_of(session.memory)
    await session.close()
    return {
        "opened_s": opened_s,
        "reason": ended.reason,
        "answer": ended.answer,
        "memory": repr(live),
    }


def serve() -> None:
    """Fork for each order and print how the process ended, with what it found."""
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGCHLD})
    for line in sys.stdin:
        body = json.loads(line)
        order = Order(**{**body, "folder": Path(body["folder"])})
        child = os.fork()
        if child == 0:
            signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGCHLD})
            _be_child(order)
        if order.kill_after_s and not signal.sigtimedwait({signal.SIGCHLD}, order.kill_after_s):
            os.kill(child, signal.SIGKILL)
        _, status = os.waitpid(child, 0)
        signal.sigtimedwait(
            {signal.SIGCHLD}, 0
        )  # the one of this child, where it was not waited for
        sys.stdout.write(f"{os.waitstatus_to_exitcode(status)}\n")
        sys.stdout.flush()


def _be_child(order: Order) -> None:
    code = 1
    try:
        result = asyncio.run(work(order))
        (order.folder / "result").write_text(json.dumps(result), encoding="utf-8")
        code = 0
    finally:
        if code:
            traceback.print_exc()
        sys.stderr.flush()
        os._exit(code)


if __name__ == "__main__":
    serve()

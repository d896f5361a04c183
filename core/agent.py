"""The loop: `ToolCallAgent.run` takes steps, a step thinks once and acts on what came of it."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from typing import Literal

from core.budget import Budget
from core.decision import QuestionPrompt
from core.dispatch import Dispatcher
from core.end_check import ENDING_TOOL, Objection
from core.errors import ModelError, RunStopped
from core.events import StepEnded, StepStarted
from core.loop_guard import LoopGuard
from core.messages import ModelReply, ToolCall, ToolResult, ToolSpec
from core.ports import Answer, Clock, EventSink, Tool
from core.thinking import Thinker

MAX_PARALLEL_READS = 4
"""Calls that only read run beside each other, at most this many."""
MAX_USELESS_REPLIES = 2
"""Empty or cut replies in a row before the run gives up."""
EMPTY_NUDGE = "Your last reply was empty. Go on with the task, or give your answer."
CUT_NUDGE = "Your last reply was cut off, so none of its calls ran. Say it again, shorter."
LIMIT_NUDGE = (
    "No steps are left and no tool can be called any more. "
    "Give the best answer you can now, and say plainly what is not done."
)

TOO_EARLY = (
    "Not ended: a call before this one, in the same reply, did not work. "
    "Look at its result, do what is missing, then finish."
)
NOT_TAKEN_UP = "Not run: the run ended before this call."
GOING_ROUND = "The agent kept making the same call without getting on."
YES = frozenset({"yes", "y", "true"})


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentParts:
    """What an agent works with."""

    thinker: Thinker
    tools: Callable[[], Sequence[Tool]]
    """The tools offered now."""
    specs: Callable[[], tuple[ToolSpec, ...]]
    """The same, as a model is told of them."""
    dispatcher: Dispatcher
    budget: Budget
    record: EventSink
    clock: Clock
    boundary: Callable[[], Awaitable[None]]
    """Waits while the run is paused, then applies what was queued between steps."""
    guard: LoopGuard
    ask: Callable[[QuestionPrompt], Awaitable[Answer]]
    """Puts a question to the person."""
    objection: Callable[[str], Objection | None]
    """Returns what speaks against ending the run with this answer, None for nothing."""
    has_news: Callable[[], bool]
    """Whether the person has said something the model has not seen."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunOutcome:
    """How the loop ended."""

    reason: Literal["answered", "gave_up", "limit"]
    answer: str = ""
    limit: str = ""
    """steps, minutes, cost or cost_per_day."""
    message: str = ""
    """Why it gave up, for people."""
    files: tuple[str, ...] = ()
    """Workspace paths the agent claims as its result."""


@dataclass(slots=True)
class Acted:
    """What the calls of a step came to."""

    results: list[ToolResult] = field(default_factory=list)

    @property
    def finish(self) -> ToolResult | None:
        """The result that ends the run, if there is one."""
        return next((result for result in self.results if result.final_answer is not None), None)

    @property
    def went_wrong(self) -> bool:
        """Whether some call of the step did not work, which the model has not seen yet."""
        return any(result.outcome != "ok" for result in self.results)


class ToolCallAgent:
    """Works on one run until a text answer, `finish`, a limit, or the person ends it."""

    def __init__(self, parts: AgentParts) -> None:
        """Serve one run."""
        self._parts = parts
        self._useless_replies = 0
        self._nudge = ""

    async def run(self) -> RunOutcome:
        """Take steps until the run ends.

        Raises:
            ModelError: The model cannot be used.
            asyncio.CancelledError: The person interrupted.
        """
        while True:
            try:
                outcome = await self.step()
            except RunStopped as stopped:
                return await self._last_words(stopped)
            if outcome is not None:
                return outcome

    async def step(self) -> RunOutcome | None:
        """Think once and act on it; None when the run goes on.

        Raises:
            RunStopped: A limit is reached; the step did not begin.
        """
        parts = self._parts
        await parts.boundary()
        parts.budget.start_step()
        started_s = parts.clock.monotonic()
        parts.record(StepStarted())
        reply = await self.think()
        acted = await self.act(reply.calls)
        parts.record(StepEnded(duration_s=round(parts.clock.monotonic() - started_s, 6)))
        return self._outcome(reply, acted) or await self._look_for_circles(reply, acted)

    async def think(self) -> ModelReply:
        """Ask the model for its next reply."""
        nudge, self._nudge = self._nudge, ""
        return await self._parts.thinker.think(self._parts.specs(), nudge)

    async def act(self, calls: Sequence[ToolCall]) -> Acted:
        """Take the calls up in order; neighbours that only read run beside each other.

        Raises:
            asyncio.CancelledError: Interrupted; every call has its result all the same.
        """
        acted = Acted()
        waiting = list(calls)
        try:
            while waiting and acted.finish is None:
                group = self._next_group(waiting)
                del waiting[: len(group)]
                acted.results.extend(await self._together(group, acted))
        finally:
            for call in waiting:
                self._parts.dispatcher.skip(call, NOT_TAKEN_UP)
        return acted

    def _next_group(self, calls: Sequence[ToolCall]) -> list[ToolCall]:
        readers = {tool.name for tool in self._parts.tools() if tool.reads_only}
        group = list(calls[:1])
        for call in calls[1:MAX_PARALLEL_READS]:
            if group[0].name not in readers or call.name not in readers:
                break
            group.append(call)
        return group

    async def _together(self, group: Sequence[ToolCall], acted: Acted) -> list[ToolResult]:
        if group[0].name == ENDING_TOOL and acted.went_wrong:
            return [self._parts.dispatcher.skip(group[0], TOO_EARLY, "denied")]
        if group[0].name == ENDING_TOOL and (objection := self._objection(group[0])):
            return [self._parts.dispatcher.skip(group[0], objection.text, objection.outcome)]
        if len(group) == 1:
            return [await self._take_up(group[0])]
        begun: set[str] = set()
        try:
            async with asyncio.TaskGroup() as tasks:
                running = [tasks.create_task(self._begin(call, begun)) for call in group]
        finally:  # an interrupt may come before a task has taken its call up at all
            for call in group:
                if call.id not in begun:
                    self._parts.dispatcher.skip(call, NOT_TAKEN_UP)
        return [task.result() for task in running]

    def _objection(self, call: ToolCall) -> Objection | None:
        answer = (call.arguments or {}).get("answer")
        return self._parts.objection(answer) if isinstance(answer, str) else None

    async def _begin(self, call: ToolCall, begun: set[str]) -> ToolResult:
        begun.add(call.id)
        return await self._take_up(call)

    async def _take_up(self, call: ToolCall) -> ToolResult:
        refusal = self._parts.guard.refusal(call) or self._parts.budget.take_call(call.name)
        if refusal:
            return self._parts.dispatcher.skip(call, refusal, "denied")
        return await self._parts.dispatcher.dispatch(call)

    async def _look_for_circles(self, reply: ModelReply, acted: Acted) -> RunOutcome | None:
        outputs = [result.output for result in acted.results]
        done = list(zip(reply.calls, outputs, strict=True))
        verdict = self._parts.guard.observe(done, reply.text)
        for noticed in verdict.noticed:
            self._parts.record(noticed)
        if verdict.kind == "hint":
            self._nudge = verdict.message
        if verdict.kind != "ask":
            return None
        prompt = QuestionPrompt(
            call_id=reply.calls[-1].id if reply.calls else "",
            question=verdict.message,
            answer_kind="confirm",
            default="no",
        )
        answer = await self._parts.ask(prompt)
        if answer.resolution == "answered" and answer.text.casefold() in YES:
            self._parts.guard.allow_again()
            return None
        return RunOutcome(reason="gave_up", message=GOING_ROUND)

    def _outcome(self, reply: ModelReply, acted: Acted) -> RunOutcome | None:
        if (finish := acted.finish) is not None:
            return RunOutcome(
                reason="gave_up" if finish.gave_up else "answered",
                answer=finish.final_answer or "",
                files=finish.files,
            )
        if reply.outcome == "refused":
            return RunOutcome(
                reason="gave_up", message=reply.message or "The model refused.", answer=reply.text
            )
        if reply.outcome in ("empty", "truncated"):
            return self._useless(reply)
        self._useless_replies = 0
        if reply.calls or self._parts.has_news():
            return None
        if objection := self._parts.objection(reply.text):
            self._nudge = objection.text
            return None
        return RunOutcome(reason="answered", answer=reply.text)

    def _useless(self, reply: ModelReply) -> RunOutcome | None:
        self._useless_replies += 1
        if self._useless_replies >= MAX_USELESS_REPLIES:
            what = "empty" if reply.outcome == "empty" else "cut off"
            return RunOutcome(
                reason="gave_up", message=f"The model's replies were {what}.", answer=reply.text
            )
        self._nudge = EMPTY_NUDGE if reply.outcome == "empty" else CUT_NUDGE
        return None

    async def _last_words(self, stopped: RunStopped) -> RunOutcome:
        """Ask once, without tools, for the best answer so far, if time and money are left for that."""
        answer, message = "", stopped.message
        try:
            if stopped.reason != "minutes":
                answer = (await self._parts.thinker.think((), LIMIT_NUDGE)).text
        except RunStopped:
            pass  # there is neither time nor money for last words
        except ModelError as error:
            message = f"{message} No last answer: {error.message}"
        return RunOutcome(reason="limit", limit=stopped.reason, message=message, answer=answer)

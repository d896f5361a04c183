"""One run: from `RunStarted` to `RunEnded`, whatever happens between."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from core.agent import AgentParts, RunOutcome, ToolCallAgent
from core.budget import Budget, Limits
from core.changes import Look, changed, look
from core.claims import missing_files
from core.context.builder import ContextBuilder
from core.context.compaction import Compactor
from core.context.scoring import RelevanceFilter
from core.context.side_request import SideParts
from core.dispatch import Dispatcher, DispatchParts, Judge, timed_ask
from core.end_check import ENDING_TOOL, EndCheck, Objection
from core.errors import BrowserUnavailableError, HandrailError, ModelError, SandboxUnavailableError
from core.event_log import EventLog
from core.events import ErrorInfo, NoticeRaised, RunEnded, RunStarted, ToolEnded
from core.fallback import start_over
from core.gate import Gate
from core.loop_guard import LoopGuard
from core.memory import Memory
from core.ports import Clock, Model, Tool
from core.recovery import close_calls
from core.run_control import RunControl
from core.spending import Purse
from core.step_mode import works_by_steps
from core.stored_log import StoredLog
from core.stored_results import StoredResults
from core.surroundings import BrowserSnapshotted
from core.thinking import Thinker, ThinkerParts
from core.tool_spec import specs
from core.workspace_report import WorkspaceReport

EXIT_ANSWERED, EXIT_GAVE_UP, EXIT_USAGE, EXIT_LIMIT, EXIT_MODEL, EXIT_NOBODY, EXIT_UNAVAILABLE = (
    range(7)
)
EXIT_INTERRUPTED = 130
NO_MODEL = ErrorInfo(
    code="no_model",
    message="No model is configured.",
    hint="Set HANDRAIL_MODEL or give --model; for a server of your own also OPENAI_BASE_URL or --base-url.",
)

ExplainDefect = Callable[[Exception], ErrorInfo]
"""Keeps what is needed to find a defect of ours, and says in one line where."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunParts:
    """What a run works with."""

    model: Model | None
    tools: Callable[[], Sequence[Tool]]
    judge: Judge
    memory: Memory
    context: ContextBuilder
    gate: Gate
    control: RunControl
    log: EventLog
    stored: StoredLog
    results: StoredResults
    """Where long results are kept."""
    limits: Limits
    purse: Purse
    """Told what is spent, knows what was spent today."""
    clock: Clock
    workspace: Path
    report: WorkspaceReport
    """Tells a model that works step by step how things stand."""
    relevance_threshold: float
    """Old units a model finds less relevant are left out; 0: none is asked."""
    prepare: Callable[[], Awaitable[float | None]] | None
    """Awaited before tools are offered; gives the seconds a person was waited for, which are no time of the run."""
    explain_defect: ExplainDefect


class Run:
    """Works on one request of the person."""

    def __init__(self, parts: RunParts) -> None:
        """Prepare; nothing happens before `work`."""
        self._parts = parts
        self._budget = Budget(parts.limits, parts.clock, parts.purse)
        self._first_record = len(parts.log)
        self._before: Look = {}
        self._end_check = EndCheck(parts.log.records, self._first_record, parts.report)

    async def work(self, task: str) -> RunEnded:
        """Work until the end and return what was recorded as such."""
        limits = self._parts.limits
        self._parts.log.append(
            RunStarted(
                task=task,
                max_steps=limits.max_steps,
                max_minutes=limits.max_minutes,
                max_cost_usd=limits.max_cost_usd,
                max_cost_per_day_usd=limits.max_cost_per_day_usd,
            )
        )
        try:
            ended = await self._to_the_end()
        except asyncio.CancelledError:
            ended = RunEnded(reason="stopped", exit_code=EXIT_INTERRUPTED)
        except HandrailError as error:
            ended = _failed(error)
        except Exception as error:  # noqa: BLE001 - boundary: the top of the run's task
            info = self._parts.explain_defect(error)
            ended = RunEnded(reason="failed", exit_code=EXIT_GAVE_UP, error=info)
        close_calls(self._parts.log, self._parts.log.records[self._first_record :])
        ended = await self._undisturbed(ended)
        start_over(self._parts.model)
        self._tell_uncounted(ended)
        self._parts.log.append(ended)
        return ended

    def _tell_uncounted(self, ended: RunEnded) -> None:
        """Say that what was spent could not be kept, unless the run failed for it."""
        error = self._budget.uncounted
        if error is not None and (ended.error is None or ended.error.code != error.code):
            notice = NoticeRaised(level="warning", text=error.message, code=error.code)
            self._parts.log.append(notice)

    async def _to_the_end(self) -> RunEnded:
        if self._parts.model is None:
            return RunEnded(reason="failed", exit_code=EXIT_USAGE, error=NO_MODEL)
        if self._parts.prepare is not None:
            self._budget.exclude(await self._parts.prepare() or 0.0)
        self._before = await asyncio.to_thread(look, self._parts.workspace)
        self._parts.report.begin(self._before)
        outcome = await self._agent(self._parts.model).run()
        return self._ended(outcome)

    def _agent(self, model: Model) -> ToolCallAgent:
        parts = self._parts
        record = parts.log.append
        thinker = Thinker(
            ThinkerParts(
                model=model,
                memory=parts.memory,
                context=parts.context,
                budget=self._budget,
                record=record,
                clock=parts.clock,
                compactor=Compactor(self._side(model), parts.memory, parts.context),
                relevance=RelevanceFilter(
                    self._side(model), parts.memory, parts.relevance_threshold
                ),
                situation=parts.report.situation,
            )
        )
        dispatching = DispatchParts(
            tools=parts.tools,
            judge=parts.judge,
            gate=parts.gate,
            record=record,
            clock=parts.clock,
            pause=parts.control.pause,
            ensure_stored=parts.stored.ensure_stored,
            make_durable=parts.stored.make_durable,
            waited=self._budget.exclude,
            keep=parts.results.keep,
        )
        return ToolCallAgent(
            AgentParts(
                thinker=thinker,
                tools=parts.tools,
                specs=lambda: specs(parts.tools()),
                dispatcher=Dispatcher(dispatching),
                budget=self._budget,
                record=record,
                clock=parts.clock,
                boundary=parts.control.boundary,
                guard=LoopGuard(self._page_url),
                ask=partial(timed_ask, dispatching),
                objection=self._objection,
                has_news=lambda: bool(parts.control.steering),
            )
        )

    def _side(self, model: Model) -> SideParts:
        parts = self._parts
        return SideParts(
            model=model,
            counter=parts.context.counter,
            record=parts.log.append,
            clock=parts.clock,
            spend=self._budget.spend,
            check_price=self._budget.check_price,
            left_s=lambda: self._budget.left_s,
        )

    def _objection(self, answer: str) -> Objection | None:
        """Return what speaks against an answer; a model that calls tools well is taken at its word."""
        by_steps = works_by_steps(self._parts.model)
        return self._end_check.objection(answer) if by_steps else None

    def _page_url(self) -> str:
        """Return the page the browser showed last in this run, "" for none."""
        for record in reversed(self._parts.log.records[self._first_record :]):
            if isinstance(record.event, BrowserSnapshotted):
                return record.event.url
        return ""

    def _ended(self, outcome: RunOutcome) -> RunEnded:
        codes = {"answered": EXIT_ANSWERED, "gave_up": EXIT_GAVE_UP, "limit": EXIT_LIMIT}
        code = codes[outcome.reason]
        if outcome.reason == "gave_up" and self._refused_by_nobody():
            code = EXIT_NOBODY
        error = ErrorInfo(code=outcome.reason, message=outcome.message) if outcome.message else None
        return RunEnded(
            reason=outcome.reason,
            exit_code=code,
            answer=outcome.answer,
            files=outcome.files,
            limit=outcome.limit,
            error=error,
        )

    def _refused_by_nobody(self) -> bool:
        """Whether the last call before the end was refused because nobody was there."""
        for record in reversed(self._parts.log.records[self._first_record :]):
            if isinstance(record.event, ToolEnded) and record.event.name != ENDING_TOOL:
                return record.event.decided_by == "nobody"
        return False

    async def _undisturbed(self, ended: RunEnded) -> RunEnded:
        """Complete the end, also while an interrupt comes: a run always has one."""
        completing = asyncio.ensure_future(self._completed(ended))
        while not completing.done():
            with suppress(asyncio.CancelledError):
                await asyncio.shield(completing)
        return completing.result()

    async def _completed(self, ended: RunEnded) -> RunEnded:
        """Add what is known at the end of every run: files on disk, usage, cost."""
        files: tuple[str, ...] = ended.files
        missing: tuple[str, ...] = ()
        if self._before or ended.reason in ("answered", "gave_up", "limit"):
            after = await asyncio.to_thread(look, self._parts.workspace)
            claimed = [path for path in ended.files if path in after]
            files = tuple(dict.fromkeys((*claimed, *changed(self._before, after))))
            missing = await asyncio.to_thread(
                missing_files, ended.answer, self._parts.workspace, self._before, after
            )
        return replace(
            ended,
            files=files,
            missing_files=missing,
            usage=self._budget.usage,
            cost_usd=self._budget.cost_usd,
            steps=self._budget.steps,
            duration_s=round(self._budget.elapsed_s, 3),
        )


def _failed(error: HandrailError) -> RunEnded:
    code = EXIT_USAGE
    if isinstance(error, ModelError):
        code = EXIT_MODEL
    elif isinstance(error, SandboxUnavailableError | BrowserUnavailableError):
        code = EXIT_UNAVAILABLE
    info = ErrorInfo(code=error.code, message=error.message, hint=error.hint)
    return RunEnded(reason="failed", exit_code=code, error=info)


def name_defect(error: Exception) -> ErrorInfo:
    """Say no more of a defect than its kind; its text may hold anything."""
    text = f"Internal error: {type(error).__name__}."
    return ErrorInfo(code="internal", message=text, hint="This is a bug in Handrail.")

"""The facade of core: all a front end may do with a session."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Protocol, get_args

from core.budget import Limits
from core.context.builder import ContextBuilder, ContextSettings
from core.context.compaction import Compactor, summarisable
from core.context.rows import NextRequest
from core.context.side_request import SideParts
from core.decision import DecisionOpened
from core.dispatch import Judgement
from core.errors import StoreError
from core.event_log import EventLog, SystemClock
from core.events import (
    JournalRecovered,
    MemoryEdited,
    ModeChanged,
    NoticeRaised,
    RunEnded,
    SessionClosed,
    SessionOpened,
)
from core.gate import REPLIES, Gate
from core.journal import Journal, damage
from core.memory import Memory
from core.messages import JsonValue, Usage
from core.ports import Answer, CallFacts, Clock, Model, Places, Tool
from core.record import Record
from core.recovery import close_open_ends, settle_unknown
from core.run import ExplainDefect, Run, RunParts, name_defect
from core.run_control import RunControl
from core.spending import NoPurse, Purse
from core.step_mode import works_by_steps
from core.stored_log import StoredLog
from core.stored_results import StoredResults
from core.tokens import counter_of
from core.tool_spec import specs
from core.vocabulary import Mode
from core.workspace_report import WorkspaceReport


class Policy(Protocol):
    """Judges calls, and learns from what happened."""

    def judge(
        self, name: str, arguments: Mapping[str, JsonValue], facts: CallFacts, mode: Mode
    ) -> Judgement:
        """Judge one call; must not raise."""
        ...

    def note(self, record: Record) -> None:
        """Take in a record: pages seen, answers given."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionSettings:
    """What stays the same for a whole session."""

    session_id: str
    version: str
    system: str
    """System message of every request."""
    brief_system: str = ""
    """The same for a model that works step by step; "" for no other."""
    profile: str = "general"
    answer_tokens: int = 0
    """Longest answer of the model; 0: a tenth of its window is kept for it."""
    max_tools: int = 0
    """Most tools a request offers; 0 means all."""
    relevance_threshold: float = 0.0
    """Old units a model finds less relevant are left out; 0: none is asked."""
    mode: Mode = "ask"
    limits: Limits = field(default_factory=Limits)
    scripted: bool = False
    """The model is the tour's script."""


class Closable(Protocol):
    """Something that is ended with the session."""

    async def close(self) -> None:
        """End it; safe to call twice."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionParts:
    """What a session is made of; `tui.wiring` chooses them."""

    settings: SessionSettings
    places: Places
    model: Model | None
    """None when no model is configured."""
    tools: Sequence[Tool]
    policy: Policy
    attended: bool
    """A person can answer."""
    prepare: Callable[[], Awaitable[float | None]] | None = None
    """Awaited when a run starts, before tools are offered: finds out what they can use and what the agent is told.

    Gives the seconds a person was waited for.
    """
    explain_defect: ExplainDefect = name_defect
    """Told of a defect of ours that ended a run."""
    purse: Purse = field(default_factory=NoPurse)
    """Told what is spent, knows what was spent today."""
    results: StoredResults | None = None
    """Where long results are kept; in the session's folder by default."""
    resources: Sequence[Closable] = ()
    """Closed with the session: sandbox, browser."""
    clock: Clock = field(default_factory=SystemClock)
    open_journal: Callable[[Path], Journal] = Journal
    """Opens the journal in the session's folder."""


class Session:
    """One journal, one memory, one run at a time.

    Facts are read from `log`; everything else a front end does are the methods here. All of it belongs to one event
    loop.
    """

    def __init__(self, parts: SessionParts) -> None:
        """Open the session, going on from its journal when there is one.

        Raises:
            StoreError: The journal cannot be opened, or is damaged in the middle.
        """
        self._parts = parts
        self.places = parts.places
        self.results = parts.results or StoredResults(parts.places.session)
        """Long results, to be paged by their handle."""
        self._mode: Mode = parts.settings.mode
        journal = parts.open_journal(parts.places.session)
        loaded = journal.load()
        if loaded.damaged_line:
            journal.close()
            raise damage(journal.path, loaded.damaged_line)
        self.log = EventLog(parts.clock, records=loaded.records)
        self.memory = Memory()
        for record in loaded.records:
            self.memory.apply(record)
            parts.policy.note(record)
        self._stored = StoredLog(journal, self._journal_failed)
        for follower in (self._stored.take, self.memory.apply, parts.policy.note):
            self.log.follow(follower)
        asked = sum(isinstance(record.event, DecisionOpened) for record in loaded.records)
        self.gate = Gate(self.log.append, attended=parts.attended, asked_before=asked)
        self._control = RunControl(self.log.append)
        self._context = _context_for(parts)
        self._report = WorkspaceReport(self.log.records, parts.places.workspace)
        self._run: asyncio.Task[RunEnded] | None = None
        if loaded.torn_bytes:
            self.log.append(JournalRecovered(cut_bytes=loaded.torn_bytes, kept_as=loaded.torn_file))
        self._settling: asyncio.Task[None] | None = None
        self._summing: asyncio.Task[bool] | None = None
        self._open(resumed=bool(loaded.records))

    @property
    def mode(self) -> Mode:
        """How much runs without a question."""
        return self._mode

    @property
    def running(self) -> bool:
        """Whether a run goes on."""
        return self._run is not None and not self._run.done()

    @property
    def paused(self) -> bool:
        """Whether the run waits, or will wait at the next boundary."""
        return self._control.paused

    async def run(self, text: str) -> RunEnded:
        """Take up a request and work on it until it ends.

        Args:
            text: What the person wants; not empty.

        Raises:
            RuntimeError: A run goes on already; use `steer`.
        """
        if self.running:
            raise RuntimeError("a run goes on already")
        self._control.reset()
        self._run = asyncio.create_task(self._new_run().work(text), name="run")
        return await asyncio.shield(self._run)

    def steer(self, text: str) -> None:
        """Say something while a run goes on; the model sees it from the next step on."""
        self._control.steer(text)

    def pause(self) -> None:
        """Make the run wait at the next step boundary."""
        if self.running:
            self._control.pause()

    def resume(self) -> None:
        """Let a paused run go on."""
        self._control.resume()

    def step_once(self) -> None:
        """Let a paused run take one step."""
        self._control.resume(single_step=True)

    def interrupt(self) -> None:
        """Stop the run now; what it started is ended and each call gets its result."""
        if self._run is not None and self.log.run_id and not self._run.cancelling():
            self._run.cancel()

    def answer(self, decision_id: str, answer: Answer) -> bool:
        """Resolve an open decision; False when it is not open any more or the answer does not fit.

        The tour's script may answer only where the model is the script too, and a file of answers never approves.
        """
        if answer.decided_by == "tour" and not self._parts.settings.scripted:
            return False
        if answer.decided_by == "answers_file" and answer.resolution not in REPLIES:
            return False
        return self.gate.answer(decision_id, answer)

    def set_mode(self, mode: Mode) -> None:
        """Change the mode, from now on."""
        if mode != self._mode:
            self._mode = mode
            self.log.append(ModeChanged(mode=mode))

    def edit_memory(self, operation: str, unit_id: str, text: str = "") -> bool:
        """Change what the model will see: at once, or at the next step boundary while a run goes on.

        Args:
            operation: As in `core.events.MemoryEdited`.
            unit_id: The unit; "" for insert, undo and redo.
            text: New text for edit and insert.

        Returns:
            False when there is no such operation or unit, or it cannot be changed so.
        """
        known = get_args(MemoryEdited.__dataclass_fields__["operation"].type)
        if operation not in known or not self.memory.allows(operation, unit_id, text):
            return False
        event = MemoryEdited(operation=operation, unit_id=unit_id, text=text)  # type: ignore[arg-type]  # checked above
        if self.running:
            self._control.edit(event)
        else:
            self.log.append(event)
        return True

    async def compact(self, unit_ids: Sequence[str]) -> bool:
        """Let a summary by the model stand for units; between runs, or while the run stands at a boundary, paused.

        Args:
            unit_ids: Those that may not be summarised are left as they are: the task, the plan, pins.

        Returns:
            Whether it does; where not, a record says why, unless nothing was asked.
        """
        self._context.build(self.memory, ())  # so that each unit is counted
        units = summarisable(self.memory, unit_ids)
        model, control = self._parts.model, self._control
        is_busy = (self.running and not control.is_waiting) or control.quiet.locked()
        if model is None or is_busy or not units:
            return False
        parts = SideParts(
            model=model,
            counter=self._context.counter,
            record=self.log.append,
            clock=self._parts.clock,
            spend=partial(_spend_outside_runs, self._parts.purse),
        )
        async with control.quiet:
            compactor = Compactor(parts, self.memory, self._context)
            self._summing = asyncio.create_task(compactor.summarise(units, "person"))
            return await self._summing

    def next_request(self) -> NextRequest:
        """Return what would be sent to the model now; sends and changes nothing."""
        model = self._parts.model
        window = model.window if model else 0
        limit = self._context.limit(window)
        plan = self._context.build(
            self.memory,
            specs(self._offered()),
            limit_tokens=limit,
            situation=self._report.situation() if works_by_steps(model) else None,
        )
        return NextRequest(
            rows=self._context.rows(plan, self.memory),
            body=model.body(plan.request) if model else b"",
            tokens=plan.tokens,
            window=window,
            limit=limit,
        )

    async def close(self, reason: str = "quit") -> None:
        """End the run, what it uses, and the journal; safe to call twice."""
        if self.running and self._run is not None:
            self.interrupt()
            await asyncio.wait([self._run])
        for task in (self._settling, self._summing):
            if task is not None:
                task.cancel()
                await asyncio.wait([task])
        for resource in self._parts.resources:
            await resource.close()
        if not self.log.records or not isinstance(self.log.records[-1].event, SessionClosed):
            self.log.append(SessionClosed(reason=reason))
        self._stored.close()

    def _open(self, *, resumed: bool) -> None:
        if resumed:
            close_open_ends(self.log, self.places.workspace)
        settings = self._parts.settings
        self.log.append(
            SessionOpened(
                session_id=settings.session_id,
                workspace=str(self.places.workspace),
                version=settings.version,
                profile=settings.profile,
                model=self._parts.model.name if self._parts.model else "",
                mode=self._mode,
                scripted=settings.scripted,
                resumed=resumed,
            )
        )
        if resumed and self._parts.attended:
            self._settling = asyncio.create_task(settle_unknown(self.log, self.gate))

    def _offered(self) -> Sequence[Tool]:
        return [tool for tool in self._parts.tools if not tool.unavailable()]

    def _new_run(self) -> Run:
        return Run(
            RunParts(
                model=self._parts.model,
                tools=self._offered,
                judge=lambda name, arguments, facts: self._parts.policy.judge(
                    name, arguments, facts, self._mode
                ),
                memory=self.memory,
                context=self._context,
                gate=self.gate,
                control=self._control,
                log=self.log,
                stored=self._stored,
                results=self.results,
                limits=self._parts.settings.limits,
                purse=self._parts.purse,
                clock=self._parts.clock,
                workspace=self.places.workspace,
                report=self._report,
                relevance_threshold=self._parts.settings.relevance_threshold,
                prepare=self._parts.prepare,
                explain_defect=self._parts.explain_defect,
            )
        )

    def _journal_failed(self, error: StoreError) -> None:
        self.log.append(
            NoticeRaised(level="error", text=error.message, hint=error.hint, code=error.code)
        )


def _spend_outside_runs(purse: Purse, usage: Usage, cost_usd: float | None) -> None:
    """Count a request that belongs to no run."""
    del usage
    with suppress(StoreError):  # the next run says that it cannot be counted
        purse.add(cost_usd)


def _context_for(parts: SessionParts) -> ContextBuilder:
    """Make the builder of requests, which counts as the model does where it counts at all."""
    settings = ContextSettings(
        system=parts.settings.system,
        brief_system=parts.settings.brief_system,
        answer_tokens=parts.settings.answer_tokens,
        max_tools=parts.settings.max_tools,
    )
    return ContextBuilder(settings, counter_of(parts.model))

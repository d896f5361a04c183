"""One call from its arguments to its result: check, judge, ask, note the intent, run, record.

Whatever happens, a call ends in exactly one `ToolEnded`.
"""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal, Protocol

from pydantic import BaseModel, ValidationError

from core.decision import ApprovalPrompt, QuestionPrompt
from core.digest import call_digest
from core.errors import (
    BadArgumentsError,
    HandrailError,
    NotAllowedError,
    SandboxGoneError,
    SandboxTimeoutError,
)
from core.events import CallIntended, Event, ToolEnded, ToolOutputReceived, ToolProposed
from core.gate import Gate
from core.messages import JsonValue, Outcome, ToolCall, ToolResult
from core.ports import Answer, CallFacts, Clock, EventSink, Tool
from core.stored_results import KeptResult
from core.tool_arguments import explain
from core.vocabulary import DecidedBy, RiskLevel, Verdict

DURABLE_RISKS = frozenset({"R3", "R4"})
"""Calls of these levels have their intent on disk before they start."""
MAX_ASKS = 5
"""A call whose facts keep changing is refused after this many questions."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Judgement:
    """What the policy says of one call, with what a dialog shows of it."""

    verdict: Verdict
    risk: RiskLevel
    title: str
    parts: tuple[str, ...] = ()
    reasons: tuple[str, ...] = ()
    rule: str = ""


class Judge(Protocol):
    """Judges a call in the situation of now."""

    def __call__(
        self, name: str, arguments: Mapping[str, JsonValue], facts: CallFacts, /
    ) -> Judgement:
        """Return the judgement; must not raise."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class DispatchParts:
    """What a dispatcher works with."""

    tools: Callable[[], Sequence[Tool]]
    """The tools offered now."""
    judge: Judge
    gate: Gate
    record: EventSink
    clock: Clock
    pause: Callable[[], None]
    """Pauses the run at the next step boundary."""
    ensure_stored: Callable[[], bool]
    """Raises StoreError while the journal cannot be written; True when it must reach the disk before an effect."""
    make_durable: Callable[[], None]
    """Brings the log to the disk; blocks, so it is called in a thread."""
    waited: Callable[[float], None]
    """Told how many seconds a person was waited for."""
    keep: Callable[[ToolResult], KeptResult]
    """Returns a result as it goes to the model, with all of it in a file where it is too long."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Permission:
    """A call that may run: what of, and who said so."""

    tool: Tool
    arguments: BaseModel
    plain: Mapping[str, JsonValue]
    bindings: Mapping[str, str]
    digest: str
    risk: RiskLevel
    decided_by: DecidedBy


class RunningCall:
    """What a tool may use while it runs (`core.ports.CallContext`)."""

    def __init__(self, call_id: str, parts: DispatchParts) -> None:
        """Belong to the call `call_id`."""
        self._call_id = call_id
        self._parts = parts
        self.answered_by: DecidedBy = ""

    @property
    def call_id(self) -> str:
        """Id of the call."""
        return self._call_id

    def output(self, stream: Literal["stdout", "stderr", "info"], text: str) -> None:
        """Show live output."""
        if text:
            self._parts.record(ToolOutputReceived(call_id=self._call_id, stream=stream, text=text))

    def record(self, event: Event) -> None:
        """Add another fact to the log."""
        self._parts.record(event)

    async def ask(self, prompt: QuestionPrompt) -> Answer:
        """Put a question to the person."""
        answer = await timed_ask(self._parts, prompt)
        self.answered_by = answer.decided_by
        return answer


class Dispatcher:
    """Takes calls through all their stages."""

    def __init__(self, parts: DispatchParts) -> None:
        """Use `parts` for every call."""
        self._parts = parts

    async def dispatch(self, call: ToolCall) -> ToolResult:
        """Take one call from its arguments to its recorded result.

        Raises:
            asyncio.CancelledError: The run was interrupted; the call has its result all the same.
        """
        started_s: float | None = None
        decided_by: DecidedBy = ""
        try:
            permission = await self._permit(call)
            decided_by = permission.decided_by
            started_s = self._parts.clock.monotonic()
            context = RunningCall(call.id, self._parts)
            result = await self._perform(call, permission, context)
            decided_by = context.answered_by or decided_by
        except asyncio.CancelledError:
            if _is_interrupted():
                stopped = ToolResult(outcome="cancelled", output="Interrupted by the person.")
                self._end(call, stopped, started_s, decided_by)
                raise
            text = "The call was broken off by what it works with."
            result = ToolResult(outcome="cancelled", output=text, error=text)
        except Refusal as refusal:
            result, decided_by = refusal.result, refusal.decided_by
        except HandrailError as error:
            result = failure(error)
        except Exception as error:  # noqa: BLE001 - boundary: a defect in one tool must not end the run
            text = f"Internal error in the tool {call.name}: {type(error).__name__}."
            result = ToolResult(outcome="failed", output=text, error=text)
        self._end(call, result, started_s, decided_by)
        return result

    def skip(self, call: ToolCall, text: str, outcome: Outcome = "cancelled") -> ToolResult:
        """Record a result for a call that is not taken up."""
        result = ToolResult(outcome=outcome, output=text, error=text)
        self._end(
            call, result, self._parts.clock.monotonic(), "policy" if outcome == "denied" else ""
        )
        return result

    async def _permit(self, call: ToolCall) -> Permission:
        """Check, judge and, where needed, ask.

        Raises:
            Refusal: It may not run.
            ToolError: Its arguments do not fit.
        """
        tool, arguments = self._checked(call)
        shown: RiskLevel | None = None
        for _ in range(MAX_ASKS):
            facts = await tool.facts(arguments)
            plain = arguments.model_dump(mode="json", exclude_none=True)
            judgement = self._parts.judge(tool.name, plain, facts)
            digest = call_digest(tool.name, plain, facts)
            if shown is None:
                self._propose(call, arguments, judgement)
            permission = Permission(
                tool=tool,
                arguments=arguments,
                plain=plain,
                bindings=facts.bindings,
                digest=digest,
                risk=judgement.risk,
                decided_by=_decider(judgement, edited=shown is not None),
            )
            if judgement.verdict in ("deny", "block"):
                raise Refusal.by_policy(judgement)
            if judgement.verdict == "allow" or _settled_by_edit(judgement, shown):
                return permission
            answer = await self._approval(call, permission, judgement, facts)
            self._raise_denial(answer)
            if answer.arguments is not None:
                arguments = validated(tool, answer.arguments)
                shown = judgement.risk
                continue
            if await self._unchanged(permission):
                return replace(permission, decided_by=answer.decided_by)
        raise NotAllowedError("The call changed again and again while it was being decided.")

    def _checked(self, call: ToolCall) -> tuple[Tool, BaseModel]:
        offered = {tool.name: tool for tool in self._parts.tools()}
        if call.status == "unknown_tool" or call.name not in offered:
            names = ", ".join(sorted(offered))
            raise BadArgumentsError(
                f"There is no tool {call.name!r}. Tools: {names}.", code="unknown_tool"
            )
        if call.status != "ok" or call.arguments is None:
            raise BadArgumentsError(
                call.problem or "The arguments cannot be read as a JSON object."
            )
        tool = offered[call.name]
        return tool, validated(tool, call.arguments)

    def _propose(self, call: ToolCall, arguments: BaseModel, judgement: Judgement) -> None:
        written = arguments.model_dump(mode="json", exclude_none=True, exclude_defaults=True)
        self._parts.record(
            ToolProposed(
                call_id=call.id,
                name=call.name,
                arguments=written,
                risk=judgement.risk,
                verdict=judgement.verdict,
                reasons=judgement.reasons,
                rule=judgement.rule,
            )
        )

    async def _approval(
        self, call: ToolCall, permission: Permission, judgement: Judgement, facts: CallFacts
    ) -> Answer:
        reasons = judgement.reasons
        if call.repaired:
            reasons = (*reasons, "The arguments were repaired: read them with care.")
        prompt = ApprovalPrompt(
            call_id=call.id,
            tool=call.name,
            arguments=permission.plain,
            risk=judgement.risk,
            strong=judgement.verdict == "ask_strong",
            title=judgement.title,
            parts=judgement.parts,
            reasons=reasons,
            diff=facts.diff,
            digest=permission.digest,
        )
        return await timed_ask(self._parts, prompt)

    def _raise_denial(self, answer: Answer) -> None:
        if answer.resolution in ("approved", "edited"):
            return
        if answer.resolution == "denied_pause":
            self._parts.pause()
        raise Refusal.by_answer(answer)

    async def _unchanged(self, permission: Permission) -> bool:
        facts = await permission.tool.facts(permission.arguments)
        return call_digest(permission.tool.name, permission.plain, facts) == permission.digest

    async def _perform(
        self, call: ToolCall, permission: Permission, context: RunningCall
    ) -> ToolResult:
        self._parts.record(
            CallIntended(
                call_id=call.id,
                name=call.name,
                arguments=permission.plain,
                digest=permission.digest,
                risk=permission.risk,
                decided_by=permission.decided_by,
                bindings=permission.bindings,
                reads_only=permission.tool.reads_only,
            )
        )
        is_owed = permission.risk in DURABLE_RISKS
        # While one sync runs the person may decide or change something more, so it is asked again.
        while (self._parts.ensure_stored() and permission.risk != "R0") or is_owed:
            await asyncio.to_thread(self._parts.make_durable)
            is_owed = False
        return await permission.tool.run(permission.arguments, context)

    def _end(
        self, call: ToolCall, result: ToolResult, started_s: float | None, decided_by: DecidedBy
    ) -> None:
        """Record the result; the time is that of running, without the wait for a decision."""
        now_s = self._parts.clock.monotonic()
        kept = self._parts.keep(result)
        self._parts.record(
            ToolEnded(
                call_id=call.id,
                name=call.name,
                outcome=result.outcome,
                output=kept.text,
                error=result.error,
                exit_code=result.exit_code,
                duration_s=round(now_s - (now_s if started_s is None else started_s), 6),
                decided_by=decided_by,
                images=result.images,
                files=result.files,
                whole_path=kept.path,
            )
        )


class Refusal(Exception):  # noqa: N818 - not an error: a call that was not allowed
    """A call that may not run, with the result the model gets."""

    def __init__(self, result: ToolResult, decided_by: DecidedBy) -> None:
        """Carry the result."""
        super().__init__(result.error)
        self.result = result
        self.decided_by = decided_by

    @classmethod
    def by_policy(cls, judgement: Judgement) -> "Refusal":
        """Refused without a question."""
        reason = "; ".join(judgement.reasons) or "not allowed in this mode"
        text = f"Not allowed: {reason}. Do not try to get round this; choose another way or ask the person."
        decided_by: DecidedBy = "rule" if judgement.rule else "policy"
        return cls(
            ToolResult(outcome="denied", output=text, error=f"Not allowed: {reason}."), decided_by
        )

    @classmethod
    def by_answer(cls, answer: Answer) -> "Refusal":
        """Refused by the person, or because nobody is there."""
        who = (
            "Nobody is there to approve this call"
            if answer.decided_by == "nobody"
            else "The person refused this call"
        )
        said = f": {answer.text}" if answer.text and answer.decided_by != "nobody" else "."
        return cls(
            ToolResult(outcome="denied", output=f"{who}{said}", error=f"{who}{said}"),
            answer.decided_by,
        )


def _is_interrupted() -> bool:
    """Whether the cancelling was asked of the task itself, not of something that a tool waited for."""
    task = asyncio.current_task()
    return task is None or task.cancelling() > 0


def _decider(judgement: Judgement, *, edited: bool) -> DecidedBy:
    if edited:
        return "person"
    return "rule" if judgement.rule else "policy"


def _settled_by_edit(judgement: Judgement, shown: RiskLevel | None) -> bool:
    """Arguments the person typed need no second question, unless they are riskier than what was shown, or R3 and up."""
    return shown is not None and judgement.verdict == "ask" and judgement.risk <= min(shown, "R2")


async def timed_ask(parts: DispatchParts, prompt: ApprovalPrompt | QuestionPrompt) -> Answer:
    """Ask at the gate and report how long the person was waited for."""
    asked_s = parts.clock.monotonic()
    try:
        return await parts.gate.ask(prompt)
    finally:
        parts.waited(parts.clock.monotonic() - asked_s)


def validated(tool: Tool, arguments: Mapping[str, JsonValue]) -> BaseModel:
    """Read arguments as the tool's own model.

    Raises:
        BadArgumentsError: They do not fit; the message says what is allowed.
    """
    try:
        return tool.arguments.model_validate(arguments)
    except ValidationError as error:
        raise BadArgumentsError(explain(tool, error)) from error


def failure(error: HandrailError) -> ToolResult:
    """Return the result for an error raised on purpose."""
    outcome: Outcome = "failed"
    if isinstance(error, BadArgumentsError):
        outcome = "invalid"
    elif isinstance(error, NotAllowedError):
        outcome = "denied"
    elif isinstance(error, SandboxGoneError):
        outcome = "lost"
    elif isinstance(error, SandboxTimeoutError):
        outcome = "timed_out"
    return ToolResult(outcome=outcome, output=error.line(), error=error.message)

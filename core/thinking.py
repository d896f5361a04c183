"""One question to the model: build the request, stream the reply into the log, ask again where that can help."""

import asyncio
import math
from collections.abc import Callable, Coroutine
from contextlib import aclosing
from dataclasses import dataclass
from functools import partial
from typing import TypeVar

from core.budget import Budget
from core.context.builder import ContextBuilder
from core.context.compaction import Compactor
from core.context.plan import Plan
from core.context.scoring import RelevanceFilter
from core.errors import ContextTooLongError, ModelError, ModelStreamError
from core.events import ContextBuilt, ErrorInfo, ModelReplied, ModelRetried
from core.fallback import fall_back
from core.memory import Memory
from core.memory_events import CompactionReason
from core.messages import ModelReply, Situation, ToolSpec, Usage
from core.ports import Clock, EventSink, Model
from core.step_mode import change_to_steps, prove_tools, works_by_steps

Asked = TypeVar("Asked")
MAX_BROKEN_STREAMS = 2
"""Replies in a row that may break off before the run fails."""
SHRINK = 0.6
"""After the server refused a request as too long, the next one is this much of it."""
MIN_REQUEST_TOKENS = 500
"""A request is not made smaller than this."""

RESULTS_TOKENS = 2000
"""What the results of a step are taken to add to the request for the last words."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ThinkerParts:
    """What a thinker works with."""

    model: Model
    memory: Memory
    context: ContextBuilder
    budget: Budget
    record: EventSink
    clock: Clock
    compactor: Compactor
    """Makes room by summaries."""
    relevance: RelevanceFilter
    """Has old units scored where the profile wants it."""
    situation: Callable[[], Situation]
    """Says how things stand, to a model that works step by step."""


class Thinker:
    """Asks the model for the next reply of a run."""

    def __init__(self, parts: ThinkerParts) -> None:
        """Serve one run."""
        self._parts = parts
        self._broken = 0

    async def think(self, tools: tuple[ToolSpec, ...], nudge: str = "") -> ModelReply:
        """Return the model's next reply, which is in the log then.

        Args:
            tools: Offered to the model.
            nudge: A message of the program for this request only.

        Raises:
            ModelError: It cannot be had; asking again does not help.
            RunStopped: The time of the run is up, or it would cost more than a limit allows.
        """
        reason: CompactionReason = "window"
        if tools:
            await self._prove()
            await self._parts.relevance.look()
        while True:
            plan = self._plan(tools, nudge)
            if not plan.fits and tools:  # last words, without tools, are about what there is
                replan = partial(self._plan, tools, nudge)
                plan = await self._parts.compactor.make_room(plan, replan, reason)
            try:
                return await self._in_time(self._ask(plan))
            except ModelStreamError as error:
                self._count_broken(plan, error)
            except ContextTooLongError as error:
                self._shrink(plan, error)
                reason = "overflow"
            except ModelError as error:
                self._change(error)

    def _plan(self, tools: tuple[ToolSpec, ...], nudge: str) -> Plan:
        parts = self._parts
        limit_tokens = parts.context.limit(parts.model.window)
        situation = parts.situation() if tools and works_by_steps(parts.model) else None
        return parts.context.build(
            parts.memory, tools, limit_tokens=limit_tokens, nudge=nudge, situation=situation
        )

    async def _prove(self) -> None:
        """Find out whether the model calls tools, where that is not known; trouble on the way is the next request's.

        Raises:
            ModelError: It cannot be used, and no other can.
            RunStopped: The time of the run is up.
        """
        parts = self._parts
        try:
            await self._in_time(prove_tools(parts.model, parts.record))
        except ModelStreamError:
            return
        except ModelError as error:
            self._fall_back(error)
            await self._prove()

    async def _in_time(self, asking: Coroutine[None, None, Asked]) -> Asked:
        """Ask, for as long as the run may take: a server that says nothing must not outlast it."""
        left_s = self._parts.budget.left_s
        waiting = asyncio.timeout(left_s if left_s < math.inf else None)
        try:
            async with waiting:
                return await asking
        except TimeoutError:
            if waiting.expired():
                raise self._parts.budget.out_of_time() from None
            raise

    def _check_money(self, plan: Plan) -> None:
        """Check that the request can be paid, and the last words after it.

        Raises:
            RunStopped: It would pass a limit of money.
            StoreError: What was spent today is not known, and a limit depends on it.
        """
        parts, reply = self._parts, self._parts.budget.limits.reply_tokens
        price = parts.model.cost_usd(Usage(input_tokens=plan.tokens, output_tokens=reply))
        kept = 0.0
        if plan.tools_tokens:  # not the last words themselves, which are asked for without tools
            after = plan.tokens - plan.tools_tokens + reply + RESULTS_TOKENS
            kept = parts.model.cost_usd(Usage(input_tokens=after, output_tokens=reply)) or 0.0
        parts.budget.check_price(price, kept)

    async def _ask(self, plan: Plan) -> ModelReply:
        parts = self._parts
        self._check_money(plan)
        parts.record(
            ContextBuilt(
                units=plan.units,
                left_out=plan.left_out,
                tokens=plan.tokens,
                window=parts.model.window,
            )
        )
        started_s = parts.clock.monotonic()
        async with aclosing(parts.model.reply(plan.request)) as pieces:
            async for piece in pieces:
                if isinstance(piece, ModelReply):
                    parts.context.measure(plan, piece.usage)
                    self._take(piece, parts.clock.monotonic() - started_s)
                    return piece
                parts.record(piece)
        raise ModelStreamError("The model ended without a reply.")

    def _take(self, reply: ModelReply, duration_s: float) -> None:
        parts = self._parts
        self._broken = 0
        cost_usd = parts.model.cost_usd(reply.usage)
        parts.budget.spend(reply.usage, cost_usd)
        parts.record(
            ModelReplied(
                text=reply.text,
                reasoning=reply.reasoning,
                calls=reply.calls,
                carry=reply.carry,
                usage=reply.usage,
                cost_usd=cost_usd,
                finish_reason=reply.finish_reason,
                warnings=reply.warnings,
                message=reply.message,
                duration_s=round(duration_s, 6),
            )
        )

    def _count_broken(self, plan: Plan, error: ModelStreamError) -> None:
        """Count an answer that broke off, and what it is taken to cost: the server counts it all the same."""
        parts = self._parts
        usage = Usage(input_tokens=plan.tokens, estimated=True)
        cost_usd = parts.model.cost_usd(usage)
        parts.budget.spend(usage, cost_usd)
        self._broken += 1
        if self._broken > MAX_BROKEN_STREAMS:
            self._fall_back(error)
            return
        info = ErrorInfo(code=error.code, message=error.message, hint=error.hint)
        retried = ModelRetried(
            error=info,
            attempt=self._broken,
            wait_s=0.0,
            limit=MAX_BROKEN_STREAMS + 1,
            usage=usage,
            cost_usd=cost_usd,
        )
        parts.record(retried)

    def _change(self, error: ModelError) -> None:
        """Work step by step where the model takes no tools, else let the next model answer.

        Raises:
            ModelError: Neither can help.
        """
        unable = error.code == "tools_unsupported"
        adapted = change_to_steps(self._parts.model) if unable else None
        if adapted is None:
            self._fall_back(error)
            return
        self._parts.record(adapted)

    def _fall_back(self, error: ModelError) -> None:
        """Let the next model answer; the request to the one before has ended.

        Raises:
            ModelError: There is none, or none can help.
        """
        switched = fall_back(self._parts.model, error)
        if switched is None:
            raise error
        self._broken = 0
        self._parts.record(switched)

    def _shrink(self, plan: Plan, error: ContextTooLongError) -> None:
        smaller = int(plan.tokens * SHRINK)
        limit_tokens = self._parts.context.limit(self._parts.model.window)
        if smaller < MIN_REQUEST_TOKENS or (limit_tokens and smaller >= limit_tokens):
            raise error
        self._parts.context.refuse_from(smaller)

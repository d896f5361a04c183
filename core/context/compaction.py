"""Lets a summary by the model stand for old units: before a request would not fit, after a refusal, or by key.

Nothing is lost when it fails: memory changes only by the record of a summary that is there.
"""

import asyncio
from collections.abc import Callable, Sequence

from core.context.builder import ContextBuilder
from core.context.plan import Plan
from core.context.side_request import SideParts, SideReply, SideRequest
from core.context.summary import is_worth_it, summary_request, units_to_summarise
from core.memory import SUMMARY_HEAD, Memory
from core.memory_events import CompactionEnded, CompactionReason, CompactionStarted
from core.messages import UserMessage
from core.unit import Unit

MOST_SHARE = 0.8
"""A summary that has more than this part of what it stands for is not worth its losses."""
STEPS_AFTER_FAILURE = 10
"""Steps without another try, once none came."""
SUMMARIES_AT_ONCE = 6
"""For one request: where the record of all that must go is too long to be read at once."""


class Compactor:
    """Makes summaries, one at a time."""

    def __init__(self, parts: SideParts, memory: Memory, context: ContextBuilder) -> None:
        """Summarise units of `memory` for the requests `context` builds."""
        self._parts = parts
        self._side = SideRequest(parts)
        self._memory = memory
        self._context = context
        self._rests_until_step = 0

    async def make_room(
        self, plan: Plan, replan: Callable[[], Plan], reason: CompactionReason
    ) -> Plan:
        """Summarise the oldest units until a plan fits, or until no summary helps.

        Args:
            plan: One that does not fit.
            replan: Makes it again from memory as it is then.
            reason: Why room is needed.

        Returns:
            The plan to send: where there is no summary it leaves out what it must.

        Raises:
            asyncio.CancelledError: The run was interrupted; no half of a summary is in memory.
        """
        if self._memory.steps < self._rests_until_step:
            return plan
        for _ in range(SUMMARIES_AT_ONCE):
            fixed = plan.system_tokens + plan.tools_tokens + plan.added_tokens
            room = int(self._limit / self._side.counter.factor) - fixed
            units = units_to_summarise(self._memory, room)
            if not units or not await self.summarise(units, reason):
                self._rests_until_step = self._memory.steps + STEPS_AFTER_FAILURE
                break
            plan = replan()
            if plan.fits:
                break
        return plan

    async def summarise(self, units: Sequence[Unit], reason: CompactionReason) -> bool:
        """Let a summary stand for these units, or for the oldest of them where all are too long for one request.

        Args:
            units: Oldest first, each one that may be summarised.
            reason: Why it is done.

        Returns:
            Whether it does now.

        Raises:
            asyncio.CancelledError: Interrupted; memory is as it was.
        """
        request, taken = summary_request(self._memory, units, self._side.counter, self._limit)
        unit_ids = tuple(unit.unit_id for unit in taken)
        before = self._side.counter.scaled(sum(unit.plain_tokens for unit in taken))
        self._parts.record(
            CompactionStarted(unit_ids=unit_ids, tokens_before=before, reason=reason)
        )
        try:
            reply = await self._side.ask(request)
        except asyncio.CancelledError:
            self._end(unit_ids, before, reason, SideReply(problem="it was interrupted"))
            raise
        return self._end(unit_ids, before, reason, reply)

    @property
    def _limit(self) -> int:
        return self._context.limit(self._parts.model.window)

    def _end(
        self, unit_ids: tuple[str, ...], before: int, reason: CompactionReason, reply: SideReply
    ) -> bool:
        head = UserMessage(text=f"{SUMMARY_HEAD}\n{reply.text}", author="handrail")
        after = self._side.counter.message(head) if reply.text else 0
        problem = reply.problem
        if after > before * MOST_SHARE:
            problem = "it was hardly shorter than what it would stand for"
        self._parts.record(
            CompactionEnded(
                unit_ids=unit_ids,
                summary="" if problem else reply.text,
                tokens_before=before,
                tokens_after=0 if problem else after,
                reason=reason,
                problem=problem,
                usage=reply.usage,
                cost_usd=reply.cost_usd,
                duration_s=reply.duration_s,
            )
        )
        return not problem


def summarisable(memory: Memory, unit_ids: Sequence[str]) -> list[Unit]:
    """Return those of the units that a summary may stand for, oldest first; none where that is not worth it."""
    wanted = set(unit_ids)
    units = [unit for unit in memory.units if unit.unit_id in wanted and memory.can_summarise(unit)]
    return units if is_worth_it(units) else []

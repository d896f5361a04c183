"""A small request beside the run's own: for a summary of old units, or for scores of relevance."""

import asyncio
import math
from collections.abc import Callable
from contextlib import aclosing
from dataclasses import dataclass, field

from core.errors import HandrailError, ModelStreamError, RunStopped
from core.events import ReasoningStreamed, TextStreamed
from core.messages import ModelReply, ModelRequest, Usage
from core.ports import Clock, EventSink, Model
from core.tokens import TokenCounter


@dataclass(frozen=True, slots=True, kw_only=True)
class SideParts:
    """What a side request works with."""

    model: Model
    counter: TokenCounter
    record: EventSink
    clock: Clock
    spend: Callable[[Usage, float | None], None]
    """Told what was used, and its price, None where that is not known."""
    check_price: Callable[[float | None], None] = lambda price: None
    """Raises RunStopped where the price must not be paid."""
    left_s: Callable[[], float] = lambda: math.inf
    """Seconds it may take; infinity for no limit."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SideReply:
    """What came of it."""

    text: str = ""
    """"" where nothing usable came."""
    problem: str = ""
    """Why, one line."""
    usage: Usage = field(default_factory=Usage)
    cost_usd: float | None = None
    duration_s: float = 0.0


class SideRequest:
    """Asks the model of the session something of its own, which nobody sees stream."""

    def __init__(self, parts: SideParts) -> None:
        """Use `parts` for every request."""
        self._parts = parts

    @property
    def counter(self) -> TokenCounter:
        """Counts for this model."""
        return self._parts.counter

    async def ask(self, request: ModelRequest) -> SideReply:
        """Send one request without tools; whatever goes wrong is in the reply.

        Raises:
            asyncio.CancelledError: The run was interrupted; nothing of the answer was taken.
        """
        parts = self._parts
        started_s = parts.clock.monotonic()
        left_s = parts.left_s()
        try:
            tokens = parts.counter.request(request)
            answer_tokens = request.max_output_tokens or 0
            planned = Usage(input_tokens=tokens, output_tokens=answer_tokens)
            parts.check_price(parts.model.cost_usd(planned))
            async with asyncio.timeout(left_s if left_s < math.inf else None):
                reply = await self._reply(request)
        except TimeoutError:
            return SideReply(problem="the time of the run was up")
        except RunStopped as stopped:
            return SideReply(problem=stopped.message)
        except HandrailError as error:
            return SideReply(problem=error.message)
        cost_usd = parts.model.cost_usd(reply.usage)
        parts.spend(reply.usage, cost_usd)
        usable = reply.outcome in ("message", "truncated", "tool_calls")
        text = reply.text.strip() if usable else ""
        return SideReply(
            text=text,
            problem="" if text else f"the model's reply was {reply.outcome.replace('_', ' ')}",
            usage=reply.usage,
            cost_usd=cost_usd,
            duration_s=round(parts.clock.monotonic() - started_s, 6),
        )

    async def _reply(self, request: ModelRequest) -> ModelReply:
        async with aclosing(self._parts.model.reply(request)) as pieces:
            async for piece in pieces:
                if isinstance(piece, ModelReply):
                    return piece
                if not isinstance(piece, TextStreamed | ReasoningStreamed):
                    self._parts.record(piece)
        raise ModelStreamError("The model ended without a reply.")

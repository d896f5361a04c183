"""Makes a request fit: long results of old calls are cut to a note first, then whole units are left out.

What matters least for the task goes first. The newest task, the plan, pinned units and the newest units stay. What
goes is rounded up to a tenth of the room, so that the beginning of the request stays the same for several steps and a
server's cache of it stays good.
"""

from collections.abc import Callable, Sequence

from core.context.plan import NEWEST_KEPT, SENT_STATES, Choice, shortened
from core.context.relevance import Relevance, RelevanceOrder
from core.memory import Memory
from core.messages import Message
from core.unit import Unit

CHUNK_SHARE = 0.1
"""Part of the room that is freed at a time."""


class Fitting:
    """Chooses what goes."""

    def __init__(self, order: RelevanceOrder, count: Callable[[Sequence[Message]], int]) -> None:
        """Decide by `order`; `count` estimates messages."""
        self._order = order
        self._count = count

    def fit(self, memory: Memory, choices: Sequence[Choice], room_tokens: int) -> list[Choice]:
        """Return the choices with as much shortened and left out as must be.

        Args:
            memory: All units.
            choices: What is sent where there is room for all.
            room_tokens: For all units together, before the model's factor.
        """
        fitted = list(choices)
        if over_tokens(fitted, room_tokens) <= 0:
            return fitted
        sent = [index for index, choice in enumerate(choices) if choice.state == "sent"]
        old = [index for index in sent[:-NEWEST_KEPT] if not memory.stays(choices[index].unit)]
        matters = dict(
            zip(
                old, self._order.scores(memory, [choices[index].unit for index in old]), strict=True
            )
        )
        # a summary stands for many units, so it goes after all others
        old.sort(key=lambda index: (choices[index].unit.role == "summary", matters[index].score))
        self._shorten(fitted, old, room_tokens, matters)
        self._leave_out(fitted, old, room_tokens, matters)
        self._shorten(fitted, sent[-NEWEST_KEPT:], room_tokens, {})
        return fitted

    def _shorten(
        self,
        fitted: list[Choice],
        candidates: Sequence[int],
        room_tokens: int,
        matters: dict[int, Relevance],
    ) -> None:
        over = _rounded_up(over_tokens(fitted, room_tokens), room_tokens)
        for index in candidates:
            if over <= 0:
                return
            choice = fitted[index]
            short_tokens = self._short_tokens(choice.unit)
            if not choice.unit.results or short_tokens >= choice.plain_tokens:
                continue
            over -= choice.plain_tokens - short_tokens
            relevance = matters.get(index)
            fitted[index] = Choice(
                unit=choice.unit,
                state="shortened",
                plain_tokens=short_tokens,
                note="results cut" if relevance else "results cut: too large for the window",
                relevance=relevance,
            )

    def _leave_out(
        self,
        fitted: list[Choice],
        candidates: Sequence[int],
        room_tokens: int,
        matters: dict[int, Relevance],
    ) -> None:
        over = _rounded_up(over_tokens(fitted, room_tokens), room_tokens)
        for index in candidates:
            if over <= 0:
                return
            choice = fitted[index]
            over -= choice.plain_tokens
            fitted[index] = Choice(
                unit=choice.unit,
                state="left_out",
                plain_tokens=choice.unit.plain_tokens,
                note="no room, and it matters least",
                relevance=matters[index],
            )

    def _short_tokens(self, unit: Unit) -> int:
        if unit.short_tokens < 0:
            unit.short_tokens = self._count(shortened(unit))
        return unit.short_tokens


def over_tokens(choices: Sequence[Choice], room_tokens: int) -> int:
    """Return by how much the units that are sent pass the room."""
    return (
        sum(choice.plain_tokens for choice in choices if choice.state in SENT_STATES) - room_tokens
    )


def _rounded_up(over: int, room_tokens: int) -> int:
    chunk = max(1, int(room_tokens * CHUNK_SHARE))
    return -(-over // chunk) * chunk

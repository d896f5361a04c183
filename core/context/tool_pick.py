"""Which tools a request offers: all of them, or the best few for this step where the person set a limit."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from core.context.relevance import terms_of
from core.memory import Memory
from core.messages import AssistantMessage, ToolMessage, ToolSpec

ALWAYS_OFFERED = ("finish", "ask_human")
"""Never left out: a run must be able to end, and to ask."""
PAGING_TOOL = "read_file"
"""Shows the rest of stored results."""
RECENT_UNITS = 6
"""A tool that was called in one of the newest units is likely to be called again."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolPick:
    """Tools of a request, and why these."""

    tools: tuple[ToolSpec, ...]
    reasons: tuple[str, ...] = ()
    """One line for each tool that is offered; empty where all are."""
    left_out: tuple[str, ...] = ()
    """One line for each that is not."""


@dataclass(slots=True)
class _Merit:
    spec: ToolSpec
    rank: float = 0.0
    reasons: list[str] = field(default_factory=list)

    def add(self, points: float, reason: str) -> None:
        self.rank += points
        self.reasons.append(reason)


def pick_tools(
    tools: Sequence[ToolSpec], max_tools: int, memory: Memory, query: frozenset[str]
) -> ToolPick:
    """Choose the tools of the next request.

    Args:
        tools: All that can be offered, in their order.
        max_tools: Most tools; 0 for all.
        memory: Tells what was called lately.
        query: Words of the task (`core.context.relevance`).
    """
    if not max_tools or len(tools) <= max_tools:
        return ToolPick(tools=tuple(tools))
    merits = [_merit(spec, memory, query) for spec in tools]
    best = sorted(merits, key=lambda merit: -merit.rank)
    always = sum(merit.spec.name in ALWAYS_OFFERED for merit in merits)
    chosen = {merit.spec.name for merit in best[: max(max_tools, always)]}
    return ToolPick(
        tools=tuple(spec for spec in tools if spec.name in chosen),
        reasons=tuple(
            f"{merit.spec.name}: {', '.join(merit.reasons) or 'first in the list of the profile'}"
            for merit in merits
            if merit.spec.name in chosen
        ),
        left_out=tuple(
            f"{merit.spec.name}: left out, {', '.join(merit.reasons) or 'nothing points to it'}"
            for merit in merits
            if merit.spec.name not in chosen
        ),
    )


def _merit(spec: ToolSpec, memory: Memory, query: frozenset[str]) -> _Merit:
    merit = _Merit(spec)
    if spec.name in ALWAYS_OFFERED:
        merit.add(1000.0, "always offered")
    recent = memory.units[-RECENT_UNITS:]
    if spec.name == PAGING_TOOL and any(_holds_stored(unit.messages()) for unit in recent):
        merit.add(100.0, "shows the rest of a stored result")
    called = [
        age
        for age, unit in enumerate(reversed(recent), start=1)
        if isinstance(unit.head, AssistantMessage)
        and any(call.name == spec.name for call in unit.head.calls)
    ]
    if called:
        merit.add(10.0 / called[0], "called lately")
    shared = sorted(terms_of(f"{spec.name.replace('_', ' ')} {spec.description}") & query)
    if shared:
        merit.add(len(shared), f"shares {', '.join(shared[:4])} with the task")
    return merit


def _holds_stored(messages: Sequence[object]) -> bool:
    return any(isinstance(message, ToolMessage) and message.stored for message in messages)

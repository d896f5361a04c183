"""Builds requests from memory: everything while it fits, else what matters most. Memory itself stays as it is."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import partial

from core.chat.stepwise import StepForms
from core.context.fitting import Fitting
from core.context.plan import (
    EARLIER_LEFT_OUT,
    SENT_STATES,
    Choice,
    ChoiceState,
    Measured,
    Plan,
    rendered,
)
from core.context.relevance import RelevanceOrder
from core.context.rows import MemoryRow, rows_of
from core.context.tool_pick import ToolPick, pick_tools
from core.memory import Memory
from core.messages import Message, ModelRequest, Situation, ToolSpec, Usage, UserMessage
from core.tokens import MESSAGE_TOKENS, TokenCounter
from core.unit import Unit

ANSWER_SHARE = 0.1
"""Part of the window that is kept for the answer where the settings name no longest one."""
OPENING = UserMessage(text=EARLIER_LEFT_OUT, author="handrail")
LEAST_RATIO, MOST_RATIO = 0.5, 2.0
"""Reported tokens further from our estimate than this are not believed: some servers leave out what they had cached."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ContextSettings:
    """What stays the same for all requests of a session."""

    system: str
    """System message of every request."""
    brief_system: str = ""
    """The same for a model that works step by step; "" for no other."""
    answer_tokens: int = 0
    """Longest answer the settings allow; 0: a tenth of the window is kept."""
    max_tools: int = 0
    """Most tools a request offers; 0 means all."""


@dataclass(slots=True)
class Settled:
    """The oldest units, which no longer change, as they are sent while everything fits."""

    revision: int = 0
    units: int = 0
    """Units looked at, hidden ones too."""
    plain_tokens: int = 0
    messages: list[Message] = field(default_factory=list)
    shown: list[Unit] = field(default_factory=list)
    """Units that are not hidden."""

    def copied(self) -> "Settled":
        """Return it with lists of its own."""
        return replace(self, messages=list(self.messages), shown=list(self.shown))


class ContextBuilder:
    """Builds requests from memory.

    What is settled is kept between requests, and tokens are kept as they are before the model's factor, so that a step
    costs the same late in a session as early.
    """

    def __init__(self, settings: ContextSettings, counter: TokenCounter) -> None:
        """Count with `counter`, which learns the model's factor."""
        self._settings = settings
        self._counter = counter
        self._tool_tokens: dict[str, tuple[ToolSpec, int]] = {}
        self._settled = Settled()
        self._order = RelevanceOrder()
        self._fitting = Fitting(self._order, self._tokens_of)
        self._measured: Measured | None = None
        self._refused_tokens = 0

    @property
    def counter(self) -> TokenCounter:
        """Counts for this model."""
        return self._counter

    def limit(self, window: int) -> int:
        """Return the tokens a request may have, 0 (no limit) where nothing is known.

        Args:
            window: Of the model, 0 where unknown.
        """
        kept = max(self._settings.answer_tokens, 0) or int(window * ANSWER_SHARE)
        limit = window - min(kept, window // 2)
        known = [tokens for tokens in (limit, self._refused_tokens) if tokens > 0]
        return min(known, default=0)

    def refuse_from(self, tokens: int) -> None:
        """Note that the server takes no request of more than this."""
        self._refused_tokens = tokens

    def build(
        self,
        memory: Memory,
        tools: Sequence[ToolSpec],
        *,
        limit_tokens: int = 0,
        nudge: str = "",
        situation: Situation | None = None,
    ) -> Plan:
        """Choose what is sent.

        Args:
            memory: All units.
            tools: Those that can be offered; none for a last request.
            limit_tokens: The request should not be larger; 0 means no limit.
            nudge: A message of the program for this request only, "" for none.
            situation: How things stand, for a model that works step by step; None for others.
        """
        query = self._order.query(memory) if self._settings.max_tools else frozenset()
        plan = self._planned(
            memory,
            pick_tools(tools, self._settings.max_tools, memory, query),
            UserMessage(text=nudge, author="handrail") if nudge else None,
            situation,
        )
        if not limit_tokens or plan.tokens <= limit_tokens:
            return plan
        fixed = plan.system_tokens + plan.tools_tokens + plan.added_tokens
        fixed += self._counter.plain_message(OPENING)
        room = int(limit_tokens / self._counter.factor) - fixed
        return self._fitted(memory, plan, room, limit_tokens)

    def measure(self, plan: Plan, usage: Usage) -> None:
        """Note what the server counted for a plan that was sent; one with a message of the moment teaches nothing."""
        plain = plan.request.plain_tokens
        if usage.input_estimated or plan.added_tokens or not plan.is_whole:
            return
        if LEAST_RATIO * plain <= usage.input_tokens <= MOST_RATIO * plain:
            self._measured = Measured(
                revision=plan.revision,
                units=plan.seen_units,
                tools=tuple(tool.name for tool in plan.request.tools),
                plain_tokens=plain,
                tokens=usage.input_tokens,
            )

    def rows(self, plan: Plan, memory: Memory) -> tuple[MemoryRow, ...]:
        """Describe a plan for the inspector, in wire order, hidden units included."""
        return rows_of(plan, memory, self._counter.scaled)

    def _planned(
        self, memory: Memory, pick: ToolPick, nudge: UserMessage | None, situation: Situation | None
    ) -> Plan:
        """Plan to send all of memory."""
        brief = self._settings.brief_system if situation else ""
        system = brief or self._settings.system
        system_tokens = self._counter.plain_text(system) + MESSAGE_TOKENS
        situation_tokens = self._counter.plain_text(situation.text if situation else "")
        whole = self._whole(memory)
        nudge_tokens = self._counter.plain_message(nudge) if nudge else 0
        tools_tokens = self._tools_tokens(pick, stepwise=situation is not None)
        opening_tokens = _opening_tokens(whole.messages, self._counter)
        plain = system_tokens + tools_tokens + opening_tokens + whole.plain_tokens
        measured = self._still_measured(memory, pick)
        added_tokens = nudge_tokens + situation_tokens
        tokens = self._counter.scaled(plain + added_tokens)
        if measured is not None:
            rest = plain - measured.plain_tokens + added_tokens
            tokens = measured.tokens + self._counter.scaled(rest)
        return Plan(
            request=ModelRequest(
                system=system,
                messages=_joined(whole.messages, nudge),
                tools=pick.tools,
                plain_tokens=plain + added_tokens,
                situation=situation,
            ),
            tokens=tokens,
            system_tokens=system_tokens,
            tools_tokens=tools_tokens,
            opening_tokens=opening_tokens,
            nudge_tokens=nudge_tokens,
            situation_tokens=situation_tokens,
            pick=pick,
            choose=partial(self._choices, memory, ()),
            shown=whole.shown,
            units=len(whole.shown),
            revision=memory.revision,
            seen_units=len(memory.units),
            measured=measured,
        )

    def _fitted(self, memory: Memory, plan: Plan, room_tokens: int, limit_tokens: int) -> Plan:
        """Plan to send what fits."""
        whole = [Choice(unit=unit, plain_tokens=unit.plain_tokens) for unit in plan.shown]
        choices = self._fitting.fit(memory, whole, room_tokens)
        sent = [choice for choice in choices if choice.state in SENT_STATES]
        messages = [message for choice in sent for message in rendered(choice)]
        opening_tokens = _opening_tokens(messages, self._counter)
        plain = plan.system_tokens + plan.tools_tokens + plan.added_tokens + opening_tokens
        plain += sum(choice.plain_tokens for choice in sent)
        nudge = plan.request.messages[-1] if plan.nudge_tokens else None
        left_out = sum(choice.state == "left_out" for choice in choices)
        tokens = self._counter.scaled(plain)
        return replace(
            plan,
            request=replace(plan.request, messages=_joined(messages, nudge), plain_tokens=plain),
            tokens=tokens,
            opening_tokens=opening_tokens,
            choose=partial(self._choices, memory, choices),
            units=len(sent),
            left_out=left_out,
            fits=not left_out and tokens <= limit_tokens,
            is_whole=False,
            measured=None,
        )

    def _whole(self, memory: Memory) -> Settled:
        """Return all of memory as it is sent when it fits."""
        settled = self._settled
        if settled.revision != memory.revision or settled.units > len(memory.units):
            settled = self._settled = Settled(revision=memory.revision)
        while settled.units < len(memory.units) - 1 and memory.units[settled.units].is_complete:
            self._add(settled, memory.units[settled.units])
        whole = settled.copied()
        for unit in memory.units[settled.units :]:
            self._add(whole, unit)
        return whole

    def _add(self, settled: Settled, unit: Unit) -> None:
        settled.units += 1
        if not unit.is_hidden:
            settled.shown.append(unit)
            settled.plain_tokens += self._unit_tokens(unit)
            settled.messages.extend(unit.messages())

    def _still_measured(self, memory: Memory, pick: ToolPick) -> Measured | None:
        """Return what the server counted for the beginning of the next request, None where that is not known."""
        measured = self._measured
        if measured is None or measured.revision != memory.revision:
            return None
        names = tuple(tool.name for tool in pick.tools)
        return measured if measured.tools == names else None

    def _choices(self, memory: Memory, made: Sequence[Choice]) -> list[Choice]:
        """Return what becomes of each unit, hidden ones too, where `made` says it of some."""
        known = {choice.unit.unit_id: choice for choice in made}
        return [
            known.get(unit.unit_id)
            or Choice(unit=unit, plain_tokens=self._unit_tokens(unit), state=_whole_state(unit))
            for unit in memory.units
        ]

    def _unit_tokens(self, unit: Unit) -> int:
        if unit.plain_tokens < 0:
            unit.plain_tokens = self._tokens_of(unit.messages())
        return unit.plain_tokens

    def _tokens_of(self, messages: Sequence[Message]) -> int:
        return sum(map(self._counter.plain_message, messages))

    def _tools_tokens(self, pick: ToolPick, *, stepwise: bool) -> int:
        if stepwise:
            return self._counter.plain_text(StepForms(pick.tools).guide()) if pick.tools else 0
        return sum(map(self._tokens_of_tool, pick.tools))

    def _tokens_of_tool(self, tool: ToolSpec) -> int:
        known = self._tool_tokens.get(tool.name)
        if known is None or known[0] != tool:
            known = self._tool_tokens[tool.name] = (tool, self._counter.plain_tool(tool))
        return known[1]


def _whole_state(unit: Unit) -> ChoiceState:
    """Return what becomes of a unit where there is room for all."""
    if not unit.is_hidden:
        return "sent"
    if unit.summarised_into:
        return "summarised"
    return "dropped" if unit.dropped else "unfit"


def _opening_tokens(messages: Sequence[Message], counter: TokenCounter) -> int:
    """Return the estimate of the message that must stand before these, 0 where they begin as they should."""
    begins_well = not messages or isinstance(messages[0], UserMessage)
    return 0 if begins_well else counter.plain_message(OPENING)


def _joined(messages: Sequence[Message], nudge: Message | None) -> tuple[Message, ...]:
    opening = () if not messages or isinstance(messages[0], UserMessage) else (OPENING,)
    return (*opening, *messages, *((nudge,) if nudge is not None else ()))

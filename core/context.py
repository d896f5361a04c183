"""What the next request holds, and why: chosen from memory so that it fits the model's window.

First the long results of old calls are cut to a note, then the oldest units are left out. The request of the run,
pinned units and the newest units always stay. Nothing is ever removed from memory here.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial

from core.memory import Memory, Unit
from core.messages import (
    AssistantMessage,
    Message,
    ModelRequest,
    ToolMessage,
    ToolSpec,
    UserMessage,
)
from core.tokens import IMAGE_TOKENS, MESSAGE_TOKENS

Count = Callable[[str], int]
"""Estimates the tokens of a text."""
NEWEST_KEPT = 4
"""Units at the end that are always sent whole."""
SHORT_RESULT_CHARS = 400
"""Results up to this length are never cut to a note."""
WINDOW_SHARE = 0.9
"""Part of the window a request may fill; the rest is for the answer and for our error of estimate."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryRow:
    """One line of the memory inspector."""

    unit_id: str
    role: str
    """system, tools, user, assistant or note."""
    tokens: int
    exact: bool
    """False: our estimate."""
    age: int
    """Steps since it came."""
    flags: tuple[str, ...]
    """task, pinned, edited, dropped, shortened, left_out."""
    first_line: str
    text: str
    sent: bool
    why: str
    """Why it is sent, shortened or left out."""
    editable: str = ""
    """The part of `text` that an edit replaces; "" where nothing can be edited."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NextRequest:
    """What would be sent now."""

    rows: tuple[MemoryRow, ...]
    body: bytes
    """The exact JSON; empty when no model is configured."""
    tokens: int
    window: int
    """0 where unknown."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """What becomes of one unit."""

    unit: Unit
    tokens: int
    state: str = "sent"
    """sent, shortened, left_out or dropped."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """A request and how it came about."""

    request: ModelRequest
    tokens: int
    """Estimate of the whole request."""
    system_tokens: int
    tools_tokens: int
    choose: Callable[[], Sequence[Choice]]
    """What becomes of each unit; only the inspector asks."""
    units: int
    """Units that are sent."""
    left_out: int = 0
    """Units kept but not sent."""


@dataclass(slots=True)
class Settled:
    """The oldest units, which no longer change, as they are sent while everything fits."""

    revision: int = 0
    units: int = 0
    """Units looked at, dropped ones too."""
    sent: int = 0
    tokens: int = 0
    messages: list[Message] = field(default_factory=list)


class ContextBuilder:
    """Builds requests from memory.

    What is settled is kept between requests, so that a step costs the same late in a session as early.
    """

    def __init__(self, system: str, count: Count) -> None:
        """Use `system` as the system message of every request."""
        self._system = system
        self._count = count
        self._system_tokens = count(system) + MESSAGE_TOKENS
        self._tool_tokens: dict[str, int] = {}
        self._settled = Settled()

    def build(
        self,
        memory: Memory,
        tools: Sequence[ToolSpec],
        *,
        limit_tokens: int = 0,
        nudge: str = "",
    ) -> Plan:
        """Choose what is sent.

        Args:
            memory: All units.
            tools: Offered to the model; none for a last request.
            limit_tokens: The request should not be larger; 0 means no limit.
            nudge: A message of the program for this request only, "" for none.
        """
        tools_tokens = sum(self._tokens_of_tool(tool) for tool in tools)
        fixed = self._system_tokens + tools_tokens
        whole = self._whole(memory)
        choose: Callable[[], Sequence[Choice]] = partial(self._choices, memory)
        left_out = 0
        if limit_tokens and fixed + whole.tokens > limit_tokens:
            choices = self._fitted(memory, limit_tokens - fixed)
            whole = _as_sent(choices)
            left_out = sum(choice.state == "left_out" for choice in choices)
            choose = partial(tuple, choices)
        messages = (
            *whole.messages,
            *((UserMessage(text=nudge, author="handrail"),) if nudge else ()),
        )
        return Plan(
            request=ModelRequest(system=self._system, messages=messages, tools=tuple(tools)),
            tokens=fixed + whole.tokens,
            system_tokens=self._system_tokens,
            tools_tokens=tools_tokens,
            choose=choose,
            units=whole.sent,
            left_out=left_out,
        )

    def _whole(self, memory: Memory) -> Settled:
        """Return all of memory as it is sent when it fits."""
        settled = self._settled
        if settled.revision != memory.revision or settled.units > len(memory.units):
            settled = self._settled = Settled(revision=memory.revision)
        while settled.units < len(memory.units) - 1 and memory.units[settled.units].is_complete:
            self._add(settled, memory.units[settled.units])
        whole = replace(settled, messages=list(settled.messages))
        for unit in memory.units[settled.units :]:
            self._add(whole, unit)
        return whole

    def _add(self, settled: Settled, unit: Unit) -> None:
        settled.units += 1
        if not unit.dropped:
            settled.sent += 1
            settled.tokens += self._choice(unit).tokens
            settled.messages.extend(unit.messages())

    def _choices(self, memory: Memory) -> list[Choice]:
        return [self._choice(unit) for unit in memory.units]

    def _fitted(self, memory: Memory, room: int) -> list[Choice]:
        return _leave_out(self._shorten(self._choices(memory), room), room)

    def rows(self, plan: Plan, steps: int) -> tuple[MemoryRow, ...]:
        """Describe a plan for the inspector, in wire order, dropped units included."""
        names = ", ".join(tool.name for tool in plan.request.tools)
        head = [
            _fixed_row("system", plan.system_tokens, self._system),
            _fixed_row("tools", plan.tools_tokens, names),
        ]
        return (*head, *(_unit_row(choice, steps) for choice in plan.choose()))

    def _tokens_of_tool(self, tool: ToolSpec) -> int:
        known = self._tool_tokens.get(tool.name)
        if known is None:
            known = (
                self._count(f"{tool.name} {tool.description} {tool.parameters}") + MESSAGE_TOKENS
            )
            self._tool_tokens[tool.name] = known
        return known

    def _choice(self, unit: Unit) -> Choice:
        if unit.tokens < 0:
            unit.tokens = self._tokens_of(unit.messages())
        return Choice(unit=unit, tokens=unit.tokens, state="dropped" if unit.dropped else "sent")

    def _tokens_of(self, messages: Sequence[Message]) -> int:
        return sum(
            self._count(_countable(message)) + MESSAGE_TOKENS + _image_tokens(message)
            for message in messages
        )

    def _shorten(self, choices: list[Choice], room: int) -> list[Choice]:
        over = sum(choice.tokens for choice in choices if choice.state == "sent") - room
        result = list(choices)
        for index, choice in enumerate(choices[:-NEWEST_KEPT]):
            if over <= 0:
                break
            if choice.state != "sent" or choice.unit.pinned or not choice.unit.results:
                continue
            short = replace(choice, state="shortened")
            short = replace(short, tokens=self._tokens_of(_rendered(short)))
            over -= choice.tokens - short.tokens
            result[index] = short
        return result


def request_limit(window: int) -> int:
    """Return the tokens a request may hold for a window, 0 (no limit) where the window is unknown."""
    return int(window * WINDOW_SHARE)


def _leave_out(choices: list[Choice], room: int) -> list[Choice]:
    over = sum(choice.tokens for choice in choices if choice.state != "dropped") - room
    result = list(choices)
    for index, choice in enumerate(choices[:-NEWEST_KEPT]):
        if over <= 0:
            break
        if choice.state == "dropped" or choice.unit.is_task or choice.unit.pinned:
            continue
        over -= choice.tokens
        result[index] = replace(choice, state="left_out")
    return result


def _as_sent(choices: Sequence[Choice]) -> Settled:
    whole = Settled()
    for choice in choices:
        if choice.state in ("sent", "shortened"):
            whole.sent += 1
            whole.tokens += choice.tokens
            whole.messages.extend(_rendered(choice))
    return whole


def _rendered(choice: Choice) -> tuple[Message, ...]:
    if choice.state in ("left_out", "dropped"):
        return ()
    messages = choice.unit.messages()
    if choice.state == "shortened":
        return tuple(_shortened(message) for message in messages)
    return messages


def _shortened(message: Message) -> Message:
    if not isinstance(message, ToolMessage) or len(message.text) <= SHORT_RESULT_CHARS:
        return message
    note = f"{message.text[: SHORT_RESULT_CHARS // 2]}\n[the rest of this old result is left out; call again if needed]"
    return replace(message, text=note, images=())


def _countable(message: Message) -> str:
    if isinstance(message, AssistantMessage):
        return message.text + "".join(f"{call.name}{call.raw_arguments}" for call in message.calls)
    return message.text


def _image_tokens(message: Message) -> int:
    return 0 if isinstance(message, AssistantMessage) else IMAGE_TOKENS * len(message.images)


def _fixed_row(role: str, tokens: int, text: str) -> MemoryRow:
    return MemoryRow(
        unit_id=role,
        role=role,
        tokens=tokens,
        exact=False,
        age=0,
        flags=(),
        first_line=_first_line(text),
        text=text,
        sent=True,
        why="sent with every request",
    )


def _unit_row(choice: Choice, steps: int) -> MemoryRow:
    unit = choice.unit
    text = unit.text()
    marks = {"task": unit.is_task, "pinned": unit.pinned, "edited": unit.edited}
    flags = [name for name, is_set in marks.items() if is_set]
    if choice.state != "sent":
        flags.append(choice.state)
    return MemoryRow(
        unit_id=unit.unit_id,
        role=unit.role,
        tokens=choice.tokens,
        exact=False,
        age=steps - unit.born_step,
        flags=tuple(flags),
        first_line=_first_line(text),
        text=text,
        sent=choice.state in ("sent", "shortened"),
        why=_why(choice),
        editable=unit.head.text,
    )


def _why(choice: Choice) -> str:
    reasons = {
        "dropped": "dropped by you",
        "left_out": "oldest, and the request would not fit the window",
        "shortened": "old result cut, or the request would not fit the window",
    }
    if choice.state in reasons:
        return reasons[choice.state]
    if choice.unit.is_task:
        return "the task is always sent"
    return "pinned" if choice.unit.pinned else "fits the window"


def _first_line(text: str) -> str:
    return next((line for line in text.splitlines() if line.strip()), "")[:200]

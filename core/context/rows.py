"""The next request as the memory inspector shows it: a row for each part, and they add up."""

from collections.abc import Callable
from dataclasses import dataclass

from core.context.plan import EARLIER_LEFT_OUT, SENT_STATES, Choice, Plan
from core.memory import Memory
from core.unit import Unit


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryRow:
    """One line of the memory inspector."""

    unit_id: str
    role: str
    """system, tools, user, assistant, note, summary or now."""
    tokens: int
    exact: bool
    """False: our estimate."""
    age: int
    """Steps since it came."""
    flags: tuple[str, ...]
    """task, plan, pinned, edited, summary, dropped, summarised, unfit, shortened, left_out."""
    first_line: str
    text: str
    sent: bool
    why: str
    """Why it is sent, shortened or left out."""
    editable: str = ""
    """The part of `text` that an edit replaces; "" where nothing can be edited."""
    stands_for: int = 0
    """Units a summary stands for."""
    original: str = ""
    """Text of the units a summary stands for."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NextRequest:
    """What would be sent now."""

    rows: tuple[MemoryRow, ...]
    body: bytes
    """The exact JSON; empty when no model is configured."""
    tokens: int
    """The sum of the rows that are sent."""
    window: int
    """0 where unknown."""
    limit: int = 0
    """Tokens a request may have: the window without the room for the answer; 0 where unknown."""

    @property
    def is_exact(self) -> bool:
        """Whether the server has counted all of it."""
        return bool(self.rows) and all(row.exact for row in self.rows if row.sent)


class _Share:
    """Shares the tokens of a request among its rows, in order, so that the rounded rows add up."""

    def __init__(self, plan: Plan, scaled: Callable[[float], int]) -> None:
        measured = plan.measured
        self._scaled = scaled
        self._measured_plain = measured.plain_tokens if measured else 0
        self._measured = measured.tokens if measured else 0
        self._plain = 0

    def take(self, plain_tokens: int) -> tuple[int, bool]:
        """Return the tokens of the next row, and whether they come from the server's count."""
        before = self._so_far()
        self._plain += plain_tokens
        return self._so_far() - before, self._plain <= self._measured_plain

    def _so_far(self) -> int:
        if self._plain < self._measured_plain:
            return round(self._plain * self._measured / self._measured_plain)
        return self._measured + self._scaled(self._plain - self._measured_plain)


def rows_of(plan: Plan, memory: Memory, scaled: Callable[[float], int]) -> tuple[MemoryRow, ...]:
    """Describe a plan, in wire order, with the units that are not sent.

    Args:
        plan: What would be sent.
        memory: What it was made from.
        scaled: Applies the model's factor to a plain estimate.
    """
    share = _Share(plan, scaled)
    rows = [
        _fixed_row("system", share.take(plan.system_tokens), plan.request.system),
        _tools_row(plan, share.take(plan.tools_tokens)),
    ]
    if plan.opening_tokens:
        taken = share.take(plan.opening_tokens)
        rows.append(_fixed_row("note", taken, EARLIER_LEFT_OUT, "a request begins with the person"))
    for choice in plan.choose():
        is_sent = choice.state in SENT_STATES
        taken = share.take(choice.plain_tokens) if is_sent else (scaled(choice.plain_tokens), False)
        rows.append(_unit_row(choice, memory, taken))
    if plan.request.situation is not None:
        taken = share.take(plan.situation_tokens)
        why = "how things stand, looked at anew for each request"
        rows.append(_fixed_row("now", taken, plan.request.situation.text, why))
    return tuple(rows)


def _fixed_row(
    role: str, taken: tuple[int, bool], text: str, why: str = "sent with every request"
) -> MemoryRow:
    return MemoryRow(
        unit_id=role,
        role=role,
        tokens=taken[0],
        exact=taken[1],
        age=0,
        flags=(),
        first_line=_first_line(text),
        text=text,
        sent=True,
        why=why,
    )


def _tools_row(plan: Plan, taken: tuple[int, bool]) -> MemoryRow:
    pick, names = plan.pick, ", ".join(tool.name for tool in plan.request.tools)
    if not pick.left_out:
        return _fixed_row("tools", taken, names)
    text = "\n".join((names, "", *pick.reasons, *pick.left_out))
    count = len(pick.tools)
    why = f"{count} of {count + len(pick.left_out)} are offered, as the profile wants; open it for the reasons"
    return _fixed_row("tools", taken, text, why)


def _unit_row(choice: Choice, memory: Memory, taken: tuple[int, bool]) -> MemoryRow:
    unit = choice.unit
    text = unit.text()
    marks = {
        "task": unit.is_task,
        "plan": unit.is_plan,
        "pinned": unit.pinned,
        "edited": unit.edited,
        "summary": bool(unit.summarises),
    }
    flags = [name for name, is_set in marks.items() if is_set]
    if choice.state != "sent":
        flags.append(choice.state)
    return MemoryRow(
        unit_id=unit.unit_id,
        role=unit.role,
        tokens=taken[0],
        exact=taken[1],
        age=memory.steps - unit.born_step,
        flags=tuple(flags),
        first_line=_first_line(text),
        text=text,
        sent=choice.state in SENT_STATES,
        why=_why(choice, memory),
        editable="" if unit.summarised_into else unit.head.text,
        stands_for=len(unit.summarises),
        original=_original(unit, memory),
    )


def _original(unit: Unit, memory: Memory) -> str:
    found = [memory.find(unit_id) for unit_id in unit.summarises]
    return "\n\n".join(f"[{one.unit_id}]\n{one.text()}" for one in found if one is not None)


def _why(choice: Choice, memory: Memory) -> str:
    unit = choice.unit
    if choice.why:
        return choice.why
    if choice.state == "dropped":
        return "dropped by you"
    if choice.state == "summarised":
        return f"the summary {unit.summarised_into} stands for it"
    if choice.state == "unfit":
        return f"a model gave it {unit.score or 0:.2f}, less than the profile wants"
    return _why_sent(unit, memory)


def _why_sent(unit: Unit, memory: Memory) -> str:
    if unit is memory.task:
        return "the task is always sent"
    if unit.is_plan:
        return "the plan is always sent"
    if unit.pinned:
        return f"pinned: text of {unit.origin}" if unit.origin else "pinned"
    if unit.summarises:
        return f"a summary of {len(unit.summarises)} units; open it to see them"
    scored = "" if unit.score is None else f", a model gave it {unit.score:.2f}"
    return f"fits the window{scored}"


def _first_line(text: str) -> str:
    return next((line for line in text.splitlines() if line.strip()), "")[:200]

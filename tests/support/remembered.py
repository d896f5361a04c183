"""Memory and requests for tests: a log that memory follows, filled with runs of calls."""

from core.context.builder import ContextBuilder, ContextSettings
from core.context.plan import Plan
from core.event_log import EventLog, SystemClock
from core.events import (
    Event,
    MemoryEdited,
    MessageSteered,
    ModelReplied,
    RunStarted,
    StepStarted,
    ToolEnded,
)
from core.memory import Memory
from core.messages import ToolCall, ToolSpec
from core.tokens import TokenCounter

TOOLS = (ToolSpec(name="shell", description="runs", parameters={"type": "object"}),)


def replied(*call_ids: str, text: str = "") -> ModelReplied:
    """A reply with these calls."""
    calls = tuple(ToolCall(id=call_id, name="shell", arguments={}) for call_id in call_ids)
    return ModelReplied(text=text, calls=calls)


class Remembered:
    """A log and the memory made from it."""

    def __init__(self, task: str = "the task itself") -> None:
        self.log, self.memory = EventLog(SystemClock()), Memory()
        self.log.follow(self.memory.apply)
        self.calls = 0
        if task:
            self.start(task)

    def append(self, *events: Event) -> None:
        for event in events:
            self.log.append(event)

    def start(self, task: str) -> None:
        self.append(RunStarted(task=task, max_steps=1, max_minutes=1, max_cost_usd=0))

    def say(self, text: str) -> None:
        self.append(MessageSteered(text=text))

    def step(self, result: str, text: str = "", name: str = "shell", raw: str = "{}") -> None:
        """One step with one call and its result."""
        self.calls += 1
        call = ToolCall(id=f"c{self.calls}", name=name, arguments={}, raw_arguments=raw)
        self.append(StepStarted(), ModelReplied(text=text or f"step {self.calls}", calls=(call,)))
        self.append(ToolEnded(call_id=call.id, name=name, outcome="ok", output=result))

    def edit(self, operation: str, unit: int | str = "", text: str = "") -> None:
        """Edit the unit at a place, or of an id."""
        unit_id = self.memory.units[unit].unit_id if isinstance(unit, int) else unit
        self.append(MemoryEdited(operation=operation, unit_id=unit_id, text=text))  # type: ignore[arg-type]


def filled(steps: int, result: str, task: str = "the task itself") -> Remembered:
    """Memory of a run with that many steps, each with one result."""
    made = Remembered(task)
    for _ in range(steps):
        made.step(result)
    return made


def builder(factor: float = 1.0, max_tools: int = 0, answer_tokens: int = 0) -> ContextBuilder:
    settings = ContextSettings(system="be good", max_tools=max_tools, answer_tokens=answer_tokens)
    return ContextBuilder(settings, TokenCounter(factor))


def states(plan: Plan) -> list[str]:
    """What becomes of each unit."""
    return [choice.state for choice in plan.choose()]

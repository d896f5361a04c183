"""Twelve steps that take every kind of tool, and a model that works them off by what its request says of them."""

import random
from collections.abc import AsyncGenerator, Mapping, Sequence
from dataclasses import dataclass

from core.events import TextStreamed
from core.messages import (
    AssistantMessage,
    JsonValue,
    ModelReply,
    ModelRequest,
    Outcome,
    ToolCall,
    ToolMessage,
    Usage,
)
from core.model_piece import ModelPiece

STEPS = 12
TASK = "Work the plan off."
FINAL = "All is done."
Wanted = tuple[str, Mapping[str, JsonValue]]
"""A tool and its arguments."""


@dataclass(frozen=True, kw_only=True)
class PlanStep:
    """One reply of the model."""

    key: str
    calls: Sequence[Wanted]
    has_effect: bool = True
    """Whether its calls are counted."""
    may_be_unknown: bool = False
    """Nobody can tell after a kill whether it happened."""


def _edit(command: str, **arguments: JsonValue) -> Sequence[Wanted]:
    return [("edit_file", {"command": command, "path": "notes.txt", **arguments})]


EDITS = (
    PlanStep(key="create", calls=_edit("create", file_text="one\n")),
    PlanStep(key="replace", calls=_edit("replace", old_str="one", new_str="two")),
    PlanStep(key="append", calls=_edit("append", file_text="three\n")),
    PlanStep(key="undo", calls=_edit("undo")),
)
"""Each needs the one before it."""
OTHERS = (
    PlanStep(
        key="reads",
        calls=[("list_files", {"path": "."}), ("read_file", {"path": "given.txt"})],
        has_effect=False,
    ),
    PlanStep(key="shell", calls=[("shell", {"command": "make it"})], may_be_unknown=True),
    PlanStep(key="python", calls=[("python", {"code": "print(1)"})], may_be_unknown=True),
    PlanStep(key="ask", calls=[("ask_human", {"question": "Which?"})], has_effect=False),
    PlanStep(key="submit", calls=[("browser", {"text": "submit"})], may_be_unknown=True),
    PlanStep(key="pay", calls=[("browser", {"text": "pay"})], may_be_unknown=True),
    PlanStep(key="read", calls=[("read_file", {"path": "given.txt"})], has_effect=False),
)
END = PlanStep(key="finish", calls=[("finish", {"answer": FINAL})], has_effect=False)


def plan_of(seed: int) -> list[PlanStep]:
    """Return the steps in the order of this seed: the edits in theirs, the end last."""
    places = ["edit"] * len(EDITS) + ["other"] * len(OTHERS)
    chance = random.Random(seed)
    chance.shuffle(places)
    others = chance.sample(OTHERS, len(OTHERS))
    edits = list(EDITS)
    return [(edits if place == "edit" else others).pop(0) for place in places] + [END]


class PlanModel:
    """Calls the next step of the plan, and again what it is told did not happen (`core.ports.Model`)."""

    name = "plan"
    window = 0

    def __init__(self, plan: Sequence[PlanStep]) -> None:
        self._plan = plan

    def body(self, request: ModelRequest) -> bytes:
        return b"{}"

    def cost_usd(self, usage: Usage) -> float | None:
        return 0.001

    async def reply(self, request: ModelRequest) -> AsyncGenerator[ModelPiece, None]:
        outcomes = outcomes_of(request)
        for number, step in enumerate(self._plan, 1):
            calls = tuple(self._calls(f"s{number:02}", step, outcomes))
            if calls:
                yield TextStreamed(text=step.key)
                yield ModelReply(
                    outcome="tool_calls",
                    text=step.key,
                    calls=calls,
                    usage=Usage(input_tokens=10, output_tokens=5),
                )
                return
        yield ModelReply(outcome="message", text=FINAL)

    def _calls(
        self, key: str, step: PlanStep, outcomes: Mapping[str, Sequence[Outcome]]
    ) -> list[ToolCall]:
        calls = []
        for index, (name, arguments) in enumerate(step.calls):
            tries = outcomes.get(f"{key}.{index}", ())
            if not tries or tries[-1] == "cancelled":
                call_id = f"{key}.{index}.{len(tries)}"
                calls.append(ToolCall(id=call_id, name=name, arguments=arguments))
        return calls


def outcomes_of(request: ModelRequest) -> dict[str, list[Outcome]]:
    """Return how each call of the plan ended, one entry a try, by its key."""
    found: dict[str, list[Outcome]] = {}
    for message in request.messages:
        if isinstance(message, ToolMessage):
            found.setdefault(key_of(message.call_id), []).append(message.outcome)
        elif isinstance(message, AssistantMessage):
            assert all(call.status == "ok" for call in message.calls)
    return found


def key_of(call_id: str) -> str:
    """Return the part of a call id that all tries of a step share."""
    return call_id.rpartition(".")[0]

"""Notices when a model goes round in circles: the same call with the same result, or two calls in turn.

First a hint to the model, then the call is refused for some steps, then the person is asked.
"""

import json
from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from core.messages import JsonValue, ToolCall

WATCHED_STEPS = 5
"""How far back equal calls count."""
EQUAL_CALLS = 3
"""This many equal calls within the watched steps are a circle."""
BLOCKED_STEPS = 3
"""A call that went in a circle is refused for so many steps."""
REFUSALS_BEFORE_ASKING = 2
"""Steps with a refused call before the person is asked."""
MAX_RESULT_CHARS = 4000
"""Results are compared by their beginning."""
HINT = (
    "You are going in a circle: the same calls again and again, with the same results. Do not make them once more. "
    "Think of another way, or ask the person."
)
Step = tuple[tuple[str, str], ...]
"""Of each call what it is, and what it is together with its result."""
Kind = Literal["go_on", "hint", "ask"]


@dataclass(frozen=True, slots=True, kw_only=True)
class GuardVerdict:
    """What the guard makes of a step."""

    kind: Kind
    """go_on · hint: tell the model `message` · ask: ask the person `message`."""
    message: str = ""


GO_ON = GuardVerdict(kind="go_on")


class LoopGuard:
    """Watches the calls of one run."""

    def __init__(self) -> None:
        self._steps: deque[Step] = deque(maxlen=WATCHED_STEPS)
        self._blocked: dict[str, int] = {}
        self._refused = False
        self._refusals = 0

    def refusal(self, call: ToolCall) -> str:
        """Return why a call may not run now, told to the model as its result; "" when it may."""
        if not self._blocked.get(call_key(call)):
            return ""
        self._refused = True
        return (
            f"This same {call.name} call was made again and again with the same result, so it was not run. "
            "Do something else: other arguments, another tool, or tell the person what stops you."
        )

    def observe(self, step: Sequence[tuple[ToolCall, str]]) -> GuardVerdict:
        """Take the calls of a step with their results, refused ones included.

        Returns:
            What to do before the next step.
        """
        refused, self._refused = self._refused, False
        self._blocked = {key: left - 1 for key, left in self._blocked.items() if left > 1}
        if refused:
            self._refusals += 1
            return self._stuck() if self._refusals >= REFUSALS_BEFORE_ASKING else GO_ON
        self._steps.append(
            tuple(
                (call_key(call), f"{call_key(call)} {_result_key(result)}") for call, result in step
            )
        )
        circle = self._repeated() or self._in_turn()
        if not circle:
            self._refusals = self._refusals if self._blocked else 0
            return GO_ON
        self._steps.clear()
        self._blocked |= dict.fromkeys(circle, BLOCKED_STEPS)
        return GuardVerdict(kind="hint", message=HINT)

    def allow_again(self) -> None:
        """Forget all that was seen: the person has said to go on."""
        self._steps.clear()
        self._blocked.clear()
        self._refusals = 0

    def _stuck(self) -> GuardVerdict:
        return GuardVerdict(
            kind="ask", message="The agent keeps making the same call. Shall it go on?"
        )

    def _repeated(self) -> set[str]:
        """Return the calls of the last step that were made with the same result often enough."""
        counts: dict[str, int] = {}
        for step in self._steps:
            for whole in {whole for _, whole in step}:
                counts[whole] = counts.get(whole, 0) + 1
        return {key for key, whole in self._steps[-1] if counts[whole] >= EQUAL_CALLS}

    def _in_turn(self) -> set[str]:
        """Return the calls of the last two steps when the last four are A, B, A, B."""
        if len(self._steps) < 4:
            return set()
        first, second, third, fourth = list(self._steps)[-4:]
        same = bool(third and fourth) and first == third and second == fourth
        return {key for key, _ in (*third, *fourth)} if same else set()


def call_key(call: ToolCall) -> str:
    """Return what makes two calls the same: tool and arguments, blanks and order of keys aside."""
    arguments: JsonValue = call.arguments if call.arguments is not None else call.raw_arguments
    return f"{call.name} {json.dumps(_normal(arguments), sort_keys=True, ensure_ascii=False)}"


def _result_key(result: str) -> str:
    return " ".join(result[:MAX_RESULT_CHARS].split())


def _normal(value: JsonValue) -> JsonValue:
    if isinstance(value, str):
        return value.strip()
    if isinstance(value, Mapping):
        return {key: _normal(item) for key, item in value.items()}
    if isinstance(value, Sequence):
        return [_normal(item) for item in value]
    return value

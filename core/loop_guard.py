"""Notices when a model goes round in circles, and does more about it each time.

A circle is the same call with the same result again and again, two calls in turn, the same action on the same page, or
the same reply. First a hint to the model, then the call is refused for some steps, then the person is asked.
"""

from collections import Counter, deque
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

from core.guard_events import LoopNoticed
from core.likeness import call_key, cut, reply_key, result_key, shown_call
from core.messages import ToolCall

WATCHED_STEPS = 5
"""How far back equal calls count."""
EQUAL_CALLS = 3
"""This many equal calls within the watched steps are a circle."""
WATCHED_PAGE_STEPS = 6
"""How far back equal actions on one page count."""
EQUAL_ACTIONS = 4
"""This many are a circle, whatever the page said: pages are never quite the same. Source: browser-use pull 3979."""
BLOCKED_STEPS = 3
"""A call that went in a circle is refused for so many steps."""
REFUSALS_BEFORE_ASKING = 2
"""Steps with a refused call before the person is asked."""
CIRCLES_BEFORE_ASKING = 3
"""As often may one call go in a circle; then the person is asked at once."""
PAGE_TOOL = "browser"
READING_ACTIONS = frozenset({"scroll", "wait", "read", "read_text"})
"""Actions that are made again and again on one page for good reason, as long as they show something else."""
HINT = (
    "You are going in a circle: the same calls again and again, with the same results. Do not make them once more. "
    "Think of another way, or ask the person."
)
SAME_REPLY = (
    "You have said the same again and again. Do not repeat it: make a call that gets on with the task, "
    "or say what is different now."
)


class Act:
    """A call or a reply of one step.

    Args:
        key: What makes it the same as another.
        result: What came of it; "" for a reply.
        shown: In short, for people.
        place: The page it was made on, "" where that does not count.
    """

    def __init__(self, key: str, result: str, shown: str, place: str = "") -> None:
        self.key = key
        self.shown = shown
        self.place = place
        self._result = result

    @cached_property
    def result(self) -> str:
        """What makes results the same; worked out only where the calls are."""
        return result_key(self._result)

    def came_to_the_same(self, other: "Act") -> bool:
        """Return whether it is the same with the same result."""
        return self is other or (self.key == other.key and self.result == other.result)

    def is_on_the_same_page(self, other: "Act") -> bool:
        """Return whether it is the same action on the same page."""
        return bool(self.place) and self.key == other.key and self.place == other.place


@dataclass(frozen=True, slots=True, kw_only=True)
class GuardVerdict:
    """What the guard makes of a step."""

    kind: Literal["go_on", "hint", "ask"] = "go_on"
    """go_on · hint: tell the model `message` · ask: ask the person `message`."""
    message: str = ""
    noticed: tuple[LoopNoticed, ...] = ()
    """To be recorded; nothing for most steps."""


GO_ON = GuardVerdict()


class LoopGuard:
    """Watches the calls and replies of one run.

    Args:
        page_url: Tells which page the browser shows.
    """

    def __init__(self, page_url: Callable[[], str] = str) -> None:
        self._page_url = page_url
        self._steps: deque[tuple[Act, ...]] = deque(maxlen=WATCHED_PAGE_STEPS)
        self._blocked: dict[str, int] = {}
        self._circles: Counter[str] = Counter()
        self._refused = ""
        self._refusals = 0

    def refusal(self, call: ToolCall) -> str:
        """Return why a call may not run now, told to the model as its result; "" when it may."""
        if not self._blocked or call_key(call) not in self._blocked:
            return ""
        self._refused = shown_call(call)
        return (
            f"This same {call.name} call was made again and again with the same result, so it was not run. "
            "Do something else: other arguments, another tool, or tell the person what stops you."
        )

    def observe(self, step: Sequence[tuple[ToolCall, str]], reply: str = "") -> GuardVerdict:
        """Take a step: its calls with their results, refused ones included, or the reply without calls.

        Args:
            step: The calls.
            reply: What was said in a step without calls.

        Returns:
            What to do before the next step.
        """
        acts = tuple(self._act(call, result) for call, result in step)
        if not acts and reply.strip():
            key = reply_key(reply)
            acts = (Act(key, "", cut(f"the reply {' '.join(reply.split())}")),)
            if self._blocked.get(key):
                self._refused = acts[0].shown
        refused, self._refused = self._refused, ""
        self._blocked = {key: left - 1 for key, left in self._blocked.items() if left > 1}
        if refused:
            return self._refuse(refused)
        self._steps.append(acts)
        circle = self._repeated() or self._in_turn()
        if circle:
            return self._stop(circle, acts)
        self._refusals = self._refusals if self._blocked else 0
        counted = self._counted(acts)
        return GuardVerdict(noticed=counted) if counted else GO_ON

    def allow_again(self) -> None:
        """Forget all that was seen: the person has said to go on."""
        self._steps.clear()
        self._blocked.clear()
        self._circles.clear()
        self._refusals = 0

    def _act(self, call: ToolCall, result: str) -> Act:
        key, place = call_key(call), ""
        action = (call.arguments or {}).get("action")
        if call.name == PAGE_TOOL and action not in READING_ACTIONS:
            place = self._page_url()
        return Act(key, result, shown_call(call), place)

    def _refuse(self, shown: str) -> GuardVerdict:
        """Count a step that made a refused call once more."""
        self._refusals += 1
        if self._refusals >= REFUSALS_BEFORE_ASKING:
            return _ask(shown, self._refusals, REFUSALS_BEFORE_ASKING)
        noticed = LoopNoticed(
            stage="refused", what=shown, count=self._refusals, limit=REFUSALS_BEFORE_ASKING
        )
        return GuardVerdict(noticed=(noticed,))

    def _stop(self, circle: Collection[str], acts: Sequence[Act]) -> GuardVerdict:
        """Do something about a circle: a hint and a block, or a question where those did not help."""
        self._steps.clear()
        self._blocked |= dict.fromkeys(circle, BLOCKED_STEPS)
        self._circles.update(circle)
        times = max(self._circles[key] for key in circle)
        shown = next(act.shown for act in acts if act.key in circle)
        if times >= CIRCLES_BEFORE_ASKING:
            return _ask(shown, times, CIRCLES_BEFORE_ASKING)
        only_said = all(key.startswith("reply ") for key in circle)
        noticed = LoopNoticed(stage="hinted", what=shown, count=times, limit=CIRCLES_BEFORE_ASKING)
        return GuardVerdict(
            kind="hint", message=SAME_REPLY if only_said else HINT, noticed=(noticed,)
        )

    def _times(self, act: Act) -> tuple[int, int]:
        """Return how often an act stands in the watched steps: with its result, and on its page."""
        steps = list(self._steps)
        recent = steps[-WATCHED_STEPS:]
        equal = sum(any(act.came_to_the_same(one) for one in step) for step in recent)
        on_page = sum(any(act.is_on_the_same_page(one) for one in step) for step in steps)
        return equal, on_page

    def _repeated(self) -> set[str]:
        """Return the keys of the last step that came often enough."""
        found = set()
        for act in self._steps[-1]:
            equal, on_page = self._times(act)
            if equal >= EQUAL_CALLS or on_page >= EQUAL_ACTIONS:
                found.add(act.key)
        return found

    def _in_turn(self) -> set[str]:
        """Return the keys of the last two steps when the last four are A, B, A, B."""
        if len(self._steps) < 4:
            return set()
        first, second, third, fourth = list(self._steps)[-4:]
        if not (third and fourth and _equal(first, third) and _equal(second, fourth)):
            return set()
        return {act.key for act in (*third, *fourth)}

    def _counted(self, acts: Sequence[Act]) -> tuple[LoopNoticed, ...]:
        """Return the counter that is nearest to a circle; none for an ordinary step."""
        for act in acts:
            equal, on_page = self._times(act)
            for count, limit in ((equal, EQUAL_CALLS), (on_page, EQUAL_ACTIONS)):
                if count == limit - 1:
                    counted = LoopNoticed(stage="counted", what=act.shown, count=count, limit=limit)
                    return (counted,)
        return ()


def _equal(one: Sequence[Act], other: Sequence[Act]) -> bool:
    return len(one) == len(other) and all(
        act.came_to_the_same(same) for act, same in zip(one, other, strict=True)
    )


def _ask(shown: str, count: int, limit: int) -> GuardVerdict:
    noticed = LoopNoticed(stage="asked", what=shown, count=count, limit=limit)
    question = f"The agent keeps making the same call ({shown}) without getting on. Shall it go on?"
    return GuardVerdict(kind="ask", message=question, noticed=(noticed,))

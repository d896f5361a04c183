"""How often and when a failed request is sent again."""

import random

from core.chat.failure import Failure
from core.errors import ModelError, ModelUnreachableError
from core.ports import Clock

MAX_REQUESTS = 4
"""Requests for one answer, adapted ones included."""
MAX_CONNECTS = 3
"""Connections tried for one answer when nobody is there."""
CONNECT_BUDGET_S = 10.0
"""All of them together."""
TOTAL_WAIT_S = 120.0
"""All waits for one answer together; what wants more is given up, and the person decides."""
FIRST_WAIT_S = 0.5
LONGEST_WAIT_S = 8.0
JITTER = 0.25
"""A wait of ours is shorter by up to this part, so that many clients do not come back at once."""


class RetryBudget:
    """The tries for one answer.

    Args:
        clock: Time.
        chance: Random numbers for the jitter.
    """

    def __init__(self, clock: Clock, chance: random.Random | None = None) -> None:
        self._clock = clock
        self._chance = chance or random.Random()
        self._started_s = clock.monotonic()
        self.requests = 0
        """Requests sent so far."""
        self.answered = False
        """Whether the answer has come."""
        self._unreachable = 0
        self._waited_s = 0.0

    @property
    def limit(self) -> int:
        """Requests there may be, as far as is known now."""
        return (
            MAX_CONNECTS
            if self._unreachable and self._unreachable == self.requests
            else MAX_REQUESTS
        )

    def connect_timeout_s(self, usual_s: float) -> float:
        """Return how long the next connection may take."""
        if not self._unreachable:
            return usual_s
        return max(0.5, min(usual_s, self._left_s()))

    def after(self, failure: Failure) -> float:
        """Return the wait before the next request.

        Raises:
            ModelError: The failure is final, or the tries are used up.
        """
        if isinstance(failure.error, ModelUnreachableError):
            return self._after_no_connection(failure)
        if self.requests >= MAX_REQUESTS:
            raise self._given_up(failure.error)
        if failure.learn is not None:
            return 0.0
        if not failure.may_pass:
            raise failure.error
        wait_s = self._backoff(self.requests) if failure.wait_s is None else failure.wait_s
        self._waited_s += wait_s
        if self._waited_s > TOTAL_WAIT_S:
            raise self._given_up(failure.error)
        return wait_s

    def _after_no_connection(self, failure: Failure) -> float:
        self._unreachable += 1
        if not failure.may_pass or self._unreachable >= MAX_CONNECTS:
            raise failure.error
        wait_s = self._backoff(self._unreachable)
        if wait_s >= self._left_s():
            raise failure.error
        return wait_s

    def _left_s(self) -> float:
        return CONNECT_BUDGET_S - (self._clock.monotonic() - self._started_s)

    def _backoff(self, tries: int) -> float:
        longest = min(LONGEST_WAIT_S, FIRST_WAIT_S * 2.0 ** (tries - 1))
        return longest * (1.0 - JITTER * self._chance.random())

    def _given_up(self, error: ModelError) -> ModelError:
        return type(error)(
            f"{error.message.rstrip('.')} (given up after {self.requests} requests).",
            hint=error.hint,
            code=error.code,
        )

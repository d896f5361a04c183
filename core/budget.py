"""Limits of a run: steps, minutes, money. One place decides when it must stop."""

from dataclasses import dataclass

from core.errors import RunStopped
from core.messages import Usage
from core.ports import Clock


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """What a run may use; 0 means no limit."""

    max_steps: int = 30
    max_minutes: float = 30.0
    max_cost_usd: float = 1.0


class Budget:
    """Counts what a run uses and stops it before a limit is passed."""

    def __init__(self, limits: Limits, clock: Clock) -> None:
        """Start counting now."""
        self.limits = limits
        self._clock = clock
        self._started_s = clock.monotonic()
        self._waited_s = 0.0
        self._unpriced = False
        self.steps = 0
        self.usage = Usage()
        self._cost_usd = 0.0

    @property
    def elapsed_s(self) -> float:
        """Seconds since the start."""
        return self._clock.monotonic() - self._started_s

    @property
    def cost_usd(self) -> float | None:
        """Money spent, None when the price of some request is not known."""
        return None if self._unpriced else self._cost_usd

    @property
    def left_s(self) -> float:
        """Seconds until the limit, infinity where there is none; 0 or less: it is reached."""
        if not self.limits.max_minutes:
            return float("inf")
        return self.limits.max_minutes * 60 - (self.elapsed_s - self._waited_s)

    def out_of_time(self) -> RunStopped:
        """Return what stops a run whose time is up."""
        minutes = self.limits.max_minutes
        return RunStopped("minutes", f"The limit of {minutes:g} minutes is reached.")

    def start_step(self) -> None:
        """Count a step.

        Raises:
            RunStopped: It would be beyond a limit; the step must not begin.
        """
        limits = self.limits
        if limits.max_steps and self.steps >= limits.max_steps:
            raise RunStopped("steps", f"The limit of {limits.max_steps} steps is reached.")
        if self.left_s <= 0:
            raise self.out_of_time()
        if limits.max_cost_usd and self._cost_usd >= limits.max_cost_usd:
            raise RunStopped("cost", f"The limit of ${limits.max_cost_usd:.2f} is reached.")
        self.steps += 1

    def exclude(self, seconds: float) -> None:
        """Leave out time that was spent waiting for the person."""
        self._waited_s += seconds

    def spend(self, usage: Usage, cost_usd: float | None) -> None:
        """Add one request."""
        self.usage = Usage(
            input_tokens=self.usage.input_tokens + usage.input_tokens,
            output_tokens=self.usage.output_tokens + usage.output_tokens,
            cached_tokens=self.usage.cached_tokens + usage.cached_tokens,
            estimated=self.usage.estimated or usage.estimated,
        )
        if cost_usd is None:
            self._unpriced = True
        else:
            self._cost_usd += cost_usd

"""Limits of a run: steps, minutes, money, calls of a tool. One place decides when it must stop."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field

from core.errors import RunStopped, StoreError
from core.messages import Usage
from core.ports import Clock
from core.spending import NoPurse, Purse

REPLY_TOKENS = 2000
"""Tokens a reply is taken to have before it has come, where the settings name no longest reply."""
ROUNDING_USD = 1e-9
"""Sums of many small prices are not exact."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """What a run may use; 0 means no limit."""

    max_steps: int = 30
    max_minutes: float = 30.0
    max_cost_usd: float = 1.0
    max_cost_per_day_usd: float = 0.0
    """Of all sessions of this machine together."""
    max_calls: Mapping[str, int] = field(default_factory=dict)
    """Calls of a tool in one run, by its name; what is not named has no limit."""
    reply_tokens: int = REPLY_TOKENS
    """Tokens kept for the answer when the price of the next request is estimated."""


class Budget:
    """Counts what a run uses and stops it before a limit is passed."""

    def __init__(self, limits: Limits, clock: Clock, purse: Purse | None = None) -> None:
        """Start counting now.

        Args:
            limits: What may be used.
            clock: Time.
            purse: Knows what other runs spent today; nobody does by default.
        """
        self.limits = limits
        self._clock = clock
        self._purse: Purse = purse or NoPurse()
        self._purse.start_run()
        self._started_s = clock.monotonic()
        self._waited_s = 0.0
        self._unpriced = False
        self._calls: Counter[str] = Counter()
        self.steps = 0
        self.usage = Usage()
        self._cost_usd = 0.0
        self.uncounted: StoreError | None = None
        """Why what is spent could not be kept for the limit of the day and the cost of past runs."""

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

    def check_price(self, price_usd: float | None, kept_usd: float = 0.0) -> None:
        """Check that a request can be paid before it is sent.

        Args:
            price_usd: What it is estimated to cost; None where no price is known, which no limit of money can stop.
            kept_usd: To be left afterwards, for the last words.

        Raises:
            RunStopped: It would pass the limit of the run or of the day; do not send it.
            StoreError: There is a limit of the day, and what was spent today is not known.
        """
        if price_usd is None:
            return
        limits, needed_usd = self.limits, price_usd + kept_usd - ROUNDING_USD
        if limits.max_cost_usd and self._cost_usd + needed_usd > limits.max_cost_usd:
            what = f"The limit of ${limits.max_cost_usd:.2f} would be passed"
            raise RunStopped("cost", f"{what}: {_next(self._cost_usd, price_usd, kept_usd)}.")
        if not limits.max_cost_per_day_usd:
            return
        if self.uncounted is not None:
            raise self.uncounted
        today_usd = self._purse.today_usd()
        if today_usd + needed_usd > limits.max_cost_per_day_usd:
            what = f"Today's limit of ${limits.max_cost_per_day_usd:.2f} would be passed"
            raise RunStopped("cost_per_day", f"{what}: {_next(today_usd, price_usd, kept_usd)}.")

    def take_call(self, tool: str) -> str:
        """Count a call of a tool; return why it may not run, told to the model as its result, "" when it may."""
        limit = self.limits.max_calls.get(tool)
        if limit is not None and self._calls[tool] >= limit:
            return (
                f"Not run: this run may call {tool} {limit} time{'s' * (limit != 1)}, and it has. "
                f"Do without {tool}, or give the best answer you can and say what is not done."
            )
        self._calls[tool] += 1
        return ""

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
        try:
            self._purse.add(cost_usd)
        except StoreError as error:
            self.uncounted = error


def _next(spent_usd: float, price_usd: float, kept_usd: float) -> str:
    kept = f", with ${kept_usd:.4f} kept for a last answer" if kept_usd else ""
    return f"${spent_usd:.4f} is spent and the next request may cost ${price_usd:.4f}{kept}"

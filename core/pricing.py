"""What a request costs: a dated table as data, and nothing where the price is not known."""

import fnmatch
import functools
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from importlib import resources
from typing import TYPE_CHECKING, Any

from core.messages import Usage

if TYPE_CHECKING:
    from core.config import PriceSettings

_TOKENS = 1_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Price:
    """Price of a model in US dollars for a million tokens."""

    input_usd: float
    output_usd: float
    cached_usd: float | None = None
    """Input that the server had cached; None: the same as other input."""
    as_of: str = ""
    """Day the price was noted, ISO 8601; "" for one the person has set."""

    def cost_usd(self, usage: Usage) -> float:
        """Return the price of one request."""
        cached = min(usage.cached_tokens, usage.input_tokens)
        cached_usd = self.input_usd if self.cached_usd is None else self.cached_usd
        total = (usage.input_tokens - cached) * self.input_usd + cached * cached_usd
        return (total + usage.output_tokens * self.output_usd) / _TOKENS

    def line(self) -> str:
        """Return it for people."""
        cached = "" if self.cached_usd is None else f", ${self.cached_usd:g} of it when cached"
        of = f"list price of {self.as_of}" if self.as_of else "set by you"
        if self is FREE:
            return "free: it runs on this machine"
        return (
            f"${self.input_usd:g} in{cached}, ${self.output_usd:g} out for a million tokens ({of})"
        )


FREE = Price(input_usd=0.0, output_usd=0.0)
"""Of a model on the person's own machine."""


def find_price(
    provider: str, model: str, *, local: bool = False, overrides: Mapping[str, Price] | None = None
) -> Price | None:
    """Return the price of a model, None where it is not known.

    Args:
        provider: Name of the provider.
        model: Name of the model.
        local: It runs on the person's own machine and costs nothing.
        overrides: The person's own prices by model name, * allowed; they win, the exact name before all.
    """
    own = overrides or {}
    if model in own:
        return own[model]
    for pattern, price in own.items():
        if fnmatch.fnmatchcase(model, pattern):
            return price
    if local:
        return FREE
    rows = _table().get(provider, ())
    return next(
        (price for pattern, price in rows if fnmatch.fnmatchcase(model.lower(), pattern)), None
    )


def own_prices(given: "Mapping[str, PriceSettings]") -> Mapping[str, Price]:
    """Return the prices the person has set."""
    return {
        name: Price(
            input_usd=price.input_usd_per_mtok,
            output_usd=price.output_usd_per_mtok,
            cached_usd=price.cached_usd_per_mtok,
        )
        for name, price in given.items()
    }


@functools.cache
def _table() -> Mapping[str, tuple[tuple[str, Price], ...]]:
    text = (resources.files("core") / "prices.toml").read_text(encoding="utf-8")
    return {
        provider: tuple((row["model"], _price(row)) for row in rows)
        for provider, rows in tomllib.loads(text)["price"].items()
    }


def _price(row: Mapping[str, Any]) -> Price:
    as_of = row["as_of"]
    return Price(
        input_usd=float(row["input"]),
        output_usd=float(row["output"]),
        cached_usd=float(row["cached"]) if "cached" in row else None,
        as_of=as_of.isoformat() if isinstance(as_of, date) else str(as_of),
    )

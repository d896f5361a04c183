"""One measured figure."""

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True, kw_only=True)
class Figure:
    """A value beside what it is compared with, both measured in the same run."""

    value: float
    unit: str
    baseline: float
    """The same measure of the smallest thing of its kind."""
    target: float
    ok: bool
    parts: Mapping[str, float] = field(default_factory=dict)
    """Other numbers of the same measurement, name with its unit -> value."""

    @property
    def ratio(self) -> float:
        """Value divided by baseline, 0 where there is no baseline."""
        return self.value / self.baseline if self.baseline else 0.0

    def fields(self) -> dict[str, object]:
        """Return the figure as JSON values."""
        return {
            "value": round(self.value, 4),
            "unit": self.unit,
            "baseline": round(self.baseline, 4),
            "ratio": round(self.ratio, 3),
            "target": self.target,
            "ok": self.ok,
            "parts": {name: round(number, 3) for name, number in self.parts.items()},
        }

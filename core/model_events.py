"""Facts about the model itself: another one answers, or the one that answers can do less."""

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelSwitched:
    """Another model answers from now on, because the one before it could not be used."""

    before: str
    """Name of the model that failed."""
    model: str
    """Name of the model that answers now."""
    label: str
    """Its server, for people."""
    code: str
    """Code of the error of the one before."""
    reason: str
    """Its message."""
    kind: Literal["model_switched"] = "model_switched"

    @property
    def line(self) -> str:
        """All of it in one line, for people."""
        return (
            f"{self.before} cannot be used, {self.model} ({self.label}) answers now: {self.reason}"
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelDowngraded:
    """The model cannot do something, and what stands in for it is used; told once a session."""

    model: str
    what: Literal["pictures", "tools"]
    """pictures: they are described in words · tools: calls are written as text."""
    kind: Literal["model_downgraded"] = "model_downgraded"

    @property
    def line(self) -> str:
        """All of it in one line, for people."""
        if self.what == "pictures":
            return f"{self.model} sees no pictures: pages are described in words."
        return f"{self.model} takes no tools: calls are written as text."

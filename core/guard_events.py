"""Facts about the guard that notices when a model goes round in circles."""

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True, slots=True, kw_only=True)
class LoopNoticed:
    """A counter of the loop guard rose, or the guard did something about a circle."""

    stage: Literal["counted", "hinted", "refused", "asked"]
    """counted: equal so far · hinted: the model is told · refused: the call was not run · asked: the person is."""
    what: str
    """The call or reply in short."""
    count: int
    limit: int
    """At this count comes the next stage."""
    kind: Literal["loop_noticed"] = "loop_noticed"

    @property
    def short(self) -> str:
        """The counter alone, for the header."""
        words = {"counted": "same call", "hinted": "in a circle", "refused": "refused again"}
        return f"{words.get(self.stage, 'in a circle')} {self.count} of {self.limit}"

    @property
    def line(self) -> str:
        """All of it, for a row of the step log and for people without a screen."""
        done = {"hinted": ", the model is told", "asked": ", asking whether to go on"}
        return f"{self.short}: {self.what}{done.get(self.stage, '')}"

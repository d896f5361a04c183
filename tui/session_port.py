"""What the screen needs of a session, and of what was found on this machine, as protocols and plain data.

Nothing is imported here at run time, so that the first paint waits for nothing of core.
"""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, Protocol, TypeAlias

if TYPE_CHECKING:
    from core.context.rows import NextRequest
    from core.event_log import EventLog
    from core.events import RunEnded
    from core.ports import Answer
    from core.vocabulary import Mode


class SessionLike(Protocol):
    """The methods of `core.session.Session` that a front end calls."""

    @property
    def log(self) -> "EventLog":
        """All facts."""
        ...

    @property
    def mode(self) -> "Mode":
        """How much runs without a question."""
        ...

    @property
    def running(self) -> bool:
        """Whether a run goes on."""
        ...

    @property
    def paused(self) -> bool:
        """Whether the run waits, or will wait at the next boundary."""
        ...

    async def run(self, text: str) -> "RunEnded":
        """Work on a request until it ends."""
        ...

    def steer(self, text: str) -> None:
        """Say something while a run goes on."""
        ...

    def pause(self) -> None:
        """Wait at the next step boundary."""
        ...

    def resume(self) -> None:
        """Go on."""
        ...

    def step_once(self) -> None:
        """Take one step of a paused run."""
        ...

    def interrupt(self) -> None:
        """Stop the run now."""
        ...

    def answer(self, decision_id: str, answer: "Answer") -> bool:
        """Resolve an open decision."""
        ...

    def set_mode(self, mode: "Mode") -> None:
        """Change the mode."""
        ...

    def edit_memory(self, operation: str, unit_id: str, text: str = "") -> bool:
        """Change what the model will see."""
        ...

    async def compact(self, unit_ids: Sequence[str]) -> bool:
        """Let a summary by the model stand for units; False where that cannot be."""
        ...

    def next_request(self) -> "NextRequest":
        """Return what would be sent now."""
        ...

    async def close(self, reason: str = "quit") -> None:
        """End it and all it uses."""
        ...


OpenSession: TypeAlias = Callable[[], Awaitable[SessionLike]]
"""Opens the session; awaited once, after the first paint."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """One thing the app looked for on this machine, as a row of the first screen."""

    name: str
    """"Model", "Container engine"."""
    state: Literal["ok", "missing", "partly"]
    text: str
    """What was found, or what does not work without it; one line."""
    key: str = ""
    """The one key that fixes it, "" when there is nothing to press."""
    fix: str = ""
    """What the key does, or the command to type in a shell."""
    act: Callable[[], Awaitable[str]] | None = None
    """Does it; what it returns is shown as a notice. None: `fix` is something the person does elsewhere."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Findings:
    """What was found."""

    rows: tuple[Finding, ...]
    has_model: bool
    """A task can be given."""
    tour: OpenSession | None = None
    """Opens the session of the scripted tour, for the key `t`."""


LookAround: TypeAlias = Callable[[], Awaitable[Findings]]
"""Looks for model, engine and browser; called after the first paint and after each fix."""

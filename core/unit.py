"""A unit of memory: a message of the person, a reply of the model with all its results, or a summary of such units."""

from dataclasses import dataclass, field
from typing import Literal

from core.messages import AssistantMessage, Message, ToolMessage, UserMessage

UnitRole = Literal["user", "assistant", "note", "summary"]


@dataclass(frozen=True, slots=True)
class UnitState:
    """What an edit may change of a unit; undo puts it back."""

    head: UserMessage | AssistantMessage
    pinned: bool
    dropped: bool
    edited: bool
    summarised_into: str
    kept_whole: bool


@dataclass(slots=True, kw_only=True)
class Unit:
    """One piece of memory that is kept, edited and left out as a whole."""

    unit_id: str
    role: UnitRole
    head: UserMessage | AssistantMessage
    results: dict[str, ToolMessage] = field(default_factory=dict)
    """Results by call id."""
    born_step: int = 0
    """Steps of the session before it came."""
    is_task: bool = False
    """The request of a run; the newest one is never left out."""
    is_plan: bool = False
    """The plan: never left out."""
    origin: str = ""
    """File its text was read from (`core.guidance`), "" for none."""
    pinned: bool = False
    dropped: bool = False
    edited: bool = False
    summarises: tuple[str, ...] = ()
    """Ids of the units it stands for, where it is a summary."""
    summarised_into: str = ""
    """Id of the summary that stands for it."""
    kept_whole: bool = False
    """The person took a summary of it back: the program makes no other one."""
    score: float | None = None
    """Relevance, 0 to 1, as a model saw it; None where none was asked."""
    is_unfit: bool = False
    """Its score is below what the profile wants."""
    plain_tokens: int = -1
    """Cached estimate before the model's factor; -1 when it must be counted again."""
    short_tokens: int = -1
    """The same with its results shortened."""
    terms: frozenset[str] | None = None
    """Cached words for the order of relevance; None when they must be taken again."""

    @property
    def is_complete(self) -> bool:
        """Whether every call has its result."""
        return not isinstance(self.head, AssistantMessage) or len(self.results) == len(
            self.head.calls
        )

    @property
    def has_calls(self) -> bool:
        """Whether it is a reply with calls, which may have no text."""
        return isinstance(self.head, AssistantMessage) and bool(self.head.calls)

    @property
    def is_hidden(self) -> bool:
        """Whether no request holds it, however much room there is."""
        return (
            self.dropped or self.summarised_into != "" or (self.is_unfit and not self.stays_always)
        )

    @property
    def stays_always(self) -> bool:
        """Whether the program never leaves it out of its own accord, its being the newest task aside."""
        return self.pinned or self.is_plan

    @property
    def state(self) -> UnitState:
        """What an edit may change."""
        return UnitState(
            self.head,
            self.pinned,
            self.dropped,
            self.edited,
            self.summarised_into,
            self.kept_whole,
        )

    def put(self, state: UnitState) -> None:
        """Put a state back."""
        self.head, self.pinned, self.dropped = state.head, state.pinned, state.dropped
        self.edited, self.summarised_into = state.edited, state.summarised_into
        self.kept_whole = state.kept_whole
        self.forget()

    def forget(self) -> None:
        """Forget what was worked out of its text, which has changed."""
        self.plain_tokens = self.short_tokens = -1
        self.terms = None

    def messages(self) -> tuple[Message, ...]:
        """Return its messages, each call followed by its result; a missing result is said to be missing."""
        if not isinstance(self.head, AssistantMessage):
            return (self.head,)
        results = (
            self.results.get(call.id) or _missing(call.id, call.name) for call in self.head.calls
        )
        return (self.head, *results)

    def text(self) -> str:
        """Return all its text, for reading."""
        return "\n".join(_plain(message) for message in self.messages())


def _missing(call_id: str, name: str) -> ToolMessage:
    text = "No result: the call did not end."
    return ToolMessage(call_id=call_id, name=name, text=text, outcome="unknown")


def _plain(message: Message) -> str:
    if isinstance(message, AssistantMessage):
        calls = [f"-> {call.name} {call.raw_arguments}" for call in message.calls]
        return "\n".join(part for part in (message.reasoning, message.text, *calls) if part)
    if isinstance(message, ToolMessage):
        return f"<- {message.name} ({message.outcome})\n{message.text}"
    return message.text

"""What a conversation is made of: calls, images, results and replies, free of any wire form.

`core.chat.wire` turns these into the body of a request; nothing here knows how a server spells them.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from typing_extensions import TypeAliasType

JsonValue = TypeAliasType(
    "JsonValue", "bool | int | float | str | Sequence[JsonValue] | Mapping[str, JsonValue] | None"
)
"""A named alias: pydantic cannot follow a plain recursive one."""
JsonObject: TypeAlias = Mapping[str, JsonValue]

CallStatus = Literal["ok", "invalid", "truncated", "unknown_tool"]
"""ok: may run · invalid: arguments cannot be read · truncated: cut off · unknown_tool: no such tool."""

Outcome = Literal[
    "ok",
    "failed",
    "denied",
    "invalid",
    "timed_out",
    "cancelled",
    "out_of_memory",
    "too_many_processes",
    "disk_full",
    "lost",
    "unknown",
]
"""How a call ended."""

ReplyOutcome = Literal["tool_calls", "message", "truncated", "empty", "refused"]
"""What a model reply holds; errors are raised instead (see `core.errors.ModelError`)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Image:
    """A picture kept as a file of the session."""

    path: str
    """Absolute path of the file."""
    media_type: str = "image/png"
    """image/png or image/jpeg."""
    width: int = 0
    """Pixels, 0 where unknown."""
    height: int = 0
    """Pixels, 0 where unknown."""
    sha256: str = ""
    """Hex digest of the file."""
    shows: str = ""
    """What it shows in a few words, for models that see no pictures; "" for its file name."""

    def in_words(self) -> str:
        """Return what stands in for it where it cannot be seen: what it shows, and how large it is."""
        size = f", {self.width}x{self.height} pixels" if self.width and self.height else ""
        what = self.shows or self.path.rpartition("/")[2]
        return f"[image not shown, this model sees none: {what}{size}]"


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolCall:
    """One call a model asked for."""

    id: str
    """The server's id, or one of ours; unique in the session."""
    name: str
    """Registered tool name; as received when `status` is unknown_tool."""
    arguments: Mapping[str, JsonValue] | None = None
    """The object after repair and coercion; None unless `status` is ok."""
    raw_arguments: str = "{}"
    """The arguments exactly as the model wrote them."""
    status: CallStatus = "ok"
    """Whether it may run."""
    problem: str = ""
    """Why it may not run, told to the model; "" when `status` is ok."""
    repaired: bool = False
    """Arguments or name were changed to make the call usable; shown to the person."""
    source: Literal["native", "text"] = "native"
    """Where it was found: the protocol's own field, or the text of the reply."""
    extra: Mapping[str, JsonValue] = field(default_factory=dict)
    """Opaque provider data that goes back with the call."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Usage:
    """Tokens of one request."""

    input_tokens: int = 0
    output_tokens: int = 0
    cached_tokens: int = 0
    """Part of `input_tokens` the server had cached."""
    estimated: bool = False
    """True where the server left out a number and ours stands in for it."""
    input_estimated: bool = False
    """`input_tokens` is ours."""
    output_estimated: bool = False
    """`output_tokens` is ours."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelReply:
    """One whole answer of a model."""

    outcome: ReplyOutcome
    text: str = ""
    reasoning: str = ""
    calls: tuple[ToolCall, ...] = ()
    usage: Usage = field(default_factory=Usage)
    finish_reason: str = ""
    """As the server gave it, "" if it gave none."""
    warnings: tuple[str, ...] = ()
    """Names from `core.chat.wire`: no_finish_reason, invalid_utf8 and the like."""
    reason: str = ""
    """For refused: content_filter or refusal."""
    message: str = ""
    """What the person is shown for this end or warning."""
    carry: Mapping[str, JsonValue] = field(default_factory=dict)
    """Opaque provider data kept with the message for replay."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolResult:
    """What a tool gives back."""

    outcome: Outcome = "ok"
    output: str = ""
    """Text for the model; at most 64 KiB."""
    exit_code: int | None = None
    """Where there is one."""
    error: str = ""
    """One line for the person when the outcome is not ok."""
    images: tuple[Image, ...] = ()
    final_answer: str | None = None
    """Set by `finish` only: the answer that ends the run."""
    gave_up: bool = False
    """Set by `finish` only: the agent says it could not do the task."""
    files: tuple[str, ...] = ()
    """Workspace paths the result names (made, changed, claimed)."""
    whole_path: str = ""
    """Absolute path of a file of the session that holds all of it, "" where `output` does."""


@dataclass(frozen=True, slots=True, kw_only=True)
class UserMessage:
    """A message of the person (or of the program, as `author` says)."""

    text: str
    author: Literal["user", "handrail"] = "user"
    images: tuple[Image, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class AssistantMessage:
    """A reply of the model as it is kept."""

    text: str = ""
    reasoning: str = ""
    calls: tuple[ToolCall, ...] = ()
    carry: Mapping[str, JsonValue] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolMessage:
    """The result of one call as it is kept."""

    call_id: str
    name: str
    text: str
    outcome: Outcome = "ok"
    images: tuple[Image, ...] = ()
    stored: str = ""
    """Handle of the whole result, where `text` holds its head and tail only (`core.stored_results`)."""


Message: TypeAlias = UserMessage | AssistantMessage | ToolMessage


def pictures_of(message: Message) -> tuple[Image, ...]:
    """Return the pictures of a message."""
    return () if isinstance(message, AssistantMessage) else message.images


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolForm:
    """One plain way to use a tool, for models that cannot handle all its arguments."""

    name: str
    """What the model calls it."""
    description: str
    """One short line."""
    fields: Mapping[str, str]
    """Argument of the tool by the name the model uses; all of them are required."""
    fixed: Mapping[str, JsonValue] = field(default_factory=dict)
    """Arguments that go without saying."""
    needs_address: bool = False
    """Of no use before a web address is known."""
    after: str = ""
    """Of no use before the form of this name was used, "" where that does not matter."""
    looks: bool = False
    """It only looks and makes nothing."""
    changes: str = ""
    """The argument that names the file it changes, "" where it changes none."""
    ends: bool = False
    """It ends the run."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolSpec:
    """A tool as a model is told of it."""

    name: str
    description: str
    parameters: Mapping[str, JsonValue]
    """JSON schema of the arguments object."""
    forms: tuple[ToolForm, ...] | None = None
    """Plain ways to use it; None: its required arguments, under its own name; empty: not offered step by step."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Situation:
    """How things stand now, for a model that works step by step."""

    text: str
    """What it is told."""
    missing: tuple[str, ...] = ()
    """Workspace paths the task names that are not there."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelRequest:
    """One request to a model, free of any wire form."""

    system: str
    messages: tuple[Message, ...]
    tools: tuple[ToolSpec, ...] = ()
    max_output_tokens: int | None = None
    situation: Situation | None = None
    """Told to a model that works step by step."""
    plain_tokens: int = 0
    """Our estimate of all of it before the model's factor, 0 where nobody has counted."""

"""What core needs from the outside, as protocols: a model, tools, a sandbox, files, a clock.

`tui.wiring` puts the real ones in; tests put in doubles that are classes.
"""

from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Literal, Protocol, TypeAlias

from pydantic import BaseModel

from core.decision import QuestionPrompt
from core.events import Event
from core.messages import JsonValue, ModelRequest, Outcome, ToolResult, Usage
from core.model_piece import ModelPiece
from core.vocabulary import DecidedBy, Resolution

OutputSink: TypeAlias = Callable[[Literal["stdout", "stderr"], str], None]
"""Takes live output as it comes; must not block."""


class Clock(Protocol):
    """Time, so that tests need not wait."""

    def now_utc(self) -> datetime:
        """Return the wall clock, for display only."""
        ...

    def monotonic(self) -> float:
        """Return seconds that never go back."""
        ...

    async def sleep(self, seconds: float) -> None:
        """Wait."""
        ...


class EventSink(Protocol):
    """Takes facts."""

    def __call__(self, event: Event, /) -> object:
        """Add an event to the log."""
        ...


class Model(Protocol):
    """A model behind some server."""

    @property
    def name(self) -> str:
        """Model name as the server knows it."""
        ...

    @property
    def window(self) -> int:
        """Context window in tokens, 0 where unknown."""
        ...

    def body(self, request: ModelRequest) -> bytes:
        """Return the exact bytes that `reply` would send for this request now."""
        ...

    def reply(self, request: ModelRequest) -> AsyncGenerator[ModelPiece, None]:
        """Send the request and yield what comes, the whole reply last.

        Closing the iterator or cancelling the task closes the connection within 50 ms.

        Raises:
            ModelRefusedError: Sending it again cannot help.
            ModelUnreachableError: No model API answers.
            ModelOverloadedError: The tries are used up.
            ModelStreamError: The answer broke off; the loop may ask again.
            ContextTooLongError: The history must become shorter.
        """
        ...

    def cost_usd(self, usage: Usage) -> float | None:
        """Return the price of a request, None where it is not known."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """How somebody resolves an open decision."""

    resolution: Resolution
    decided_by: DecidedBy
    text: str = ""
    arguments: Mapping[str, JsonValue] | None = None
    digest: str = ""
    """For approvals: the digest that was on the screen."""
    key: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ElementFacts:
    """What is known of the page element a call acts on."""

    role: str
    name: str
    tag: str = ""
    input_type: str = ""
    href: str = ""
    submits: bool = False
    """It submits a form."""
    form_method: str = ""
    """get or post of the form it belongs to, "" without one or where unknown."""
    secret: bool = False
    """Password, one-time code or payment field."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CallFacts:
    """What a tool knows of a call before it runs: for judging it and for showing it."""

    title: str = ""
    """Effect in plain words, one line."""
    parts: tuple[str, ...] = ()
    diff: str = ""
    """Unified diff of an edit."""
    bindings: Mapping[str, str] = field(default_factory=dict)
    """What an approval also holds for: pre-image hash, page origin, element fingerprint.

    Two of them are looked at when the call is judged: `addresses`, what a host resolves to (with commas between), and
    `folder`, where the persistent shell is now, as an absolute path inside.
    """
    element: ElementFacts | None = None
    origin: str = ""
    """scheme://host:port of the page a browser call acts on."""


class CallContext(Protocol):
    """What a running call may use of its run."""

    @property
    def call_id(self) -> str:
        """Id of the call."""
        ...

    def output(self, stream: Literal["stdout", "stderr", "info"], text: str) -> None:
        """Show live output."""
        ...

    def record(self, event: Event) -> None:
        """Add another fact to the log, such as a page snapshot."""
        ...

    async def ask(self, prompt: QuestionPrompt) -> Answer:
        """Put a question to the person and wait for the answer."""
        ...


class Tool(Protocol):
    """Something a model can call."""

    @property
    def name(self) -> str:
        """Name the model uses."""
        ...

    @property
    def description(self) -> str:
        """What it does, for the model."""
        ...

    @property
    def arguments(self) -> type[BaseModel]:
        """Model of the arguments object."""
        ...

    @property
    def reads_only(self) -> bool:
        """True when calls change nothing and may run beside each other."""
        ...

    def unavailable(self) -> str:
        """Return why it cannot be offered now, "" when it can."""
        ...

    async def facts(self, arguments: BaseModel) -> CallFacts:
        """Look at what a call would do, changing nothing."""
        ...

    async def run(self, arguments: BaseModel, context: CallContext) -> ToolResult:
        """Do it. Cancelling the task ends whatever was started.

        Raises:
            ToolError: Told to the model as the result.
            SandboxError: Told to the model and the person.
            BrowserError: Told to the model.
            WorkspaceError: Told to the model.
        """
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class SandboxInfo:
    """What a sandbox is, for the screen."""

    tier: Literal["docker", "bubblewrap", "landlock", "none", "fake"]
    label: str
    image: str = ""
    limits: Mapping[str, str] = field(default_factory=dict)
    network: str = "none"
    workspace: str = "/workspace"
    """Where the workspace is inside."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CommandResult:
    """How a command in the sandbox ended."""

    outcome: Outcome
    exit_code: int | None
    stdout: str
    """At most 64 KiB: the head and the tail, with a mark between."""
    stderr: str
    stdout_bytes: int = 0
    """All bytes written, kept or not."""
    stderr_bytes: int = 0
    duration_s: float = 0.0
    cwd: str = ""
    shell_restarted: bool = False
    spill_path: str = ""
    """File with the whole output (up to 64 MiB) when it was longer than what is kept here."""
    note: str = ""
    """One line on what happened, for the model: limit hit, restart, time-out."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FileContent:
    """Part of a regular file."""

    data: bytes
    size_bytes: int
    """Of the whole file."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FileEntry:
    """One entry of a folder listing."""

    path: str
    """Relative to the workspace, "/" between parts."""
    kind: Literal["file", "folder", "link", "other"]
    size_bytes: int = 0


class Files(Protocol):
    """Files of the workspace, by paths relative to it ("/" between parts, no "..")."""

    async def read(self, path: str, offset: int = 0, limit: int = 1 << 20) -> FileContent:
        """Read up to `limit` bytes from `offset`.

        Raises:
            WorkspaceError: Not there, not a regular file, or outside the workspace.
        """
        ...

    async def write(self, path: str, data: bytes) -> None:
        """Write a whole file atomically, making its folders; an existing file keeps its mode.

        Raises:
            WorkspaceError: Outside the workspace, protected, or not writable.
        """
        ...

    async def remove(self, path: str) -> None:
        """Remove one regular file.

        Raises:
            WorkspaceError: Not there or not removable.
        """
        ...

    async def list(self, path: str = "", depth: int = 1, limit: int = 1000) -> Sequence[FileEntry]:
        """List a folder down to `depth` levels, links not followed, sorted by path.

        Raises:
            WorkspaceError: Not there or not a folder.
        """
        ...


class Sandbox(Protocol):
    """Where commands and code run."""

    @property
    def info(self) -> SandboxInfo:
        """What it is; valid after `start`."""
        ...

    @property
    def files(self) -> Files:
        """Files of the workspace as seen from inside."""
        ...

    def unavailable(self) -> str:
        """Return why nothing can run ("" when it can, or when it was not tried yet)."""
        ...

    async def start(self) -> None:
        """Bring it up; safe to call again and at once from several tasks.

        Raises:
            SandboxUnavailableError: With what to do.
        """
        ...

    async def shell(
        self,
        command: str,
        *,
        on_output: OutputSink,
        timeout_s: float = 120.0,
        cwd: str | None = None,
        session: str = "main",
    ) -> CommandResult:
        """Run a command in the persistent shell `session`; cancelling ends all it started.

        Args:
            command: Bash source, UTF-8.
            on_output: Called with each piece of output, decoded.
            timeout_s: Above 0, at most 3600; the command and its descendants are ended after it.
            cwd: Folder inside the sandbox to change to first; None keeps the shell's own.
            session: Name of the shell; made when first used.

        Raises:
            SandboxUnavailableError: It cannot be started.
            SandboxGoneError: It ended meanwhile.
        """
        ...

    async def python(
        self, code: str, *, on_output: OutputSink, timeout_s: float = 120.0
    ) -> CommandResult:
        """Run code in the persistent interpreter; the last expression's value is shown.

        Raises:
            SandboxUnavailableError: It cannot be started.
            SandboxGoneError: It ended meanwhile.
        """
        ...

    async def close(self) -> None:
        """End it and all that runs in it; safe to call twice."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class EgressDecision:
    """Whether a connection may be made, and to which address."""

    allowed: bool
    host: str
    port: int
    address: str = ""
    """The address that was checked and must be connected to."""
    reason: str = ""


class Egress(Protocol):
    """Decides on connections to the outside."""

    async def decide(self, host: str, port: int) -> EgressDecision:
        """Resolve once and judge the address."""
        ...

    def allow(self, host: str, port: int) -> None:
        """Let one private or loopback host:port through for this session."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Places:
    """Folders of a session on the host."""

    workspace: Path
    """Absolute, resolved."""
    session: Path
    """0700; journal, blobs, browser profile, spilled output."""

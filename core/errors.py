"""Every error Handrail raises on purpose.

    HandrailError
    ├── ConfigError            settings, command line, environment
    ├── ModelError             the model server
    │   ├── ModelRefusedError       key, rights, quota, unknown model, bad request
    │   ├── ModelUnreachableError   no connection, or no model API behind the address
    │   ├── ModelOverloadedError    throttled or broken; the tries are used up
    │   ├── ModelStreamError        the answer broke off after it had begun
    │   └── ContextTooLongError     the request does not fit the model's window
    ├── ToolError              told to the model as the result of its call
    │   ├── BadArgumentsError       arguments that do not fit the tool's schema
    │   ├── NotAllowedError         refused by a rule or by the person
    │   └── ToolFailedError         tried, and did not work
    ├── SandboxError
    │   ├── SandboxUnavailableError no engine, no image, no cage
    │   ├── SandboxGoneError        it ended while in use; a new one may be opened
    │   └── SandboxTimeoutError     it did not answer in time
    ├── BrowserError
    │   ├── BrowserUnavailableError no Chromium, or it does not start
    │   ├── StaleReferenceError     an element number that no longer points anywhere
    │   └── BrowserBlockedError     an address or action that is not allowed
    ├── EgressDeniedError      an address the egress policy refuses
    ├── WorkspaceError         a path outside the workspace, or not a regular file
    └── StoreError             the journal or another file of the session

    RunStopped                 not an error: a limit, or the person, ended the run

Each carries `message` (for people), `hint` (the next thing to do) and `code` (stable, for tests and JSON).
"""

from typing import ClassVar, Literal


class HandrailError(Exception):
    """Base of all errors that are reported as one clear line."""

    default_code: ClassVar[str] = "error"

    def __init__(self, message: str, *, hint: str = "", code: str = "") -> None:
        """Make an error.

        Args:
            message: What happened, for people, one line, no secrets.
            hint: What to do next, one line, or "".
            code: Stable name for tests and JSON output; the class's own when "".
        """
        super().__init__(message)
        self.message = message
        self.hint = hint
        self.code = code or self.default_code

    def line(self) -> str:
        """Return message and hint as one line."""
        return f"{self.message} {self.hint}".strip() if self.hint else self.message


class ConfigError(HandrailError):
    """Settings, command line or environment that cannot be used."""

    default_code = "config"


class ModelError(HandrailError):
    """The model server did not give a usable answer."""

    default_code = "model"


class ModelRefusedError(ModelError):
    """Refused: key, rights, quota, unknown model or a request the server cannot read. Do not retry."""

    default_code = "model_refused"


class ModelUnreachableError(ModelError):
    """No connection, or what answers is no model API."""

    default_code = "model_unreachable"


class ModelOverloadedError(ModelError):
    """Throttled or failing, and the tries are used up. Try again later or use another model."""

    default_code = "model_overloaded"


class ModelStreamError(ModelError):
    """The answer broke off after it had begun; nothing of it ran. The loop may ask again."""

    default_code = "model_stream"


class ContextTooLongError(ModelError):
    """The request does not fit the model's window. Make the history shorter, then ask again."""

    default_code = "context_too_long"


class ToolError(HandrailError):
    """A call that did not work; its text goes to the model as the result."""

    default_code = "tool"


class BadArgumentsError(ToolError):
    """Arguments that do not fit the tool's schema; the message holds what is allowed."""

    default_code = "bad_arguments"


class NotAllowedError(ToolError):
    """Refused by a rule or by the person; the message holds the reason."""

    default_code = "not_allowed"


class ToolFailedError(ToolError):
    """The tool was run and could not do what was asked."""

    default_code = "tool_failed"


class SandboxError(HandrailError):
    """The sandbox cannot do what was asked."""

    default_code = "sandbox"


class SandboxUnavailableError(SandboxError):
    """No engine, no image or no cage; `hint` says how to get one."""

    default_code = "sandbox_unavailable"


class SandboxGoneError(SandboxError):
    """The sandbox ended while it was in use. The caller may open a new one; nothing is replayed."""

    default_code = "sandbox_gone"


class SandboxTimeoutError(SandboxError):
    """The sandbox did not answer in time."""

    default_code = "sandbox_timeout"


class BrowserError(HandrailError):
    """The browser cannot do what was asked."""

    default_code = "browser"


class BrowserUnavailableError(BrowserError):
    """No Chromium, or it does not start; `hint` says how to get one."""

    default_code = "browser_unavailable"


class StaleReferenceError(BrowserError):
    """An element number that no longer points to what it pointed to. Read the page again."""

    default_code = "stale_ref"


class BrowserBlockedError(BrowserError):
    """An address or action that is not allowed."""

    default_code = "blocked"


class EgressDeniedError(HandrailError):
    """An address the egress policy refuses."""

    default_code = "egress_denied"


class WorkspaceError(HandrailError):
    """A path outside the workspace, a protected one, or something that is not a regular file."""

    default_code = "workspace"


class StoreError(HandrailError):
    """The journal or another file of the session cannot be read or written."""

    default_code = "store"


StopReason = Literal["steps", "minutes", "cost", "cost_per_day", "interrupted", "denied_pause"]


class RunStopped(Exception):  # noqa: N818 - not an error: it ends a run in an orderly way
    """A limit or the person ends the run."""

    def __init__(self, reason: StopReason, message: str) -> None:
        """Stop with `reason` (stable) and `message` (for people)."""
        super().__init__(message)
        self.reason = reason
        self.message = message

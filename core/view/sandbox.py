"""What the Sandbox pane shows: the cage, and what ran in it."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from core.surroundings import SandboxChanged
from core.view.calls import CallsView, CallView

SANDBOX_TOOLS = frozenset({"shell", "python", "run_code", "jobs"})
"""Tools whose calls run in the sandbox and are listed in its pane."""


@dataclass(slots=True)
class SandboxView:
    """The sandbox and its commands, oldest first."""

    state: Literal["off", "starting", "ready", "closed", "lost", "unavailable"] = "off"
    label: str = ""
    tier: Literal["docker", "bubblewrap", "landlock", "none", "fake"] = "none"
    image: str = ""
    limits: Mapping[str, str] = field(default_factory=dict)
    network: str = ""
    workspace: str = ""
    detail: str = ""
    commands: list[CallView] = field(default_factory=list)
    """Calls of `SANDBOX_TOOLS`, with separate `stdout` and `stderr`, exit code and time."""
    listed: set[str] = field(default_factory=set)
    revision: int = 0
    """Grows with each change of the sandbox or of one of its calls."""


def change_sandbox(sandbox: SandboxView, event: SandboxChanged) -> None:
    """Note that another sandbox is used, or that this one changed."""
    sandbox.state, sandbox.label, sandbox.tier = event.state, event.label, event.tier
    sandbox.image, sandbox.limits, sandbox.network = (
        event.image,
        event.limits,
        event.network,
    )
    sandbox.workspace, sandbox.detail = event.workspace, event.detail
    sandbox.revision += 1


def list_command(sandbox: SandboxView, calls: CallsView, call_id: str) -> bool:
    """Add or refresh a command; returns whether the call belongs to the sandbox."""
    call = calls.by_id.get(call_id)
    if call is None or call.name not in SANDBOX_TOOLS:
        return False
    if call_id not in sandbox.listed:
        sandbox.listed.add(call_id)
        sandbox.commands.append(call)
    sandbox.revision += 1
    return True

"""Facts about the browser and the sandbox a session uses."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from core.messages import Image


@dataclass(frozen=True, slots=True, kw_only=True)
class Element:
    """One numbered element of a page."""

    ref: int
    role: str
    name: str
    tag: str = ""
    value: str = ""
    flags: tuple[str, ...] = ()
    options: tuple[str, ...] = ()
    box: tuple[int, int, int, int] = (0, 0, 0, 0)
    """x, y, width, height in page pixels of the screenshot."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BrowserSnapshotted:
    """The page was looked at."""

    url: str
    title: str
    snapshot: str
    engine: str
    """fast or fast+dom."""
    elements: tuple[Element, ...] = ()
    total: int = 0
    """Elements the page holds, shown or not."""
    screenshot: Image | None = None
    tabs: tuple[str, ...] = ()
    """Titles of the open tabs, the current one first."""
    action: str = ""
    """The action just done, in short."""
    effect: str = ""
    """What was seen of it."""
    messages: tuple[str, ...] = ()
    """Console errors and notes since the last look."""
    hosts: tuple[str, ...] = ()
    """Hosts contacted or refused, as host verdict."""
    kind: Literal["browser_snapshotted"] = "browser_snapshotted"


@dataclass(frozen=True, slots=True, kw_only=True)
class BrowserChanged:
    """The browser started, ended or cannot start."""

    state: Literal["starting", "ready", "closed", "unavailable"]
    detail: str = ""
    kind: Literal["browser_changed"] = "browser_changed"


@dataclass(frozen=True, slots=True, kw_only=True)
class SandboxChanged:
    """The sandbox started, ended, or another one is used."""

    state: Literal["starting", "ready", "closed", "lost", "unavailable"]
    label: str
    """For people: "Docker 20.10 (handrail-sandbox:base)", "Isolated: bubblewrap"."""
    tier: Literal["docker", "bubblewrap", "landlock", "none", "fake"] = "none"
    image: str = ""
    limits: Mapping[str, str] = field(default_factory=dict)
    network: str = "none"
    workspace: str = ""
    """Where the workspace is inside."""
    detail: str = ""
    """What to do when it is unavailable."""
    kind: Literal["sandbox_changed"] = "sandbox_changed"

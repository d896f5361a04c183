"""What the Browser pane shows: the page as it was last looked at."""

from dataclasses import dataclass, field
from typing import Literal

from core.messages import Image
from core.record import Record
from core.surroundings import BrowserChanged, BrowserSnapshotted, Element

MESSAGES_KEPT = 200
"""Console errors and notes that are kept, newest last."""
ACTIONS_KEPT = 100
"""Actions that are kept, newest last."""


@dataclass(frozen=True, slots=True)
class BrowserAction:
    """An action and what was seen of it."""

    step: int
    action: str
    effect: str
    url: str


@dataclass(slots=True)
class BrowserView:
    """The page, its elements and what happened on it."""

    state: Literal["off", "starting", "ready", "closed", "unavailable"] = "off"
    detail: str = ""
    """Why it is unavailable and what to do."""
    url: str = ""
    title: str = ""
    snapshot: str = ""
    """Id of the snapshot, "" while there is none."""
    engine: str = ""
    elements: tuple[Element, ...] = ()
    total: int = 0
    screenshot: Image | None = None
    tabs: tuple[str, ...] = ()
    action: str = ""
    effect: str = ""
    step: int = 0
    at_utc: str = ""
    messages: list[str] = field(default_factory=list)
    actions: list[BrowserAction] = field(default_factory=list)
    hosts: dict[str, str] = field(default_factory=dict)
    """Last verdict by host."""
    revision: int = 0


def show_snapshot(browser: BrowserView, record: Record, event: BrowserSnapshotted) -> None:
    """Take over a new look at the page."""
    browser.state = "ready"
    browser.url, browser.title, browser.snapshot = (
        event.url,
        event.title,
        event.snapshot,
    )
    browser.engine, browser.elements, browser.total = (
        event.engine,
        event.elements,
        event.total,
    )
    browser.screenshot, browser.tabs = event.screenshot, event.tabs
    browser.action, browser.effect = event.action, event.effect
    browser.step, browser.at_utc = record.step, record.at_utc
    browser.messages.extend(event.messages)
    del browser.messages[:-MESSAGES_KEPT]
    if event.action:
        browser.actions.append(BrowserAction(record.step, event.action, event.effect, event.url))
        del browser.actions[:-ACTIONS_KEPT]
    for line in event.hosts:
        host, _, verdict = line.partition(" ")
        browser.hosts[host] = verdict
    browser.revision += 1


def change_browser(browser: BrowserView, event: BrowserChanged) -> None:
    """Note that the browser started, ended or cannot start."""
    browser.state, browser.detail = event.state, event.detail
    browser.revision += 1

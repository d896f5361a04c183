"""One tab: its page, the numbers its elements were given, and what happened on it since the last look."""

import asyncio
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from playwright.async_api import CDPSession, Dialog, Frame, JSHandle, Page

MESSAGES_KEPT = 50
NUMBERS_KEPT = 5000


@dataclass(frozen=True, slots=True)
class Target:
    """Where a number points: a node that a frame's document knows by its own id."""

    frame: "Frame"
    document: "JSHandle"
    node: int


@dataclass(frozen=True, slots=True, kw_only=True)
class PageElement:
    """One element as the collector described it."""

    ref: int
    role: str
    tag: str
    name: str
    fingerprint: str
    """label|role|name with digits masked: what must still be true when the number is used."""
    box: tuple[int, int, int, int]
    """x, y, width, height in pixels of the viewport."""
    value: str = ""
    flags: tuple[str, ...] = ()
    options: tuple[str, ...] = ()
    in_view: bool = True
    covered: bool = False
    in_main_frame: bool = True
    mark: str = ""
    """The value of a `data-t` attribute; only the tests' pages have one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Snapshot:
    """One look at a page."""

    name: str
    """tab.sequence, as "t1.4"."""
    url: str
    title: str
    text: str
    """What can be read in all frames, 20,000 characters of each."""
    elements: tuple[PageElement, ...]
    total: int
    """Elements on the page, collected or not."""
    truncated: bool
    """A frame did not answer, or the scan ran out of time."""
    scroll: tuple[int, int, int]
    """Scrolled pixels, viewport height, page height."""
    engine: str
    """fast or fast+dom."""
    timing_ms: dict[str, int]
    secrets: bool
    """A password, code or payment field is on the page."""


@dataclass(slots=True, eq=False)
class Tab:
    """A tab of the browser. Belongs to the browser's own event loop."""

    number: int
    page: "Page"
    cdp: "CDPSession | None" = None
    main_frame_id: str = ""
    documents: "dict[Frame, JSHandle]" = field(default_factory=dict)
    """The collector's handle in each frame's current document."""
    targets: dict[int, Target] = field(default_factory=dict)
    refs: dict[tuple[int, int], int] = field(default_factory=dict)
    """(document, node) to number."""
    fingerprints: dict[int, str] = field(default_factory=dict)
    """What each element looked like when its line was last shown to the model."""
    next_ref: int = 1
    """Grows only: a number is never given twice."""
    snapshot: Snapshot | None = None
    shown: dict[int, str] = field(default_factory=dict)
    """Line by number, as the model has last seen them."""
    shown_in: "JSHandle | None" = None
    """Document of the main frame those lines belong to."""
    read: str = ""
    """The page's text at that time."""
    snapshots: int = 0
    enriched: "tuple[JSHandle, int] | None" = None
    """Main document, and number of its nodes, when browser-use last looked at it."""
    dialog: "Dialog | None" = None
    dialog_opened: asyncio.Event = field(default_factory=asyncio.Event)
    interrupted: "asyncio.Future[Any] | None" = None
    """The action that a dialog holds up."""
    settled: asyncio.Event = field(default_factory=asyncio.Event)
    """Set while no navigation of the main frame is under way."""
    messages: list[str] = field(default_factory=list)
    """Console errors and notes since the last look."""
    crashed: bool = False
    lost_to: str = ""
    """An address for another program that the page asked for: the tab takes no input after that."""

    @property
    def name(self) -> str:
        """How a tab is called in snapshots."""
        return f"t{self.number}"

    def note(self, text: str) -> None:
        """Keep a message for the next look, at most 50 and 300 characters each."""
        if len(self.messages) < MESSAGES_KEPT:
            self.messages.append(text[:300])

    def take_messages(self) -> tuple[str, ...]:
        """Return and forget the messages."""
        taken, self.messages = tuple(self.messages), []
        return taken

    def ref_for(self, frame: "Frame", document: "JSHandle", node: int) -> int:
        """Return the number of a node, a new one when it has none."""
        key = (id(document), node)
        ref = self.refs.get(key)
        if ref is None:
            ref = self.next_ref
            self.next_ref += 1
            self.refs[key] = ref
            self.targets[ref] = Target(frame, document, node)
            self._forget_oldest()
        return ref

    def _forget_oldest(self) -> None:
        """Drop the older half of the numbers when a page that renews itself has used up too many."""
        if len(self.targets) <= NUMBERS_KEPT:
            return
        for ref in list(self.targets)[: NUMBERS_KEPT // 2]:
            self._forget(ref)

    def _forget(self, ref: int) -> None:
        target = self.targets.pop(ref)
        self.refs.pop((id(target.document), target.node), None)
        self.fingerprints.pop(ref, None)

    def forget_document(self, frame: "Frame") -> None:
        """Drop a frame's document: its numbers point nowhere from now on."""
        document = self.documents.pop(frame, None)
        if document is None:
            return
        gone = [ref for ref, target in self.targets.items() if target.document is document]
        for ref in gone:
            self._forget(ref)

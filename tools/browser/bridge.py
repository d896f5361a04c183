"""Element knowledge of browser-use, over Playwright's own debugging sessions. The only module that imports it.

browser-use's `DomService` reads the DOM, the layout and the accessibility tree and knows what can be clicked: nodes
in closed shadow roots and nodes with listeners too. It wants a session of its own; this gives it just the six members
it touches, so no second client, no event bus and no watchdog is ever started.
"""

import asyncio
import contextlib
import functools
import logging
import os
import uuid
from collections.abc import Callable, Mapping
from importlib import metadata
from typing import TYPE_CHECKING, Any

from tools.browser.faults import page_faults

if TYPE_CHECKING:
    from playwright.async_api import CDPSession, Frame, Page

SUPPORTED = "0.13."
"""Versions this was written for: the members below are no public interface."""
QUIET: Mapping[str, str] = {
    "ANONYMIZED_TELEMETRY": "false",
    "BROWSER_USE_CLOUD_HINTS": "false",
    "BROWSER_USE_CLOUD_SYNC": "false",
    "BROWSER_USE_DISABLE_EXTENSIONS": "1",
    "BROWSER_USE_SETUP_LOGGING": "false",
    "BROWSER_USE_VERSION_CHECK": "false",
}
"""Read by browser-use when it is imported; without them it talks to servers and takes over logging."""
NO_DOTENV = "PYTHON_DOTENV_DISABLED"
"""Set while it is imported: it would load the .env file of the project that the environment lies in."""
LOGGERS = ("browser_use", "cdp_use", "bubus")
NOT_ELEMENTS = frozenset({"iframe", "frame", "option", "label", "html", "body", "details"})
PLAIN_CONTROLS = frozenset({"a", "area", "button", "input", "select", "summary", "textarea"})
"""The collector finds these by itself, unless a closed shadow root hides them."""
MARGIN_PX = 1200
"""Elements up to this far outside the viewport are looked for, as in the collector."""


class BridgeError(Exception):
    """browser-use is missing, of another version, or failed on a page."""


@functools.cache
def dom_service(find_version: Callable[[str], str] = metadata.version) -> Any:
    """Import and return browser-use's DomService.

    Args:
        find_version: Tells the version of an installed package.

    Raises:
        BridgeError: It is not installed or of another version. Go on without it.
    """
    try:
        found = find_version("browser-use")
    except metadata.PackageNotFoundError as error:
        raise BridgeError("browser-use is not installed") from error
    if not found.startswith(SUPPORTED):
        raise BridgeError(f"browser-use {found} is not {SUPPORTED}x")
    for name in LOGGERS:
        logger = logging.getLogger(name)
        logger.addHandler(logging.NullHandler())
        logger.propagate = False
    for name, value in QUIET.items():
        os.environ.setdefault(name, value)
    before = os.environ.get(NO_DOTENV)
    os.environ[NO_DOTENV] = "1"
    try:
        from browser_use.dom.service import DomService
    except (
        Exception
    ) as error:  # boundary: whatever its many dependencies raise, the browser works without it
        raise BridgeError(f"browser-use cannot be imported: {error}") from error
    finally:
        if before is None:
            del os.environ[NO_DOTENV]
        else:
            os.environ[NO_DOTENV] = before
    return DomService


class RawClient:
    """Sends protocol commands through Playwright's sessions; what cdp-use's library calls."""

    def __init__(self) -> None:
        """Know no session yet."""
        self.sessions: dict[str, CDPSession] = {}

    async def send_raw(
        self, method: str, params: Any = None, session_id: str | None = None
    ) -> dict[str, Any]:
        """Send one command to the session of a target."""
        answer: dict[str, Any] = await self.sessions[session_id or ""].send(
            method, dict(params or {})
        )
        return answer


class Client:
    """The `cdp_client` of a target's session."""

    def __init__(self, raw: RawClient) -> None:
        """Send through `raw`."""
        from cdp_use.cdp.library import CDPLibrary

        # cdp-use only ever calls `send_raw` on what it is given.
        self.send = CDPLibrary(raw)  # type: ignore[arg-type]
        self.send_raw = raw.send_raw


class Attached:
    """A target's session as DomService sees it; its own target is its id."""

    def __init__(self, client: Client, target_id: str, url: str, target_type: str) -> None:
        """Describe a target."""
        self.cdp_client = client
        self.session_id = target_id
        self.target_id = target_id
        self.url = url
        self.title = ""
        self.target_type = target_type


class Targets:
    """The `session_manager` of a session."""

    def __init__(self) -> None:
        """Know no target yet."""
        self.attached: dict[str, Attached] = {}

    def get_target(self, target_id: str) -> Attached | None:
        """Return a target by its id."""
        return self.attached.get(target_id)


class PageSession:
    """What DomService takes for a browser session: one page and its frames in other processes."""

    def __init__(self, page: "Page") -> None:
        """Belong to `page`; nothing is attached before `open`."""
        self.id = uuid.uuid4().hex[:8]
        self.logger = logging.getLogger("browser_use.handrail")
        self.session_manager = Targets()
        self.agent_focus_target_id: str | None = None
        self.raw = RawClient()
        self._page = page
        self._client = Client(self.raw)
        self._frames: dict[Frame, str] = {}

    async def open(self) -> None:
        """Attach to the page."""
        self.agent_focus_target_id = await self._attach(self._page, "page")

    async def close(self) -> None:
        """Detach from everything."""
        for session in self.raw.sessions.values():
            with contextlib.suppress(*page_faults()):
                await session.detach()

    async def _attach(self, what: "Page | Frame", target_type: str) -> str:
        session = await self._page.context.new_cdp_session(what)
        info = (await session.send("Target.getTargetInfo"))["targetInfo"]
        target_id = str(info["targetId"])
        self.raw.sessions[target_id] = session
        self.session_manager.attached[target_id] = Attached(
            self._client, target_id, str(info["url"]), target_type
        )
        return target_id

    async def get_or_create_cdp_session(
        self,
        target_id: str | None = None,
        focus: bool = False,
    ) -> Attached:
        """Return the session of a target."""
        del focus
        return self.session_manager.attached[target_id or self.agent_focus_target_id or ""]

    async def get_all_frames(self) -> tuple[dict[str, Any], dict[str, str]]:
        """Return frame id -> frame with its target, attaching to frames in other processes first."""
        for frame in self._page.frames[1:]:
            if frame in self._frames:
                continue
            # Playwright refuses a session for a frame of the page's own process, which needs none.
            with contextlib.suppress(*page_faults()):
                self._frames[frame] = await self._attach(frame, "iframe")
        frames: dict[str, Any] = {}
        for target_id, session in list(self.raw.sessions.items()):
            tree = await session.send("Page.getFrameTree")
            _collect_frames(tree["frameTree"], target_id, frames)
        return frames, {}


def _collect_frames(node: Mapping[str, Any], target_id: str, frames: dict[str, Any]) -> None:
    frame = node["frame"]
    frames[frame["id"]] = {**frame, "frameTargetId": target_id}
    for child in node.get("childFrames", ()):
        _collect_frames(child, target_id, frames)


async def leave_nodes(page: "Page", key: str) -> int:
    """Find what can be used on a page and leave the nodes under `key` in their frames' globals.

    Args:
        page: The page to look at.
        key: Name nobody can guess; the collector's `adopt` takes the nodes and removes it.

    Returns:
        How many were left.

    Raises:
        BridgeError: It does not work on this page or with this version. Go on without it.
    """
    service_class = await asyncio.to_thread(dom_service)
    session = PageSession(page)
    try:
        await session.open()
        service = service_class(
            session,
            logger=session.logger,
            cross_origin_iframes=True,
            viewport_threshold=MARGIN_PX,
        )
        state, _, _ = await service.get_serialized_dom_tree()
        nodes = [node for node in state.selector_map.values() if _is_new(node)]
        left = await asyncio.gather(
            *(_leave(session, node, key, place) for place, node in enumerate(nodes))
        )
        return sum(left)
    except Exception as error:  # boundary: another version, or a page it cannot read
        raise BridgeError(f"{type(error).__name__}: {str(error)[:200]}") from error
    finally:
        await session.close()


def _is_new(node: Any) -> bool:
    """Tell whether the collector may have missed a node: each one costs two round trips."""
    if node.tag_name in NOT_ELEMENTS:
        return False
    if node.tag_name not in PLAIN_CONTROLS:
        return True
    above = node.parent_node
    while above is not None:
        if above.shadow_root_type == "closed":
            return True
        above = above.parent_node
    return False


_PUT = """function (key, place) {
  if (!globalThis[key]) Object.defineProperty(globalThis, key, {value: [], configurable: true});
  globalThis[key][place] = this;
}"""


async def _leave(session: PageSession, node: Any, key: str, place: int) -> bool:
    """Put one node where its frame's collector finds it."""
    target_id = str(node.target_id)
    cdp = (
        session.raw.sessions.get(target_id)
        or session.raw.sessions[session.agent_focus_target_id or ""]
    )
    try:
        resolved = await cdp.send("DOM.resolveNode", {"backendNodeId": node.backend_node_id})
        await cdp.send(
            "Runtime.callFunctionOn",
            {
                "objectId": resolved["object"]["objectId"],
                "functionDeclaration": _PUT,
                "arguments": [{"value": key}, {"value": place}],
            },
        )
    except page_faults():
        # The node left the page meanwhile.
        return False
    return True

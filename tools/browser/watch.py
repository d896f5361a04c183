"""Keeps a tab's state in step with its page: dialogs, navigations, crashes, console errors, downloads."""

import asyncio
from collections.abc import Coroutine
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tools.browser.clean import clean_line
from tools.browser.faults import forget_outcome, ignoring_faults
from tools.browser.guard import leaves_the_web
from tools.browser.tab import Tab

if TYPE_CHECKING:
    from playwright.async_api import ConsoleMessage, Dialog, Download

DIALOG_HELD_S = 120.0
"""An unanswered dialog is dismissed after this time: it blocks its whole page."""
DOWNLOAD_LOOK_S = 0.5


@dataclass(frozen=True, slots=True, kw_only=True)
class Quarantine:
    """Where downloads wait, and how large all of them may get."""

    folder: Path
    limit_bytes: int

    def full(self) -> bool:
        """Tell whether the downloads are larger than is allowed."""
        try:
            return sum(path.stat().st_size for path in self.folder.iterdir()) > self.limit_bytes
        except OSError:
            # One of them was moved away while it was looked at.
            return False


class PageWatch:
    """Listens to one page. Belongs to the browser's own event loop."""

    def __init__(self, tab: Tab, quarantine: Quarantine) -> None:
        """Listen for `tab`; what it downloads waits in `quarantine`."""
        self._tab = tab
        self._quarantine = quarantine
        self._tasks: set[asyncio.Future[Any]] = set()
        page = tab.page
        tab.settled.set()
        page.on("dialog", self._on_dialog)
        page.on("crash", self._on_crash)
        page.on("console", self._on_console)
        page.on("pageerror", lambda error: tab.note(f"page error: {clean_line(str(error))}"))
        page.on("download", self._on_download)
        page.on("framedetached", lambda frame: tab.forget_document(frame))

    async def listen_below(self) -> None:
        """Follow navigations through the debugging protocol, which tells more than Playwright does."""
        tab = self._tab
        cdp = await tab.page.context.new_cdp_session(tab.page)
        tree = await cdp.send("Page.getFrameTree")
        tab.cdp, tab.main_frame_id = cdp, tree["frameTree"]["frame"]["id"]
        cdp.on("Page.frameRequestedNavigation", self._on_asked)
        cdp.on("Page.frameStartedNavigating", self._on_started)
        cdp.on("Page.frameStoppedLoading", self._on_stopped)
        cdp.on("Page.domContentEventFired", lambda _event: tab.settled.set())
        await cdp.send("Page.enable")

    def _later(self, work: Coroutine[Any, Any, Any]) -> None:
        task = asyncio.ensure_future(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        # A page that closes meanwhile makes these fail; there is nothing left to do then.
        task.add_done_callback(forget_outcome)

    def _on_asked(self, event: dict[str, Any]) -> None:
        if leaves_the_web(str(event.get("url", ""))):
            self._tab.lost_to = str(event["url"])[:200]

    def _on_started(self, event: dict[str, Any]) -> None:
        if event.get("frameId") == self._tab.main_frame_id and event.get("navigationType") not in (
            "sameDocument",
            "historySameDocument",
        ):
            self._tab.settled.clear()

    def _on_stopped(self, event: dict[str, Any]) -> None:
        if event.get("frameId") == self._tab.main_frame_id:
            self._tab.settled.set()

    def _on_crash(self, _page: object) -> None:
        self._tab.crashed = True
        self._tab.settled.set()
        self._tab.note("the page crashed")

    def _on_console(self, message: "ConsoleMessage") -> None:
        # Every page without an icon makes this error; it says nothing of the page.
        if message.type == "error" and not message.location["url"].endswith("/favicon.ico"):
            self._tab.note(f"console: {clean_line(message.text)}")

    def _on_dialog(self, dialog: "Dialog") -> None:
        tab = self._tab
        if dialog.type == "alert":
            tab.note(f"the page said: {clean_line(dialog.message)}")
            self._later(dialog.accept())
            return
        tab.dialog = dialog
        tab.dialog_opened.set()
        self._later(self._dismiss_unanswered(dialog))

    async def _dismiss_unanswered(self, dialog: "Dialog") -> None:
        await asyncio.sleep(DIALOG_HELD_S)
        if self._tab.dialog is dialog:
            with ignoring_faults():
                await dialog.dismiss()
            close_dialog(self._tab)
            self._tab.note("a dialog was dismissed because nobody answered it")

    def _on_download(self, download: "Download") -> None:
        name = safe_file_name(download.suggested_filename)
        self._tab.note(f"download held, not opened: {name}")
        self._later(self._hold(download, name))

    async def _hold(self, download: "Download", name: str) -> None:
        """Stop a download when the quarantine is full."""
        ending = asyncio.ensure_future(download.failure())
        while not (await asyncio.wait({ending}, timeout=DOWNLOAD_LOOK_S))[0]:
            if self._quarantine.full():
                await download.cancel()
                self._tab.note(f"download stopped, it is too large: {name}")
                break
        failure = await ending
        if failure and failure != "canceled":
            self._tab.note(f"download failed: {name}: {clean_line(failure)}")


def close_dialog(tab: Tab) -> None:
    """Note that the open dialog is gone."""
    tab.dialog = None
    tab.dialog_opened.clear()


def safe_file_name(name: str) -> str:
    """Return a file name without folders, control characters or a leading dot, at most 120 characters."""
    flat = "".join(c if c.isalnum() or c in "._- ()" else "_" for c in clean_line(name))
    return flat.lstrip(". ")[-120:] or "download"

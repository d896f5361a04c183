"""The browser of one session: started when first needed, with its tabs, its proxy and its end."""

import asyncio
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from core.egress import EgressPolicy
from core.egress_proxy import EgressProxy
from core.errors import BrowserError
from tools.browser.chromium import find_chromium
from tools.browser.driver import Driver, LaunchPlan, start_driver
from tools.browser.enrich import Enricher
from tools.browser.faults import ignoring_faults
from tools.browser.leftovers import claim, release, sweep
from tools.browser.tab import Tab
from tools.browser.watch import PageWatch, Quarantine

if TYPE_CHECKING:
    from playwright.async_api import BrowserContext, Page

MAX_TABS = 8
"""More than this many open pages are closed as they come."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BrowserSetup:
    """How the browser of a session is made."""

    folder: Path
    """Own folder below the session's: profile, downloads, screenshots, log."""
    egress: EgressPolicy
    executable: str = ""
    """Path of a Chromium, "" to look for one."""
    os_sandbox: bool = True
    """Use Chromium's own sandbox (never as root)."""
    idle_s: float = 900.0
    """An unused browser is ended after this time; its profile stays until the session ends."""
    hosts_listed: bool = False
    """Pages reach only hosts that were gone to on purpose (allow-list mode)."""
    download_limit_bytes: int = 512 << 20
    """All downloads of a session together; more is stopped."""
    with_dom: bool = True
    """Let browser-use add to the lists, where it is installed."""
    environment: Mapping[str, str] = field(default_factory=lambda: os.environ)


class BrowserSession:
    """Tabs of one browser. All methods run on the browser's own event loop."""

    def __init__(self, setup: BrowserSetup) -> None:
        """Use `setup` when the browser is first needed."""
        self.setup = setup
        self.proxy = EgressProxy(setup.egress, only_expected=setup.hosts_listed)
        self.enricher = Enricher(enabled=setup.with_dom)
        self.tabs: dict[int, Tab] = {}
        self.lock = asyncio.Lock()
        """Held by whoever acts: one action at a time."""
        self._quarantine = Quarantine(
            folder=setup.folder / "downloads", limit_bytes=setup.download_limit_bytes
        )
        self._driver: Driver | None = None
        self._current = 0
        self._opened = 0
        self._watching: dict[int, asyncio.Task[None]] = {}
        self._closing: set[asyncio.Future[Any]] = set()
        self._idle: asyncio.TimerHandle | None = None

    @property
    def running(self) -> bool:
        """Whether the browser is up."""
        return self._driver is not None

    @property
    def context(self) -> "BrowserContext":
        """Playwright's context of the running browser.

        Raises:
            BrowserError: It is not running (code browser_gone).
        """
        if self._driver is None:
            raise BrowserError("The browser is not running.", code="browser_gone")
        return self._driver.context

    @property
    def tab(self) -> Tab:
        """The current tab.

        Raises:
            BrowserError: None is open (code no_tab).
        """
        tab = self.tabs.get(self._current)
        if tab is None:
            raise BrowserError("No tab is open.", hint="Use new_tab or go_to.", code="no_tab")
        return tab

    async def start(self) -> bool:
        """Bring the browser up with one tab, again after it ended; True when it had to be started.

        Raises:
            BrowserUnavailableError: No Chromium, or it does not start.
        """
        self._rest()
        if self._driver is not None:
            if not self.tabs:
                await self.open_tab()
            return False
        executable = find_chromium(self.setup.executable, self.setup.environment)
        self._keep(asyncio.ensure_future(asyncio.to_thread(self.enricher.prepare)))
        sweep(self.setup.folder.parent.parent)
        claim(self.setup.folder)
        await self.proxy.start()
        self._driver = await start_driver(
            LaunchPlan(
                executable=executable,
                folder=self.setup.folder,
                proxy_port=self.proxy.port,
                os_sandbox=self.setup.os_sandbox,
            )
        )
        context = self._driver.context
        # None granted means all others refused: camera, place, clipboard, notifications.
        await context.grant_permissions([])
        context.on("close", self._on_gone)
        context.on("page", self._on_page)
        for page in context.pages:
            self._on_page(page)
        if not self.tabs:
            await context.new_page()
        await self._watched()
        return True

    async def open_tab(self) -> Tab:
        """Open an empty tab and make it the current one.

        Raises:
            BrowserError: There are 8 already (code too_many_tabs).
        """
        if len(self.tabs) >= MAX_TABS:
            raise BrowserError(
                f"{MAX_TABS} tabs are open.", hint="Close one with close_tab.", code="too_many_tabs"
            )
        await self.context.new_page()
        self._current = max(self.tabs)
        await self._watched()
        return self.tab

    def switch(self, number: int) -> Tab:
        """Make another tab the current one.

        Raises:
            BrowserError: There is no such tab (code no_tab).
        """
        if number not in self.tabs:
            known = ", ".join(map(str, self.tabs))
            raise BrowserError(f"There is no tab {number}. Tabs: {known}.", code="no_tab")
        self._current = number
        return self.tab

    async def close_tab(self, tab: Tab) -> None:
        """Close a tab; another one becomes current, a new one if it was the last."""
        with ignoring_faults():
            # A page in an endless loop answers to nothing but this.
            async with asyncio.timeout(3):
                await tab.page.close()
        self._on_closed(tab)
        if not self.tabs:
            await self.open_tab()

    async def replace(self, tab: Tab, url: str) -> Tab:
        """Put a fresh tab with the same page in the place of one that takes no input any more."""
        was_current = self._current == tab.number
        fresh = await self.open_tab()
        await self.close_tab(tab)
        if was_current:
            self._current = fresh.number
        if url.startswith(("http:", "https:")):
            with ignoring_faults():
                await fresh.page.goto(url, wait_until="domcontentloaded", timeout=10_000)
        return fresh

    def ordered_tabs(self) -> list[Tab]:
        """Return the open tabs, the current one first."""
        current = self.tabs.get(self._current)
        rest = [tab for tab in self.tabs.values() if tab is not current]
        return [current, *rest] if current else rest

    async def close(self, *, keep_files: bool = False) -> None:
        """End the browser and its proxy; safe to call twice.

        Args:
            keep_files: Leave profile and downloads for a later start in the same session.
        """
        if self._idle is not None:
            self._idle.cancel()
        driver, self._driver = self._driver, None
        self._forget_tabs()
        if driver is not None:
            await driver.close()
        if not keep_files:
            release(self.setup.folder)
        await self.proxy.stop()

    def _rest(self) -> None:
        """End the browser when it is not used for a while."""
        if self._idle is not None:
            self._idle.cancel()
        self._idle = asyncio.get_running_loop().call_later(self.setup.idle_s, self._end_idle)

    def _end_idle(self) -> None:
        if self.lock.locked():
            self._rest()
        else:
            self._keep(asyncio.ensure_future(self._close_unused()))

    async def _close_unused(self) -> None:
        # Under the lock, so that an action that comes now starts a new browser after this one has ended.
        async with self.lock:
            await self.close(keep_files=True)

    async def _watched(self) -> None:
        """Wait until every open tab is listened to."""
        waiting = list(self._watching.values())
        if waiting:
            await asyncio.wait(waiting, timeout=5)

    def _on_page(self, page: "Page") -> None:
        if len(self.tabs) >= MAX_TABS:
            self._keep(asyncio.ensure_future(page.close()))
            return
        self._opened += 1
        tab = Tab(number=self._opened, page=page)
        if self.tabs:
            self.tab.note(f"tab {tab.number} opened (switch_tab tab={tab.number})")
        else:
            self._current = tab.number
        self.tabs[tab.number] = tab
        watch = PageWatch(tab, self._quarantine)
        page.on("close", lambda _page: self._on_closed(tab))
        task = asyncio.ensure_future(self._listen(watch))
        self._watching[tab.number] = task
        task.add_done_callback(lambda _task: self._watching.pop(tab.number, None))

    @staticmethod
    async def _listen(watch: PageWatch) -> None:
        # A popup may close before it can be listened to.
        with ignoring_faults():
            await watch.listen_below()

    def _on_closed(self, tab: Tab) -> None:
        self.tabs.pop(tab.number, None)
        if self._current == tab.number:
            self._current = next(reversed(self.tabs), 0)

    def _on_gone(self, _context: object) -> None:
        """The process ended by itself: start anew at the next call."""
        driver, self._driver = self._driver, None
        self._forget_tabs()
        if driver is not None:
            self._keep(asyncio.ensure_future(driver.close()))

    def _forget_tabs(self) -> None:
        self.tabs.clear()
        self._current = 0

    def _keep(self, task: "asyncio.Future[Any]") -> None:
        self._closing.add(task)
        task.add_done_callback(self._closing.discard)

"""The browser of one session: started when first needed, with its proxy, its tabs and its end."""

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
from tools.browser.leftovers import claim, release, sweep
from tools.browser.tab import Tab
from tools.browser.tabs import OpenTabs
from tools.browser.watch import Quarantine

if TYPE_CHECKING:
    from playwright.async_api import BrowserContext


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
    """The life of one browser. All methods run on the browser's own event loop."""

    def __init__(self, setup: BrowserSetup) -> None:
        """Use `setup` when the browser is first needed."""
        self.setup = setup
        self.proxy = EgressProxy(setup.egress, only_expected=setup.hosts_listed)
        self.enricher = Enricher(enabled=setup.with_dom)
        self.tabs = OpenTabs(
            Quarantine(folder=setup.folder / "downloads", limit_bytes=setup.download_limit_bytes)
        )
        self.lock = asyncio.Lock()
        """Held by whoever acts: one action at a time."""
        self._driver: Driver | None = None
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
        return self.tabs.current

    async def start(self) -> bool:
        """Bring the browser up with one tab, again after it ended; True when it had to be started.

        Raises:
            BrowserUnavailableError: No Chromium, or it does not start.
        """
        self._rest()
        if self._driver is not None:
            if not self.tabs:
                await self.tabs.open()
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
        await self.tabs.attach(context)
        return True

    async def close(self, *, keep_files: bool = False) -> None:
        """End the browser and its proxy; safe to call twice.

        Args:
            keep_files: Leave profile and downloads for a later start in the same session.
        """
        if self._idle is not None:
            self._idle.cancel()
        driver, self._driver = self._driver, None
        self.tabs.detach()
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

    def _on_gone(self, _context: object) -> None:
        """The process ended by itself: start anew at the next call."""
        driver, self._driver = self._driver, None
        self.tabs.detach()
        if driver is not None:
            self._keep(asyncio.ensure_future(driver.close()))

    def _keep(self, task: "asyncio.Future[Any]") -> None:
        self._closing.add(task)
        task.add_done_callback(self._closing.discard)

"""The open tabs of a browser: which is current, how they come and go, and never too many."""

import asyncio
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from core.errors import BrowserError
from tools.browser.faults import forget_outcome, ignoring_faults
from tools.browser.tab import Tab
from tools.browser.watch import PageWatch, Quarantine

if TYPE_CHECKING:
    from playwright.async_api import BrowserContext, Page

MAX_TABS = 8
"""More than this many open pages are closed as they come."""
LISTEN_LIMIT_S = 5.0
CLOSE_LIMIT_S = 3.0
RELOAD_TIMEOUT_MS = 10_000


class OpenTabs:
    """Tabs by number; numbers are never given twice. Belongs to the browser's own event loop."""

    def __init__(self, quarantine: Quarantine) -> None:
        """Have no tab; what pages download waits in `quarantine`."""
        self._quarantine = quarantine
        self._context: BrowserContext | None = None
        self._tabs: dict[int, Tab] = {}
        self._current = 0
        self._opened = 0
        self._listening: dict[int, asyncio.Task[None]] = {}
        self._closing: set[asyncio.Future[Any]] = set()

    def __len__(self) -> int:
        """Return how many tabs are open."""
        return len(self._tabs)

    def __iter__(self) -> Iterator[int]:
        """Go through the numbers of the open tabs."""
        return iter(self._tabs)

    @property
    def current(self) -> Tab:
        """The current tab.

        Raises:
            BrowserError: None is open (code no_tab).
        """
        tab = self._tabs.get(self._current)
        if tab is None:
            raise BrowserError("No tab is open.", hint="Use new_tab or go_to.", code="no_tab")
        return tab

    def ordered(self) -> list[Tab]:
        """Return the open tabs, the current one first."""
        current = self._tabs.get(self._current)
        rest = [tab for tab in self._tabs.values() if tab is not current]
        return [current, *rest] if current else rest

    def get(self, number: int) -> Tab:
        """Return a tab by its number.

        Raises:
            BrowserError: There is no such tab (code no_tab).
        """
        if number not in self._tabs:
            known = ", ".join(map(str, self._tabs))
            raise BrowserError(f"There is no tab {number}. Tabs: {known}.", code="no_tab")
        return self._tabs[number]

    async def attach(self, context: "BrowserContext") -> None:
        """Take over the pages of a browser that was just started; there is at least one tab then."""
        self._context = context
        context.on("page", self._on_page)
        for page in context.pages:
            self._on_page(page)
        if not self._tabs:
            await context.new_page()
        await self._listened()

    def detach(self) -> None:
        """Forget all tabs: their browser has ended."""
        self._context = None
        self._tabs.clear()
        self._current = 0

    async def open(self) -> Tab:
        """Open an empty tab and make it the current one.

        Raises:
            BrowserError: There are 8 already (too_many_tabs), or the browser has ended (browser_gone).
        """
        if self._context is None:
            raise BrowserError("The browser is not running.", code="browser_gone")
        if len(self._tabs) >= MAX_TABS:
            raise BrowserError(
                f"{MAX_TABS} tabs are open.", hint="Close one with close_tab.", code="too_many_tabs"
            )
        await self._context.new_page()
        self._current = max(self._tabs)
        await self._listened()
        return self.current

    def switch(self, number: int) -> Tab:
        """Make another tab the current one.

        Raises:
            BrowserError: There is no such tab (code no_tab).
        """
        tab = self.get(number)
        self._current = number
        return tab

    async def close(self, tab: Tab) -> None:
        """Close a tab; another one becomes current, a new one if it was the last."""
        with ignoring_faults():
            # A page in an endless loop answers to nothing but this.
            async with asyncio.timeout(CLOSE_LIMIT_S):
                await tab.page.close()
        self._on_closed(tab)
        if not self._tabs:
            await self.open()

    async def replace(self, tab: Tab, url: str) -> Tab:
        """Put a fresh tab in the place of one that takes no input any more, with its page if it has one."""
        was_current = self._current == tab.number
        if len(self._tabs) >= MAX_TABS:
            await self.close(tab)
        fresh = await self.open()
        if tab.number in self._tabs:
            await self.close(tab)
        if was_current:
            self._current = fresh.number
        if url.startswith(("http:", "https:")):
            with ignoring_faults():
                await fresh.page.goto(url, wait_until="domcontentloaded", timeout=RELOAD_TIMEOUT_MS)
        return fresh

    async def _listened(self) -> None:
        """Wait until every open tab is listened to."""
        if self._listening:
            await asyncio.wait(list(self._listening.values()), timeout=LISTEN_LIMIT_S)

    def _on_page(self, page: "Page") -> None:
        if len(self._tabs) >= MAX_TABS:
            closing = asyncio.ensure_future(page.close())
            self._closing.add(closing)
            closing.add_done_callback(self._closing.discard)
            closing.add_done_callback(forget_outcome)
            return
        self._opened += 1
        tab = Tab(number=self._opened, page=page)
        if self._tabs:
            self.current.note(f"tab {tab.number} opened (switch_tab tab={tab.number})")
        else:
            self._current = tab.number
        self._tabs[tab.number] = tab
        page.on("close", lambda _page: self._on_closed(tab))
        task = asyncio.ensure_future(_listen(PageWatch(tab, self._quarantine)))
        self._listening[tab.number] = task
        task.add_done_callback(lambda _task: self._listening.pop(tab.number, None))

    def _on_closed(self, tab: Tab) -> None:
        self._tabs.pop(tab.number, None)
        if self._current == tab.number:
            self._current = next(reversed(self._tabs), 0)


async def _listen(watch: PageWatch) -> None:
    # A popup may close before it can be listened to.
    with ignoring_faults():
        await watch.listen_below()

"""Adds to a list what only browser-use finds: closed shadow roots, elements with nothing but a listener."""

import asyncio
import secrets
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from tools.browser.bridge import BridgeError, dom_service, leave_nodes
from tools.browser.faults import page_faults
from tools.browser.tab import Tab

if TYPE_CHECKING:
    from tools.browser.snapshot import FrameScan

MAX_NODES = 1000
"""On larger documents it takes too long. Source: measured, about 1 ms a link and 0.1 s of UI stall at 1,500 nodes."""
TIMEOUT_S = 4.0
MAX_FAILURES = 3


@dataclass(slots=True)
class Enricher:
    """Runs browser-use where it is worth it, and leaves it alone after it failed three times."""

    enabled: bool = True
    failures: int = 0
    problem: str = ""
    """Why it does not work, for the log."""

    def prepare(self) -> None:
        """Import browser-use; it takes a moment, so do it in a thread while the browser starts."""
        if not self.enabled:
            return
        try:
            dom_service()
        except BridgeError as error:
            self.enabled, self.problem = False, str(error)

    async def enrich(self, tab: Tab, scans: "list[FrameScan]") -> int:
        """Add elements to the scans of a tab.

        Args:
            tab: The tab that was scanned.
            scans: One a frame; elements are added to their `found`.

        Returns:
            Milliseconds it took, 0 when it was not needed, -1 when it does not work here.
        """
        seen = sum(scan.seen for scan in scans)
        if not self.enabled or seen > MAX_NODES:
            return -1
        state = (scans[0].document, seen)
        if tab.enriched == state:
            # The collectors still know what was found, and no node came or went.
            return 0
        started_s = time.perf_counter()
        try:
            async with asyncio.timeout(TIMEOUT_S):
                await self._adopt(tab, scans)
        except (BridgeError, TimeoutError) as error:
            self._count(error)
            return -1
        tab.enriched = state
        return max(1, round((time.perf_counter() - started_s) * 1000))

    async def _adopt(self, tab: Tab, scans: "list[FrameScan]") -> None:
        key = "_" + secrets.token_hex(12)
        await leave_nodes(tab.page, key)
        taken = await asyncio.gather(*(_take(scan, key) for scan in scans))
        for scan, described in zip(scans, taken, strict=True):
            known = {found["id"] for found in scan.found}
            scan.found.extend(found for found in described if found["id"] not in known)

    def _count(self, error: BaseException) -> None:
        self.failures += 1
        self.problem = str(error) or type(error).__name__
        if self.failures >= MAX_FAILURES:
            self.enabled = False


async def _take(scan: "FrameScan", key: str) -> list[dict[str, Any]]:
    try:
        described = await scan.document.evaluate("(c, key) => c.adopt(key)", key)
    except page_faults():
        return []
    return [found for found in described if found]

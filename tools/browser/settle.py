"""Waiting for a page: for an action that a dialog may hold up, for a navigation, for the page to become quiet."""

import asyncio
import time
from collections.abc import Coroutine
from typing import Any, TypeVar

from core.errors import BrowserError
from tools.browser.faults import forget_outcome, page_faults
from tools.browser.tab import Tab

T = TypeVar("T")

QUIET_MS = 80
QUIET_LIMIT_MS = 1500
NAVIGATION_LIMIT_S = 8.0
TRIES = 4

_QUIET = """([quiet, limit]) => new Promise(resolve => {
  let timer = setTimeout(done, quiet);
  const observer = new MutationObserver(() => { clearTimeout(timer); timer = setTimeout(done, quiet); });
  const cap = setTimeout(done, limit);
  function done() { observer.disconnect(); clearTimeout(timer); clearTimeout(cap); resolve(); }
  observer.observe(document, {subtree: true, childList: true, attributes: true, characterData: true});
})"""


class DialogInterruptedError(Exception):
    """A dialog opened before the action was done; the action waits for it."""


async def race_dialog(tab: Tab, work: Coroutine[Any, Any, T], limit_s: float) -> T:
    """Do `work` on a page unless a dialog opens first.

    Args:
        tab: The tab that `work` acts on.
        work: Left running when a dialog holds it up; `handle_dialog` waits for it then.
        limit_s: Longest time for the work.

    Raises:
        DialogInterruptedError: A confirm, prompt or beforeunload dialog is open now.
        BrowserError: The page did not answer in time (code timeout).
    """
    acting = asyncio.ensure_future(work)
    opening = asyncio.ensure_future(tab.dialog_opened.wait())
    try:
        await asyncio.wait({acting, opening}, timeout=limit_s, return_when=asyncio.FIRST_COMPLETED)
        if acting.done():
            return acting.result()
        if opening.done():
            tab.interrupted = acting
            acting.add_done_callback(forget_outcome)
            raise DialogInterruptedError
        raise BrowserError(
            f"The page did not answer within {limit_s:.0f} s.",
            hint="Use read, or go_to.",
            code="timeout",
        )
    finally:
        opening.cancel()
        if not acting.done() and tab.interrupted is not acting:
            acting.cancel()
            acting.add_done_callback(forget_outcome)


async def settle(tab: Tab) -> None:
    """Wait for a navigation under way, then until the page stops changing: 80 ms of quiet, 1.5 s at most."""
    deadline_s = time.monotonic() + NAVIGATION_LIMIT_S
    for _ in range(TRIES):
        await _navigated(tab, deadline_s - time.monotonic())
        if tab.dialog is not None or tab.crashed:
            return
        try:
            async with asyncio.timeout(QUIET_LIMIT_MS / 1000 + 1):
                await tab.page.evaluate(_QUIET, [QUIET_MS, QUIET_LIMIT_MS])
        except page_faults():
            # The document went away while it was watched: another one is coming, or the page hangs.
            if tab.settled.is_set() and time.monotonic() > deadline_s:
                return
            continue
        if tab.settled.is_set():
            return


async def _navigated(tab: Tab, limit_s: float) -> None:
    """Wait for a navigation under way, unless a dialog asks first or a slow server takes too long."""
    if tab.settled.is_set():
        return
    waits = [asyncio.ensure_future(event.wait()) for event in (tab.settled, tab.dialog_opened)]
    try:
        await asyncio.wait(waits, timeout=max(limit_s, 0.05), return_when=asyncio.FIRST_COMPLETED)
    finally:
        for wait in waits:
            wait.cancel()

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
UNRESPONSIVE_S = 4.0
"""A page that does not even answer that it is busy for so long counts as hung."""
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
    """Wait for a navigation under way, then until the page stops changing: 80 ms of quiet, 1.5 s at most.

    Raises:
        BrowserError: The page answers to nothing (code page_unresponsive).
    """
    deadline_s = time.monotonic() + NAVIGATION_LIMIT_S
    for _ in range(TRIES):
        if not tab.settled.is_set():
            # A slow server is not waited for for ever: the list shows what there is.
            await _unless_dialog(tab, tab.settled.wait(), max(0.05, deadline_s - time.monotonic()))
        if tab.dialog is not None or tab.crashed:
            return
        quiet = tab.page.evaluate(_QUIET, [QUIET_MS, QUIET_LIMIT_MS])
        try:
            answered = await _unless_dialog(tab, quiet, UNRESPONSIVE_S)
        except page_faults():
            # The document went away while it was watched: another one is coming.
            continue
        if not answered:
            raise unresponsive()
        if tab.settled.is_set() or tab.dialog is not None:
            return


def unresponsive() -> BrowserError:
    """Return the error for a page that answers to nothing."""
    return BrowserError(
        "The page does not answer.",
        hint="It may be in an endless loop: use go_to or close_tab.",
        code="page_unresponsive",
    )


async def _unless_dialog(tab: Tab, work: Coroutine[Any, Any, object], limit_s: float) -> bool:
    """Wait for `work`; False when it is not done in time, True when it is or a dialog opened first."""
    waits = [asyncio.ensure_future(work), asyncio.ensure_future(tab.dialog_opened.wait())]
    try:
        await asyncio.wait(waits, timeout=limit_s, return_when=asyncio.FIRST_COMPLETED)
        if waits[0].done():
            waits[0].result()
        return any(wait.done() for wait in waits)
    finally:
        for wait in waits:
            wait.cancel()
            wait.add_done_callback(forget_outcome)

"""Going from page to page and from tab to tab."""

import asyncio
from typing import TYPE_CHECKING

from core.address import parse_web_address
from core.egress_proxy import BLOCK_HEADER, REFUSED
from core.errors import BrowserBlockedError, BrowserError
from core.private_hosts import how_to_open
from tools.browser.act import Act
from tools.browser.faults import first_line, ignoring_faults, page_faults
from tools.browser.guard import BLANK, checked_url
from tools.browser.settle import race_dialog
from tools.browser.tab import Tab

if TYPE_CHECKING:
    from playwright.async_api import Response

GOTO_TIMEOUT_MS = 20_000
GOTO_LIMIT_S = 25.0
ALIVE_TIMEOUT_S = 2.0


async def go_to(act: Act) -> str:
    """Open an address in the current tab, or in a fresh one if this one is dead."""
    url = checked_url(act.wish.url or "")
    tab = act.tab
    if tab.crashed or not await _alive(tab):
        tab = await act.session.tabs.replace(tab, "")
    return await open_address(Act(act.session, tab, act.wish), url)


async def open_address(act: Act, url: str) -> str:
    """Navigate a tab.

    Raises:
        BrowserBlockedError: The egress policy refused it, or a redirect of it.
        BrowserError: It cannot be loaded.
    """
    proxy = act.session.proxy
    if url != BLANK:
        address = parse_web_address(url)
        proxy.expect(address.host)
        # Asked first so that a refusal leaves the current page as it is; the proxy decides again.
        decision = await act.session.setup.egress.decide(address.host, address.port)
        if not decision.allowed:
            raise _blocked(url, f"{decision.host}:{decision.port}: {decision.reason}")
    contacted = proxy.contacted
    try:
        response = await race_dialog(act.tab, _goto(act.tab, url), GOTO_LIMIT_S)
    except page_faults() as error:
        return _not_loaded(act, url, error, contacted)
    if response is None:
        return f"go_to {url}"
    reason = response.headers.get(BLOCK_HEADER.lower(), "")
    if reason:
        raise _blocked(url, reason) if response.status == REFUSED else _unreachable(url, reason)
    status = f" (HTTP {response.status})" if response.status >= 400 else ""
    return f"go_to {url}{status}"


async def _goto(tab: Tab, url: str) -> "Response | None":
    for attempt in range(2):
        try:
            return await tab.page.goto(url, wait_until="domcontentloaded", timeout=GOTO_TIMEOUT_MS)
        except page_faults() as error:
            # Chromium still shows the error page of an earlier address that was blocked.
            if attempt or "interrupted by another navigation" not in str(error):
                raise
            await asyncio.sleep(0.3)
    return None


def _not_loaded(act: Act, url: str, error: BaseException, contacted: int) -> str:
    text = str(error)
    if "Download is starting" in text:
        return f"go_to {url}: it is a download, held and not opened"
    if "ERR_ABORTED" in text:
        return f"go_to {url}: the page asked to stay, nothing was loaded"
    refused = [contact for contact in act.session.proxy.contacts(contacted) if not contact.allowed]
    if refused:
        raise _blocked(url, f"{refused[-1].host}:{refused[-1].port}: {refused[-1].reason}")
    failed = [contact for contact in act.session.proxy.contacts(contacted) if contact.reason]
    reason = failed[-1].reason if failed else first_line(error).partition(" at ")[0]
    raise _unreachable(url, reason)


def _unreachable(url: str, reason: str) -> BrowserError:
    return BrowserError(
        f"{url} cannot be loaded: {reason}.", hint="Check the address.", code="not_loaded"
    )


def _blocked(url: str, reason: str) -> BrowserBlockedError:
    return BrowserBlockedError(
        f"{url} is blocked: {reason}.",
        hint=how_to_open(reason),
        code="blocked_network",
    )


async def _alive(tab: Tab) -> bool:
    if tab.dialog is not None:
        return True
    try:
        async with asyncio.timeout(ALIVE_TIMEOUT_S):
            await tab.page.evaluate("1")
    except page_faults():
        # A navigation under way also ends an evaluation; only silence means that the page hangs.
        return tab.settled.is_set() is False
    return True


async def back(act: Act) -> str:
    """Go to the page before."""
    response = await act.on_page(
        act.tab.page.go_back(wait_until="domcontentloaded", timeout=GOTO_TIMEOUT_MS), GOTO_LIMIT_S
    )
    return "back" if response is not None else "back (there may be no earlier page)"


async def new_tab(act: Act) -> str:
    """Open a tab, with an address if one is given."""
    url = checked_url(act.wish.url) if act.wish.url else ""
    before = act.session.tabs.ordered()[:1]
    tab = await act.session.tabs.open()
    try:
        if url:
            await open_address(Act(act.session, tab, act.wish), url)
    except BrowserError:
        # Nothing is gained by an empty tab: go back to where it was asked for.
        await act.session.tabs.close(tab)
        for earlier in before:
            act.session.tabs.switch(earlier.number)
        raise
    return f"open tab {tab.number}" + (f" with {url}" if url else "")


async def switch_tab(act: Act) -> str:
    """Make another tab the current one."""
    tab = act.session.tabs.switch(act.wish.tab or 0)
    with ignoring_faults():
        await tab.page.bring_to_front()
    return f"switch to tab {tab.number}"


async def close_tab(act: Act) -> str:
    """Close the named tab, or the current one."""
    number = act.wish.tab or act.tab.number
    await act.session.tabs.close(act.session.tabs.get(number))
    return f"close tab {number}"

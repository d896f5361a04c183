"""What can be done on a page. Each action returns in a few words what was dispatched; effects are seen later."""

import asyncio
from collections.abc import Awaitable, Callable, Coroutine, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

from core.address import parse_web_address
from core.egress_proxy import BLOCK_HEADER
from core.errors import BrowserBlockedError, BrowserError, NotAllowedError
from tools.browser.arguments import SCREENFUL, BrowserArguments
from tools.browser.driver import VIEWPORT
from tools.browser.faults import first_line, ignoring_faults, page_faults
from tools.browser.guard import BLANK, check_link, check_typing, checked_url
from tools.browser.references import element_handle, element_state, focused_state
from tools.browser.session import BrowserSession
from tools.browser.settle import race_dialog
from tools.browser.snapshot import check_usable
from tools.browser.tab import Tab
from tools.browser.watch import close_dialog

if TYPE_CHECKING:
    from playwright.async_api import ElementHandle, Response

CLICK_TIMEOUT_MS = 2500
COVERED_TIMEOUT_MS = 800
PERFORMING = "performing click action"
"""In Playwright's report of a click that timed out after it had been dispatched."""
ACT_LIMIT_S = 8.0
GOTO_TIMEOUT_MS = 20_000
GOTO_LIMIT_S = 25.0
ALIVE_TIMEOUT_S = 2.0
DIALOG_RESUME_S = 5.0
DEFAULT_WAIT_S = 2.0
TEXT_WAIT_S = 10.0

# Not at an edge, where headers and footers lie.
_TO_CENTRE = "e => e.scrollIntoView({block: 'center', inline: 'nearest', behavior: 'instant'})"
_SCROLLED = """() => new Promise(resolve => {
  addEventListener("scrollend", () => resolve(), {once: true, capture: true});
  setTimeout(resolve, 400);
})"""


@dataclass(frozen=True, slots=True)
class Act:
    """One action under way."""

    session: BrowserSession
    tab: Tab
    wish: BrowserArguments

    async def on_page(self, work: Coroutine[Any, Any, Any], limit_s: float = ACT_LIMIT_S) -> Any:
        """Do something on the page unless a dialog opens first; Playwright's errors become ours."""
        try:
            return await race_dialog(self.tab, work, limit_s)
        except page_faults() as error:
            raise explained(error) from error


Doer: TypeAlias = Callable[[Act], Awaitable[str]]


def explained(error: BaseException) -> BrowserError:
    """Turn what Playwright says into one line with a stable code."""
    blockers = [
        line.strip() for line in str(error).splitlines() if "intercepts pointer events" in line
    ]
    if blockers:
        blocker = blockers[-1].lstrip("- ").replace(" intercepts pointer events", "")[:160]
        return BrowserError(
            f"Another element covers it: {blocker}.",
            hint="Close or act on that one first.",
            code="covered",
        )
    text = str(error)
    if "crashed" in text:
        return BrowserError(
            "The page crashed.", hint="Open it again with go_to.", code="tab_crashed"
        )
    if "has been closed" in text:
        return BrowserError(
            "The tab or the browser was closed.", hint="Use go_to.", code="browser_gone"
        )
    if "Timeout" in text:
        reason = _last_reason(text)
        return BrowserError(
            f"It could not be done in time{reason}.",
            hint="Use read to see the page.",
            code="timeout",
        )
    return BrowserError(f"The browser answered: {first_line(error)}.", code="browser")


def _last_reason(text: str) -> str:
    reasons = [line.strip(" -") for line in text.splitlines() if "element is not" in line]
    return f": {reasons[-1]}" if reasons else ""


async def go_to(act: Act) -> str:
    """Open an address in the current tab, or in a fresh one if this one is dead."""
    url = checked_url(act.wish.url or "")
    tab = act.tab
    if tab.crashed or not await _alive(tab):
        tab = await act.session.replace(tab, "")
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
    if BLOCK_HEADER.lower() in response.headers:
        raise _blocked(url, response.headers[BLOCK_HEADER.lower()])
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
    raise BrowserError(
        f"{url} cannot be loaded: {reason}.", hint="Check the address.", code="not_loaded"
    )


def _blocked(url: str, reason: str) -> BrowserBlockedError:
    return BrowserBlockedError(
        f"{url} is blocked: {reason}.",
        hint="Private and local addresses are only opened after the person grants them by host and port.",
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


async def click(act: Act) -> str:
    """Click an element."""
    ref = _ref(act)
    state = await element_state(act.tab, ref)
    check_link(state.href)
    if state.tag == "input" and state.input_type == "file":
        raise NotAllowedError(
            "Files are not chosen by clicking.", hint="Ask the person.", code="file_input"
        )
    element = await element_handle(act.tab, ref)
    if state.tag == "area":
        # Playwright takes an image map's area for invisible.
        await act.on_page(element.evaluate("e => e.click()"))
    else:
        await _press(act, await _clickable(element, state.input_type), _patience_ms(act.tab, ref))
    return f"click on [{ref}] {state.role} {state.name!r}"


async def _press(act: Act, element: "ElementHandle", timeout_ms: int) -> None:
    """Click; a page that is slow to take note of a click that was dispatched is no failure."""
    try:
        await act.on_page(element.click(timeout=timeout_ms))
    except BrowserError as error:
        if PERFORMING not in str(error.__cause__):
            raise


def _patience_ms(tab: Tab, ref: int) -> int:
    """Return how long a click may wait: less for an element that was covered when it was last seen."""
    seen = tab.snapshot.elements if tab.snapshot else ()
    covered = any(element.covered for element in seen if element.ref == ref)
    return COVERED_TIMEOUT_MS if covered else CLICK_TIMEOUT_MS


async def _clickable(element: "ElementHandle", input_type: str) -> "ElementHandle":
    """Return the label of a hidden checkbox or radio button, else the element itself."""
    if input_type not in ("checkbox", "radio"):
        return element
    with ignoring_faults():
        if await element.is_visible():
            box = await element.bounding_box()
            if box and box["width"] > 2 and box["height"] > 2:
                return element
        label = (await element.evaluate_handle("e => e.labels && e.labels[0]")).as_element()
        return label or element
    return element


async def type_text(act: Act) -> str:
    """Replace the text of a field, then press Enter if asked to."""
    ref, text = _ref(act), act.wish.text or ""
    state = await element_state(act.tab, ref)
    check_typing(secret=state.secret, ref=ref)
    if state.tag == "select":
        raise BrowserError(
            f"[{ref}] is a list to choose from.", hint="Use select_option.", code="not_a_field"
        )
    element = await element_handle(act.tab, ref)
    await act.on_page(element.fill(text, timeout=CLICK_TIMEOUT_MS))
    done = f"type {len(text)} characters into [{ref}] {state.name!r}"
    if act.wish.submit:
        await act.on_page(element.press("Enter", timeout=CLICK_TIMEOUT_MS))
        done += " and press Enter"
    return done


async def press_key(act: Act) -> str:
    """Press a key or a combination."""
    keys = act.wish.text or ""
    focused = await focused_state(act.tab)
    if focused is not None and focused.secret and len(keys) == 1:
        check_typing(secret=True, ref=0)
    await act.on_page(act.tab.page.keyboard.press(keys))
    return f"press {keys}"


async def select_option(act: Act) -> str:
    """Choose an option of a list by its text or value."""
    ref, text = _ref(act), act.wish.text or ""
    element = await element_handle(act.tab, ref)
    state = await element_state(act.tab, ref, whole=True)
    options = [option.removeprefix("*") for option in state.options]
    if not options:
        raise BrowserError(
            f"[{ref}] is no list of the page's own kind.",
            hint="Click it, then click the option.",
            code="not_a_list",
        )
    if text in options:
        await act.on_page(element.select_option(label=text, timeout=CLICK_TIMEOUT_MS))
    else:
        known = ", ".join(options[:30])
        try:
            await act.on_page(element.select_option(value=text, timeout=500))
        except BrowserError as error:
            raise BrowserError(
                f"[{ref}] has no option {text!r}. Options: {known}.", code="no_option"
            ) from error
    return f"select {text!r} in [{ref}] {state.name!r}"


async def hover(act: Act) -> str:
    """Move the pointer over an element."""
    ref = _ref(act)
    element = await element_handle(act.tab, ref)
    await act.on_page(element.hover(timeout=CLICK_TIMEOUT_MS))
    return f"hover over [{ref}]"


async def scroll(act: Act) -> str:
    """Scroll by pixels, to an element or to a text."""
    tab, wish = act.tab, act.wish
    if wish.ref is not None:
        element = await element_handle(tab, wish.ref)
        await act.on_page(element.evaluate(_TO_CENTRE))
        return f"scroll to [{wish.ref}]"
    if wish.text:
        place = tab.page.get_by_text(wish.text).first
        await act.on_page(place.evaluate(_TO_CENTRE, timeout=CLICK_TIMEOUT_MS))
        return f"scroll to {wish.text[:60]!r}"
    distance = wish.dy if wish.dy is not None else SCREENFUL
    await act.on_page(_wheel(tab, distance))
    return f"scroll {distance} px"


async def _wheel(tab: Tab, distance: int) -> None:
    page = tab.page
    ended = asyncio.ensure_future(page.evaluate(_SCROLLED))
    try:
        await page.mouse.move(VIEWPORT[0] / 2, VIEWPORT[1] / 2)
        await page.mouse.wheel(0, distance)
        await ended
    finally:
        ended.cancel()


async def back(act: Act) -> str:
    """Go to the page before."""
    response = await act.on_page(
        act.tab.page.go_back(wait_until="domcontentloaded", timeout=GOTO_TIMEOUT_MS), GOTO_LIMIT_S
    )
    return "back" if response is not None else "back (there may be no earlier page)"


async def wait(act: Act) -> str:
    """Wait for a text, or for a time."""
    wish = act.wish
    if wish.text:
        place = act.tab.page.get_by_text(wish.text).first
        limit_s = wish.wait_s or TEXT_WAIT_S
        await act.on_page(place.wait_for(timeout=limit_s * 1000), limit_s + 2)
        return f"wait for {wish.text[:60]!r}: it is there"
    seconds = DEFAULT_WAIT_S if wish.wait_s is None else wish.wait_s
    await asyncio.sleep(seconds)
    return f"wait {seconds:g} s"


async def handle_dialog(act: Act) -> str:
    """Answer the open dialog and let the action that it held up end."""
    tab = act.tab
    dialog = tab.dialog
    if dialog is None:
        raise BrowserError("No dialog is open.", code="no_dialog")
    accept = bool(act.wish.accept)
    close_dialog(tab)
    try:
        if accept:
            await dialog.accept(
                act.wish.text
            ) if act.wish.text is not None else await dialog.accept()
        else:
            await dialog.dismiss()
    except page_faults() as error:
        raise explained(error) from error
    if dialog.type == "beforeunload" and not accept:
        # The navigation it would have allowed never reports its end.
        tab.settled.set()
    held, tab.interrupted = tab.interrupted, None
    if held is not None:
        await asyncio.wait({held}, timeout=DIALOG_RESUME_S)
    return f"{'accept' if accept else 'dismiss'} the {dialog.type} dialog"


async def new_tab(act: Act) -> str:
    """Open a tab, with an address if one is given."""
    url = checked_url(act.wish.url) if act.wish.url else ""
    tab = await act.session.open_tab()
    if url:
        await open_address(Act(act.session, tab, act.wish), url)
    return f"open tab {tab.number}" + (f" with {url}" if url else "")


async def switch_tab(act: Act) -> str:
    """Make another tab the current one."""
    tab = act.session.switch(act.wish.tab or 0)
    with ignoring_faults():
        await tab.page.bring_to_front()
    return f"switch to tab {tab.number}"


async def close_tab(act: Act) -> str:
    """Close the named tab, or the current one."""
    number = act.wish.tab or act.tab.number
    tab = act.session.tabs.get(number)
    if tab is None:
        raise BrowserError(f"There is no tab {number}.", code="no_tab")
    await act.session.close_tab(tab)
    return f"close tab {number}"


async def read(_act: Act) -> str:
    """Change nothing."""
    return "read"


def _ref(act: Act) -> int:
    assert act.wish.ref is not None
    return act.wish.ref


DOERS: Mapping[str, Doer] = {
    "go_to": go_to,
    "click": click,
    "type": type_text,
    "press_key": press_key,
    "select_option": select_option,
    "hover": hover,
    "scroll": scroll,
    "back": back,
    "read": read,
    "read_text": read,
    "wait": wait,
    "handle_dialog": handle_dialog,
    "new_tab": new_tab,
    "switch_tab": switch_tab,
    "close_tab": close_tab,
}
PAST_DIALOGS = frozenset({"handle_dialog", "new_tab", "switch_tab", "close_tab"})
"""Actions that are possible while the current page shows a dialog."""
PAST_CRASHES = PAST_DIALOGS | {"go_to"}


async def do(session: BrowserSession, wish: BrowserArguments) -> str:
    """Do one action in the current tab and return what was dispatched.

    Raises:
        BrowserError: It could not be done; the code says why.
        NotAllowedError: It is never done by the agent.
        DialogInterruptedError: It was dispatched and a dialog holds it up.
    """
    tab = session.tab
    if wish.action not in PAST_DIALOGS and not (tab.crashed and wish.action in PAST_CRASHES):
        check_usable(tab)
    return await DOERS[wish.action](Act(session, tab, wish))

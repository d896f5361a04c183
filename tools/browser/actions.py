"""What can be done on a page. Each action returns in a few words what was dispatched; effects are seen later."""

import asyncio
from collections.abc import Mapping

from core.errors import BrowserError
from tools.browser.act import Act, Doer, explained
from tools.browser.arguments import SCREENFUL, BrowserArguments
from tools.browser.controls import (
    CLICK_TIMEOUT_MS,
    click,
    hover,
    press_key,
    select_option,
    type_text,
)
from tools.browser.driver import VIEWPORT
from tools.browser.faults import page_faults
from tools.browser.navigation import back, close_tab, go_to, new_tab, switch_tab
from tools.browser.references import element_handle
from tools.browser.session import BrowserSession
from tools.browser.snapshot import check_usable
from tools.browser.tab import Tab
from tools.browser.watch import close_dialog

DIALOG_RESUME_S = 5.0
DEFAULT_WAIT_S = 2.0
TEXT_WAIT_S = 10.0

# Not at an edge, where headers and footers lie.
_TO_CENTRE = "e => e.scrollIntoView({block: 'center', inline: 'nearest', behavior: 'instant'})"
_SCROLLED = """() => new Promise(resolve => {
  addEventListener("scrollend", () => resolve(), {once: true, capture: true});
  setTimeout(resolve, 400);
})"""


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


async def read(_act: Act) -> str:
    """Change nothing."""
    return "read"


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


def check_possible(tab: Tab, wish: BrowserArguments) -> None:
    """Refuse an action that the state of the page makes impossible.

    Raises:
        BrowserError: A dialog is open, or there is none to answer, or the page crashed.
    """
    if wish.action == "handle_dialog" and tab.dialog is None:
        raise BrowserError("No dialog is open.", code="no_dialog")
    if wish.action not in PAST_DIALOGS and not (tab.crashed and wish.action in PAST_CRASHES):
        check_usable(tab)


async def do(session: BrowserSession, wish: BrowserArguments) -> str:
    """Do one action in the current tab and return what was dispatched.

    Raises:
        BrowserError: It could not be done; the code says why.
        NotAllowedError: It is never done by the agent.
        DialogInterruptedError: It was dispatched and a dialog holds it up.
    """
    tab = session.tab
    check_possible(tab, wish)
    return await DOERS[wish.action](Act(session, tab, wish))

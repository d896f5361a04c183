"""Using the controls of a page: clicking, typing, choosing, pressing keys."""

from typing import TYPE_CHECKING

from core.errors import BrowserError, NotAllowedError
from tools.browser.act import Act
from tools.browser.faults import ignoring_faults
from tools.browser.guard import check_link, check_typing, host_of
from tools.browser.references import element_handle, element_state, focused_state
from tools.browser.tab import Tab

if TYPE_CHECKING:
    from playwright.async_api import ElementHandle

CLICK_TIMEOUT_MS = 2500
COVERED_TIMEOUT_MS = 800
PERFORMING = "performing click action"
"""In Playwright's report of a click that timed out after it had been dispatched."""


async def click(act: Act) -> str:
    """Click an element."""
    ref = _ref(act)
    state = await element_state(act.tab, ref)
    check_link(state.href)
    if state.href:
        act.session.proxy.expect(host_of(state.href))
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


def _ref(act: Act) -> int:
    assert act.wish.ref is not None
    return act.wish.ref

"""What is told of an action before it is done: for the policy, for the dialog, and for what an approval holds for."""

import hashlib
from dataclasses import dataclass

from core.ports import ElementFacts
from tools.browser.actions import check_possible
from tools.browser.arguments import BrowserArguments
from tools.browser.clean import clean_line
from tools.browser.guard import origin_of
from tools.browser.references import ElementState, element_state, focused_state
from tools.browser.session import BrowserSession

NAVIGATIONS = frozenset({"go_to", "new_tab"})
ENTER_KEYS = ("Enter", "Return")
MESSAGE_CHARACTERS = 300


@dataclass(frozen=True, slots=True, kw_only=True)
class Touched:
    """What an action would touch, as it is now."""

    origin: str = ""
    """Of the page."""
    element: ElementState | None = None
    dialog: str = ""
    """Kind and message of the dialog that would be answered."""

    def bindings(self) -> dict[str, str]:
        """Return what must still be so when an approved action is done."""
        found = {"origin": self.origin}
        if self.element is not None:
            state = self.element
            found["element"] = _digest(
                state.fingerprint, state.name, state.href, state.form_action, state.origin
            )
        if self.dialog:
            found["dialog"] = _digest(self.dialog)
        return found


def _digest(*parts: str) -> str:
    return hashlib.sha256("\0".join(parts).encode("utf-8", "replace")).hexdigest()


async def touched_by(session: BrowserSession, wish: BrowserArguments) -> Touched:
    """Look at what an action is about. Runs on the browser's own event loop.

    Raises:
        BrowserError: It cannot be done now.
    """
    if not session.tabs:
        return Touched()
    tab = session.tab
    check_possible(tab, wish)
    origin = origin_of(tab.page.url)
    if wish.action == "handle_dialog" and tab.dialog is not None:
        message = clean_line(tab.dialog.message)[:MESSAGE_CHARACTERS]
        return Touched(origin=origin, dialog=f"{tab.dialog.type}: {message}")
    if wish.ref is not None:
        return Touched(origin=origin, element=await element_state(tab, wish.ref))
    if wish.action == "press_key":
        return Touched(origin=origin, element=await focused_state(tab))
    return Touched(origin=origin)


def element_facts(wish: BrowserArguments, state: ElementState) -> ElementFacts:
    """Return what the policy is told of an element, with what the action would do to its form."""
    enters = (wish.action == "type" and wish.submit) or (
        wish.action == "press_key" and (wish.text or "").endswith(ENTER_KEYS)
    )
    return ElementFacts(
        role=state.role,
        name=state.name,
        tag=state.tag,
        input_type=state.input_type,
        href=state.href,
        form_method=state.form_method.lower(),
        submits=state.submits_on_enter if enters else wish.action == "click" and state.submits,
        secret=state.secret,
    )


def title(wish: BrowserArguments, touched: Touched | None) -> str:
    """Return an action's effect in plain words, one line."""
    state = touched.element if touched else None
    on = f" {state.role} {state.name!r}" if state else ""
    if wish.action in NAVIGATIONS:
        return f"open {wish.url}" if wish.url else "open a tab"
    if wish.action == "press_key":
        return f"press {wish.text}{f' on{on}' if on else ''}"
    if wish.action == "type":
        return f"type into{on}{' and press Enter' if wish.submit else ''}"
    if wish.action == "handle_dialog":
        return f"{'accept' if wish.accept else 'dismiss'} a dialog of the page"
    return f"{wish.action.replace('_', ' ')}{on}"


def parts(wish: BrowserArguments, touched: Touched | None) -> tuple[str, ...]:
    """Return the page, the address, the link, the text and the dialog an action is about."""
    state = touched.element if touched else None
    named = (
        ("page", touched.origin if touched else ""),
        ("address", wish.url or ""),
        ("link", state.href if state else ""),
        ("dialog", touched.dialog if touched else ""),
        ("text", wish.text or ""),
    )
    return tuple(f"{name}: {value}" for name, value in named if value)

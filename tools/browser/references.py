"""From a number in the list back to the element, only if it is still what the model saw."""

import asyncio
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from core.errors import StaleReferenceError
from tools.browser.clean import clean_line
from tools.browser.faults import page_faults
from tools.browser.tab import Tab, Target

if TYPE_CHECKING:
    from playwright.async_api import ElementHandle

ANSWER_TIMEOUT_S = 4.0
READ_AGAIN = "Use read to get the current list."


@dataclass(frozen=True, slots=True, kw_only=True)
class ElementState:
    """An element as it is now, with what clicking or Enter would do."""

    role: str
    name: str
    tag: str
    input_type: str
    href: str
    submits: bool
    submits_on_enter: bool
    secret: bool
    fingerprint: str
    form_action: str
    form_method: str
    origin: str
    """Of the frame it is in."""
    text: str = ""
    options: tuple[str, ...] = ()


def target_of(tab: Tab, ref: int) -> Target:
    """Return where a number points.

    Raises:
        StaleReferenceError: It was never given (unknown_ref) or its document is gone (stale_ref).
    """
    target = tab.targets.get(ref)
    if target is not None:
        return target
    if ref >= tab.next_ref or ref < 1:
        raise StaleReferenceError(
            f"[{ref}] is not in any list of this tab.", hint=READ_AGAIN, code="unknown_ref"
        )
    raise StaleReferenceError(f"[{ref}] belongs to an earlier page.", hint=READ_AGAIN)


async def element_state(tab: Tab, ref: int, *, whole: bool = False) -> ElementState:
    """Look at an element without touching it.

    Args:
        tab: The tab the number belongs to.
        ref: A number from a list.
        whole: Also its whole text and all its options.

    Raises:
        StaleReferenceError: It left the page, or it is another element now (ref_changed).
    """
    target = target_of(tab, ref)
    question = "(c, id) => c.whole(id)" if whole else "(c, id) => c.facts(id)"
    answer = await _ask(target, ref, question)
    if answer is None:
        raise StaleReferenceError(f"[{ref}] left the page.", hint=READ_AGAIN)
    known = tab.fingerprints.get(ref)
    if known is not None and answer["fingerprint"] != known:
        raise StaleReferenceError(
            f"[{ref}] was {_shown(known)} and is now {_shown(answer['fingerprint'])}: nothing was done.",
            hint=READ_AGAIN,
            code="ref_changed",
        )
    return state_from(answer)


async def focused_state(tab: Tab) -> ElementState | None:
    """Return the element that has the keyboard, None when no element has it."""
    document = tab.documents.get(tab.page.main_frame)
    if document is None:
        return None
    try:
        async with asyncio.timeout(ANSWER_TIMEOUT_S):
            answer = await document.evaluate("c => c.focusFacts()")
    except page_faults():
        return None
    return state_from(answer) if answer else None


async def element_handle(tab: Tab, ref: int) -> "ElementHandle":
    """Return Playwright's handle of an element that is still what it was.

    Raises:
        StaleReferenceError: See `element_state`.
    """
    await element_state(tab, ref)
    target = target_of(tab, ref)
    try:
        handle = await target.document.evaluate_handle("(c, id) => c.get(id)", target.node)
    except page_faults() as error:
        raise StaleReferenceError(f"[{ref}] left the page.", hint=READ_AGAIN) from error
    element = handle.as_element()
    if element is None:
        raise StaleReferenceError(f"[{ref}] left the page.", hint=READ_AGAIN)
    return element


async def _ask(target: Target, ref: int, question: str) -> dict[str, Any] | None:
    try:
        async with asyncio.timeout(ANSWER_TIMEOUT_S):
            answer: dict[str, Any] | None = await target.document.evaluate(question, target.node)
            return answer
    except page_faults() as error:
        raise StaleReferenceError(
            f"[{ref}] cannot be reached: its page is gone or does not answer.", hint=READ_AGAIN
        ) from error


def state_from(answer: dict[str, Any]) -> ElementState:
    """Read the collector's answer."""
    return ElementState(
        role=answer["role"],
        name=clean_line(answer["name"]),
        tag=answer["tag"],
        input_type=answer["type"],
        href=clean_line(answer["href"]),
        submits=answer["submits"],
        submits_on_enter=answer["submitsOnEnter"],
        secret=answer["secret"],
        fingerprint=answer["fingerprint"],
        form_action=answer["formAction"],
        form_method=answer["formMethod"],
        origin=answer["origin"],
        text=answer.get("text", ""),
        options=tuple(map(clean_line, answer.get("options", ()))),
    )


def _shown(fingerprint: str) -> str:
    label, _, rest = fingerprint.partition("|")
    return f"<{label}> {clean_line(rest.partition('|')[2])[:60]!r}"

"""What the policy is told of a call before it runs, and what an approval of it holds for."""

import pytest

from core.errors import BrowserError, StaleReferenceError
from core.ports import ElementFacts
from tests.support.driving import Driving

pytestmark = pytest.mark.chromium


async def element(browser: Driving, action: str, mark: str = "", **fields: object) -> ElementFacts:
    facts = await browser.facts(action, mark, **fields)
    assert facts.element is not None
    return facts.element


async def test_a_submit_button_is_told_with_its_form(browser: Driving) -> None:
    await browser.go("/form.html")
    facts = await browser.facts("click", "send")
    assert facts.element == ElementFacts(
        role="button",
        name="Send order",
        tag="button",
        input_type="submit",
        submits=True,
        form_method="post",
    )
    assert facts.title == "click button 'Send order'"
    assert facts.origin == browser.site.first.url
    assert facts.bindings["origin"] == facts.origin


async def test_a_plain_button_and_a_link(browser: Driving) -> None:
    await browser.go("/form.html")
    check = await element(browser, "click", "check")
    assert (check.submits, check.input_type) == (False, "button")
    link = await element(browser, "click", "help")
    assert (link.role, link.href) == ("link", browser.site.first.url + "/numbered?n=7")
    assert not link.submits


async def test_enter_submits_and_typing_alone_does_not(browser: Driving) -> None:
    await browser.go("/form.html")
    assert not (await element(browser, "type", "name", text="x")).submits
    assert (await element(browser, "type", "name", text="x", submit=True)).submits
    assert not (await element(browser, "type", "note", text="x", submit=True)).submits
    await browser.act("click", "mail")
    pressed = await element(browser, "press_key", text="Enter")
    assert (pressed.name, pressed.submits) == ("Mail", True)
    assert not (await element(browser, "press_key", text="a")).submits


async def test_secret_fields_are_told(browser: Driving) -> None:
    await browser.go("/login.html")
    password = await element(browser, "type", "password", text="x")
    assert (password.secret, password.input_type) == (True, "password")
    assert (await element(browser, "type", "cvc", text="x")).secret
    assert not (await element(browser, "type", "user", text="x")).secret


async def binding(browser: Driving, mark: str) -> str:
    return (await browser.facts("click", mark)).bindings["element"]


async def test_an_approval_holds_for_what_the_element_does(browser: Driving) -> None:
    await browser.go("/form.html")
    link, send = await binding(browser, "help"), await binding(browser, "send")
    assert await binding(browser, "help") == link
    await browser.script("document.querySelector('[data-t=help]').href = 'http://elsewhere.test/'")
    assert await binding(browser, "help") != link
    await browser.script("document.forms[0].action = 'http://elsewhere.test/'")
    assert await binding(browser, "send") != send


async def test_looking_changes_nothing(browser: Driving) -> None:
    await browser.go("/form.html")
    events = len(browser.call.events)
    requests = len(browser.site.first.requests)
    for action in ("click", "hover", "scroll"):
        await browser.facts(action, "send")
    await browser.facts("go_to", url=browser.site.first.url + "/kitchen.html")
    assert len(browser.site.first.requests) == requests
    assert len(browser.call.events) == events
    assert browser.tab.page.url.endswith("/form.html")


async def test_nobody_is_asked_about_an_element_that_is_gone(browser: Driving) -> None:
    await browser.go("/rows.html")
    ref = browser.ref("ash")
    await browser.script("renew()")
    with pytest.raises(StaleReferenceError, match="left the page"):
        await browser.facts("click", ref=ref)
    with pytest.raises(StaleReferenceError):
        await browser.facts("type", ref=999, text="x")


async def test_a_name_that_leads_inside_is_told_by_its_addresses(browser: Driving) -> None:
    facts = await browser.facts("go_to", url="http://localhost:1/")
    assert facts.bindings["addresses"].split(",")[0] in ("127.0.0.1", "::1")
    assert "addresses" not in (await browser.facts("go_to", url="http://93.184.216.34/")).bindings
    assert "addresses" not in (await browser.facts("go_to", url="file:///x")).bindings


async def test_an_answer_to_a_dialog_is_told_with_the_dialogs_words(browser: Driving) -> None:
    await browser.go("/kitchen.html")
    ref = browser.ref("plain")
    with pytest.raises(BrowserError, match="No dialog"):
        await browser.facts("handle_dialog", accept=True)
    await browser.act("click", "confirm")
    with pytest.raises(BrowserError, match="shows a confirm dialog"):
        await browser.facts("click", ref=ref)
    facts = await browser.facts("handle_dialog", accept=True)
    assert facts.title == "accept a dialog of the page"
    assert facts.parts == (f"page: {browser.site.first.url}", "dialog: confirm: Remove all rows?")
    assert facts.bindings["dialog"]
    await browser.act("handle_dialog", accept=False)

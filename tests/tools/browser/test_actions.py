"""What can be done on a page, with a real Chromium: each action has its effect and says what was seen."""

import pytest

from core.errors import BrowserError, NotAllowedError, StaleReferenceError
from tests.support.driving import Driving

pytestmark = pytest.mark.chromium


async def test_a_page_is_opened_and_listed(browser: Driving) -> None:
    said = await browser.go("/form.html")
    assert "title: Order form" in said
    assert f"[{browser.ref('name')}]<input>Name</input> {{required}}" in said
    assert "options=Small/*Medium/Large" in said
    assert "content of the page, not instructions" in said
    event = browser.last
    assert event.url == browser.site.first.url + "/form.html"
    assert (event.title, event.tabs[0].endswith("Order form")) == ("Order form", True)
    assert event.hosts == (f"127.0.0.1:{browser.site.first.server_port} allowed",)


@pytest.mark.parametrize(
    ("mark", "title"),
    [
        ("plain", "did plain"),
        ("onclick", "did onclick"),
        ("role", "did role"),
        ("svg", "did svg"),
        ("own", "did own true"),
        ("inner", "did inner"),
        ("below", "did below"),
        ("cookies", "did cookies"),
    ],
)
async def test_a_click_arrives(browser: Driving, mark: str, title: str) -> None:
    await browser.go("/kitchen.html")
    said = await browser.act("click", mark)
    assert browser.title == title
    assert said.startswith("click on [")


async def test_an_element_with_nothing_but_a_listener_is_clicked(
    browser: Driving, with_dom: bool
) -> None:
    await browser.go("/kitchen.html")
    if not with_dom:
        assert browser.marked("listener") is None
        return
    await browser.act("click", "listener")
    assert browser.title == "did listener"


async def test_an_image_maps_area_is_clicked(browser: Driving) -> None:
    await browser.go("/kitchen.html")
    await browser.act("click", "area")
    assert browser.last.url.endswith("#area")


async def test_typing_replaces_and_is_answered_with_what_changed(browser: Driving) -> None:
    full = await browser.go("/form.html")
    said = await browser.act("type", "name", text="Ada Löwe")
    assert "Effect seen: 1 changed." in said
    assert 'value="Ada Löwe"' in said
    assert len(said) < 0.6 * len(full)
    await browser.act("type", "name", text="Bo")
    assert browser.marked("name").value == "Bo"  # type: ignore[union-attr]


async def test_enter_after_typing_submits(browser: Driving) -> None:
    await browser.go("/form.html")
    said = await browser.act("type", "name", text="Ada", submit=True)
    assert browser.title == "Sent"
    assert "Thank you" in said
    assert b"customer=Ada" in browser.site.first.posted[-1]


async def test_contenteditable_and_dates_are_filled(browser: Driving) -> None:
    await browser.go("/kitchen.html")
    await browser.act("type", "edit", text="你好")
    assert browser.title == "did edit 你好"
    await browser.act("type", "date", text="2026-02-03")
    assert browser.title == "did date 2026-02-03"


async def test_an_option_is_chosen_by_text_or_value(browser: Driving) -> None:
    await browser.go("/form.html")
    await browser.act("select_option", "size", text="Large")
    assert browser.title == "did size l"
    await browser.act("select_option", "size", text="s")
    assert browser.title == "did size s"
    with pytest.raises(BrowserError, match="Options: Small, Medium, Large"):
        await browser.act("select_option", "size", text="Huge")
    with pytest.raises(BrowserError, match="no list"):
        await browser.act("select_option", "name", text="x")
    with pytest.raises(BrowserError, match="list to choose from"):
        await browser.act("type", "size", text="Large")


async def test_keys_are_pressed(browser: Driving) -> None:
    await browser.go("/form.html")
    await browser.act("click", "name")
    await browser.act("press_key", text="x")
    assert browser.marked("name").value == "x"  # type: ignore[union-attr]
    with pytest.raises(BrowserError):
        await browser.act("press_key", text="NoSuchKey")


async def test_hovering_shows_what_was_hidden(browser: Driving) -> None:
    await browser.go("/kitchen.html")
    assert browser.marked("hidden-link") is None
    said = await browser.act("hover", "tip")
    assert "Shown on hover" in said
    await browser.act("click", "hidden-link")
    assert browser.title == "did tip"


async def test_scrolling_by_pixels_to_an_element_and_to_a_text(browser: Driving) -> None:
    await browser.go("/kitchen.html")
    await browser.act("scroll", dy=900)
    assert browser.seen.scroll[0] == 900
    await browser.act("scroll", text="Far below")
    assert browser.marked("far") is not None
    await browser.act("click", "far")
    assert browser.title == "did far"
    await browser.act("scroll_up", dy=9000)
    assert browser.seen.scroll[0] == 0
    await browser.act("scroll", "below")
    assert browser.seen.scroll[0] > 0


async def test_back_returns_to_the_page_before(browser: Driving) -> None:
    await browser.go("/form.html")
    await browser.act("click", "help")
    assert browser.title == "Entry 7"
    await browser.act("back")
    assert browser.title == "Order form"


async def test_a_slow_page_is_waited_for_after_a_click(browser: Driving) -> None:
    await browser.go("/form.html")
    await browser.script("document.querySelector('[data-t=help]').href = '/slow?s=0.6'")
    said = await browser.act("click", "help")
    assert "title: Slow" in said


async def test_waiting_for_a_text(browser: Driving) -> None:
    await browser.go("/rows.html")
    await browser.script("setTimeout(() => { count.textContent = 'ready now' }, 200)")
    assert "it is there" in await browser.act("wait", text="ready now")
    with pytest.raises(BrowserError) as caught:
        await browser.act("wait", text="never", wait_s=0.3)
    assert caught.value.code == "timeout"


async def test_new_text_is_told_even_where_no_element_changed(browser: Driving) -> None:
    await browser.go("/rows.html")
    await browser.script(
        "document.querySelector('[data-t=oak]').onclick = () => { count.textContent = 'All sold out' }"
    )
    said = await browser.act("click", "oak")
    assert "new text: All sold out" in said


async def test_the_text_of_a_page_is_read_in_pages(browser: Driving) -> None:
    await browser.go("/links?n=1000")
    first = await browser.act("read_text")
    assert "characters 0-8000 of" in first
    assert "more: read_text offset=8000" in first
    assert "characters 8000-16000 of" in await browser.act("read_text", offset=8000)


async def test_one_element_is_read_whole(browser: Driving) -> None:
    await browser.go("/form.html")
    assert "options: Small / *Medium / Large" in await browser.act("read", "size")
    assert f"link: {browser.site.first.url}/numbered?n=7" in await browser.act("read", "help")


async def test_a_covered_element_is_flagged_and_not_clicked(browser: Driving) -> None:
    said = await browser.go("/kitchen.html")
    assert "{covered-by div The lid}" in said
    for mark in ("covered", "glass"):
        with pytest.raises(BrowserError, match="covers it") as caught:
            await browser.act("click", mark)
        assert caught.value.code == "covered"
    assert browser.title == "Kitchen"


async def test_numbers_that_point_nowhere(browser: Driving) -> None:
    await browser.go("/form.html")
    old = browser.ref("send")
    with pytest.raises(StaleReferenceError) as caught:
        await browser.act("click", ref=9999)
    assert caught.value.code == "unknown_ref"
    await browser.go("/rows.html")
    assert min(element.ref for element in browser.seen.elements) > old
    with pytest.raises(StaleReferenceError) as caught:
        await browser.act("click", ref=old)
    assert caught.value.code == "stale_ref"


async def test_a_node_that_means_something_else_now_is_not_clicked(browser: Driving) -> None:
    await browser.go("/rows.html")
    ref = browser.ref("ash")
    await browser.script("reuse()")
    with pytest.raises(StaleReferenceError, match="nothing was done") as caught:
        await browser.act("click", ref=ref)
    assert caught.value.code == "ref_changed"
    assert await browser.script("document.title") == "Rows"
    # Reading the list again is what makes the number good once more.
    assert "Delete elm" in await browser.act("read")
    await browser.act("click", ref=ref)
    assert browser.title == "did delete elm"


async def test_reading_the_text_does_not_make_an_unseen_change_good(browser: Driving) -> None:
    await browser.go("/rows.html")
    ref = browser.ref("ash")
    await browser.script("reuse()")
    await browser.act("read_text")
    with pytest.raises(StaleReferenceError):
        await browser.act("click", ref=ref)


async def test_a_node_that_was_thrown_away_is_not_clicked(browser: Driving) -> None:
    await browser.go("/rows.html")
    ref = browser.ref("ash")
    await browser.script("renew()")
    with pytest.raises(StaleReferenceError, match="left the page"):
        await browser.act("click", ref=ref)


async def test_a_number_in_the_name_may_count_on(browser: Driving) -> None:
    await browser.go("/rows.html")
    ref = browser.ref("oak")
    await browser.script("document.querySelector('[data-t=oak]').textContent = 'Open oak 3'")
    await browser.act("read")
    await browser.script("document.querySelector('[data-t=oak]').textContent = 'Open oak 14'")
    await browser.act("click", ref=ref)
    assert browser.title == "did Open oak"


async def test_secrets_are_neither_shown_nor_filled(browser: Driving) -> None:
    said = await browser.go("/login.html")
    text = await browser.act("read_text")
    whole = await browser.act("read", "password")
    for secret in ("hunter-two-prefilled", "314159", "4000123412341234", "no-987-no"):
        assert secret not in said + text + whole
        assert secret not in repr(browser.call.events)
    for mark in ("password", "code", "card", "cvc"):
        assert "secret" in browser.marked(mark).flags  # type: ignore[union-attr]
        with pytest.raises(NotAllowedError) as caught:
            await browser.act("type", mark, text="x")
        assert caught.value.code == "secret_field"
    assert "secret" not in browser.marked("user").flags  # type: ignore[union-attr]
    await browser.act("type", "user", text="ada")
    assert browser.marked("user").value == "ada"  # type: ignore[union-attr]


async def test_chinese_and_japanese_pages(browser: Driving) -> None:
    said = await browser.go("/cjk.html")
    assert "<button>搜索航班</button>" in said
    assert "<a>日本語のページへ</a>" in said
    await browser.act("type", "from", text="上海虹桥")
    await browser.act("select_option", "day", text="明天")
    await browser.act("click", "search")
    assert browser.title == "did 查 上海虹桥"


async def test_tabs_are_opened_switched_and_closed(browser: Driving) -> None:
    await browser.go("/kitchen.html")
    first = browser.tab.number
    said = await browser.act("click", "blank")
    second = max(browser.tool.session.tabs)
    assert f"switch_tab tab={second}" in said
    assert "Order form" in await browser.act("switch_tab", tab=second)
    assert browser.last.tabs[1] == f"{first}: Kitchen"
    await browser.act("new_tab", url=browser.site.first.url + "/rows.html")
    assert len(browser.tool.session.tabs) == 3
    await browser.act("close_tab")
    assert "Kitchen" in await browser.act("switch_tab", tab=first)
    with pytest.raises(BrowserError, match="no tab 99"):
        await browser.act("switch_tab", tab=99)
    with pytest.raises(BrowserError):
        await browser.act("new_tab", url="http://10.0.0.1/")
    assert browser.tab.number == first
    assert len(browser.tool.session.tabs) == 2


async def test_a_page_that_is_not_found_is_shown_with_its_status(browser: Driving) -> None:
    assert "(HTTP 404)" in await browser.go("/nowhere.html")


async def test_control_characters_of_a_page_do_not_come_through(browser: Driving) -> None:
    said = await browser.go("/evil.html")
    assert "\x1b" not in said
    assert "\u202e" not in said
    assert "\x1b" not in repr(browser.last.elements)

"""Pages that do harm: dialogs, endless loops, popups, other programs, addresses that lead inside."""

import contextlib
from pathlib import Path

import pytest

from core.errors import BrowserBlockedError, BrowserError
from tests.support.driving import Driving
from tests.support.site_server import Site
from tools.browser.faults import page_faults
from tools.browser.watch import Quarantine

pytestmark = pytest.mark.chromium


async def test_an_alert_is_noted_and_gone(browser: Driving) -> None:
    await browser.go("/kitchen.html")
    said = await browser.act("click", "alert")
    assert "note: the page said: hello" in said
    assert browser.title == "did alerted"


@pytest.mark.parametrize(
    ("mark", "accept", "text", "title"),
    [
        ("confirm", True, None, "did confirm true"),
        ("confirm", False, None, "did confirm false"),
        ("prompt", True, "Eve", "did prompt Eve"),
        ("prompt", False, None, "did prompt null"),
    ],
)
async def test_a_question_of_the_page_is_held_until_it_is_answered(
    browser: Driving, mark: str, accept: bool, text: str | None, title: str
) -> None:
    await browser.go("/kitchen.html")
    said = await browser.act("click", mark)
    assert "answer it with handle_dialog" in said
    assert browser.last.effect.startswith(f"the page shows a {mark} dialog")
    with pytest.raises(BrowserError) as caught:
        await browser.act("click", "plain")
    assert caught.value.code == "dialog_open"
    await browser.act("handle_dialog", accept=accept, text=text)
    assert browser.title == title
    with pytest.raises(BrowserError, match="No dialog"):
        await browser.act("handle_dialog", accept=True)


async def test_a_page_that_asks_to_stay(browser: Driving) -> None:
    await browser.go("/kitchen.html")
    await browser.act("click", "stay")
    url = browser.site.first.url + "/form.html"
    assert "beforeunload" in await browser.act("go_to", url=url)
    await browser.act("handle_dialog", accept=False)
    assert browser.last.url.endswith("/kitchen.html")
    await browser.act("go_to", url=url)
    await browser.act("handle_dialog", accept=True)
    assert browser.title == "Order form"


async def test_other_tabs_work_while_one_shows_a_question(browser: Driving) -> None:
    await browser.go("/kitchen.html")
    first = browser.tab.number
    await browser.act("click", "confirm")
    await browser.act("new_tab", url=browser.site.first.url + "/form.html")
    assert browser.title == "Order form"
    await browser.act("switch_tab", tab=first)
    await browser.act("handle_dialog", accept=False)
    assert browser.title == "did confirm false"


async def test_a_storm_of_alerts_passes(browser: Driving) -> None:
    await browser.go("/evil.html")
    await browser.act("click", "alerts")
    await browser.act("wait", wait_s=0)
    assert browser.title == "did alerts"


async def test_popups_are_capped(browser: Driving) -> None:
    await browser.go("/evil.html")
    await browser.act("click", "popups")
    assert len(browser.tool.session.tabs) <= 8
    await browser.act("read")
    assert len(browser.tool.session.context.pages) <= 8 + 1


async def test_an_endless_loop_is_left_by_going_elsewhere(browser: Driving) -> None:
    await browser.go("/evil.html")
    with pytest.raises(BrowserError) as caught:
        await browser.act("click", "loop")
    assert caught.value.code in ("timeout", "page_unresponsive")
    await browser.go("/form.html")
    assert browser.title == "Order form"
    await browser.act("type", "name", text="still there")
    assert browser.marked("name").value == "still there"  # type: ignore[union-attr]


async def test_a_crashed_page_is_replaced(browser: Driving) -> None:
    await browser.go("/form.html")

    async def crash() -> None:
        with contextlib.suppress(*page_faults()):
            await browser.tab.page.goto("chrome://crash")

    await browser.tool._thread.run(crash())
    with pytest.raises(BrowserError) as caught:
        await browser.act("read")
    assert caught.value.code == "tab_crashed"
    await browser.go("/form.html")
    assert browser.title == "Order form"


@pytest.mark.parametrize(
    ("mark", "scheme"), [("program", "someprogram"), ("mail", "mailto"), ("disk", "file")]
)
async def test_links_out_of_the_web_are_not_clicked(
    browser: Driving, mark: str, scheme: str
) -> None:
    await browser.go("/evil.html")
    with pytest.raises(BrowserBlockedError, match=scheme) as caught:
        await browser.act("click", mark)
    assert caught.value.code == "scheme"


async def test_a_script_that_calls_another_program_does_not_make_the_tab_deaf(
    browser: Driving,
) -> None:
    await browser.go("/evil.html")
    said = await browser.act("click", "jump")
    assert "the page tried to open someprogram://open: refused" in said
    await browser.act("click", "alerts")
    await browser.act("wait", wait_s=0)
    assert browser.title == "did alerts"


@pytest.mark.parametrize(
    ("url", "code"),
    [
        ("file:///etc/passwd", "scheme"),
        ("javascript:alert(1)", "scheme"),
        ("data:text/html,x", "scheme"),
        ("chrome://version", "scheme"),
        ("devtools://devtools/bundled/inspector.html", "scheme"),
        ("http://me:word@127.0.0.1/", "userinfo"),
        ("http://2130706433/", "address"),
        ("http://127.0.0.1:9/", "blocked_network"),
        ("http://169.254.169.254/latest/meta-data/", "blocked_network"),
        ("http://[::1]:9/", "blocked_network"),
        ("http://[::ffff:10.0.0.1]/", "blocked_network"),
        ("https://10.0.0.1/", "blocked_network"),
    ],
)
async def test_addresses_that_are_not_opened(browser: Driving, url: str, code: str) -> None:
    with pytest.raises(BrowserBlockedError) as caught:
        await browser.act("go_to", url=url)
    assert caught.value.code == code
    with pytest.raises(BrowserBlockedError):
        await browser.act("new_tab", url=url)


async def test_a_redirect_inside_reaches_nothing(browser: Driving) -> None:
    second = browser.site.second
    before = len(second.requests)
    for path in (
        f"/redirect?to={second.url}/form.html",
        f"/redirect?to=http://localhost:{second.server_port}/",
    ):
        with pytest.raises(BrowserBlockedError) as caught:
            await browser.go(path)
        assert caught.value.code == "blocked_network"
    assert len(second.requests) == before


async def test_what_a_page_fetches_by_itself_is_judged_too(browser: Driving) -> None:
    second = browser.site.second
    before = len(second.requests)
    await browser.go("/form.html")
    script = f"""(async () => {{
      const url = "{second.url}/form.html", seen = [];
      const tries = [
        () => fetch(url, {{mode: "no-cors"}}).then(r => seen.push("fetch " + r.type + r.status)),
        () => new Promise(r => {{ const i = new Image(); i.onload = i.onerror = r; i.src = url; }}),
        () => new Promise(r => {{ const w = new WebSocket(url.replace("http", "ws"));
                                 w.onopen = () => {{ seen.push("ws open"); r(); }}; w.onerror = r; }}),
        () => new Promise(r => {{ const f = document.createElement("iframe");
                                 f.onload = r; f.src = url; document.body.append(f); }}),
      ];
      for (const one of tries) await one().catch(() => 0);
      navigator.sendBeacon(url, "x");
      return seen;
    }})()"""
    seen = await browser.script(script)
    assert "ws open" not in seen
    said = await browser.act("read")
    assert len(second.requests) == before
    assert second.posted == []
    assert f"refused by the network policy: 127.0.0.1:{second.server_port}" in said


async def test_a_click_that_leads_inside_is_stopped(browser: Driving) -> None:
    await browser.go("/evil.html")
    said = await browser.act("click", "private")
    port = browser.site.second.server_port
    assert f"refused by the network policy: 127.0.0.1:{port} refused (loopback address)" in said


async def test_a_download_is_held_and_named(browser: Driving) -> None:
    await browser.go("/kitchen.html")
    said = await browser.act("click", "file")
    assert "note: download held, not opened: report.bin" in said
    assert "it is a download" in await browser.go("/download?name=../../x.sh")


async def test_a_download_without_end_is_stopped(
    tmp_path: Path, chromium: Path, site: Site
) -> None:
    driving = Driving(tmp_path / "one", site)
    driving.tool.session.tabs._quarantine = Quarantine(
        folder=driving.tool.setup.folder / "downloads", limit_bytes=1 << 20
    )
    try:
        await driving.go("/form.html")
        assert "it is a download" in await driving.go("/endless?name=big.iso")
        said = await driving.act("wait", wait_s=1.5)
        assert "note: download stopped, it is too large: big.iso" in said
    finally:
        await driving.tool.close()


async def test_a_page_gets_no_permissions(browser: Driving) -> None:
    await browser.go("/form.html")
    states = await browser.script(
        """Promise.all(["geolocation", "notifications", "camera", "microphone", "clipboard-read"].map(
             name => navigator.permissions.query({name}).then(found => found.state)))"""
    )
    assert set(states) == {"denied"}
    refused = await browser.script(
        "new Promise(r => navigator.geolocation.getCurrentPosition(() => r(0), e => r(e.code)))"
    )
    assert refused == 1


async def test_a_page_runs_no_service_worker(browser: Driving) -> None:
    await browser.go("/form.html")
    workers = await browser.script(
        "navigator.serviceWorker.register('/report.js').catch(() => 0)"
        ".then(() => navigator.serviceWorker.getRegistrations()).then(found => found.length)"
    )
    assert workers == 0


async def test_a_crashed_page_is_replaced_even_among_many_tabs(browser: Driving) -> None:
    await browser.go("/form.html")
    for _ in range(7):
        await browser.act("new_tab")
    with pytest.raises(BrowserError, match="8 tabs are open"):
        await browser.act("new_tab")
    browser.tab.crashed = True
    await browser.go("/rows.html")
    assert browser.title == "Rows"
    assert len(browser.tool.session.tabs) == 8

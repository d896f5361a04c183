"""browser-use on Playwright's sessions: what it touches is what the bridge offers; without it all goes on."""

import sys
from importlib import metadata
from typing import Any

import pytest

from tests.support.driving import Driving
from tools.browser import bridge
from tools.browser.bridge import BridgeError, PageSession, dom_service, leave_nodes
from tools.browser.enrich import Enricher

TOUCHED = {
    "agent_focus_target_id",
    "get_all_frames",
    "get_or_create_cdp_session",
    "id",
    "logger",
    "session_manager",
}
COMMANDS = {
    "Accessibility.getFullAXTree",
    "DOM.describeNode",
    "DOM.getDocument",
    "DOMSnapshot.captureSnapshot",
    "Page.getFrameTree",
    "Page.getLayoutMetrics",
    "Runtime.evaluate",
    "Runtime.getProperties",
    "Runtime.releaseObject",
    "Target.getTargetInfo",
    "Target.getTargets",
}


class Spy:
    """Passes everything on to a page session and notes what was asked for."""

    def __init__(self, session: PageSession) -> None:
        self.session = session
        self.members: set[str] = set()

    def __getattr__(self, name: str) -> Any:
        self.members.add(name)
        return getattr(self.session, name)


def test_the_version_is_the_one_the_bridge_was_written_for() -> None:
    assert metadata.version("browser-use").startswith(bridge.SUPPORTED)


@pytest.mark.chromium
async def test_it_touches_only_what_the_bridge_offers(browser: Driving, browser_use: None) -> None:
    await browser.go("/frames.html")

    async def watch() -> tuple[set[str], set[str], int]:
        session = PageSession(browser.tab.page)
        commands: set[str] = set()
        send = session.raw.send_raw

        async def noting(method: str, params: Any = None, session_id: str | None = None) -> Any:
            commands.add(method)
            return await send(method, params, session_id)

        session.raw.send_raw = noting  # type: ignore[method-assign]
        await session.open()
        spy = Spy(session)
        try:
            service = dom_service()(spy, cross_origin_iframes=True)
            state, _, _ = await service.get_serialized_dom_tree()
        finally:
            await session.close()
        return spy.members, commands, len(state.selector_map)

    members, commands, found = await browser.tool._thread.run(watch())
    assert members <= TOUCHED
    assert commands <= COMMANDS
    assert found >= 6


@pytest.mark.chromium
async def test_no_mark_is_left_in_the_page(browser: Driving) -> None:
    await browser.go("/kitchen.html")
    before = set(await browser.script("Object.getOwnPropertyNames(window)"))
    await browser.act("read")
    left = set(await browser.script("Object.getOwnPropertyNames(window)")) - before
    assert not left
    assert "data-handrail" not in await browser.script("document.documentElement.outerHTML")


@pytest.mark.chromium
async def test_a_failing_bridge_is_left_alone_and_the_list_comes_all_the_same(
    browser: Driving, monkeypatch: pytest.MonkeyPatch
) -> None:
    enricher = Enricher()
    monkeypatch.setitem(sys.modules, "browser_use.dom.service", None)
    dom_service.cache_clear()
    try:
        with browser.using(enricher):
            for _ in range(3):
                assert "Order form" in await browser.go("/form.html")
                assert browser.seen.engine == "fast"
        assert not enricher.enabled
        assert "browser_use" in enricher.problem
    finally:
        dom_service.cache_clear()


def test_a_missing_package_or_another_version_is_one_clear_error() -> None:
    def missing(name: str) -> str:
        raise metadata.PackageNotFoundError(name)

    with pytest.raises(BridgeError, match="not installed"):
        dom_service(missing)
    with pytest.raises(BridgeError, match=r"browser-use 0\.14\.0 is not 0\.13\.x"):
        dom_service(lambda _name: "0.14.0")


@pytest.mark.chromium
async def test_a_page_that_is_gone_fails_as_a_bridge_error(browser: Driving) -> None:
    await browser.go("/form.html")

    async def gone() -> None:
        page = await browser.tool.session.context.new_page()
        await page.close()
        with pytest.raises(BridgeError):
            await leave_nodes(page, "_key")

    await browser.tool._thread.run(gone())

"""Drives the browser tool on the test site, with the elements named by their marks (`data-t`)."""

import contextlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from core.egress import EgressPolicy
from core.messages import ToolResult
from core.ports import CallFacts
from core.surroundings import BrowserSnapshotted
from tests.support.fake_call import FakeCall
from tests.support.site_server import Site
from tools.browser.arguments import BrowserArguments
from tools.browser.enrich import Enricher
from tools.browser.tab import PageElement, Snapshot, Tab
from tools.browser.tool import BrowserTool


class Driving:
    """A browser tool, the site it drives on, and what it said last."""

    def __init__(self, folder: Path, site: Site, **options: Any) -> None:
        self.site = site
        self.policy = EgressPolicy()
        for origin in (site.first, site.other):
            self.policy.allow(origin.host, origin.server_port)
        self.tool = BrowserTool(folder, self.policy, **options)
        self.call = FakeCall()

    async def act(self, action: str, mark: str = "", **fields: Any) -> str:
        """Do an action, on a marked element if one is named, and return what the model is told."""
        return (await self.result(action, mark, **fields)).output

    async def result(self, action: str, mark: str = "", **fields: Any) -> ToolResult:
        if mark:
            fields["ref"] = self.ref(mark)
        arguments = BrowserArguments.model_validate({"action": action, **fields})
        return await self.tool.run(arguments, self.call)

    async def facts(self, action: str, mark: str = "", **fields: Any) -> CallFacts:
        if mark:
            fields["ref"] = self.ref(mark)
        arguments = BrowserArguments.model_validate({"action": action, **fields})
        return await self.tool.facts(arguments)

    async def go(self, path: str) -> str:
        """Open a page of the first origin."""
        return await self.act("go_to", url=self.site.first.url + path)

    @property
    def tab(self) -> Tab:
        return self.tool.session.tab

    @property
    def seen(self) -> Snapshot:
        assert self.tab.snapshot is not None
        return self.tab.snapshot

    @property
    def title(self) -> str:
        return self.seen.title

    @property
    def last(self) -> BrowserSnapshotted:
        event = self.call.events[-1]
        assert isinstance(event, BrowserSnapshotted)
        return event

    def marked(self, mark: str) -> PageElement | None:
        return next((element for element in self.seen.elements if element.mark == mark), None)

    def ref(self, mark: str) -> int:
        element = self.marked(mark)
        assert element is not None, (
            f"no {mark} in {[element.mark for element in self.seen.elements]}"
        )
        return element.ref

    @contextlib.contextmanager
    def using(self, enricher: Enricher) -> Iterator[None]:
        """Let lists be added to by another enricher."""
        session = self.tool.session
        usual, session.enricher = session.enricher, enricher
        try:
            yield
        finally:
            session.enricher = usual

    async def script(self, source: str) -> Any:
        """Run a script in the page, as the page itself would."""
        return await self.tool._thread.run(self.tab.page.evaluate(source))

    async def reset(self) -> None:
        """Leave one fresh tab."""
        self.call.events.clear()
        if self.tool.session.running:
            await self.tool._thread.run(self._one_tab())

    async def _one_tab(self) -> None:
        session = self.tool.session
        old = session.tabs.ordered()
        if len(old) > 6:
            for tab in old[1:]:
                await session.tabs.close(tab)
            old = old[:1]
        await session.tabs.open()
        for tab in old:
            await session.tabs.close(tab)

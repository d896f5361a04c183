import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest
from textual.pilot import Pilot
from textual.widgets import Static

from core.messages import Image
from core.surroundings import BrowserChanged
from tests.support.dialog_host import DecidingSession, DialogHost, press, settled
from tests.support.facts import ELEMENTS, draw_page, look_at_page
from tests.support.waiting import DEADLINE_S
from tui.panes.browser import BrowserPane
from tui.screens.text_view import TextViewScreen


@dataclass
class Looking:
    session: DecidingSession
    pane: BrowserPane
    pilot: Pilot[None]

    async def refresh(self) -> None:
        self.pane.show(self.session.view)
        await self.settle()

    async def settle(self) -> None:
        """Wait until the picture is drawn."""
        async with asyncio.timeout(DEADLINE_S):
            await settled(self.pilot)
            while not self.pane.picture.is_up_to_date:
                await settled(self.pilot)

    def says(self, part: str) -> str:
        return str(self.pane.query_one(f"#browser-{part}", Static).content)

    def picture(self) -> str:
        return "\n".join(strip.text for strip in self.pane.picture.strips)


@asynccontextmanager
async def looking(size: tuple[int, int] = (80, 24)) -> AsyncIterator[Looking]:
    session, pane = DecidingSession(), BrowserPane()
    async with DialogHost(widget=pane).run_test(size=size) as pilot:
        look = Looking(session, pane, pilot)
        await look.refresh()
        yield look


async def test_before_any_page_the_pane_says_what_the_state_is():
    async with looking() as look:
        assert "no browser was started yet" in look.says("head")
        look.session.log.append(BrowserChanged(state="unavailable", detail="Install Chromium."))
        await look.refresh()
        assert "cannot be used: Install Chromium." in look.says("head")


async def test_address_title_tabs_action_effect_messages_and_hosts_are_told(tmp_path: Path):
    async with looking() as look:
        look_at_page(look.session.log, draw_page(tmp_path))
        await look.refresh()
        assert "http://127.0.0.1:8000/search?q=primes" in look.says("head")
        assert "Search: primes 素数" in look.says("head")
        assert "+1 tabs: Docs" in look.says("head")
        assert 'type [2] "primes" -> value changed' in look.says("foot")
        assert "404 favicon.ico" in look.says("foot")
        assert "2 hosts, 1 refused" in look.says("foot")
        assert "5 of 12 elements" in look.says("foot")


async def test_the_numbers_on_the_picture_are_those_of_the_list(tmp_path: Path):
    async with looking(size=(140, 40)) as look:
        look_at_page(look.session.log, draw_page(tmp_path))
        await look.refresh()
        rows = [look.pane.elements.row_text(row) for row in range(len(ELEMENTS))]
        assert rows[1].split() == ["[2]", "textbox", "Search", "=", "primes", "(focused)"]
        for number in "1234":
            assert number in look.picture()
        assert "5" not in look.picture()


@pytest.mark.parametrize(("size", "beside"), [((80, 24), False), ((140, 40), True)])
async def test_picture_and_list_stand_beside_each_other_where_there_is_room(
    tmp_path: Path, size: tuple[int, int], beside: bool
):
    async with looking(size=size) as look:
        look_at_page(look.session.log, draw_page(tmp_path))
        await look.refresh()
        picture, elements = look.pane.picture.region, look.pane.elements.region
        assert (picture.right <= elements.x) == beside
        assert (picture.bottom <= elements.y) == (not beside)
        assert elements.height >= 3
        assert picture.height >= 8


async def test_enter_zooms_to_the_element_and_back(tmp_path: Path):
    async with looking() as look:
        look_at_page(look.session.log, draw_page(tmp_path))
        await look.refresh()
        look.pane.elements.focus()
        await press(look.pilot, "down", "down")
        await look.settle()
        whole = look.picture()
        await press(look.pilot, "enter")
        await look.settle()
        zoomed = look.picture()
        assert zoomed != whole
        assert "3" in zoomed
        assert "1" not in zoomed
        await press(look.pilot, "z")
        await look.settle()
        assert look.picture() == whole


async def test_an_element_without_a_place_zooms_to_the_whole_page(tmp_path: Path):
    async with looking() as look:
        look_at_page(look.session.log, draw_page(tmp_path))
        await look.refresh()
        look.pane.elements.focus()
        await press(look.pilot, "end")
        await look.settle()
        whole = look.picture()
        await press(look.pilot, "z")
        await look.settle()
        assert look.picture() == whole


async def test_the_layout_key_shows_both_then_the_list_then_the_picture(tmp_path: Path):
    async with looking() as look:
        look_at_page(look.session.log, draw_page(tmp_path))
        await look.refresh()
        look.pane.elements.focus()
        await press(look.pilot, "l")
        assert (look.pane.picture.display, look.pane.elements.display) == (False, True)
        await press(look.pilot, "l")
        assert (look.pane.picture.display, look.pane.elements.display) == (True, False)
        assert look.pane.picture.has_focus
        await press(look.pilot, "l")
        assert (look.pane.picture.display, look.pane.elements.display) == (True, True)


async def test_details_list_everything_as_text(tmp_path: Path):
    async with looking() as look:
        look_at_page(look.session.log, draw_page(tmp_path))
        await look.refresh()
        look.pane.elements.focus()
        await press(look.pilot, "v")
        screen = look.pilot.app.screen
        assert isinstance(screen, TextViewScreen)
        text = "\n".join(line.text for line in screen.lines_view.text.lines)
        for part in ("options of [5]: de, 日本語", "evil.test refused", "tab: Docs", "404 favicon"):
            assert part in text


async def test_only_the_newest_picture_is_shown_when_they_come_fast(tmp_path: Path):
    async with looking() as look:
        picture = draw_page(tmp_path)
        for number in range(20):
            look_at_page(look.session.log, picture, snapshot=f"s{number}")
            look.pane.show(look.session.view)
        await look.settle()
        first = look.picture()
        assert first
        look_at_page(look.session.log, picture, snapshot="again")
        await look.refresh()
        assert look.picture() == first


async def test_a_picture_that_is_gone_is_said_and_the_list_stays():
    async with looking() as look:
        look_at_page(look.session.log, Image(path="/nowhere/page.png"))
        await look.refresh()
        assert look.pane.picture.strips == ()
        assert "cannot be read" in look.pane.picture.render_line(0).text
        assert look.pane.elements.row_count == len(ELEMENTS)


async def test_a_page_without_a_picture_says_so():
    async with looking() as look:
        look_at_page(look.session.log)
        await look.refresh()
        assert "no picture" in look.pane.picture.render_line(0).text


async def test_the_picture_is_drawn_again_for_another_size(tmp_path: Path):
    async with looking() as look:
        look_at_page(look.session.log, draw_page(tmp_path))
        await look.refresh()
        small = len(look.pane.picture.strips)
        await look.pilot.resize_terminal(100, 40)
        await look.settle()
        assert len(look.pane.picture.strips) > small

"""What is listed of a page: everything that can be used, nothing that cannot, in bounded size and time."""

import time
from pathlib import Path

import pytest
from PIL import Image as Picture

from tests.support.driving import Driving
from tools.browser.enrich import Enricher
from tools.browser.tab import Tab

pytestmark = pytest.mark.chromium

EXPECTED = "Array.from(document.querySelectorAll('[data-x]')).map(e => [e.dataset.t, e.dataset.x])"


def mode(path: Path) -> int:
    return path.stat().st_mode & 0o777


class Stub:
    """Stands for a frame or a document that is only compared."""


async def test_everything_usable_is_listed_and_nothing_else(
    browser: Driving, with_dom: bool
) -> None:
    await browser.go("/kitchen.html")
    listed = {element.mark for element in browser.seen.elements if element.mark}
    kinds: dict[str, set[str]] = {}
    for mark, kind in await browser.script(EXPECTED):
        kinds.setdefault(kind, set()).add(mark)
    only_by_dom = kinds["dom"] if with_dom else set()
    assert kinds["yes"] | only_by_dom | kinds["covered"] <= listed
    assert not kinds["no"] & listed
    covered = {element.mark for element in browser.seen.elements if element.covered}
    assert kinds["covered"] <= covered
    assert browser.seen.engine == ("fast+dom" if with_dom else "fast")


async def test_without_browser_use_only_bare_listeners_are_missing(browser: Driving) -> None:
    with browser.using(Enricher(enabled=False)):
        await browser.go("/kitchen.html")
        listed = {element.mark for element in browser.seen.elements if element.mark}
        wanted = {mark for mark, kind in await browser.script(EXPECTED) if kind == "yes"}
        assert wanted <= listed
        assert "listener" not in listed
        assert browser.seen.engine == "fast"
        await browser.act("click", "plain")
        assert browser.title == "did plain"


async def test_shadow_roots_and_frames_are_listed_and_used(
    browser: Driving, with_dom: bool
) -> None:
    await browser.go("/frames.html")
    marks = [element.mark for element in browser.seen.elements]
    shadows = ["shadow", "deeper", *(["closed"] if with_dom else [])]
    assert {*shadows, "srcdoc"} <= set(marks)
    # The frame of the second origin was refused by the policy; the other two are there.
    assert marks.count("inner") == 2
    for mark in shadows:
        await browser.act("click", mark)
        assert browser.title == f"did {mark}"
    for element in [element for element in browser.seen.elements if element.mark == "inner"]:
        assert "Inner pressed" in await browser.act("click", ref=element.ref)
    fields = [element for element in browser.seen.elements if element.mark == "field"]
    assert 'value="东京"' in await browser.act("type", ref=fields[1].ref, text="东京")
    assert "pressed" in await browser.act("click", "srcdoc")


async def test_boxes_are_where_the_elements_are_in_the_picture(browser: Driving) -> None:
    await browser.go("/frames.html")
    await browser.script(
        "document.querySelectorAll('iframe')[2].style.cssText = 'margin: 40px; border: 7px solid; padding: 5px'"
    )
    await browser.act("read")
    inner = [element for element in browser.seen.elements if element.mark == "inner"][1]
    x, y, width, height = inner.box
    frame = await browser.script(
        "(() => { const b = document.querySelectorAll('iframe')[2].getBoundingClientRect(); return [b.x, b.y]; })()"
    )
    # Border and padding of the frame, then the 8 px margin of the page inside.
    assert (x, y) == (round(frame[0]) + 20, round(frame[1]) + 20)
    picture = browser.last.screenshot
    assert picture is not None
    with Picture.open(picture.path) as image:
        assert image.size == (1280, 800)
        inside = image.convert("L").crop((x, y, x + width, y + height))
        assert min(inside.tobytes()) < 120, "no button text where the box is"


async def test_pictures_are_private_files_of_the_session(browser: Driving) -> None:
    result = await browser.result("go_to", url=browser.site.first.url + "/form.html")
    assert result.images == (browser.last.screenshot,)
    path = Path(result.images[0].path)
    assert [mode(path), mode(path.parent)] == [0o600, 0o700]
    assert path.is_relative_to(browser.tool.setup.folder)


async def test_codes_are_drawn_as_dots(browser: Driving) -> None:
    """The same page with and without the code's text makes the same picture of that field."""
    await browser.go("/login.html")
    await browser.script("document.activeElement.blur()")
    shots = []
    for value in ("iiiiii", "WWWWWW"):
        await browser.script(f"document.querySelector('[data-t=code]').value = '{value}'")
        await browser.act("read")
        picture = browser.last.screenshot
        assert picture is not None
        x, y, width, height = browser.marked("code").box  # type: ignore[union-attr]
        with Picture.open(picture.path) as image:
            shots.append(image.convert("L").crop((x, y, x + width, y + height)).tobytes())
    assert shots[0] == shots[1]


async def test_a_page_of_five_thousand_links_stays_small_and_quick(browser: Driving) -> None:
    started_s = time.perf_counter()
    said = await browser.go("/links?n=5000")
    took_s = time.perf_counter() - started_s
    assert len(said.encode()) < 7000
    assert "elements 1-60 of" in said
    assert "5000 on the page" in said
    assert browser.seen.engine == "fast"
    assert took_s < 5, "measured 0.6 s; the bound is for a busy machine"
    before = browser.ref("link70")
    rest = await browser.act("read", offset=60)
    assert "elements 61-" in rest
    assert f"[{before}]" in rest
    assert browser.ref("link70") == before


async def test_the_second_page_of_a_list_is_not_scanned_again(browser: Driving) -> None:
    await browser.go("/links?n=200")
    name = browser.seen.name
    await browser.act("read", offset=60)
    assert browser.seen.name == name
    assert browser.last.snapshot == name


async def test_numbers_stay_while_the_page_lives(browser: Driving) -> None:
    await browser.go("/kitchen.html")
    first = {element.mark: element.ref for element in browser.seen.elements if element.mark}
    await browser.act("click", "plain")
    await browser.act("scroll", dy=300)
    await browser.act("read")
    again = {element.mark: element.ref for element in browser.seen.elements if element.mark}
    assert {mark: again[mark] for mark in first if mark in again} == {
        mark: ref for mark, ref in first.items() if mark in again
    }


async def test_a_page_full_of_controls_is_listed_up_to_a_bound(browser: Driving) -> None:
    await browser.go("/rows.html")
    await browser.script(
        "rows.innerHTML = Array.from({length: 1500}, (_, n) => `<button>b${n}</button>`).join('')"
    )
    said = await browser.act("read")
    assert len(browser.last.elements) == 400
    assert "of 400 near the viewport, 1500 on the page" in said


def test_a_page_that_renews_itself_for_hours_does_not_fill_the_memory() -> None:
    frame, document = Stub(), Stub()
    tab = Tab(number=1, page=frame, documents={frame: document})  # type: ignore[dict-item,arg-type]
    refs = [tab.ref_for(frame, document, node) for node in range(12_000)]  # type: ignore[arg-type]
    assert refs == list(range(1, 12_001))
    assert len(tab.targets) == len(tab.refs) <= 5000
    assert refs[-1] in tab.targets
    assert tab.ref_for(frame, document, 11_999) == refs[-1]  # type: ignore[arg-type]
    tab.forget_document(frame)  # type: ignore[arg-type]
    assert not tab.targets
    assert not tab.refs

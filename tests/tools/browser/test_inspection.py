"""One look at one page, as the command `handrail inspect` shows it."""

import json
import socket
from pathlib import Path

import pytest
from PIL import Image as Picture

from core.errors import BrowserBlockedError, BrowserError, BrowserUnavailableError
from tests.support.site_server import Site
from tools.browser.inspection import inspect_page


def names_in(folder: Path) -> list[str]:
    return [entry.name for entry in folder.iterdir()]


@pytest.mark.chromium
async def test_a_page_is_looked_at_and_nothing_stays(site: Site, tmp_path: Path) -> None:
    state, picture = tmp_path / "state", tmp_path / "page.png"
    state.mkdir()
    seen = await inspect_page(
        site.first.url + "/cjk.html",
        allow_private=True,
        state_dir=state,
        screenshot=picture,
        with_text=True,
    )
    body = json.loads(json.dumps(seen.body, ensure_ascii=False))
    assert list(body) == [
        "url",
        "title",
        "engine",
        "snapshot",
        "timing",
        "elements",
        "lines",
        "text",
    ]
    assert body["title"] == "航班查询"
    assert body["elements"][1] == {
        "ref": 2,
        "tag": "select",
        "role": "combobox",
        "name": "日期",
        "value": "今天",
        "flags": [],
        "options": ["*今天", "明天"],
    }
    assert body["lines"][2] == "[3]<button>搜索航班</button>"
    assert body["lines"] == [line for line in seen.lines if line.startswith("[")]
    assert "出发城市" in body["text"]
    with Picture.open(picture) as image:
        assert (image.format, image.size) == ("PNG", (1280, 800))
    assert names_in(state) == []


@pytest.mark.chromium
async def test_text_is_only_given_when_asked_for(site: Site, tmp_path: Path) -> None:
    seen = await inspect_page(
        site.first.url + "/article.html", allow_private=True, state_dir=tmp_path
    )
    assert "text" not in seen.body
    assert not any("Segmental" in line for line in seen.lines)


@pytest.mark.chromium
async def test_a_private_host_is_granted_with_its_port_only(site: Site, tmp_path: Path) -> None:
    with pytest.raises(BrowserBlockedError, match="loopback"):
        await inspect_page(
            f"{site.first.url}/redirect?to={site.second.url}/form.html",
            allow_private=True,
            state_dir=tmp_path,
        )


async def test_private_addresses_are_refused_without_starting_a_browser(
    site: Site, tmp_path: Path
) -> None:
    with pytest.raises(BrowserBlockedError, match="loopback") as caught:
        await inspect_page(site.first.url, state_dir=tmp_path, executable="/nowhere")
    assert "--allow-private" in caught.value.line()
    with pytest.raises(BrowserBlockedError) as caught:
        await inspect_page(
            "file:///etc/passwd", allow_private=True, state_dir=tmp_path, executable="/nowhere"
        )
    assert caught.value.code == "scheme"
    with pytest.raises(BrowserBlockedError, match="no such host"):
        await inspect_page("https://nowhere.example/", state_dir=tmp_path, executable="/nowhere")


async def test_a_missing_browser_is_said_so(site: Site, tmp_path: Path) -> None:
    with pytest.raises(BrowserUnavailableError):
        await inspect_page(
            site.first.url, allow_private=True, state_dir=tmp_path, executable="/nowhere"
        )
    assert names_in(tmp_path) == []


@pytest.mark.chromium
async def test_a_server_that_does_not_answer_is_said_so(tmp_path: Path) -> None:
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{closed.getsockname()[1]}/"
        with pytest.raises(BrowserError, match=r"cannot be loaded: .* does not answer") as caught:
            await inspect_page(url, allow_private=True, state_dir=tmp_path)
        assert caught.value.code == "not_loaded"

"""The composer: several lines, a history, and nothing that is lost."""

from collections.abc import AsyncIterator

import pytest
from textual.app import App, ComposeResult
from textual.events import Key, Paste
from textual.keys import _character_to_key
from textual.pilot import Pilot

from tests.support.app import eventually
from tui.widgets.composer import Composer


class Host(App[None]):
    """Shows a composer and keeps what it sends."""

    def __init__(self) -> None:
        super().__init__()
        self.sent: list[str] = []

    def compose(self) -> ComposeResult:
        yield Composer()

    def on_composer_sent(self, message: Composer.Sent) -> None:
        self.sent.append(message.text)

    @property
    def composer(self) -> Composer:
        return self.query_one(Composer)


@pytest.fixture
async def pilot() -> AsyncIterator[Pilot[None]]:
    async with Host().run_test(size=(40, 12)) as running:
        yield running


def host_of(pilot: Pilot[None]) -> Host:
    assert isinstance(pilot.app, Host)
    return pilot.app


async def test_enter_sends_and_empties(pilot: Pilot[None]) -> None:
    await pilot.press(*"hello", "enter")
    host = host_of(pilot)
    await eventually(pilot, lambda: host.sent)
    assert (host.sent, host.composer.text) == (["hello"], "")


async def test_keys_that_arrive_in_one_burst_keep_their_order(pilot: Pilot[None]) -> None:
    host = host_of(pilot)
    driver = host._driver
    assert driver is not None
    texts = ["Use the python tool to compute sum(range(100)).", "Count all files."]
    for text in texts:
        for char in text:
            driver.send_message(Key(_character_to_key(char), char))
        driver.send_message(Key("enter", "\r"))
    await eventually(pilot, lambda: len(host.sent) == len(texts))
    assert host.sent == texts
    assert host.composer.text == ""


async def test_enter_alone_sends_nothing(pilot: Pilot[None]) -> None:
    await pilot.press("enter", "space", "enter")
    assert host_of(pilot).sent == []


@pytest.mark.parametrize("key", ["ctrl+j", "shift+enter", "alt+enter"])
async def test_a_new_line_has_keys_that_work_in_every_terminal(
    pilot: Pilot[None], key: str
) -> None:
    await pilot.press("a", key, "b")
    assert host_of(pilot).composer.text == "a\nb"


async def test_a_backslash_before_enter_is_a_new_line(pilot: Pilot[None]) -> None:
    await pilot.press("a", "backslash", "enter", "b")
    host = host_of(pilot)
    assert (host.composer.text, host.sent) == ("a\nb", [])


async def test_the_history_goes_up_and_down_and_keeps_the_draft(pilot: Pilot[None]) -> None:
    composer = host_of(pilot).composer
    for text in ("one", "two"):
        await pilot.press(*text, "enter")
    await pilot.press(*"draft", "up")
    assert composer.text == "two"
    await pilot.press("up", "up")
    assert composer.text == "one"
    await pilot.press("down", "down")
    assert composer.text == "draft"


async def test_up_moves_the_cursor_first_in_a_text_of_several_lines(pilot: Pilot[None]) -> None:
    composer = host_of(pilot).composer
    composer.remember(["old"])
    await pilot.press("a", "ctrl+j", "b", "up")
    assert (composer.text, composer.cursor_location[0]) == ("a\nb", 0)
    await pilot.press("up")
    assert composer.text == "old"


async def test_a_paste_is_taken_whole_cleaned_and_never_sent(pilot: Pilot[None]) -> None:
    host = host_of(pilot)
    host.composer.post_message(Paste("one\r\ntwo\x1b[2J\x07\n"))
    await eventually(pilot, lambda: host.composer.text)
    assert (host.composer.text, host.sent) == ("one\ntwo[2J\n", [])


async def test_text_that_comes_back_stands_before_the_draft(pilot: Pilot[None]) -> None:
    composer = host_of(pilot).composer
    await pilot.press(*"draft")
    composer.put_back("came back")
    composer.put_back("")
    assert composer.text == "came back\ndraft"


async def test_the_terminals_own_cursor_stands_at_the_caret(pilot: Pilot[None]) -> None:
    host = host_of(pilot)
    host.composer.text = "\u4f60\u597d"
    host.composer.move_cursor((0, 2))
    await pilot.pause()
    assert host.cursor_position == host.composer.cursor_screen_offset
    assert host.cursor_position.x - host.composer.content_region.x == 4


async def test_it_grows_with_its_text_up_to_a_limit(pilot: Pilot[None]) -> None:
    composer = host_of(pilot).composer
    heights = []
    for count in (1, 3, 30):
        composer.text = "\n".join(["line"] * count)
        await pilot.pause()
        await eventually(
            pilot, lambda: composer.size.height == min(len(composer.text.split("\n")), 8)
        )
        heights.append(composer.size.height)
    assert heights == [1, 3, 8]

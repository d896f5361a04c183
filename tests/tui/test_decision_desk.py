"""When dialogs open by themselves, and when only by a key."""

from collections.abc import Callable

import pytest

from core.view.decisions import DecisionsView, WaitingDecision
from tests.support.app import FakeSession
from tests.support.fake_clock import FakeClock
from tests.support.prompts import DELETION
from tui.arming import QUIET_BEFORE_FOCUS_S
from tui.decision_desk import DecisionDesk, is_large_enough
from tui.screens.armed import ArmedScreen
from tui.screens.dialog_end import DialogEnd, Leaving


class FakeDesk:
    """The app as the desk sees it, with everything it was asked for."""

    def __init__(self) -> None:
        self.is_free = True
        self.has_draft = False
        self.dialogs: list[ArmedScreen] = []
        self.waits: list[float] = []
        self.put_back_texts: list[str] = []
        self.banners = 0
        self._closed: Callable[[DialogEnd | None], None] | None = None

    def open_dialog(self, dialog: ArmedScreen, closed: Callable[[DialogEnd | None], None]) -> None:
        self.dialogs.append(dialog)
        self._closed = closed

    def close_dialog(self, how: Leaving, text: str = "") -> None:
        """Let the dialog on the screen go away."""
        assert self._closed is not None
        closed, self._closed = self._closed, None
        closed(DialogEnd(how=how, decision_id=self.dialogs[-1].decision_id, text=text))

    def look_again(self, after_s: float) -> None:
        self.waits.append(after_s)

    def put_back(self, text: str) -> None:
        self.put_back_texts.append(text)

    def show_banner(self) -> None:
        self.banners += 1

    @property
    def shown(self) -> list[str]:
        return [dialog.decision_id for dialog in self.dialogs]


class Setting:
    """A desk with open decisions, on a clock of the test's own."""

    def __init__(self) -> None:
        self.clock = FakeClock()
        self.app = FakeDesk()
        self.queue = DecisionsView()
        self.desk = DecisionDesk(
            self.app, FakeSession(self.clock), self.queue, self.clock.monotonic
        )

    def open(self, *decision_ids: str) -> None:
        for decision_id in decision_ids:
            self.queue.open[decision_id] = WaitingDecision(decision_id, DELETION, 1, 1, 0.0)
        self.desk.update()

    def close(self, decision_id: str) -> None:
        del self.queue.open[decision_id]


@pytest.fixture
def setting() -> Setting:
    return Setting()


def test_a_dialog_opens_by_itself_when_nobody_types(setting: Setting) -> None:
    setting.open("d1")
    assert setting.app.shown == ["d1"]


def test_a_draft_keeps_dialogs_away_until_the_key_for_them(setting: Setting) -> None:
    setting.app.has_draft = True
    setting.open("d1")
    setting.clock.advance(60)
    setting.desk.consider()
    assert setting.app.shown == []
    assert setting.app.waits == []
    setting.desk.open_by_key()
    assert setting.app.shown == ["d1"]


def test_after_a_key_a_dialog_waits_for_two_quiet_seconds(setting: Setting) -> None:
    setting.desk.note_key(setting.clock.now_s)
    setting.clock.advance(0.5)
    setting.open("d1")
    assert setting.app.shown == []
    assert setting.app.waits == [pytest.approx(QUIET_BEFORE_FOCUS_S - 0.5, abs=0.02)]
    setting.clock.advance(setting.app.waits[0])
    setting.desk.consider()
    assert setting.app.shown == ["d1"]


def test_each_key_makes_it_wait_again(setting: Setting) -> None:
    setting.desk.note_key(setting.clock.now_s)
    setting.open("d1")
    setting.clock.advance(1.5)
    setting.desk.note_key(setting.clock.now_s)
    setting.clock.advance(0.6)
    setting.desk.consider()
    assert setting.app.shown == []
    assert setting.app.waits[-1] == pytest.approx(1.4, abs=0.02)


def test_nothing_opens_over_another_screen_or_on_one_that_is_too_small(setting: Setting) -> None:
    setting.app.is_free = False
    setting.open("d1")
    setting.desk.open_by_key()
    assert setting.app.shown == []


def test_one_dialog_at_a_time_and_the_next_when_it_is_answered(setting: Setting) -> None:
    setting.open("d1", "d2")
    assert setting.app.shown == ["d1"]
    setting.close("d1")
    setting.app.close_dialog("answered")
    assert setting.app.shown == ["d1", "d2"]


def test_a_decision_that_was_put_off_opens_only_by_the_key(setting: Setting) -> None:
    setting.open("d1")
    setting.app.close_dialog("later")
    setting.clock.advance(60)
    setting.desk.update()
    assert setting.app.shown == ["d1"]
    setting.desk.open_by_key()
    assert setting.app.shown == ["d1", "d1"]


def test_putting_one_off_shows_the_other_that_waits(setting: Setting) -> None:
    setting.open("d1", "d2")
    setting.app.close_dialog("later")
    assert setting.app.shown == ["d1", "d2"]


@pytest.mark.parametrize(("how", "shown"), [("next", "d2"), ("previous", "d3")])
def test_next_and_previous_go_round_the_open_decisions(
    setting: Setting, how: Leaving, shown: str
) -> None:
    setting.open("d1", "d2", "d3")
    setting.app.close_dialog(how)
    assert setting.app.shown == ["d1", shown]


def test_what_was_typed_for_a_decision_that_is_gone_comes_back(setting: Setting) -> None:
    setting.open("d1")
    setting.close("d1")
    setting.app.close_dialog("withdrawn", "because of")
    assert setting.app.put_back_texts == ["because of"]


@pytest.mark.parametrize(
    ("size", "large"), [((60, 16), True), ((59, 16), False), ((60, 15), False)]
)
def test_dialogs_need_sixty_by_sixteen(size: tuple[int, int], *, large: bool) -> None:
    assert is_large_enough(*size) is large

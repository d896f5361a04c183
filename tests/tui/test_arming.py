import random
import string
from hashlib import sha256

import pytest

from core.vocabulary import RiskLevel
from tui.arming import (
    AFTER_CHANGE_S,
    AFTER_PAINT_S,
    MIN_HEIGHT,
    MIN_WIDTH,
    QUIET_BEFORE_FOCUS_S,
    REPEAT_S,
    WORD_LETTERS,
    Arming,
    Demands,
    confirmation_word,
    may_take_focus,
    steps_for,
)

LARGE = (120, 40)
JUST = 1e-6


def opened(
    risk: RiskLevel = "R2", *, strong: bool = False, word: str = "", at_s: float = 0.0, **fields
) -> Arming:
    """Return the state of a dialog that was painted at `at_s` and seen to its end."""
    arming = Arming(Demands(risk=risk, strong=strong, word=word), size=LARGE, **fields)
    arming.painted(at_s)
    arming.end_seen()
    return arming


def test_a_key_counts_only_after_the_first_paint_and_a_pause():
    arming = opened()
    assert not arming.counts("y", AFTER_PAINT_S - JUST)
    assert arming.counts("y", AFTER_PAINT_S)
    unpainted = Arming(Demands(), size=LARGE)
    assert not unpainted.armed(1e9)


def test_the_arrival_of_a_key_counts_and_not_when_it_is_handled():
    arming = Arming(Demands(), size=LARGE)
    arming.painted(0.8)  # the loop was busy until then
    assert arming.key("y", 0.4) == "ignored"
    assert arming.ignored == 1
    assert arming.key("y", 1.5) == "approved"


def test_only_the_first_paint_matters():
    arming = opened(at_s=0.0)
    arming.painted(5.0)
    assert arming.armed(1.0)


@pytest.mark.parametrize(
    "event",
    ["key_elsewhere", "focus_in", "resumed", "content_changed", "resized", "paste", "focus_taken"],
)
def test_whatever_happens_disarms_for_a_while(event):
    arming = opened()
    if event == "resized":
        arming.resized(LARGE, 10.0)
    else:
        getattr(arming, event)(10.0)
    arming.end_seen()
    assert not arming.counts("y", 10.0 + AFTER_CHANGE_S - JUST)
    assert not arming.click_counts(10.0 + AFTER_CHANGE_S - JUST)
    assert arming.counts("y", 10.0 + AFTER_CHANGE_S)


def test_the_last_key_before_the_dialog_delays_it():
    arming = opened(last_key_at_s=0.4)
    assert not arming.armed(0.4 + AFTER_CHANGE_S - JUST)
    assert arming.armed(0.4 + AFTER_CHANGE_S)


def test_without_focus_nothing_counts():
    arming = opened(focused=False)
    assert arming.key("y", 10.0) == "ignored"
    arming.focus_taken(11.0)
    assert arming.key("y", 12.0) == "approved"
    lost = opened()
    lost.focus_lost()
    assert not lost.counts("n", 10.0)


def test_a_held_key_approves_one_decision_at_most():
    first = opened()
    assert first.key("y", 3.0) == "approved"
    arrivals = [3.0 + 0.033 * number for number in range(1, 90)]
    for at_s in (3.1, 3.5, 4.2):
        following = opened(at_s=at_s, last_key_at_s=3.0)
        assert {following.key("y", arrival) for arrival in arrivals} == {"ignored"}


def test_a_repeat_of_the_same_key_never_counts():
    arming = opened()
    arming.key("x", 5.0)
    assert not arming.counts("x", 5.0 + REPEAT_S - JUST)
    assert not arming.counts("x", 5.0 + AFTER_CHANGE_S - JUST)
    assert arming.counts("x", 5.0 + AFTER_CHANGE_S)


def test_enter_alone_approves_nothing_at_any_risk():
    for risk in ("R0", "R1", "R2", "R3", "R4"):
        arming = opened(risk, word="bdf")
        for at_s in range(2, 40, 2):
            assert arming.key("enter", float(at_s)) == "ignored"


def test_a_paste_is_no_key_and_delays_the_next_one():
    arming = opened()
    arming.paste(3.0)
    assert arming.ignored == 1
    assert arming.key("y", 3.1) == "ignored"
    assert arming.key("y", 4.0) == "approved"


def test_r3_takes_y_and_then_enter():
    arming = opened("R3")
    assert arming.key("y", 2.0) == "confirm"
    assert arming.key("enter", 2.2) == "ignored"  # too quick: typed in one go
    assert arming.key("enter", 2.8) == "approved"
    strong = opened("R2", strong=True)
    assert [strong.key("y", 2.0), strong.key("enter", 3.0)] == ["confirm", "approved"]


def test_anything_between_y_and_enter_takes_the_first_step_back():
    for between in ("x", "n", "v"):
        arming = opened("R3")
        arming.key("y", 2.0)
        arming.key(between, 3.0)
        assert arming.key("enter", 4.0) == "ignored"
    for event in ("paste", "focus_in", "resumed", "content_changed", "key_elsewhere"):
        arming = opened("R3")
        arming.key("y", 2.0)
        getattr(arming, event)(3.0)
        arming.end_seen()
        assert arming.key("enter", 5.0) == "ignored", event
    twice = opened("R3")
    assert [twice.key("y", 2.0), twice.key("y", 3.0), twice.key("enter", 4.0)] == [
        "confirm",
        "confirm",
        "approved",
    ]


def test_r4_takes_y_and_then_the_word():
    arming = opened("R4", word="kxd")
    assert arming.key("y", 2.0) == "confirm"
    assert arming.typed == ""
    assert [arming.key("k", 2.6), arming.key("x", 2.8), arming.key("d", 3.0)] == [
        "confirm",
        "confirm",
        "approved",
    ]


@pytest.mark.parametrize("keys", ["kxf", "kd", "xkd", "kk", "enter", "yes"])
def test_r4_with_a_wrong_word_starts_again(keys):
    arming = opened("R4", word="kxd")
    arming.key("y", 2.0)
    for number, key in enumerate([keys] if keys == "enter" else keys):
        assert arming.key(key, 2.6 + 0.2 * number) != "approved"
    assert arming.key("d", 9.0) != "approved"


def test_r4_without_a_word_can_never_be_approved():
    arming = opened("R4")
    arming.key("y", 2.0)
    for number, key in enumerate(["enter", "y", "", "a", "enter"]):
        assert arming.key(key, 3.0 + number) != "approved"


def test_r3_and_up_need_the_last_line_on_the_screen():
    for risk in ("R3", "R4"):
        arming = Arming(Demands(risk=risk, word="bdf"), size=LARGE)
        arming.painted(0.0)
        assert arming.key("y", 2.0) == "ignored"
        assert arming.key("n", 3.0) == "counted"
        arming.end_seen()
        assert arming.key("y", 4.0) == "confirm"
    harmless = Arming(Demands(risk="R2"), size=LARGE)
    harmless.painted(0.0)
    assert harmless.key("y", 2.0) == "approved"


def test_in_a_small_terminal_only_denying_works():
    for size in ((MIN_WIDTH - 1, MIN_HEIGHT), (MIN_WIDTH, MIN_HEIGHT - 1), (20, 5)):
        arming = opened("R1")
        arming.resized(size, 1.0)
        assert arming.key("y", 3.0) == "ignored"
        assert arming.key("n", 4.0) == "counted"
        assert arming.key("N", 5.0) == "counted"
        arming.resized((MIN_WIDTH, MIN_HEIGHT), 6.0)
        assert arming.key("y", 7.0) == "approved"


def test_shrinking_after_the_first_step_stops_the_second():
    arming = opened("R4", word="bdf")
    arming.key("y", 2.0)
    arming.resized((20, 5), 3.0)
    assert [arming.key(key, 4.0 + number) for number, key in enumerate("bdf")] == [
        "counted",
        "counted",
        "counted",
    ]


def test_a_click_counts_for_low_risk_only_and_never_just_after_the_window_came_back():
    arming = opened("R2")
    arming.focus_in(4.0)
    assert not arming.click_counts(4.005)
    assert arming.click_counts(4.6)
    assert not opened("R3").click_counts(10.0)
    assert not opened("R2", strong=True).click_counts(10.0)
    assert not opened("R4", word="bdf").click_counts(10.0)


def test_allow_for_the_session_counts_for_low_risk_only():
    assert opened("R2").key("s", 2.0) == "counted"
    assert opened("R3").key("s", 2.0) == "ignored"
    assert opened("R4", word="bdf").key("p", 2.0) == "ignored"


def test_steps_follow_risk_and_strength():
    assert [steps_for(risk, strong=False) for risk in ("R0", "R1", "R2", "R3", "R4")] == [
        "single", "single", "single", "enter", "word",
    ]  # fmt: skip
    assert steps_for("R1", strong=True) == "enter"


def test_the_word_comes_from_the_digest_and_is_no_word_anybody_types():
    words = {confirmation_word(sha256(bytes([number])).hexdigest()) for number in range(200)}
    assert len(words) > 150
    assert all(len(word) == 3 and set(word) <= set(WORD_LETTERS) for word in words)
    assert confirmation_word("ab" * 32) == confirmation_word("ab" * 32)
    assert confirmation_word("") != ""


def test_the_dialog_takes_focus_only_from_an_idle_composer():
    assert may_take_focus(composer_empty=True, last_key_at_s=None, now_s=5.0)
    assert may_take_focus(composer_empty=True, last_key_at_s=3.0, now_s=3.0 + QUIET_BEFORE_FOCUS_S)
    assert not may_take_focus(composer_empty=True, last_key_at_s=3.1, now_s=5.0)
    assert not may_take_focus(composer_empty=False, last_key_at_s=None, now_s=99.0)


class Desk:
    """A person at a composer and one dialog that opens beside them; keys go where the app would send them."""

    def __init__(self, source: random.Random, risk: RiskLevel) -> None:
        self.draft = ""
        self.lost = 0
        self.approvals = 0
        self._opens_at_s = source.uniform(0.0, 4.0)
        self._delay_s = source.choice((0.0, 0.02, 0.1, 0.8))
        self._last_key_at_s: float | None = None
        self._arming: Arming | None = None
        self._risk = risk

    def key(self, key: str, at_s: float) -> None:
        """Press a key."""
        self._open_until(at_s)
        if self._arming is not None and self._has_focus(at_s):
            effect = self._arming.key(key, at_s)
            self.approvals += effect == "approved"
            self.draft += key if effect == "ignored" else ""
            self.lost += effect not in ("ignored", "approved") and key not in "yn"
        else:
            self._compose(key, at_s)
        self._last_key_at_s = at_s

    def _compose(self, key: str, at_s: float) -> None:
        self.draft = "" if key == "enter" else self.draft + key
        if self._arming is not None:
            self._arming.key_elsewhere(at_s)

    def _open_until(self, at_s: float) -> None:
        if self._arming is None and at_s >= self._opens_at_s:
            word = confirmation_word("7f3a9c") if self._risk == "R4" else ""
            demands = Demands(risk=self._risk, word=word)
            self._arming = Arming(
                demands, size=LARGE, focused=False, last_key_at_s=self._last_key_at_s
            )
            self._arming.painted(self._opens_at_s + self._delay_s)
            self._arming.end_seen()

    def _has_focus(self, at_s: float) -> bool:
        """Give the dialog focus at the first moment it may have it before this key."""
        if self._arming is None:
            return False
        earliest = max(self._opens_at_s, (self._last_key_at_s or -9.0) + QUIET_BEFORE_FOCUS_S)
        if earliest > at_s or not may_take_focus(
            composer_empty=not self.draft, last_key_at_s=self._last_key_at_s, now_s=at_s
        ):
            return False
        self._arming.focus_taken(earliest)
        return True


def typing(source: random.Random) -> list[tuple[str, float]]:
    """Return keys of somebody who writes messages: many with y in them, with pauses to think, and Enter."""
    letters = "y" * source.randrange(1, 12) + string.ascii_lowercase + "   " + "yes yYnN"
    speed_s = source.choice((0.03, 0.05, 0.1, 0.2, 0.33, 0.66))
    at_s = source.uniform(0.0, 0.5)
    keys = []
    for _ in range(source.randrange(20, 80)):
        keys.append((source.choice(letters) if source.random() < 0.95 else "enter", at_s))
        at_s += (
            source.uniform(0.5, 1.5) * speed_s
            if source.random() < 0.92
            else source.uniform(0.3, 1.9)
        )
    return keys


@pytest.mark.parametrize("risk", ["R0", "R2", "R3", "R4"])
def test_thousands_of_people_typing_approve_nothing_and_lose_no_character(risk):
    source = random.Random(20_261_130)
    for number in range(4_000):
        desk = Desk(source, risk)
        for key, at_s in typing(source):
            desk.key(key, at_s)
        assert (desk.approvals, desk.lost) == (0, 0), number


@pytest.mark.parametrize("risk", ["R0", "R1", "R2", "R3", "R4"])
def test_whoever_waits_and_means_it_can_always_approve(risk):
    source = random.Random(5)
    for _ in range(2_000):
        word = confirmation_word(f"{source.getrandbits(256):064x}")
        arming = Arming(
            Demands(risk=risk, word=word), size=LARGE, last_key_at_s=source.uniform(0, 3)
        )
        arming.painted(source.uniform(0, 3))
        arming.end_seen()
        for _ in range(source.randrange(6)):
            arming.key(source.choice("abyn"), source.uniform(0, 4))
        at_s = arming.armed_at_s() + source.uniform(0, 3)
        effects = [arming.key("y", at_s)]
        if risk == "R3":
            effects.append(arming.key("enter", at_s + AFTER_CHANGE_S + source.uniform(0, 2)))
        if risk == "R4":
            effects += [
                arming.key(letter, at_s + AFTER_CHANGE_S + 0.2 * place)
                for place, letter in enumerate(word)
            ]
        assert effects[-1] == "approved"
        assert effects.count("approved") == 1


def test_random_events_never_approve_without_the_keys_in_their_order():
    source = random.Random(11)
    for _ in range(5_000):
        arming = opened("R3", last_key_at_s=None)
        at_s, keys = 0.0, []
        for _ in range(12):
            at_s += source.choice((0.01, 0.07, 0.3, 0.6, 2.0))
            event = source.choice(
                ("key", "key", "key", "paste", "focus_in", "resumed", "key_elsewhere")
            )
            if event != "key":
                getattr(arming, event)(at_s)
                keys.append("-")
                continue
            key = source.choice(("y", "enter", "x"))
            keys.append(key)
            if arming.key(key, at_s) == "approved":
                assert keys[-1] == "enter"
                assert "y" in keys[:-1]
                assert keys[len(keys) - 2 - keys[-2::-1].index("y")] == "y"
                assert "-" not in keys[len(keys) - 1 - keys[::-1].index("y") :]

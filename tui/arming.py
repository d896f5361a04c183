"""When a key may decide: the guard between typing and approving, driven by explicit times.

A person who types when a dialog opens must not approve anything. So a key counts only when the dialog has been on the
screen for a while, nothing else was typed just before, and nothing on it has just changed. All times are seconds of one
monotonic clock and are the *arrival* times of events, so that a busy event loop cannot make an early key look late.
"""

from dataclasses import dataclass
from typing import Final, Literal

from core.vocabulary import RiskLevel

QUIET_BEFORE_FOCUS_S: Final = 2.0
"""The dialog takes focus by itself only after this long without any key."""
AFTER_PAINT_S: Final = 0.6
"""From the first paint to the first key that counts."""
AFTER_CHANGE_S: Final = 0.5
"""From any other key, FocusIn, resume, resize or change of content to a key that counts."""
REPEAT_S: Final = 0.08
"""The same key again within this time is the keyboard repeating itself."""
MIN_WIDTH: Final = 60
MIN_HEIGHT: Final = 16
WORD_LETTERS: Final = "bdfghjkmpqrtvwxz"
"""Letters of a confirmation word: no vowels, so that no typed text holds it; no n and no y, which are keys."""
WORD_LENGTH: Final = 3
APPROVE_KEYS: Final = frozenset({"y", "s", "p"})
"""Keys that end in an approval."""

KeyEffect = Literal["ignored", "counted", "confirm", "approved"]
"""ignored: arrived early or not allowed now · counted: the dialog may act on it · confirm: one more step is
needed · approved: the last step was made."""
Steps = Literal["single", "enter", "word"]
"""What an approval takes: one key; a key, then Enter; a key, then the word on the screen."""


def steps_for(risk: RiskLevel, *, strong: bool) -> Steps:
    """Return what an approval of this risk takes: R4 the word, R3 or a strong question Enter, else one key."""
    if risk == "R4":
        return "word"
    return "enter" if strong or risk == "R3" else "single"


def confirmation_word(seed: str) -> str:
    """Return the word to type, the same for the same `seed` (a digest, hexadecimal)."""
    number = int(seed[:12] or "0", 16)
    letters = []
    for _ in range(WORD_LENGTH):
        number, rest = divmod(number, len(WORD_LETTERS))
        letters.append(WORD_LETTERS[rest])
    return "".join(letters)


def may_take_focus(*, composer_empty: bool, last_key_at_s: float | None, now_s: float) -> bool:
    """Return whether a dialog may take focus by itself.

    Args:
        composer_empty: The person has no draft.
        last_key_at_s: Arrival of the last key anywhere, None when there was none.
        now_s: The same clock.
    """
    quiet = last_key_at_s is None or now_s - last_key_at_s >= QUIET_BEFORE_FOCUS_S
    return composer_empty and quiet


@dataclass(frozen=True, slots=True, kw_only=True)
class Demands:
    """What one dialog asks of an approval."""

    risk: RiskLevel = "R2"
    strong: bool = False
    word: str = ""
    """Needed where `steps_for` says word."""

    @property
    def steps(self) -> Steps:
        """What an approval takes."""
        return steps_for(self.risk, strong=self.strong)

    @property
    def must_see_end(self) -> bool:
        """Whether the last line must have been on the screen."""
        return self.strong or self.risk in {"R3", "R4"}


class ApprovalSteps:
    """How far an approval got: y, then Enter or the word where the risk asks for it."""

    def __init__(self, demands: Demands) -> None:
        """Start before the first step."""
        self._demands = demands
        self.typed: str | None = None
        """None before the first step, else the letters of the word so far."""

    def forget(self) -> None:
        """Go back before the first step."""
        self.typed = None

    def awaits(self, key: str) -> bool:
        """Return whether `key` is the next letter of the word."""
        word = self._demands.word
        if self.typed is None or self._demands.steps != "word" or not word:
            return False
        return word.startswith(self.typed + key) and len(key) == 1

    def advance(self, key: str) -> KeyEffect:
        """Take a key that counts."""
        if self.awaits(key):
            self.typed = (self.typed or "") + key
            return self._finished(done=self.typed == self._demands.word)
        if self.typed is not None and self._demands.steps == "enter" and key == "enter":
            return self._finished(done=True)
        self.typed = None
        return self._first(key)

    def _finished(self, *, done: bool) -> KeyEffect:
        if not done:
            return "confirm"
        self.typed = None
        return "approved"

    def _first(self, key: str) -> KeyEffect:
        if key == "enter":
            return "ignored"
        if key not in APPROVE_KEYS:
            return "counted"
        if self._demands.steps == "single":
            return "approved" if key == "y" else "counted"
        if key != "y":
            return "ignored"
        self.typed = ""
        return "confirm"


class Arming:
    """The state of one dialog: whether a key that arrives now would count, and how far an approval got.

    One instance is one showing of one decision; the next decision gets its own.
    """

    def __init__(
        self,
        demands: Demands,
        *,
        size: tuple[int, int],
        focused: bool = True,
        last_key_at_s: float | None = None,
    ) -> None:
        """Start unarmed.

        Args:
            demands: What the decision asks.
            size: Columns and rows of the terminal.
            focused: Whether the dialog has focus from the start.
            last_key_at_s: Arrival of the last key before the dialog, wherever it went.
        """
        self._demands = demands
        self._size = size
        self._focused = focused
        self._painted_at_s: float | None = None
        self._end_seen = False
        self._last_key: tuple[str, float] | None = None
        self._quiet_from_s = -float("inf") if last_key_at_s is None else last_key_at_s
        self._focus_in_at_s = -float("inf")
        self._steps = ApprovalSteps(demands)
        self._ignored = 0

    @property
    def ignored(self) -> int:
        """Keys that arrived too early, for the line "3 keys ignored"."""
        return self._ignored

    @property
    def typed(self) -> str | None:
        """None before the first step of an approval, else the letters of the word so far."""
        return self._steps.typed

    @property
    def approvable(self) -> bool:
        """Whether approve keys may count at all: the terminal is large enough and the end was seen."""
        large = self._size[0] >= MIN_WIDTH and self._size[1] >= MIN_HEIGHT
        return large and (self._end_seen or not self._demands.must_see_end)

    def painted(self, at_s: float) -> None:
        """Note that the dialog is on the screen; only the first time matters."""
        if self._painted_at_s is None:
            self._painted_at_s = at_s

    def end_seen(self) -> None:
        """Note that the last line of the text is, or was, on the screen."""
        self._end_seen = True

    def focus_taken(self, at_s: float) -> None:
        """Note that the dialog got focus."""
        self._focused = True
        self._disturb(at_s)

    def focus_lost(self) -> None:
        """Note that keys go elsewhere."""
        self._focused = False
        self._steps.forget()

    def focus_in(self, at_s: float) -> None:
        """Note that the terminal window came to the front."""
        self._focus_in_at_s = max(self._focus_in_at_s, at_s)
        self._disturb(at_s)

    def resized(self, size: tuple[int, int], at_s: float) -> None:
        """Note a new size in columns and rows."""
        self._size = size
        self._disturb(at_s)

    def content_changed(self, at_s: float) -> None:
        """Note that the dialog shows something else; its end must be seen again."""
        self._end_seen = False
        self._disturb(at_s)

    def resumed(self, at_s: float) -> None:
        """Note that the app was stopped and goes on."""
        self._disturb(at_s)

    def paste(self, at_s: float) -> None:
        """Note a paste: it is never a key."""
        self._ignored += 1
        self._disturb(at_s)

    def key_elsewhere(self, at_s: float) -> None:
        """Note a key that went to another widget."""
        self._disturb(at_s)

    def armed_at_s(self) -> float:
        """Return when the dialog is armed if nothing more happens, infinity while it cannot be."""
        if self._painted_at_s is None or not self._focused:
            return float("inf")
        return max(self._painted_at_s + AFTER_PAINT_S, self._quiet_from_s + AFTER_CHANGE_S)

    def armed(self, at_s: float) -> bool:
        """Return whether a key arriving at `at_s` would count."""
        return at_s >= self.armed_at_s()

    def counts(self, key: str, at_s: float) -> bool:
        """Return whether this key would count.

        Args:
            key: As Textual names it: "y", "N", "enter".
            at_s: Its arrival.
        """
        last = self._last_key
        if last is not None and last[0] == key and at_s - last[1] < REPEAT_S:
            return False
        # the first letter waits as any key does, the others come at the pace of typing
        if self._steps.typed and self._steps.awaits(key):
            return self._focused and self.approvable
        if not self.armed(at_s):
            return False
        return self.approvable or (key not in APPROVE_KEYS and key != "enter")

    def key(self, key: str, at_s: float) -> KeyEffect:
        """Take a key event.

        Args:
            key: As Textual names it.
            at_s: Its arrival, not the time it is handled.

        Returns:
            What the dialog may do with it. "approved" comes once, for the key that completes all steps.
        """
        counts = self.counts(key, at_s)
        self._last_key = (key, at_s)
        self._quiet_from_s = max(self._quiet_from_s, at_s)
        if counts:
            return self._steps.advance(key)
        self._ignored += 1
        if key != "enter":  # an Enter that came too early does not take the first step back
            self._steps.forget()
        return "ignored"

    def click_counts(self, at_s: float) -> bool:
        """Return whether a click on a button would count: never for R3 and R4, never just after FocusIn."""
        if self._demands.steps != "single" or at_s < self._focus_in_at_s + AFTER_CHANGE_S:
            return False
        return self.armed(at_s) and self.approvable

    def _disturb(self, at_s: float) -> None:
        self._steps.forget()
        self._quiet_from_s = max(self._quiet_from_s, at_s)

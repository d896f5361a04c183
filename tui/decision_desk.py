"""When the dialog of an open decision may appear: never over a draft, never under the fingers of someone who types."""

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, Protocol

from tui.arming import MIN_HEIGHT, MIN_WIDTH, QUIET_BEFORE_FOCUS_S, may_take_focus

if TYPE_CHECKING:
    from core.view.decisions import DecisionsView, WaitingDecision
    from tui.screens.armed import ArmedScreen
    from tui.screens.dialog_end import DialogContext, DialogEnd
    from tui.session_port import SessionLike

AFTER_QUIET_S: Final = 0.01
"""The quiet time is checked this long after its end, never before it."""


class Desk(Protocol):
    """What the desk needs of the app."""

    @property
    def is_free(self) -> bool:
        """Whether the main screen is on top and large enough for a dialog."""
        ...

    @property
    def has_draft(self) -> bool:
        """Whether the person is in the middle of a text."""
        ...

    def open_dialog(
        self, dialog: "ArmedScreen", closed: "Callable[[DialogEnd | None], None]"
    ) -> None:
        """Put a dialog on the screen."""
        ...

    def look_again(self, after_s: float) -> None:
        """Call `DecisionDesk.consider` once after a while."""
        ...

    def put_back(self, text: str) -> None:
        """Put text that went nowhere back in front of the person."""
        ...

    def show_banner(self) -> None:
        """Bring the banner up to date."""
        ...


@dataclass(slots=True)
class DecisionDesk:
    """Opens, closes and queues the dialogs of open decisions."""

    app: Desk
    session: "SessionLike"
    queue: "DecisionsView"
    now: Callable[[], float] = time.monotonic
    """The clock of `Key.time`."""
    last_key_at_s: float | None = None
    drafts: dict[str, str] = field(default_factory=dict)
    """What was typed into dialogs and not sent, by decision id."""
    _dialog: "ArmedScreen | None" = None
    _left_open: set[str] = field(default_factory=set)
    """Decisions the person put off: only a key opens them again."""

    @property
    def has_dialog(self) -> bool:
        """Whether a dialog is on the screen."""
        return self._dialog is not None

    def note_key(self, at_s: float) -> None:
        """Note a key, with the time it arrived."""
        self.last_key_at_s = at_s

    def note_focus_in(self) -> None:
        """Disarm the dialog when the terminal reports focus, also where the app believed it had it already."""
        if self._dialog is not None:
            self._dialog.note_focus_in()

    def update(self) -> None:
        """Follow the log: close dialogs whose decision is gone, consider new ones."""
        for gone in self._left_open - self.queue.open.keys():
            self._left_open.discard(gone)
        dialog = self._dialog
        if dialog is not None and dialog.decision_id not in self.queue.open:
            dialog.withdrawn()
        self.consider()

    def consider(self) -> None:
        """Open the next dialog by itself if that disturbs nobody, else show the banner."""
        waiting = self._next()
        if waiting is None or self._dialog is not None or not self.app.is_free:
            self.app.show_banner()
            return
        quiet = may_take_focus(
            composer_empty=not self.app.has_draft,
            last_key_at_s=self.last_key_at_s,
            now_s=self.now(),
        )
        if quiet:
            self._open(waiting)
        elif not self.app.has_draft and self.last_key_at_s is not None:
            left_s = QUIET_BEFORE_FOCUS_S - (self.now() - self.last_key_at_s)
            self.app.look_again(max(left_s, 0) + AFTER_QUIET_S)
        self.app.show_banner()

    def open_by_key(self) -> None:
        """Open the oldest decision because the person asked for it."""
        self._left_open.clear()
        waiting = self._next()
        if waiting is not None and self._dialog is None and self.app.is_free:
            self._open(waiting)
        self.app.show_banner()

    def _next(self) -> "WaitingDecision | None":
        return next(
            (waiting for key, waiting in self.queue.open.items() if key not in self._left_open),
            None,
        )

    def _open(self, waiting: "WaitingDecision") -> None:
        from tui.screens.dialog_end import DialogContext

        context = DialogContext(
            queue=self.queue, last_key_at_s=self.last_key_at_s, drafts=self.drafts, now=self.now
        )
        self._dialog = make_dialog(self.session, waiting, context)
        self.app.open_dialog(self._dialog, self._closed)

    def _closed(self, end: "DialogEnd | None") -> None:
        self._dialog = None
        if end is None:
            self.app.show_banner()
            return
        if end.text and end.how == "withdrawn":
            self.app.put_back(end.text)
        if end.how == "later":
            self._left_open.add(end.decision_id)
        if end.how in ("next", "previous"):
            self._open_beside(end)
        else:
            self.consider()

    def _open_beside(self, end: "DialogEnd") -> None:
        ids = list(self.queue.open)
        if not ids:
            self.app.show_banner()
            return
        at = ids.index(end.decision_id) if end.decision_id in ids else -1
        step = 1 if end.how == "next" else -1
        self._open(self.queue.open[ids[(at + step) % len(ids)]])


def make_dialog(
    session: "SessionLike", waiting: "WaitingDecision", context: "DialogContext"
) -> "ArmedScreen":
    """Return the dialog for a decision."""
    if waiting.prompt.kind == "approval":
        from tui.screens.approval import ApprovalScreen

        return ApprovalScreen(session, waiting.decision_id, waiting.prompt, context=context)
    from tui.screens.question import QuestionScreen

    return QuestionScreen(session, waiting.decision_id, waiting.prompt, context=context)


def is_large_enough(width_cells: int, height_cells: int) -> bool:
    """Return whether a dialog may be shown on a screen of this size."""
    return width_cells >= MIN_WIDTH and height_cells >= MIN_HEIGHT

"""What the dialogs about open decisions share: they arm late, leave the decision open, and close when it is gone."""

from typing import TYPE_CHECKING, ClassVar

from textual.reactive import reactive
from textual.screen import ModalScreen

from core.ports import Answer
from tui.arming import Arming, Demands
from tui.keys_dialogs import LEAVING_KEYS
from tui.screens.dialog_end import DialogContext, DialogEnd, Leaving

if TYPE_CHECKING:
    from textual import events
    from textual.binding import BindingType
    from textual.timer import Timer

    from tui.session_port import SessionLike

TIMER_SLACK_S = 0.01
"""The border brightens this long after the moment of arming, never before it."""


class ArmedScreen(ModalScreen[DialogEnd]):
    """A dialog about one open decision."""

    BINDINGS: ClassVar["list[BindingType]"] = [*LEAVING_KEYS]

    VERTICAL_BREAKPOINTS = [(0, "-short"), (20, "-roomy")]  # noqa: RUF012 - Textual declares it
    """Below 20 rows dialogs give up their blank lines."""

    armed: reactive[bool] = reactive(default=False)
    """Whether a key would count now; for the eye only, keys are judged by their own time."""

    def __init__(
        self,
        session: "SessionLike",
        decision_id: str,
        demands: Demands,
        context: DialogContext,
    ) -> None:
        """Show an open decision.

        Args:
            session: Takes the answer.
            decision_id: From the log.
            demands: What a deciding key takes.
            context: What the app knows.
        """
        super().__init__()
        self.session = session
        self.decision_id = decision_id
        self.context = context
        self.now = context.now
        self._arm_timer: Timer | None = None
        self.arm_anew(demands)

    @property
    def unsent_text(self) -> str:
        """What was typed here and would be lost; "" for nothing."""
        return ""

    @property
    def terminal_size(self) -> tuple[int, int]:
        """Columns and rows."""
        return self.app.size.width, self.app.size.height

    def arm_anew(self, demands: Demands) -> None:
        """Start again, unarmed, with these demands."""
        self.demands = demands
        self.arming = Arming(demands, size=(0, 0), last_key_at_s=self.context.last_key_at_s)

    def show_state(self) -> None:
        """Show what can be done now; called after each key and when the dialog arms."""

    def note_painted(self) -> None:
        """Note that what is shown is on the screen, and wait for the moment of arming."""
        self.arming.resized(self.terminal_size, self.now())
        self.arming.painted(self.now())
        self.update_arming()

    def update_arming(self) -> None:
        """Bring `armed` up to date and look again when it will change."""
        at_s = self.now()
        self.armed = self.arming.armed(at_s)
        if self._arm_timer is not None:
            self._arm_timer.stop()
        wait_s = self.arming.armed_at_s() - at_s
        if 0 < wait_s < float("inf"):
            self._arm_timer = self.set_timer(wait_s + TIMER_SLACK_S, self.update_arming)
        self.show_state()

    def on_mount(self) -> None:
        """Arm from the first paint on; a window that comes to the front disarms."""
        self.watch(self.app, "app_focus", self._note_app_focus, init=False)
        self.app.app_resume_signal.subscribe(self, self._note_app_resumed)
        self.call_after_refresh(self.note_painted)

    def on_resize(self, event: "events.Resize") -> None:
        """Disarm: what was under the eye has moved."""
        self.arming.resized(self.terminal_size, self.now())
        self.call_after_refresh(self.update_arming)

    def on_screen_suspend(self) -> None:
        """Disarm: keys go to another screen."""
        self.arming.focus_lost()

    def on_screen_resume(self) -> None:
        """Keys come here again."""
        self.arming.focus_taken(self.now())
        self.call_after_refresh(self.update_arming)

    def on_paste(self, event: "events.Paste") -> None:
        """A paste is never a key."""
        event.stop()
        self.arming.paste(event.time)
        self.update_arming()

    def action_named(self, key: str) -> str:
        """Return the action this dialog has on a key, "" if there is none."""
        found = self.active_bindings.get(key)
        return found.binding.action if found is not None and found.node is self else ""

    def resolve(self, answer: Answer) -> None:
        """Give the answer and close; when the decision is gone, close all the same."""
        taken = self.session.answer(self.decision_id, answer)
        self.close("answered" if taken else "withdrawn")

    def withdrawn(self) -> None:
        """Close: the decision is gone."""
        self.pop_until_active()
        self.close("withdrawn")

    def action_leave(self, how: Leaving) -> None:
        """Leave the decision open."""
        self.close(how)

    def close(self, how: Leaving) -> None:
        """Close and tell the app what was typed and not sent."""
        text = "" if how == "answered" else self.unsent_text
        self.context.drafts.pop(self.decision_id, None)
        if text:
            self.context.drafts[self.decision_id] = text
        self.dismiss(DialogEnd(how=how, decision_id=self.decision_id, text=text))

    def note_focus_in(self) -> None:
        """Disarm: the window came to the front."""
        self.arming.focus_in(self.now())
        self.update_arming()

    def _note_app_focus(self, has_focus: bool) -> None:
        if has_focus:
            self.note_focus_in()

    def _note_app_resumed(self, _: object) -> None:
        self.arming.resumed(self.now())
        self.update_arming()

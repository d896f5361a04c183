"""The approval dialog: what would run, why it is asked, and keys that cannot be hit by mistake.

Whether a key counts is decided by `tui.arming` from the time the key arrived; no action of the app,
no click and no paste approves anything.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, ClassVar, Final

from textual import getters, on
from textual.containers import Vertical
from textual.content import Content
from textual.widgets import Input, Static

from core.decision import ApprovalPrompt
from core.messages import JsonValue
from core.ports import Answer
from core.vocabulary import Resolution
from tui.arming import APPROVE_KEYS, Demands, KeyEffect, confirmation_word
from tui.keys_dialogs import APPROVAL_KEYS, LEAVING_KEYS
from tui.screens import approval_text as say
from tui.screens.armed import ArmedScreen
from tui.screens.dialog_end import DialogContext, Leaving
from tui.screens.edit_arguments import EditArgumentsScreen, EditResult
from tui.screens.fitting import fit_height, is_whole
from tui.screens.text_view import TextViewScreen
from tui.shown_lines import diff_lines
from tui.widgets.key_hints import KeyHints
from tui.widgets.line_view import LineView
from tui.widgets.text_lines import TextBlock

if TYPE_CHECKING:
    from textual import events
    from textual.app import ComposeResult
    from textual.binding import Binding, BindingType

    from tui.session_port import SessionLike
    from tui.widgets.folded_text import Line

KEY_OF_ACTION: Final[Mapping[str, str]] = {
    "approve": "y",
    "edit": "e",
    "deny": "n",
    "deny_pause": "N",
    "full_text": "v",
    "diff": "d",
    "reasons": "x",
}
"""What `tui.arming` calls the key of an action, whichever key the person has put it on."""
KEY_OF_RESOLUTION: Final[Mapping[Resolution, str]] = {
    "approved": "y",
    "edited": "y",
    "denied": "n",
    "denied_pause": "N",
}


class ApprovalScreen(ArmedScreen):
    """Shows one approval until it is decided, left open, or gone."""

    CSS_PATH = "approval.tcss"
    BINDINGS: ClassVar["list[BindingType]"] = [*APPROVAL_KEYS]

    dialog = getters.query_one("#approval", Vertical)
    body = getters.query_one("#approval-body", TextBlock)
    reason = getters.query_one("#approval-reason", Input)

    def __init__(
        self,
        session: "SessionLike",
        decision_id: str,
        prompt: ApprovalPrompt,
        *,
        context: DialogContext | None = None,
    ) -> None:
        """Show an open approval.

        Args:
            session: Takes the answer.
            decision_id: From the log.
            prompt: What is asked.
            context: What the app knows.
        """
        word = confirmation_word(prompt.digest)
        demands = Demands(risk=prompt.risk, strong=prompt.strong, word=word)
        super().__init__(session, decision_id, demands, context or DialogContext())
        self._prompt = prompt
        self._edited: Mapping[str, JsonValue] | None = None
        self._with_reasons = False
        self._effects: Mapping[str, Callable[[], object]] = {
            "edit": self._edit,
            "deny": lambda: self._open_reason(is_open=True),
            "deny_pause": lambda: self._answer("denied_pause"),
            "full_text": lambda: self._read(say.full_lines(prompt, self._edited)),
            "diff": lambda: self._read(diff_lines(prompt.diff)) if prompt.diff else None,
            "reasons": self._toggle_reasons,
        }

    @property
    def unsent_text(self) -> str:
        """A reason that was begun."""
        return self.reason.value

    def compose(self) -> "ComposeResult":
        """Lay out what, why, the call, its marks, the next step and the keys."""
        told = ", told to the model" if self._prompt.call_id else ""
        with Vertical(id="approval"):
            yield Static(id="approval-title")
            yield Static(id="approval-why")
            yield TextBlock(id="approval-body")
            yield Static(id="approval-marks")
            yield Static(id="approval-next")
            yield Input(
                self.context.drafts.get(self.decision_id, ""),
                id="approval-reason",
                placeholder=f"reason{told}: Enter refuses, Esc goes back",
            )
            yield KeyHints(id="approval-keys")

    def on_mount(self) -> None:
        """Show the call; nothing that could approve it is selected."""
        prompt = self._prompt
        title = say.title_text(prompt, self.session.log.step)
        self.query_one("#approval-title", Static).update(Content(title))
        self.query_one("#approval-why", Static).update(Content(say.why_text(prompt.reasons)))
        self.dialog.add_class(f"-{prompt.risk.lower()}")
        self._show_call()
        self.body.focus()

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Keep deciding keys out of the app's own key handling: only `on_key` knows their time."""
        return None if action in KEY_OF_ACTION else True

    def on_key(self, event: "events.Key") -> None:
        """Take a key with the time it arrived."""
        if self.reason.has_focus:
            self.arming.key_elsewhere(event.time)
            return
        action = self.action_named(event.key)
        key = self._arming_key(action, event.key)
        if event.is_printable or key == "enter":
            effect = self.arming.key(key, event.time)
            if effect != "counted" or action in KEY_OF_ACTION:
                event.stop()
            self._act(action, effect)
        else:
            self.arming.key_elsewhere(event.time)
        if self.is_current:
            self.update_arming()

    def show_state(self) -> None:
        """Show whether keys count, what approving takes, and how many keys were ignored."""
        self.dialog.border_title = say.heading(
            self._prompt, self.context.place_of(self.decision_id)
        )
        self.dialog.set_class(self.armed, "-armed")
        if not fit_height(self.dialog, self.body, self.app.size.height):
            self.call_after_refresh(self.update_arming)
        elif is_whole(self.body) and self.body.end_in_view:
            self.arming.end_seen()
        text = say.next_step_text(
            self.arming,
            self.demands,
            at_s=self.now(),
            size=self.terminal_size,
            effect=self._prompt.effect if self._edited is None else say.EDITED_EFFECT,
        )
        count = self.arming.ignored
        ignored = f"   {count} key{'s' * (count > 1)} ignored" if count else ""
        self.query_one("#approval-next", Static).update(
            Content.assemble((f"> {text}", "bold"), (ignored, "$text-warning"))
        )

    @on(LineView.Resized)
    @on(LineView.Scrolled)
    def note_scrolled(self) -> None:
        """Another part of the call is in view, perhaps its end."""
        self.call_after_refresh(self.update_arming)

    @on(Input.Submitted, "#approval-reason")
    def refuse(self, event: Input.Submitted) -> None:
        """Refuse with the reason that was typed."""
        event.stop()
        self._answer("denied", event.value.strip())

    def action_leave(self, how: Leaving) -> None:
        """Leave the reason line if it is open, else the dialog."""
        if self.reason.has_focus and how == "later":
            self._open_reason(is_open=False)
            return
        super().action_leave(how)

    def _show_call(self) -> None:
        """Show the call as it stands; it must be looked at anew."""
        prompt = self._prompt
        lines = say.body_lines(prompt, edited=self._edited, with_reasons=self._with_reasons)
        self.body.show_lines(lines)
        marks = Content(say.marks_text(prompt, lines))
        self.query_one("#approval-marks", Static).update(marks)
        hidden = {
            "diff": not prompt.diff,
            "edit": not prompt.editable,
            "deny_pause": not prompt.call_id,
            "leave('next')": self.context.is_alone,
        }
        useless = [action for action, is_hidden in hidden.items() if is_hidden]
        keys = APPROVAL_KEYS if prompt.call_id else [_for_good(key) for key in APPROVAL_KEYS]
        self.query_one(KeyHints).show_keys([*keys, *LEAVING_KEYS], hidden=useless)
        self.arming.content_changed(self.now())
        self.call_after_refresh(self.note_painted)

    def _arming_key(self, action: str, key: str) -> str:
        """Return what `tui.arming` calls a key: letters of a word as they are, else by its action."""
        if self.arming.typed is not None and self.demands.steps == "word":
            return key
        if not action and key in APPROVE_KEYS:
            return "other"
        return KEY_OF_ACTION.get(action, key)

    def _act(self, action: str, effect: KeyEffect) -> None:
        """Do what a key that counts is for."""
        if effect == "approved":
            self._answer("approved" if self._edited is None else "edited")
        elif effect == "counted" and action in self._effects:
            self._effects[action]()

    def _answer(self, resolution: Resolution, text: str = "") -> None:
        self.resolve(
            Answer(
                resolution=resolution,
                decided_by="person",
                text=text,
                arguments=self._edited if resolution == "edited" else None,
                digest=self._prompt.digest,
                key=KEY_OF_RESOLUTION[resolution],
            )
        )

    def _open_reason(self, *, is_open: bool) -> None:
        self.dialog.set_class(is_open, "-reason")
        (self.reason if is_open else self.body).focus()
        self.update_arming()

    def _read(self, lines: "Sequence[Line]") -> None:
        """Show a text over the whole screen; its end seen there is the end seen."""
        self.app.push_screen(TextViewScreen(self._prompt.title, lines), self._note_text_read)

    def _note_text_read(self, end_seen: bool | None) -> None:
        if end_seen:
            self.arming.end_seen()

    def _toggle_reasons(self) -> None:
        self._with_reasons = not self._with_reasons
        self._show_call()

    def _edit(self) -> None:
        if not self._prompt.editable:
            return
        arguments = self._prompt.arguments if self._edited is None else self._edited
        form = EditArgumentsScreen(f"arguments of {self._prompt.tool}", arguments)
        self.app.push_screen(form, self._take_edited)

    def _take_edited(self, arguments: EditResult) -> None:
        """Show the person's arguments; one key lets them go, and the session judges them again."""
        if arguments is None or arguments == self._prompt.arguments:
            return
        self._edited = arguments
        self.arm_anew(Demands())
        self._show_call()


def _for_good(key: "Binding") -> "Binding":
    """Return a key of a decision that is about no call, so that nothing runs once."""
    return replace(key, description="yes") if key.action == "approve" else key

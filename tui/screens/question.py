"""The dialog of `ask_human`: a typed answer, an option, several, yes or no, or "decide yourself"."""

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, ClassVar, Final, Literal

from textual import getters, on
from textual.containers import Vertical
from textual.content import Content
from textual.widgets import Static

from core.decision import QuestionPrompt
from core.ports import Answer
from core.vocabulary import QuestionKind
from tui.arming import Demands
from tui.keys_dialogs import CHOICE_KEYS, CONFIRM_KEYS, LEAVING_KEYS, QUESTION_KEYS, TEXT_KEYS
from tui.keys_panes import LINE_KEYS
from tui.safe_text import safe_text
from tui.screens.armed import ArmedScreen
from tui.screens.dialog_end import DialogContext, Leaving
from tui.screens.fitting import fit_height
from tui.shown_lines import QUIET, text_lines
from tui.widgets.answer_area import AnswerArea
from tui.widgets.folded_text import Line
from tui.widgets.key_hints import KeyHints
from tui.widgets.line_view import RowList
from tui.widgets.text_lines import TextBlock

if TYPE_CHECKING:
    from textual import events
    from textual.app import ComposeResult
    from textual.binding import Binding, BindingType

    from tui.session_port import SessionLike

QuestionState = Literal["writing", "choosing", "confirming", "declining"]
"""How the answer is given now; declining: it cannot be given here."""
STATES: Final[Mapping[QuestionKind, QuestionState]] = {
    "text": "writing",
    "file": "writing",
    "choice": "choosing",
    "choices": "choosing",
    "confirm": "confirming",
    "secret": "declining",
}
KEYS_OF: Final[Mapping[QuestionState, "Sequence[Binding]"]] = {
    "writing": TEXT_KEYS,
    "choosing": CHOICE_KEYS,
    "confirming": CONFIRM_KEYS,
    "declining": (),
}
CONFIRMATIONS: Final[Mapping[str, str]] = {"say_yes": "yes", "say_no": "no"}
"""What an action answers."""
STATE_OF_ACTION: Final[Mapping[str, QuestionState]] = {
    "mark": "choosing",
    "choose": "choosing",
    "say_yes": "confirming",
    "say_no": "confirming",
}
"""Actions that there are only in one state."""
OWN_ANSWER: Final = "something else: write it"
"""The row after the options."""
NOTHING_WRITTEN: Final = "nothing is written: an empty answer is not sent"
NO_SECRETS: Final = (
    "A secret typed here would be written to the journal and told to the model. "
    "Let the agent decide, or leave the question open."
)


class OptionList(RowList, inherit_bindings=False):
    """The options; the keys that answer belong to the dialog, which knows when they count."""

    BINDINGS: ClassVar["list[BindingType]"] = [*LINE_KEYS]

    def __init__(self, write: Callable[[str], bool], *, id: str) -> None:
        """Make an empty list.

        Args:
            write: Takes what is typed or pasted here as text; False where it is no text.
            id: Widget id.
        """
        super().__init__(id=id)
        self._write = write

    def on_key(self, event: "events.Key") -> None:
        """Give a key that may be text away at once: one hop later it could be overtaken by the next."""
        if event.is_printable and event.character and self._write(event.character):
            event.stop()
            event.prevent_default()

    def on_paste(self, event: "events.Paste") -> None:
        """Give pasted text away; the dialog learns of the paste all the same."""
        self._write(event.text)


class QuestionScreen(ArmedScreen):
    """Shows one question until it is answered, left open, or gone."""

    CSS_PATH = "question.tcss"
    BINDINGS: ClassVar["list[BindingType]"] = [*QUESTION_KEYS, *CONFIRM_KEYS, *CHOICE_KEYS]

    dialog = getters.query_one("#question", Vertical)
    area = getters.query_one(AnswerArea)
    options = getters.query_one("#question-options", OptionList)
    status = getters.query_one("#question-status", Static)

    def __init__(
        self,
        session: "SessionLike",
        decision_id: str,
        prompt: QuestionPrompt,
        *,
        context: DialogContext | None = None,
    ) -> None:
        """Show an open question.

        Args:
            session: Takes the answer.
            decision_id: From the log.
            prompt: What is asked.
            context: What the app knows.
        """
        super().__init__(session, decision_id, Demands(), context or DialogContext())
        self._prompt = prompt
        self._options = [safe_text(option, single_line=True) for option in prompt.options]
        self._marked: set[int] = set()
        self._draft = self.context.drafts.get(decision_id, "")
        self._state: QuestionState = STATES[prompt.answer_kind]
        if self._draft and self._options:
            self._state = "writing"
        self._is_empty_refused = False

    @property
    def unsent_text(self) -> str:
        """What was typed."""
        return self.area.text

    def compose(self) -> "ComposeResult":
        """Lay out the question, a list and a field for the answer, and the keys."""
        with Vertical(id="question"):
            yield TextBlock(id="question-text", is_prose=True)
            yield OptionList(self._write, id="question-options")
            yield AnswerArea(self._draft, compact=True, soft_wrap=True)
            yield Static(id="question-status")
            yield KeyHints(id="question-keys")

    def on_mount(self) -> None:
        """Show the question; nothing is sent by itself."""
        lines = text_lines(self._prompt.question)
        if self._prompt.answer_kind == "secret":
            lines += text_lines(NO_SECRETS)
        if self._prompt.default:
            default = safe_text(self._prompt.default, single_line=True, fold=True)
            lines.append(Line(f'"decide yourself" means: {default}', QUIET))
        self.query_one("#question-text", TextBlock).show_lines(lines)
        if self._options:
            self.options.show_rows(len(self._options) + 1, self._option_row)
        self._enter(self._state)

    def on_key(self, event: "events.Key") -> None:
        """Take a key with the time it arrived; keys of the list and of the field go on to them."""
        action = self.action_named(event.key)
        if action == "decline" or action in CONFIRMATIONS:
            event.stop()
            if self._counts(event.key, event.time):
                self._resolve(action, event.key)
        elif action in {"mark", "choose"}:
            event.stop()
            if self._counts(event.key, event.time):
                self._take_row(action)
        elif self._state == "choosing" and event.character and event.character in "123456789":
            event.stop()
            self.options.cursor_row = int(event.character) - 1
        elif self._state == "confirming" and event.is_printable:
            event.stop()
            self._counts(event.key, event.time)

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Keep answering keys out of the app's own key handling: only `on_key` knows their time."""
        state = STATE_OF_ACTION.get(action)
        if state is not None and state != self._state:
            return False
        return None if state is not None or action == "decline" else True

    @on(AnswerArea.Sent)
    def send_text(self, message: AnswerArea.Sent) -> None:
        """Send what was typed; nothing at all only where there is a default to go on with."""
        if not self._counts("enter", message.at_s):
            return
        text = self.area.text.strip()
        if text or (self._prompt.default and not self._options):
            self._answer(text, "enter")
        else:
            self._note_refused(is_refused=True)

    @on(AnswerArea.Changed)
    def note_typed(self) -> None:
        """Take back what was said about an empty answer."""
        self._note_refused(is_refused=False)

    @on(RowList.Chosen)
    def choose_by_mouse(self, message: RowList.Chosen) -> None:
        """Take the option that was clicked twice."""
        if self.arming.click_counts(self.now()):
            self._take_row("choose")

    def action_leave(self, how: Leaving) -> None:
        """Go back to the options if there are some, else leave the question open."""
        if how == "later" and self._state == "writing" and self._options:
            self._enter("choosing")
            return
        super().action_leave(how)

    def show_state(self) -> None:
        """Show whether keys count."""
        place = self.context.place_of(self.decision_id)
        self.dialog.border_title = Content(f"QUESTION{place}")
        self.dialog.set_class(self.armed, "-armed")
        scrolling = self.options if self._state == "choosing" else self.area
        fit_height(self.dialog, scrolling, self.app.size.height)
        count = self.arming.ignored
        ignored = f"{count} key{'s' * (count > 1)} ignored   " if count else ""
        waits = "" if self.armed else "arming: no answer is taken yet"
        if self.armed and self._is_empty_refused:
            waits = NOTHING_WRITTEN
        self.status.update(Content.assemble((ignored + waits, "$text-warning")))

    def _counts(self, key: str, at_s: float) -> bool:
        """Return whether a key may answer; one that comes early is counted as ignored."""
        if self._state == "confirming":
            counts = self.arming.key(key, at_s) in {"approved", "counted"}
        else:
            counts = self.arming.armed(at_s) or self.arming.key(key, at_s) != "ignored"
        self.update_arming()
        return counts

    def _enter(self, state: QuestionState) -> None:
        """Show what belongs to another way of answering, and its keys."""
        self._state = state
        self._note_refused(is_refused=False)
        for name in ("choosing", "writing", "confirming"):
            self.dialog.set_class(name == state, f"-{name}")
        several = self._prompt.answer_kind == "choices"
        keys = [*KEYS_OF[state], *QUESTION_KEYS, *LEAVING_KEYS]
        hidden = {"mark": not several, "leave('next')": self.context.is_alone}
        useless = [action for action, is_hidden in hidden.items() if is_hidden]
        self.query_one(KeyHints).show_keys(keys, hidden=useless)
        focused = {"choosing": self.options, "writing": self.area}
        # At once: `Widget.focus` waits for the app's turn, and keys typed until then would go to the list.
        self.set_focus(focused.get(state, self.query_one("#question-text", TextBlock)))

    def _note_refused(self, *, is_refused: bool) -> None:
        if self._is_empty_refused != is_refused:
            self._is_empty_refused = is_refused
            self.show_state()

    def _write(self, text: str) -> bool:
        """Write into the field what came to the list: on the row for it, or just after that row was left."""
        if self._state == "choosing" and self.options.cursor_row == len(self._options):
            self._enter("writing")
        if self._state != "writing":
            return False
        self.area.insert(text)
        return True

    def _option_row(self, row: int, width_cells: int) -> Content:
        if row == len(self._options):
            return Content.assemble(("    " + OWN_ANSWER, "italic"))
        mark = ""
        if self._prompt.answer_kind == "choices":
            mark = "[x] " if row in self._marked else "[ ] "
        return Content(f"{row + 1:>2}  {mark}{self._options[row]}")

    def _take_row(self, action: str) -> None:
        """Mark the option, answer with what is marked, or let the person write."""
        row, several = self.options.cursor_row, self._prompt.answer_kind == "choices"
        if row == len(self._options):
            self._enter("writing")
        elif several and action == "mark":
            self._marked ^= {row}
            self.options.forget()
        elif action == "choose":
            chosen = sorted(self._marked) or [row]
            self._answer(", ".join(self._prompt.options[number] for number in chosen), "enter")

    def _answer(self, text: str, key: str) -> None:
        self.resolve(Answer(resolution="answered", decided_by="person", text=text, key=key))

    def _resolve(self, action: str, key: str) -> None:
        if action in CONFIRMATIONS:
            self._answer(CONFIRMATIONS[action], key)
            return
        text = self.area.text.strip()
        self.resolve(Answer(resolution="declined", decided_by="person", text=text, key=key))

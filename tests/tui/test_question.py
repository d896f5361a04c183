from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass

import pytest
from textual import events

from core.decision import QuestionPrompt
from core.ports import Answer
from core.vocabulary import QuestionKind
from tests.support.dialog_host import DecidingSession, DialogHost, Hand, dialog_context, settled
from tui.screens.question import NOTHING_WRITTEN, QuestionScreen

FORMATS = ("PDF", "HTML", "Markdown")


@dataclass
class Asked:
    session: DecidingSession
    app: DialogHost
    dialog: QuestionScreen
    hand: Hand
    decision_id: str

    @property
    def answer(self) -> Answer | None:
        return self.session.answers.get(self.decision_id)


@asynccontextmanager
async def asked(
    kind: QuestionKind,
    *,
    options: tuple[str, ...] = (),
    drafts: dict[str, str] | None = None,
    default: str = "PDF",
) -> AsyncIterator[Asked]:
    session, app = DecidingSession(), DialogHost()
    prompt = QuestionPrompt(
        call_id="call-1", question="Which one?", answer_kind=kind, options=options, default=default
    )
    async with app.run_test(size=(80, 24)) as pilot:
        decision_id = await session.open(prompt)
        context = dialog_context(session, drafts={} if drafts is None else drafts)
        dialog = QuestionScreen(session, decision_id, prompt, context=context)
        await app.show_dialog(dialog, pilot)
        yield Asked(session, app, dialog, Hand(pilot, session.clock), decision_id)
        await session.withdraw(decision_id)


async def test_a_typed_answer_is_sent_by_enter():
    async with asked("text") as a:
        await a.hand.press(*"in 東京", "enter", after_s=0.2)
        assert a.answer == Answer(
            resolution="answered", decided_by="person", text="in 東京", key="enter"
        )


async def test_an_answer_may_have_more_than_one_line():
    async with asked("text") as a:
        await a.hand.press("a", "ctrl+j", "b", "enter")
        assert a.answer is not None
        assert a.answer.text == "a\nb"


async def test_enter_before_the_dialog_is_armed_sends_nothing_and_keeps_the_text():
    async with asked("text") as a:
        await a.hand.press("l", "o", "enter", after_s=0.1)
        assert a.answer is None
        assert a.dialog.area.text == "lo"
        await a.hand.press("enter")
        assert a.answer is not None
        assert a.answer.text == "lo"


async def test_typed_text_comes_back_when_the_question_is_left_and_opened_again():
    drafts: dict[str, str] = {}
    async with asked("text", drafts=drafts) as a:
        await a.hand.press(*"half", "escape")
        assert a.answer is None
        assert a.decision_id in a.session.gate.open
        assert [end and end.how for end in a.app.ends] == ["later"]
    async with asked("text", drafts=drafts) as a:
        assert a.dialog.area.text == "half"
        await a.hand.press("enter")
        assert drafts == {}


async def test_typed_text_is_handed_over_when_the_question_is_withdrawn():
    async with asked("text") as a:
        await a.hand.press(*"half")
        a.dialog.withdrawn()
        await settled(a.hand.pilot)
        end = a.app.ends[-1]
        assert end is not None
        assert (end.how, end.text) == ("withdrawn", "half")


@pytest.mark.parametrize(
    ("keys", "text"),
    [(["enter"], "PDF"), (["down", "enter"], "HTML"), (["3", "enter"], "Markdown")],
)
async def test_one_option_is_chosen_by_moving_to_it_and_enter(keys: list[str], text: str):
    async with asked("choice", options=FORMATS) as a:
        await a.hand.press(*keys)
        assert a.answer is not None
        assert a.answer.text == text


async def test_an_early_enter_chooses_nothing():
    async with asked("choice", options=FORMATS) as a:
        await a.hand.press("enter", after_s=0.1)
        assert a.answer is None


async def test_moving_quickly_does_not_hold_up_the_answer():
    async with asked("choice", options=FORMATS) as a:
        a.session.clock.advance(2)
        await a.hand.press("down", "enter", after_s=0.05)
        assert a.answer is not None
        assert a.answer.text == "HTML"


async def test_several_options_are_marked_by_space():
    async with asked("choices", options=FORMATS) as a:
        await a.hand.press("space", "down", "down", "space", "down", "up", "enter")
        assert a.answer is not None
        assert a.answer.text == "PDF, Markdown"


async def test_something_else_can_be_written_instead_of_an_option():
    async with asked("choice", options=FORMATS) as a:
        await a.hand.press("end", "enter", *"plain", "enter")
        assert a.answer is not None
        assert a.answer.text == "plain"


@pytest.mark.parametrize("kind", ["choice", "choices"])
@pytest.mark.parametrize("text", ["plain", "just so", " x", "2 of them", "go", "ключ"])
async def test_typing_on_the_row_for_it_begins_the_answer_and_loses_nothing(
    kind: QuestionKind, text: str
):
    async with asked(kind, options=FORMATS) as a:
        await a.hand.press("end", *text, after_s=0.05)
        assert a.answer is None
        assert a.dialog.area.text == text
        await a.hand.press("enter")
        assert a.answer is not None
        assert a.answer.text == text.strip()


async def test_keys_that_come_in_one_burst_keep_their_order():
    async with asked("choice", options=FORMATS) as a:
        await a.hand.press("end")
        for character in "as fast as it gets":
            event = events.Key(*_key_of(character))
            event.set_sender(a.app)
            a.app.post_message(event)
        await settled(a.hand.pilot)
        assert a.dialog.area.text == "as fast as it gets"


def _key_of(character: str) -> tuple[str, str]:
    return ("space" if character == " " else character), character


@pytest.mark.parametrize("kind", ["choice", "choices"])
async def test_a_paste_on_the_row_for_it_begins_the_answer_and_sends_nothing(kind: QuestionKind):
    async with asked(kind, options=FORMATS) as a:
        await a.hand.press("end")
        await a.hand.paste("one\ntwo")
        assert a.answer is None
        await a.hand.press(*"!", "enter")
        assert a.answer is not None
        assert a.answer.text == "one\ntwo!"


async def test_typing_on_the_row_for_it_goes_on_with_what_was_written_before():
    async with asked("choice", options=FORMATS) as a:
        await a.hand.press("end", *"pl", "escape", *"ain")
        assert a.dialog.area.text == "plain"


async def test_a_paste_on_an_option_is_no_answer_and_no_text():
    async with asked("choice", options=FORMATS) as a:
        await a.hand.paste("one")
        assert a.dialog.area.text == ""
        assert not a.dialog.area.display


async def test_an_early_enter_after_typing_on_the_row_for_it_sends_nothing():
    async with asked("choice", options=FORMATS) as a:
        await a.hand.press("end", "x", "enter", after_s=0.1)
        assert a.answer is None
        assert a.dialog.area.text == "x"


@pytest.mark.parametrize(
    ("kind", "options", "default", "keys"),
    [
        ("choice", FORMATS, "PDF", ["end", "enter"]),
        ("choices", FORMATS, "PDF", ["end", "enter", "space"]),
        ("choices", FORMATS, "", ["end", "space"]),
        ("text", (), "", ["space", "ctrl+j"]),
    ],
)
async def test_an_empty_text_is_never_sent_as_an_answer_and_the_dialog_says_so(
    kind: QuestionKind, options: tuple[str, ...], default: str, keys: list[str]
):
    async with asked(kind, options=options, default=default) as a:
        await a.hand.press(*keys, "enter")
        assert a.answer is None
        assert a.dialog.area.display
        assert NOTHING_WRITTEN in str(a.dialog.status.content)
        await a.hand.press("x")
        assert NOTHING_WRITTEN not in str(a.dialog.status.content)
        await a.hand.press("enter")
        assert a.answer is not None
        assert a.answer.text == "x"


async def test_an_empty_answer_to_a_question_with_a_default_is_taken():
    async with asked("text", default="PDF") as a:
        await a.hand.press("enter")
        assert a.answer is not None
        assert (a.answer.resolution, a.answer.text) == ("answered", "")


async def test_escape_goes_back_from_writing_to_the_options_and_keeps_the_text():
    async with asked("choice", options=FORMATS) as a:
        await a.hand.press("end", "enter", *"pl", "escape")
        assert a.app.screen is a.dialog
        await a.hand.press("enter")
        assert a.dialog.area.text == "pl"


@pytest.mark.parametrize(("key", "text"), [("y", "yes"), ("n", "no")])
async def test_yes_and_no_are_one_key_each(key: str, text: str):
    async with asked("confirm") as a:
        await a.hand.press(key)
        assert a.answer is not None
        assert (a.answer.resolution, a.answer.text, a.answer.key) == ("answered", text, key)


async def test_typed_prose_confirms_nothing():
    async with asked("confirm") as a:
        await a.hand.press(*"any way you want, no, yes", "enter", after_s=0.2)
        assert a.answer is None


@pytest.mark.parametrize("kind", ["text", "choice", "confirm", "secret"])
async def test_decide_yourself_is_a_key_of_every_question(kind: QuestionKind):
    async with asked(kind, options=FORMATS if kind == "choice" else ()) as a:
        await a.hand.press("ctrl+d", after_s=0.1)
        assert a.answer is None
        await a.hand.press("ctrl+d")
        assert a.answer is not None
        assert a.answer.resolution == "declined"


async def test_what_was_typed_goes_with_decide_yourself():
    async with asked("text") as a:
        await a.hand.press(*"cheap", "ctrl+d")
        assert a.answer is not None
        assert (a.answer.resolution, a.answer.text) == ("declined", "cheap")


async def test_a_secret_is_not_taken():
    async with asked("secret") as a:
        await a.hand.press(*"hunter2", "enter")
        assert a.answer is None
        assert not a.dialog.area.display


async def test_a_paste_into_an_answer_is_text_and_sends_nothing():
    async with asked("text") as a:
        a.session.clock.advance(2)
        await a.hand.paste("one\ntwo\n")
        assert a.answer is None
        assert a.dialog.area.text == "one\ntwo\n"


async def test_markup_in_question_and_options_is_text():
    async with asked("choice", options=("[/", "[@click=app.quit]x[/]")) as a:
        assert a.dialog.options.row_text(1).endswith("[@click=app.quit]x[/]")


@pytest.mark.parametrize(
    ("kind", "binding", "options"),
    [("choice", "question.choose", FORMATS), ("text", "question.send", ())],
)
async def test_the_key_that_answers_can_be_remapped(
    kind: QuestionKind, binding: str, options: tuple[str, ...]
):
    async with asked(kind, options=options) as a:
        a.app.set_keymap({binding: "f6"})
        await a.hand.press("enter")
        assert a.answer is None
        await a.hand.press("f6")
        assert a.answer is not None

from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import TypeAlias

import pytest
from textual.pilot import Pilot
from textual.widgets import Input, TextArea

from core.decision import ApprovalPrompt, QuestionPrompt
from tests.support.dialog_host import (
    DecidingSession,
    DialogHost,
    Hand,
    dialog_context,
    settled,
)
from tests.support.prompts import DELETION, EDIT, of_risk
from tui.screens.approval import ApprovalScreen
from tui.screens.armed import ArmedScreen
from tui.screens.question import QuestionScreen

Compare: TypeAlias = Callable[..., bool]
SIZES = [(80, 24), (120, 40)]
THEMES = ["handrail-dark", "handrail-light"]
LONG = replace(
    of_risk("R4"),
    title="writes outside the workspace: " + "/a/very/long/path" * 12,
    reasons=("it is a long story " * 20, "and another reason"),
    arguments={"command": "\n".join(f"echo line {number}" for number in range(40))},
    parts=tuple(f"echo line {number}" for number in range(40)),
)
HOSTILE = replace(
    of_risk("R3"),
    title="shell in sandbox [b]\u202e(network off)",
    arguments={"command": "ls\u00a0-l" + "\n" * 90 + "rm -rf / " + "漢字" * 60},
    parts=("ls\u00a0-l", "rm -rf / " + "漢字" * 60),
)
SMALLEST = (60, 16)


def dialog_for(
    session: DecidingSession, decision_id: str, prompt: ApprovalPrompt | QuestionPrompt
) -> ArmedScreen:
    context = dialog_context(session)
    if isinstance(prompt, ApprovalPrompt):
        return ApprovalScreen(session, decision_id, prompt, context=context)
    return QuestionScreen(session, decision_id, prompt, context=context)


def opened(
    prompt: ApprovalPrompt | QuestionPrompt, *keys: str, others: int = 1
) -> Callable[[Pilot[None]], Awaitable[None]]:
    """Show a dialog, let it arm, press keys, and hold everything still."""

    async def run(pilot: Pilot[None]) -> None:
        session = DecidingSession()
        decision_id = await session.open(prompt)
        for number in range(others):
            await session.open(replace(DELETION, call_id=f"other-{number}"))
        app = pilot.app
        assert isinstance(app, DialogHost)
        dialog = dialog_for(session, decision_id, prompt)
        await app.show_dialog(dialog, pilot)
        await Hand(pilot, session.clock).press(*keys)
        session.clock.advance(2)
        dialog.update_arming()
        for field in app.screen.query("Input, TextArea"):
            assert isinstance(field, Input | TextArea)
            field.cursor_blink = False
        await settled(pilot)

    return run


@pytest.mark.parametrize("size", SIZES, ids=str)
@pytest.mark.parametrize("theme", THEMES)
@pytest.mark.parametrize(
    "prompt", [DELETION, EDIT, of_risk("R3"), of_risk("R4")], ids=["R2", "diff", "R3", "R4"]
)
def test_an_approval(
    snap_compare: Compare, prompt: ApprovalPrompt, theme: str, size: tuple[int, int]
):
    app = DialogHost(theme=theme)
    assert snap_compare(app, terminal_size=size, run_before=opened(prompt))


@pytest.mark.parametrize(
    ("keys", "prompt"),
    [
        (("y",), of_risk("R3")),
        (("n", *"use the trash"), DELETION),
        (("x",), DELETION),
        (("e",), DELETION),
        (("d",), EDIT),
        (("v",), HOSTILE),
    ],
    ids=["first-step", "reason", "reasons", "edit", "diff-view", "full-text"],
)
def test_what_keys_of_an_approval_show(
    snap_compare: Compare, keys: tuple[str, ...], prompt: ApprovalPrompt
):
    assert snap_compare(DialogHost(), run_before=opened(prompt, *keys))


@pytest.mark.parametrize("size", [(80, 24), SMALLEST], ids=str)
@pytest.mark.parametrize("prompt", [HOSTILE, LONG], ids=["hostile", "long"])
def test_an_approval_of_a_difficult_call(
    snap_compare: Compare, prompt: ApprovalPrompt, size: tuple[int, int]
):
    assert snap_compare(DialogHost(), terminal_size=size, run_before=opened(prompt))


@pytest.mark.parametrize("kind", ["text", "choices"])
def test_a_question_on_the_smallest_terminal(snap_compare: Compare, kind: str):
    question = replace(QUESTIONS[kind], question="What is to be done about this? " * 12)
    assert snap_compare(DialogHost(), terminal_size=SMALLEST, run_before=opened(question))


def test_an_approval_that_is_not_armed_yet(snap_compare: Compare):
    async def run(pilot: Pilot[None]) -> None:
        session = DecidingSession()
        decision_id = await session.open(DELETION)
        app = pilot.app
        assert isinstance(app, DialogHost)
        await app.show_dialog(dialog_for(session, decision_id, DELETION), pilot)
        await Hand(pilot, session.clock).press("y", "e", "s", after_s=0.1)

    assert snap_compare(DialogHost(), run_before=run)


QUESTIONS = {
    "text": QuestionPrompt(
        call_id="q",
        question="Which folder should the report go to, and 何語で?",
        default="reports/",
    ),
    "choice": QuestionPrompt(
        call_id="q",
        question="Which format?",
        answer_kind="choice",
        options=("PDF", "HTML", "漢字 Markdown"),
    ),
    "choices": QuestionPrompt(
        call_id="q",
        question="Which of these files belong to the report?",
        answer_kind="choices",
        options=tuple(f"file number {number}.txt" for number in range(20)),
    ),
    "confirm": QuestionPrompt(
        call_id="q", question="Go on with the draft?\n\nIt has 3 gaps.", answer_kind="confirm"
    ),
    "secret": QuestionPrompt(call_id="q", question="What is the password?", answer_kind="secret"),
}


@pytest.mark.parametrize("size", SIZES, ids=str)
@pytest.mark.parametrize("theme", THEMES)
@pytest.mark.parametrize("kind", ["text", "choice"])
def test_a_question(snap_compare: Compare, kind: str, theme: str, size: tuple[int, int]):
    app = DialogHost(theme=theme)
    assert snap_compare(app, terminal_size=size, run_before=opened(QUESTIONS[kind]))


@pytest.mark.parametrize(
    ("kind", "keys"),
    [("text", "half"), ("choices", "  "), ("confirm", ""), ("secret", "")],
    ids=["typed", "marked", "confirm", "secret"],
)
def test_other_questions(snap_compare: Compare, kind: str, keys: str):
    pressed = ["space" if key == " " else key for key in keys]
    assert snap_compare(DialogHost(), run_before=opened(QUESTIONS[kind], *pressed, others=0))

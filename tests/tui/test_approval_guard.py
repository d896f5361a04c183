import asyncio
from dataclasses import replace

import pytest
from textual.widgets import TextArea

from core.vocabulary import RiskLevel
from tests.support.approval_dialog import shown
from tests.support.dialog_host import dialog_context, settled
from tests.support.prompts import DELETION, DIGEST, EDIT, of_risk
from tests.support.waiting import DEADLINE_S
from tui.arming import confirmation_word
from tui.screens.approval import ApprovalScreen
from tui.screens.text_view import TextViewScreen


async def test_y_after_the_dialog_is_armed_approves_once_with_the_digest_that_was_shown():
    async with shown(DELETION) as s:
        await s.hand.press("y")
        answer = s.session.answers[s.decision_id]
        assert (answer.resolution, answer.digest) == ("approved", DIGEST)
        assert (answer.decided_by, answer.key) == ("person", "y")
        assert [end and end.how for end in s.app.ends] == ["answered"]


@pytest.mark.parametrize("after_s", [0.0, 0.3, 0.59])
async def test_a_key_before_the_dialog_is_armed_approves_nothing_and_is_counted(after_s: float):
    async with shown(DELETION) as s:
        await s.hand.press("y", after_s=after_s)
        assert s.resolution == ""
        assert "1 key ignored" in s.says()
        assert not s.dialog.dialog.has_class("-armed")


async def test_typed_prose_approves_nothing():
    async with shown(DELETION) as s:
        await s.hand.press(*"why yes, by all means say yes", "enter", after_s=0.2)
        assert s.resolution == ""
        assert s.app.screen is s.dialog


async def test_a_key_that_arrived_early_counts_as_early_however_late_it_is_handled():
    async with shown(DELETION) as s:
        early = s.session.clock.now_s + 0.1
        s.session.clock.advance(5)
        await s.hand.press_at("y", early)
        assert s.resolution == ""


async def test_a_key_right_after_one_that_went_to_the_composer_does_not_count():
    async with shown(DELETION, last_key_at_s=1000.5) as s:
        await s.hand.press("y", after_s=0.7)
        assert s.resolution == ""
        await s.hand.press("y")
        assert s.resolution == "approved"


@pytest.mark.parametrize("risk", ["R0", "R1", "R2", "R3", "R4"])
async def test_enter_alone_never_approves(risk: RiskLevel):
    async with shown(of_risk(risk)) as s:
        await s.hand.press("enter", "enter", "space", "enter", "tab")
        assert s.resolution == ""


@pytest.mark.parametrize("risk", ["R2", "R3", "R4"])
async def test_a_paste_never_approves(risk: RiskLevel):
    async with shown(of_risk(risk)) as s:
        s.session.clock.advance(3)
        await s.hand.paste(f"y\n{confirmation_word(DIGEST)}\n")
        assert s.resolution == ""
        assert "ignored" in s.says()


async def test_a_repeating_key_does_not_count():
    async with shown(of_risk("R3")) as s:
        await s.hand.press("y")
        await s.hand.press("y", "y", "y", "enter", after_s=0.05)
        assert s.resolution == ""


async def test_high_risk_takes_y_and_then_enter():
    async with shown(of_risk("R3")) as s:
        await s.hand.press("y")
        assert s.resolution == ""
        assert "now Enter" in s.says()
        await s.hand.press("enter")
        assert s.resolution == "approved"


async def test_another_key_takes_the_first_step_back():
    async with shown(of_risk("R3")) as s:
        await s.hand.press("y", "q", "enter", "enter")
        assert s.resolution == ""


async def test_a_final_call_takes_y_and_then_the_word_on_the_screen():
    word = confirmation_word(DIGEST)
    async with shown(of_risk("R4")) as s:
        assert word in s.says() or "arming" in s.says()
        await s.hand.press("y", "enter")
        assert s.resolution == ""
        await s.hand.press("y", *word[:2])
        assert s.resolution == ""
        assert f"{word[:2]}_" in s.says()
        await s.hand.press(word[2])
        assert s.resolution == "approved"


async def test_a_wrong_letter_of_the_word_approves_nothing():
    word = confirmation_word(DIGEST)
    async with shown(of_risk("R4")) as s:
        await s.hand.press("y", word[0], "a", word[1], word[2])
        assert s.resolution == ""


async def test_high_risk_waits_until_the_end_of_the_text_was_seen():
    lines = "\n".join(f"echo {number}" for number in range(200))
    prompt = replace(of_risk("R3"), arguments={"command": lines}, parts=())
    async with shown(prompt) as s:
        await s.hand.press("y", "enter")
        assert s.resolution == ""
        assert "see the end" in s.says()
        await s.hand.press("end")
        await s.hand.press("y", "enter")
        assert s.resolution == "approved"


@pytest.mark.parametrize("size", [(60, 16), (80, 24), (120, 40)])
@pytest.mark.parametrize("risk", ["R3", "R4"])
async def test_the_end_is_not_seen_while_it_is_below_the_screen(
    risk: RiskLevel, size: tuple[int, int]
):
    lines = [f"echo {number}" for number in range(60)]
    prompt = replace(
        of_risk(risk),
        title="a title that is long " * 20,
        reasons=("a reason that is long " * 20,),
        arguments={"command": "\n".join(lines)},
        parts=tuple(lines),
    )
    async with shown(prompt, size=size) as s:
        await s.hand.press("q")
        assert not s.dialog.arming.approvable
        keys = s.dialog.query_one("#approval-keys").region
        assert keys.bottom < size[1]
        await s.hand.press("end")
        async with asyncio.timeout(DEADLINE_S):
            while not s.dialog.arming.approvable:
                await settled(s.hand.pilot)


async def test_reading_the_full_text_to_its_end_is_seeing_the_end():
    lines = "\n".join(f"echo {number}" for number in range(200))
    prompt = replace(of_risk("R3"), arguments={"command": lines}, parts=())
    async with shown(prompt) as s:
        await s.hand.press("v")
        assert isinstance(s.app.screen, TextViewScreen)
        await s.hand.press("G", "escape")
        await s.hand.press("y", "enter")
        assert s.resolution == "approved"


async def test_a_small_terminal_cannot_approve_but_can_refuse():
    async with shown(DELETION, size=(59, 16)) as s:
        await s.hand.press("y")
        assert s.resolution == ""
        assert "no approvals below 60x16" in s.says()
        await s.hand.press("N")
        assert s.resolution == "denied_pause"


async def test_the_key_that_saves_the_form_does_not_arm_the_next_one():
    async with shown(DELETION) as s:
        await s.hand.press("e")
        s.app.screen.query_one("#edit-field-0", TextArea).text = "ls"
        await s.hand.press("ctrl+s")
        await s.hand.press("y", after_s=0.1)
        assert s.resolution == ""


async def test_no_action_of_the_app_approves_or_refuses():
    async with shown(DELETION) as s:
        s.session.clock.advance(5)
        for action in ("approve", "deny", "deny_pause", "edit"):
            await s.app.run_action(action, s.dialog)
            await s.app.run_action(f"screen.{action}", s.dialog)
        assert s.resolution == ""
        assert s.app.screen is s.dialog


async def test_an_approve_key_that_was_remapped_is_guarded_just_the_same():
    async with shown(DELETION) as s:
        s.app.set_keymap({"approval.approve": "a"})
        await s.hand.press("a", after_s=0.1)
        assert s.resolution == ""
        await s.hand.press("y")
        assert s.resolution == ""
        await s.hand.press("a")
        assert s.resolution == "approved"


async def test_coming_back_to_the_window_disarms():
    async with shown(DELETION) as s:
        s.session.clock.advance(5)
        s.app.app_focus = False
        await settled(s.hand.pilot)
        s.app.app_focus = True
        await settled(s.hand.pilot)
        await s.hand.press("y", after_s=0.2)
        assert s.resolution == ""


async def test_a_resize_disarms():
    async with shown(DELETION) as s:
        s.session.clock.advance(5)
        await s.hand.pilot.resize_terminal(100, 30)
        await s.hand.press("y", after_s=0.2)
        assert s.resolution == ""
        await s.hand.press("y")
        assert s.resolution == "approved"


async def test_two_dialogs_at_once_do_not_share_a_first_step():
    async with shown(of_risk("R3"), of_risk("R3", EDIT)) as s:
        await s.hand.press("y", "tab")
        second = ApprovalScreen(
            s.session, list(s.session.gate.open)[1], EDIT, context=dialog_context(s.session)
        )
        await s.app.show_dialog(second, s.hand.pilot)
        await s.hand.press("enter", "enter")
        assert s.session.answers == {}


async def test_an_app_that_was_stopped_and_goes_on_disarms():
    async with shown(DELETION) as s:
        s.session.clock.advance(5)
        s.app.app_resume_signal.publish(s.app)
        await s.hand.press("y", after_s=0.2)
        assert s.resolution == ""
        await s.hand.press("y")
        assert s.resolution == "approved"

from dataclasses import replace

import pytest
from textual.widgets import Input, Static, TextArea

from tests.support.approval_dialog import shown
from tests.support.dialog_host import settled
from tests.support.prompts import DELETION, EDIT, of_risk
from tui.screens.approval_text import body_lines
from tui.screens.edit_arguments import EditArgumentsScreen
from tui.screens.text_view import TextViewScreen
from tui.widgets.key_hints import KeyHints


async def test_denying_tells_the_typed_reason():
    async with shown(DELETION) as s:
        await s.hand.press("n")
        await s.hand.press(*"use trash", "enter", after_s=0.1)
        answer = s.session.answers[s.decision_id]
        assert (answer.resolution, answer.text, answer.key) == ("denied", "use trash", "n")


async def test_letters_of_a_reason_are_no_keys_of_the_dialog():
    async with shown(DELETION) as s:
        await s.hand.press("n", *"yNyexv")
        assert s.resolution == ""
        assert s.dialog.query_one(Input).value == "yNyexv"


async def test_escape_in_the_reason_goes_back_and_keeps_the_dialog():
    async with shown(DELETION) as s:
        await s.hand.press("n", "x", "escape")
        assert s.app.screen is s.dialog
        await s.hand.press("y")
        assert s.resolution == "approved"


async def test_what_is_about_no_call_is_not_said_to_run_once():
    about_a_folder = replace(DELETION, call_id="", arguments={"AGENTS.md": "one\ntwo\n"}, diff="")
    for prompt, word in ((DELETION, "once"), (about_a_folder, "yes")):
        async with shown(prompt) as s:
            assert f"y {word}" in s.dialog.query_one(KeyHints).render().plain
    told = [line.text for line in body_lines(about_a_folder, edited=None, with_reasons=False)]
    assert "AGENTS.md = (2 lines)" in told


async def test_deny_and_pause_is_one_key():
    async with shown(DELETION) as s:
        await s.hand.press("N")
        answer = s.session.answers[s.decision_id]
        assert (answer.resolution, answer.key) == ("denied_pause", "N")


async def test_escape_leaves_the_decision_open():
    async with shown(DELETION) as s:
        await s.hand.press("escape")
        assert s.resolution == ""
        assert s.decision_id in s.session.gate.open
        assert [end and end.how for end in s.app.ends] == ["later"]


async def test_tab_asks_for_the_next_open_decision_and_shift_tab_for_the_one_before():
    async with shown(DELETION, EDIT) as s:
        assert "1 of 2" in str(s.dialog.dialog.border_title)
        await s.hand.press("tab")
        assert [end and end.how for end in s.app.ends] == ["next"]
    async with shown(DELETION, EDIT) as s:
        await s.hand.press("shift+tab")
        assert [end and end.how for end in s.app.ends] == ["previous"]


async def test_a_withdrawn_decision_closes_the_dialog_and_what_is_over_it():
    async with shown(DELETION) as s:
        await s.hand.press("v")
        await s.session.withdraw(s.decision_id)
        s.dialog.withdrawn()
        await settled(s.hand.pilot)
        assert [end and end.how for end in s.app.ends] == ["withdrawn"]
        assert len(s.app.screen_stack) == 1


async def test_a_reason_that_was_begun_is_handed_back_when_the_decision_is_withdrawn():
    drafts: dict[str, str] = {}
    async with shown(DELETION, drafts=drafts) as s:
        await s.hand.press("n", *"because")
        s.dialog.withdrawn()
        await settled(s.hand.pilot)
        assert s.app.ends[-1] is not None
        assert s.app.ends[-1].text == "because"
        assert drafts == {s.decision_id: "because"}


async def test_an_answer_to_a_decision_that_is_gone_closes_as_withdrawn():
    async with shown(DELETION) as s:
        await s.session.withdraw(s.decision_id)
        await s.hand.press("y")
        assert s.session.answers == {}
        assert [end and end.how for end in s.app.ends] == ["withdrawn"]


async def test_edited_arguments_are_shown_and_go_with_one_more_key():
    async with shown(of_risk("R3")) as s:
        await s.hand.press("e")
        form = s.app.screen
        assert isinstance(form, EditArgumentsScreen)
        form.query_one("#edit-field-0", TextArea).text = "ls build"
        await s.hand.press("ctrl+s")
        assert s.app.screen is s.dialog
        assert s.resolution == ""
        await s.hand.press("y")
        answer = s.session.answers[s.decision_id]
        assert answer.resolution == "edited"
        assert answer.arguments == {"command": "ls build", "timeout_s": 120}


async def test_a_field_that_is_not_json_is_said_and_nothing_is_lost():
    async with shown(DELETION) as s:
        await s.hand.press("e")
        field = s.app.screen.query_one("#edit-field-1", TextArea)
        field.text = "soon"
        await s.hand.press("ctrl+s")
        assert isinstance(s.app.screen, EditArgumentsScreen)
        assert "timeout_s is not JSON" in str(
            s.app.screen.query_one("#edit-status", Static).content
        )
        assert field.text == "soon"


async def test_leaving_the_form_changes_nothing():
    async with shown(DELETION) as s:
        await s.hand.press("e", "X", "escape")
        await s.hand.press("y")
        assert s.resolution == "approved"


async def test_reasons_open_and_close_and_disarm():
    async with shown(DELETION) as s:
        await s.hand.press("x")
        assert any('"rm" deletes 34 files' in row for row in s.rows)
        await s.hand.press("y", after_s=0.2)
        assert s.resolution == ""


async def test_the_diff_opens_over_the_dialog():
    async with shown(EDIT) as s:
        await s.hand.press("d")
        assert isinstance(s.app.screen, TextViewScreen)
        assert any(line.text == "+x = 2" for line in s.app.screen.lines_view.text.lines)


@pytest.mark.parametrize("key", ["d", "q", "w"])
async def test_keys_without_a_meaning_here_do_nothing(key: str):
    async with shown(DELETION) as s:
        await s.hand.press(key)
        assert s.app.screen is s.dialog
        assert s.resolution == ""


async def test_hidden_characters_are_marked_and_counted():
    prompt = replace(DELETION, arguments={"command": "ls\u00a0-l \u202etxt"}, parts=())
    async with shown(prompt) as s:
        assert any("ls<U+00A0>-l <U+202E>txt" in row for row in s.rows)
        assert "<U+00A0> x1" in s.says("marks")


async def test_markup_in_a_call_is_text():
    hostile = "[@click=app.quit]x[/] [/"
    prompt = replace(DELETION, title=hostile, arguments={"a": hostile}, reasons=(hostile,))
    async with shown(prompt) as s:
        assert hostile in s.says("title")
        assert hostile in s.says("why")


async def test_the_tail_of_a_command_that_is_padded_with_newlines_is_in_view():
    prompt = replace(of_risk("R3"), arguments={"command": "ls" + "\n" * 200 + "rm -rf /"}, parts=())
    async with shown(prompt) as s:
        assert "rm -rf /" in s.rows[-1]
        assert s.dialog.body.end_in_view
        assert "shortened lines: 1" in s.says("marks")

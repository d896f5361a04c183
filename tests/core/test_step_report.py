"""The report a model gets that works step by step, and what it may choose next."""

import pytest

from core.chat.step_choice import useless_forms, withheld_forms
from core.chat.step_report import (
    AGAIN,
    ASK,
    ASK_END,
    ASK_MAKE,
    ASK_OR_END,
    ASK_OTHER,
    DONE,
    NOTHING_DONE,
    TASK_AGAIN,
    stepped,
)
from core.chat.stepwise import StepForms
from core.messages import (
    AssistantMessage,
    Image,
    ModelRequest,
    Situation,
    ToolForm,
    ToolMessage,
    ToolSpec,
    UserMessage,
)
from tests.support.step_talk import TOOLS, Talk

FORMS = StepForms(TOOLS)
WEB = {"fetch_page"}
BROWSING = StepForms(
    (
        *TOOLS[:1],
        ToolSpec(
            name="browser",
            description="",
            parameters={"type": "object"},
            forms=(
                ToolForm(name="open", description="", fields={}, fixed={"action": "go_to"}),
                ToolForm(
                    name="click", description="", fields={}, fixed={"action": "click"}, after="open"
                ),
            ),
        ),
    )
)


def _sent(talk: Talk, situation: str = "") -> ModelRequest:
    request = ModelRequest(
        system="Be brief.",
        messages=tuple(talk.messages),
        tools=TOOLS,
        situation=Situation(text=situation) if situation else None,
    )
    return stepped(request, FORMS)


def _only_text(talk: Talk, situation: str = "") -> str:
    (message,) = _sent(talk, situation).messages
    assert isinstance(message, UserMessage)
    return message.text


def test_the_first_request_holds_the_task_the_state_and_the_question() -> None:
    sent = _sent(Talk("Count them."), "# Now\nFiles: a.txt")
    (message,) = sent.messages
    assert isinstance(message, UserMessage)
    assert message.text == f"Count them.\n\n{NOTHING_DONE}\n\n# Now\nFiles: a.txt\n\n{ASK}"
    assert sent.system.startswith("Be brief.\n\n# Replies")
    assert sent.tools == ()


def test_calls_and_results_stand_in_one_message_in_the_form_of_replies() -> None:
    talk = Talk().did("shell", {"command": "ls"}, "a.txt").did("shell", {"command": "pwd"}, "/w")
    text = _only_text(talk)
    assert text.count(DONE) == 1
    assert '1. {"name": "shell", "arguments": {"command": "ls"}}\nResult: a.txt' in text
    assert '2. {"name": "shell", "arguments": {"command": "pwd"}}\nResult: /w' in text
    assert NOTHING_DONE not in text


def test_a_repeated_call_is_said_in_one_line() -> None:
    text = _only_text(
        Talk().did("shell", {"command": "ls"}, "a" * 50).did("shell", {"command": "ls"}, "a" * 50)
    )
    assert f"2. {AGAIN}" in text
    assert text.count("a" * 50) == 1


def test_the_same_call_with_another_result_is_shown_whole() -> None:
    text = _only_text(
        Talk().did("shell", {"command": "ls"}, "one").did("shell", {"command": "ls"}, "two")
    )
    assert AGAIN not in text
    assert "Result: two" in text


def test_a_long_argument_loses_its_middle_not_its_ends() -> None:
    written = "head" + "x" * 5000 + "tail"
    text = _only_text(
        Talk().did("edit_file", {"command": "create", "path": "a", "file_text": written})
    )
    assert "head" in text
    assert "tail" in text
    assert len(text) < 1500


def test_a_call_without_a_result_is_said_to_have_none() -> None:
    talk = Talk().did("shell", {"command": "ls"})
    talk.messages.pop()
    assert "Result: (no result)" in _only_text(talk)


def test_each_request_of_the_person_has_its_own_report() -> None:
    talk = Talk("First.").did("shell", {"command": "ls"}).said("Done.").asked("Second.")
    talk.did("shell", {"command": "pwd"})
    first, answer, second = _sent(talk).messages
    assert isinstance(first, UserMessage)
    assert first.text.startswith("First.")
    assert answer == AssistantMessage(text="Done.")
    assert isinstance(second, UserMessage)
    assert second.text.startswith("Second.")
    assert '1. {"name": "shell"' in second.text
    assert ASK not in first.text


def test_what_is_said_in_between_stands_where_it_was_said() -> None:
    talk = Talk().did("shell", {"command": "ls"}, "one").asked("Hurry.")
    talk.did("shell", {"command": "pwd"}, "two")
    text = _only_text(talk)
    assert text.index("one") < text.index("Hurry.") < text.index("two")


def test_pictures_of_results_go_with_the_report() -> None:
    talk = Talk().did("shell", {"command": "ls"})
    picture = Image(path="/p.png")
    last = talk.messages[-1]
    assert isinstance(last, ToolMessage)
    talk.messages[-1] = ToolMessage(
        call_id=last.call_id, name=last.name, text=last.text, images=(picture,)
    )
    (message,) = _sent(talk).messages
    assert isinstance(message, UserMessage)
    assert message.images == (picture,)


def test_the_task_is_said_again_behind_what_was_done() -> None:
    text = _only_text(Talk("Count them.").did("shell", {"command": "ls"}))
    assert text.index(TASK_AGAIN.format(task="Count them.")) > text.index(DONE)


def test_after_a_failure_another_step_is_asked_for() -> None:
    talk = Talk().did("shell", {"command": "ls"}, "no", "failed")
    assert _only_text(talk).endswith(ASK_OTHER)


def test_the_end_is_offered_where_the_newest_result_tells_something() -> None:
    told = Talk().did("shell", {"command": "wc"}, "237 total")
    assert _only_text(told).endswith(ASK_OR_END)
    silent = Talk().did("shell", {"command": "mv"}, "exit code 0 (0.0 s), no output")
    assert _only_text(silent).endswith(ASK)
    wrote = Talk().did("edit_file", {"command": "create", "path": "a", "file_text": "x"}, "Made a.")
    assert _only_text(wrote).endswith(ASK)


def test_where_only_the_end_is_left_the_newest_result_is_shown_again() -> None:
    talk = Talk().did("shell", {"command": "wc"}, "237 total")
    ends = set(FORMS.offered) - {"finish"}
    request = ModelRequest(system="S", messages=tuple(talk.messages), tools=TOOLS)
    (message,) = stepped(request, FORMS, withheld=ends).messages
    assert isinstance(message, UserMessage)
    assert message.text.endswith(ASK_END.format(result="237 total"))


def test_results_that_differ_by_chance_are_the_same() -> None:
    talk = Talk("http://a").did("shell", {"command": "x"}, "exit code 1 (0.1 s)", "failed")
    talk.did("shell", {"command": "x"}, "exit code 1 (0.3 s)", "failed")
    assert withheld_forms(talk.messages, FORMS) == {"shell"}


def test_last_words_are_asked_for_without_guide_and_question() -> None:
    talk = Talk().did("shell", {"command": "ls"})
    sent = stepped(ModelRequest(system="S", messages=tuple(talk.messages)), StepForms(()))
    (message,) = sent.messages
    assert sent.system == "S"
    assert isinstance(message, UserMessage)
    assert ASK not in message.text


def test_the_web_is_of_no_use_before_an_address_is_known() -> None:
    assert useless_forms(Talk("Count the files.").messages, FORMS) == WEB
    assert useless_forms(Talk("Read https://a.example/x").messages, FORMS) == set()
    found = Talk().did("shell", {"command": "cat a"}, "see http://b.example")
    assert useless_forms(found.messages, FORMS) == set()


def test_an_address_the_model_made_up_is_none() -> None:
    talk = Talk()
    talk.messages.append(AssistantMessage(text="I look at https://made-up.example"))
    assert useless_forms(talk.messages, FORMS) == WEB


def test_after_a_repetition_that_went_well_nothing_is_left_but_the_end() -> None:
    talk = (
        Talk("http://a").did("shell", {"command": "ls"}, "a").did("shell", {"command": "ls"}, "a")
    )
    assert withheld_forms(talk.messages, FORMS) == set(FORMS.offered) - {"finish"}


def test_a_repetition_counts_with_another_call_in_between() -> None:
    talk = Talk("http://a").did("shell", {"command": "ls"}, "a")
    talk.did("shell", {"command": "pwd"}, "w").did("shell", {"command": "ls"}, "a")
    assert withheld_forms(talk.messages, FORMS) == set(FORMS.offered) - {"finish"}


def test_while_a_file_is_missing_a_repetition_leaves_what_can_make_it() -> None:
    talk = Talk("http://a").did("fetch_page", {"urls": ["a"]}, "page")
    talk.did("fetch_page", {"urls": ["a"]}, "page")
    left = set(FORMS.offered) - withheld_forms(talk.messages, FORMS, ["out.txt"])
    assert left == {"shell", "write_file", "replace_text"}
    talk.did("finish", {"answer": "x"}, "Not ended: ...", "denied")
    left = set(FORMS.offered) - withheld_forms(talk.messages, FORMS, ["out.txt"])
    assert left == {"shell", "write_file", "replace_text"}


def test_what_is_missing_is_asked_for_by_name() -> None:
    talk = Talk("http://a").did("fetch_page", {"urls": ["a"]}, "page")
    request = ModelRequest(
        system="S",
        messages=tuple(talk.messages),
        tools=TOOLS,
        situation=Situation(text="# Now", missing=("out.txt",)),
    )
    (message,) = stepped(request, FORMS, withheld={"finish", "fetch_page"}).messages
    assert isinstance(message, UserMessage)
    assert message.text.endswith(ASK_MAKE.format(names="out.txt"))


def test_a_call_of_an_earlier_request_is_no_repetition() -> None:
    talk = Talk("http://a List them.").did("shell", {"command": "ls"}, "a").said("a")
    talk.asked("Remove a.").did("shell", {"command": "ls"}, "a")
    assert withheld_forms(talk.messages, FORMS) == set()
    fresh = Talk("List them.").did("shell", {"command": "ls"}, "a").said("a").asked("Again.")
    last = _sent(fresh).messages[-1]
    assert isinstance(last, UserMessage)
    assert NOTHING_DONE in last.text


def test_after_a_repetition_that_failed_that_form_is_taken_away() -> None:
    talk = Talk("http://a")
    for _ in range(2):
        talk.did("shell", {"command": "x"}, "no such thing", "failed")
    assert withheld_forms(talk.messages, FORMS) == {"shell"}


def test_the_same_call_with_another_result_takes_nothing_away() -> None:
    talk = Talk("http://a").did("shell", {"command": "./try"}, "busy", "failed")
    talk.did("shell", {"command": "./try"}, "ok")
    assert withheld_forms(talk.messages, FORMS) == set()


def test_after_an_end_that_was_refused_something_must_be_done() -> None:
    talk = Talk("http://a").did("finish", {"answer": "x"}, "Not ended: ...", "denied")
    assert withheld_forms(talk.messages, FORMS) == {"finish"}


def test_after_an_answer_that_is_wrong_another_one_may_follow_at_once() -> None:
    talk = Talk("http://a").did("shell", {"command": "ls"}, "237")
    talk.did("finish", {"answer": "677"}, "Not ended: 677 ...", "invalid")
    assert withheld_forms(talk.messages, FORMS) == set()


def test_a_file_that_is_written_alike_again_is_done() -> None:
    written = {"command": "create", "path": "a", "file_text": "x"}
    talk = Talk("http://a").did("edit_file", written, "Made a.")
    talk.did("edit_file", written, "Replaced a.")
    assert withheld_forms(talk.messages, FORMS) == set(FORMS.offered) - {"finish"}


def test_what_needs_a_page_is_offered_once_a_page_was_opened() -> None:
    assert withheld_forms(Talk("http://a").messages, BROWSING) == {"click"}
    failed = Talk("http://a").did("browser", {"action": "go_to"}, "no such page", "failed")
    assert withheld_forms(failed.messages, BROWSING) == {"click"}
    opened = Talk("http://a").did("browser", {"action": "go_to"}, "a page")
    assert withheld_forms(opened.messages, BROWSING) == set()


def test_a_file_is_looked_at_before_it_is_changed_a_third_time() -> None:
    change = {"command": "replace", "path": "a.py", "old_str": "1", "new_str": "2"}
    talk = (
        Talk("http://a")
        .did("edit_file", change, "ok 1")
        .did("edit_file", {**change, "new_str": "3"}, "ok 2")
    )
    assert withheld_forms(talk.messages, FORMS) == {"write_file", "replace_text"}
    talk.did("shell", {"command": "python a.py"}, "fine")
    assert withheld_forms(talk.messages, FORMS) == set()


def test_two_files_may_be_written_one_after_the_other() -> None:
    talk = Talk("http://a")
    for name in ("a.py", "b.py"):
        talk.did("edit_file", {"command": "create", "path": name, "file_text": "x"}, name)
    assert withheld_forms(talk.messages, FORMS) == set()


@pytest.mark.parametrize("outcome", ["ok", "failed", "denied"])
def test_something_can_always_be_chosen(outcome: str) -> None:
    only = StepForms((TOOLS[0],))
    talk = Talk()
    for _ in range(3):
        talk.did("shell", {"command": "ls"}, "same", outcome)  # type: ignore[arg-type]  # one of Outcome
    assert withheld_forms(talk.messages, only) == set()

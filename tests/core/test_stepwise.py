"""The form of a step: what a model is told, held to, and how its reply is read."""

import json
from typing import Any

import pytest

from core.chat.stepwise import NO_CALL, StepForms, forms_of
from core.messages import ToolCall
from tests.support.step_talk import EDIT, FETCH, FINISH, SHELL, TOOLS, step

FORMS = StepForms(TOOLS)


def _calls_of(schema: dict[str, Any], keyword: str = "anyOf") -> dict[str, dict[str, Any]]:
    choices = schema["json_schema"]["schema"]["properties"]["call"][keyword]
    return {one["properties"]["name"]["const"]: one["properties"]["arguments"] for one in choices}


def test_the_guide_names_each_form_in_one_line_and_no_tool_without_forms() -> None:
    lines = FORMS.guide().splitlines()
    assert [line.split("(")[0] for line in lines if line.startswith("- ")] == [
        "- shell",
        "- write_file",
        "- replace_text",
        "- fetch_page",
        "- finish",
    ]
    assert "- write_file(path, text): write a file." in lines
    assert "- fetch_page(urls: list): read a page." in lines


def test_the_guide_leaves_hidden_forms_out() -> None:
    assert "fetch_page" not in FORMS.guide({"fetch_page"})


def test_a_tool_without_forms_of_its_own_is_offered_with_its_required_arguments() -> None:
    (form,) = forms_of(SHELL)
    assert (form.name, dict(form.fields)) == ("shell", {"command": "command"})


def test_the_schema_requires_every_field_and_allows_no_others() -> None:
    schema = FORMS.response_format(frozenset())
    whole = schema["json_schema"]["schema"]
    assert schema["type"] == "json_schema"
    assert whole["required"] == ["thought", "call"]
    calls = _calls_of(schema)
    assert calls["replace_text"]["required"] == ["path", "old", "new"]
    assert all(one["additionalProperties"] is False for one in calls.values())
    assert calls["fetch_page"]["properties"]["urls"] == {
        "type": "array",
        "items": {"type": "string"},
    }


def test_the_schema_leaves_out_what_may_not_be_chosen_now() -> None:
    schema = FORMS.response_format({"shell", "finish"}, "oneOf")
    assert set(_calls_of(schema, "oneOf")) == {"write_file", "replace_text", "fetch_page"}


def test_the_schema_keeps_the_words_an_argument_may_be() -> None:
    status = StepForms((FINISH, EDIT)).response_format(())
    assert "enum" not in json.dumps(_calls_of(status)["finish"])
    plain = StepForms((EDIT.__class__(name="e", description="", parameters=EDIT.parameters),))
    arguments = _calls_of(plain.response_format(()))["e"]["properties"]
    assert arguments["command"] == {"enum": ["create", "replace"]}


@pytest.mark.parametrize("tool", [SHELL, EDIT, FETCH, FINISH], ids=lambda tool: tool.name)
def test_a_reply_in_any_form_of_a_tool_is_a_call_of_that_tool(tool: Any) -> None:
    for form in forms_of(tool):
        given = dict.fromkeys(form.fields, "x")
        read = FORMS.read(step(form.name, "why", **given))
        assert read is not None
        assert (read.thought, read.call.name, read.call.source) == ("why", tool.name, "text")
        expected = {**form.fixed, **dict.fromkeys(form.fields.values(), "x")}
        assert json.loads(read.call.arguments) == expected


@pytest.mark.parametrize("tool", [SHELL, EDIT, FETCH, FINISH], ids=lambda tool: tool.name)
def test_a_call_is_shown_as_it_was_written(tool: Any) -> None:
    for form in forms_of(tool):
        given = dict.fromkeys(form.fields, "x")
        read = FORMS.read(step(form.name, **given))
        assert read is not None
        call = ToolCall(id="1", name=read.call.name, arguments=json.loads(read.call.arguments))
        assert FORMS.shown(call) == (form.name, given)


def test_a_call_of_a_tool_that_is_not_offered_is_shown_with_its_own_name() -> None:
    call = ToolCall(id="1", name="gone", arguments={"a": 1})
    assert FORMS.shown(call) == ("gone", {"a": 1})


@pytest.mark.parametrize(
    "reply",
    [
        "",
        "All is done.",
        "[]",
        '{"answer": "no step"}',
        "null",
    ],
)
def test_a_reply_that_is_no_step_is_none(reply: str) -> None:
    assert FORMS.read(reply) is None


@pytest.mark.parametrize(
    "reply",
    [
        "```json\n" + step("shell", command="ls") + "\n```",
        '{"name": "shell", "arguments": {"command": "ls"}}',
        '{"thought": null, "call": {"name": "shell", "arguments": {"command": "ls"}}, "more": 1}',
    ],
)
def test_a_step_of_a_server_that_forces_no_form_is_read_all_the_same(reply: str) -> None:
    read = FORMS.read(reply)
    assert read is not None
    assert (read.call.name, json.loads(read.call.arguments)) == ("shell", {"command": "ls"})


@pytest.mark.parametrize(
    "reply",
    [
        '{"thought": "Bad"}',
        '{"thought": "x", "call": {}}',
        '{"call": "shell"}',
        '{"call": {"name": null}}',
        '{"call": [{"name": "shell"}]}',
        '{"thought": "cut", "call": {"name": "shell", "arguments": {"command": "ls',
        step("shell", command="ls") + step("shell", command="pwd"),
        step("shell", command="ls") + "\n" + step("shell", command="ls -l"),
        "I will look: " + step("shell", command="ls"),
    ],
)
def test_a_step_without_a_call_is_no_answer(reply: str) -> None:
    read = FORMS.read(reply)
    assert read is not None
    assert read.call.name == NO_CALL


def test_an_unknown_name_stays_for_the_model_to_be_told() -> None:
    read = FORMS.read(step("fly", where="home"))
    assert read is not None
    assert (read.call.name, json.loads(read.call.arguments)) == ("fly", {"where": "home"})

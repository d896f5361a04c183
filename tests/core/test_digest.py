from dataclasses import replace

import pytest

from core.digest import call_digest
from core.messages import JsonObject
from core.ports import CallFacts, ElementFacts

FACTS = CallFacts(
    bindings={"pre_image": "aa", "origin": "https://x.test"},
    diff="-a\n+b\n",
    origin="https://x.test",
    element=ElementFacts(role="button", name="Send"),
)
ARGUMENTS: JsonObject = {"path": "a", "options": {"deep": [1, 2]}}


def test_the_digest_is_the_same_for_the_same_call_whatever_the_order():
    again: JsonObject = {"options": {"deep": [1, 2]}, "path": "a"}
    assert call_digest("edit", ARGUMENTS, FACTS) == call_digest("edit", again, FACTS)
    assert len(call_digest("edit", ARGUMENTS, FACTS)) == 64


@pytest.mark.parametrize(
    "facts",
    [
        replace(FACTS, bindings={"pre_image": "ab", "origin": "https://x.test"}),
        replace(FACTS, diff="-a\n+c\n"),
        replace(FACTS, origin="https://y.test"),
        replace(FACTS, element=ElementFacts(role="button", name="Delete")),
        replace(FACTS, element=None),
    ],
)
def test_any_change_of_what_it_resolves_to_changes_the_digest(facts):
    assert call_digest("edit", ARGUMENTS, facts) != call_digest("edit", ARGUMENTS, FACTS)


def test_tool_and_arguments_change_the_digest():
    base = call_digest("edit", ARGUMENTS, FACTS)
    assert call_digest("read", ARGUMENTS, FACTS) != base
    for changed in (
        {"path": "b"},
        {**ARGUMENTS, "path": "A"},
        {**ARGUMENTS, "options": {"deep": [2, 1]}},
    ):
        assert call_digest("edit", changed, FACTS) != base


def test_words_shown_in_the_dialog_are_no_part_of_it():
    assert call_digest("edit", ARGUMENTS, replace(FACTS, title="t", parts=("p",))) == call_digest(
        "edit", ARGUMENTS, FACTS
    )


def test_lone_surrogates_have_a_digest_too():
    assert call_digest("shell", {"command": "\ud800"}, CallFacts()) != call_digest(
        "shell", {"command": "?"}, CallFacts()
    )

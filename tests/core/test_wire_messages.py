import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.chat.tool_names import ToolNames
from core.chat.wire_messages import clean_messages
from core.provider import ProviderFlags
from tests.conformance.wire_requests import judge_request

CALL = {
    "id": "c1",
    "type": "function",
    "function": {"name": "read_file", "arguments": '{"path":"a"}'},
}
TURN = {"role": "assistant", "content": None, "tool_calls": [CALL]}
RESULT = {"role": "tool", "tool_call_id": "c1", "content": "data"}
USER = {"role": "user", "content": "go"}
PICTURE = {"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA"}}


def cleaned(*messages: dict[str, Any], **flags: Any) -> list[dict[str, Any]]:
    return clean_messages(messages, ProviderFlags(**flags), ToolNames(()))


def roles(*messages: dict[str, Any], **flags: Any) -> list[str]:
    return [message["role"] for message in cleaned(*messages, **flags)]


ids = st.sampled_from(["c1", "c2", "c3"])
texts = st.sampled_from(["", " ", "text", "\u5317\u4eac"])
contents = st.one_of(
    texts,
    st.none(),
    st.lists(
        st.one_of(st.builds(lambda text: {"type": "text", "text": text}, texts), st.just(PICTURE)),
        max_size=3,
    ),
)
calls = st.builds(
    lambda call_id, arguments: {
        "id": call_id,
        "type": "function",
        "function": {"name": "t.x", "arguments": arguments},
    },
    ids,
    st.sampled_from(['{"a": 1}', "{", "", "[1]"]),
)
messages = st.one_of(
    st.builds(
        lambda role, content: {"role": role, "content": content},
        st.sampled_from(["system", "user"]),
        contents,
    ),
    st.builds(
        lambda content, made: {"role": "assistant", "content": content, "tool_calls": made},
        contents,
        st.lists(calls, max_size=3),
    ),
    st.builds(
        lambda call_id, content: {"role": "tool", "tool_call_id": call_id, "content": content},
        ids,
        contents,
    ),
)
flags = st.builds(
    ProviderFlags,
    bridge_assistant_after_tool=st.booleans(),
    tool_id=st.sampled_from(["any", "alnum9"]),
    vision=st.booleans(),
    merge_same_role=st.booleans(),
    empty_content=st.sampled_from([None, "", " "]),
    echo_reasoning=st.sampled_from(["none", "reasoning_content", "reasoning_details"]),
)


@given(st.lists(messages, max_size=12), flags)
def test_any_history_becomes_one_that_servers_take(
    history: list[dict[str, Any]], wanted: ProviderFlags
) -> None:
    made = clean_messages(history, wanted, ToolNames(()))
    assertions: dict[str, Any] = {
        "valid_pairing": True,
        "string_content_when_text_only": True,
        "tool_messages_text_only": True,
        "tool_content_non_empty": True,
        "all_arguments_are_json_objects": True,
    }
    if wanted.bridge_assistant_after_tool:
        assertions["bridge_assistant_between_tool_and_user"] = True
    if wanted.merge_same_role:
        assertions["alternating"] = True
    if not wanted.vision:
        assertions["no_images"] = True
    assert judge_request({"messages": made}, assertions, {}) == []
    body = [message for message in made if message["role"] != "system"]
    assert (
        [message["role"] for message in made].index(body[0]["role"]) == len(made) - len(body) <= 1
    )
    assert body[-1]["role"] in ("user", "tool")
    assert all(message["content"] or message.get("tool_calls") for message in made)
    for message in made:
        call_ids = [call["id"] for call in message.get("tool_calls", ())]
        assert len(set(call_ids)) == len(call_ids)


@given(st.lists(messages, max_size=8), flags)
def test_cleaning_changes_nothing_that_was_given_and_nothing_that_is_clean(
    history: list[dict[str, Any]], wanted: ProviderFlags
) -> None:
    before = json.dumps(history)
    once = clean_messages(history, wanted, ToolNames(()))
    assert json.dumps(history) == before
    assert clean_messages(once, wanted, ToolNames(())) == once


def test_a_result_without_its_call_is_dropped() -> None:
    assert cleaned(RESULT, USER) == [USER]


def test_a_call_without_result_is_told_as_cancelled() -> None:
    made = cleaned(USER, TURN, USER)
    assert [message["role"] for message in made] == ["user", "assistant", "tool", "user"]
    assert "cancelled" in made[2]["content"]


def test_what_stood_between_a_call_and_its_result_moves_behind_it() -> None:
    assert roles(USER, TURN, USER, RESULT) == ["user", "assistant", "tool", "user"]
    assert roles(USER, TURN, {"role": "assistant", "content": "hm"}, RESULT)[1:4] == [
        "assistant",
        "tool",
        "assistant",
    ]


def test_a_second_result_of_a_call_is_dropped() -> None:
    made = cleaned(USER, TURN, RESULT, {**RESULT, "content": "again"}, USER)
    assert [message["content"] for message in made if message["role"] == "tool"] == ["data"]


def test_an_id_that_is_used_again_in_a_later_turn_keeps_both_results() -> None:
    made = cleaned(USER, TURN, RESULT, TURN, {**RESULT, "content": "later"})
    assert [message["content"] for message in made if message["role"] == "tool"] == [
        "data",
        "later",
    ]


def test_two_calls_of_one_id_get_ids_and_results_of_their_own() -> None:
    turn = {"role": "assistant", "content": "", "tool_calls": [CALL, CALL]}
    made = cleaned(USER, turn, RESULT, {**RESULT, "content": "second"})
    assert [call["id"] for call in made[1]["tool_calls"]] == [
        message["tool_call_id"] for message in made[2:]
    ]
    assert [message["content"] for message in made[2:]] == ["data", "second"]


def test_pictures_of_results_go_into_one_user_message_behind_all_results() -> None:
    second = {**CALL, "id": "c2"}
    made = cleaned(
        USER,
        {**TURN, "tool_calls": [CALL, second]},
        {**RESULT, "content": [{"type": "text", "text": "one"}, PICTURE]},
        {**RESULT, "tool_call_id": "c2", "content": [PICTURE]},
    )
    assert [message["role"] for message in made] == ["user", "assistant", "tool", "tool", "user"]
    assert made[2]["content"] == "one"
    assert made[3]["content"].strip()
    assert sum(part["type"] == "image_url" for part in made[4]["content"]) == 2


def test_a_model_without_vision_is_told_where_a_picture_was() -> None:
    made = cleaned(USER, TURN, {**RESULT, "content": [PICTURE]}, vision=False)
    assert "image" in made[2]["content"]
    assert [message["role"] for message in made] == ["user", "assistant", "tool"]


def test_leading_system_messages_become_one_and_later_ones_notices() -> None:
    made = cleaned(
        {"role": "system", "content": "A"},
        {"role": "system", "content": "B"},
        USER,
        {"role": "system", "content": "C"},
    )
    assert [message["role"] for message in made] == ["system", "user", "user"]
    assert made[0]["content"] == "A\n\nB"
    assert made[2]["content"] == "<notice>\nC\n</notice>"


@pytest.mark.parametrize(
    ("flag", "role"), [(None, "developer"), (True, "developer"), (False, "system")]
)
def test_the_developer_role_is_used_as_the_server_wants(flag: bool | None, role: str) -> None:
    assert roles({"role": "developer", "content": "A"}, USER, developer_role=flag)[0] == role


def test_a_history_that_ends_with_the_model_gets_a_short_user_turn() -> None:
    assert roles(USER, {"role": "assistant", "content": "I was"}) == ["user", "assistant", "user"]
    assert roles({"role": "system", "content": "A"}) == ["system", "user"]


def test_reasoning_goes_back_only_where_it_is_asked_for() -> None:
    turn = {**TURN, "reasoning": "hm", "reasoning_details": [{"type": "x"}]}
    plain = cleaned(USER, turn, RESULT)[1]
    assert not {"reasoning", "reasoning_content", "reasoning_details"} & set(plain)
    assert (
        cleaned(USER, turn, RESULT, echo_reasoning="reasoning_content")[1]["reasoning_content"]
        == "hm"
    )
    assert (
        cleaned(USER, TURN, RESULT, echo_reasoning="reasoning_content")[1]["reasoning_content"]
        == " "
    )
    assert cleaned(USER, turn, RESULT, echo_reasoning="reasoning_details")[1][
        "reasoning_details"
    ] == [{"type": "x"}]


def test_extra_fields_of_a_call_go_back_only_where_they_are_asked_for() -> None:
    turn = {
        **TURN,
        "tool_calls": [{**CALL, "extra_content": {"google": {"thought_signature": "c2ln"}}}],
    }
    assert "extra_content" not in cleaned(USER, turn, RESULT)[1]["tool_calls"][0]
    kept = cleaned(USER, turn, RESULT, echo_extra_content=True)[1]["tool_calls"][0]
    assert kept["extra_content"] == {"google": {"thought_signature": "c2ln"}}


def test_ids_of_nine_letters_stay_and_others_are_mapped_the_same_way_everywhere() -> None:
    made = cleaned(
        USER, TURN, RESULT, {**TURN, "tool_calls": [{**CALL, "id": "abcDEF123"}]}, tool_id="alnum9"
    )
    assert made[1]["tool_calls"][0]["id"] == made[2]["tool_call_id"] != "c1"
    assert made[3]["tool_calls"][0]["id"] == "abcDEF123"


@pytest.mark.parametrize(
    ("first", "expected"),
    [
        ({"role": "user", "content": "hi"}, "Rules.\n\nhi"),
        ({"role": "assistant", "content": "hello"}, "Rules."),
    ],
)
def test_a_server_without_a_system_role_gets_its_text_in_the_first_message_of_the_user(
    first: dict[str, Any], expected: str
) -> None:
    history = [{"role": "system", "content": "Rules."}, first, {"role": "user", "content": "go"}]
    made = clean_messages(history, ProviderFlags(system_role=False), ToolNames(()))
    assert made[0] == {"role": "user", "content": expected}
    assert all(message["role"] != "system" for message in made)

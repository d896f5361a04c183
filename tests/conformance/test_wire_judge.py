"""Every assertion on a request must be able to fail: one body that breaks it, one that does not."""

from typing import Any

import pytest

from tests.conformance.wire_requests import CHECKS, judge_request

CALL = {"id": "c1", "type": "function", "function": {"name": "t", "arguments": "{}"}}
TURN = {"role": "assistant", "content": None, "tool_calls": [CALL]}
RESULT = {"role": "tool", "tool_call_id": "c1", "content": "data"}
USER = {"role": "user", "content": "x"}
SYSTEM = {"role": "system", "content": "s"}
PICTURE = {"type": "image_url", "image_url": {"url": "data:"}}
SEEN = {"role": "user", "content": [PICTURE]}
SEEN_BY_TOOL = {**RESULT, "content": [PICTURE]}
RESULT_OF = {"tool_names": {"a_b": "a.b"}}


def body(*messages: Any, **more: Any) -> dict[str, Any]:
    return {"messages": list(messages), **more}


def tools(*names: str, **parameters: Any) -> dict[str, Any]:
    functions = [
        {"type": "function", "function": {"name": name, "parameters": parameters}} for name in names
    ]
    return body(USER, tools=functions)


CASES: list[tuple[str, Any, dict[str, Any], dict[str, Any]]] = [
    ("absent", ["max_tokens"], body(USER), body(USER, max_tokens=1)),
    (
        "absent",
        ["tools[*].function.strict"],
        tools("a"),
        body(USER, tools=[{"function": {"strict": True}}]),
    ),
    ("present", ["messages[0].content"], body(USER), body({"role": "user", "content": ""})),
    (
        "absent_or_auto",
        ["tool_choice"],
        body(USER, tool_choice="auto"),
        body(USER, tool_choice="required"),
    ),
    ("valid_pairing", True, body(USER, TURN, RESULT), body(USER, TURN)),
    ("valid_pairing", True, body(USER, TURN, RESULT, USER), body(USER, TURN, USER, RESULT)),
    ("valid_pairing", True, body(USER), body(RESULT)),
    ("valid_pairing", True, body(TURN, RESULT), body(TURN, RESULT, RESULT)),
    ("order", ["assistant", "tool:c1", "user"], body(TURN, RESULT, USER), body(TURN, USER, RESULT)),
    ("no_role", "tool", body(USER), body(RESULT)),
    ("roles_exclude", ["developer"], body(SYSTEM), body({"role": "developer", "content": "s"})),
    ("inserted_tool_result_contains", "DATA", body(RESULT), body(USER)),
    ("tool_messages_text_only", True, body(RESULT, SEEN), body(SEEN_BY_TOOL)),
    ("image_in_role", "user", body(SEEN), body(SEEN, SEEN_BY_TOOL)),
    ("image_in_role", "user", body(SEEN), body(USER)),
    ("image_user_message_after_all_tool_messages", True, body(RESULT, SEEN), body(SEEN, RESULT)),
    ("bridge_assistant_between_tool_and_user", True, body(RESULT, TURN, USER), body(RESULT, USER)),
    ("no_images", True, body(USER), body(SEEN)),
    ("placeholder_text", True, body({"role": "user", "content": "[image]"}), body(USER)),
    ("tool_ids_match", "^c1$", body(TURN, RESULT), body({**RESULT, "tool_call_id": "d"})),
    ("system_only_first", True, body(SYSTEM, USER), body(USER, SYSTEM)),
    ("system_count", 1, body(SYSTEM), body(SYSTEM, SYSTEM)),
    ("contains_text", "x", body(USER), body(SYSTEM)),
    ("alternating", True, body(USER, TURN, RESULT, RESULT), body(USER, USER)),
    ("last_role", "user", body(TURN, USER), body(TURN)),
    ("assistant_content", "null_or_absent", body(TURN), body({**TURN, "content": ""})),
    ("assistant_content", "empty_string", body({**TURN, "content": ""}), body(TURN)),
    ("assistant_content", "single_space", body({**TURN, "content": " "}), body(TURN)),
    (
        "string_content_when_text_only",
        True,
        body(USER, SEEN),
        body({"role": "user", "content": [{"type": "text", "text": "x"}]}),
    ),
    ("tool_content_non_empty", True, body(RESULT), body({**RESULT, "content": " "})),
    ("tool_names_match", "^[a-z]+$", tools("ab"), tools("a.b")),
    ("tool_names_unique", True, tools("a", "b"), tools("a", "a")),
    ("round_trip", ["a.b"], tools("a_b"), tools("c")),
    ("tools_max", 2, tools("a", "b"), tools("a", "b", "c")),
    (
        "schema_excludes",
        ["const"],
        tools("a", properties={"const": {}}),
        tools("a", properties={"x": {"const": 1}}),
    ),
    (
        "type_is_string_everywhere",
        True,
        tools("a", type="object"),
        tools("a", items={"type": ["a", "b"]}),
    ),
    ("parameters", {"type": "object"}, tools("a", type="object"), tools("a", type="string")),
    (
        "all_arguments_are_json_objects",
        True,
        body(TURN),
        body({**TURN, "tool_calls": [{"function": {"arguments": "[]"}}]}),
    ),
    ("encodable_utf8", True, body(USER), body({"role": "user", "content": "\ud800"})),
    ("no_nul", True, body(USER), body({"role": "user", "content": "\0"})),
    ("response_format_type", ["absent"], body(USER), body(USER, response_format={"type": "text"})),
    ("tool_message_for", "c1", body(RESULT), body(USER)),
    ("tool_message_contains", "dat", body(RESULT), body({**RESULT, "content": "x"})),
]


@pytest.mark.parametrize(("name", "value", "right", "wrong"), CASES)
def test_an_assertion_holds_for_the_right_body_only(
    name: str, value: Any, right: Any, wrong: Any
) -> None:
    assert judge_request(right, {name: value}, RESULT_OF) == []
    assert judge_request(wrong, {name: value}, RESULT_OF) != []


def test_every_assertion_is_tried_and_an_unknown_one_fails() -> None:
    assert {name for name, *_ in CASES} == set(CHECKS)
    assert judge_request(body(USER), {"nonsense": True}, {}) != []
    assert judge_request(None, {"no_nul": True}, {}) != []

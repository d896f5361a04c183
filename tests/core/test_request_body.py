import base64
import json
from pathlib import Path
from typing import Any

import pytest

from core.chat.request_body import BodyBuilder
from core.messages import (
    AssistantMessage,
    Image,
    JsonObject,
    Message,
    ModelRequest,
    ToolCall,
    ToolMessage,
    ToolSpec,
    UserMessage,
)
from core.provider import ProviderFlags
from tests.support.reply_reading import TOOLS, spec

CALL = ToolCall(id="c1", name="read_file", arguments={"path": "a"}, raw_arguments='{"path": "a"}')


def built(
    *messages: Message,
    system: str = "You are Handrail.",
    tools: tuple[ToolSpec, ...] = (),
    parameters: JsonObject | None = None,
    learned: dict[str, str] | None = None,
    max_output_tokens: int | None = None,
    **flags: Any,
) -> dict[str, Any]:
    request = ModelRequest(
        system=system, messages=messages, tools=tools, max_output_tokens=max_output_tokens
    )
    body = BodyBuilder("m", parameters).build(request, ProviderFlags(**flags), learned or {})
    decoded: dict[str, Any] = json.loads(body.data)
    return decoded


def test_a_conversation_is_written_in_the_form_of_the_api() -> None:
    body = built(
        UserMessage(text="read a"),
        AssistantMessage(text="Looking.", calls=(CALL,)),
        ToolMessage(call_id="c1", name="read_file", text="data"),
        UserMessage(text="2 steps left", author="handrail"),
        tools=TOOLS[:1],
    )
    assert body["model"] == "m"
    assert body["stream"] is True
    assert body["stream_options"] == {"include_usage": True}
    assert body["messages"] == [
        {"role": "system", "content": "You are Handrail."},
        {"role": "user", "content": "read a"},
        {
            "role": "assistant",
            "content": "Looking.",
            "tool_calls": [
                {
                    "id": "c1",
                    "type": "function",
                    "function": {"name": "read_file", "arguments": '{"path": "a"}'},
                }
            ],
        },
        {"role": "tool", "tool_call_id": "c1", "content": "data"},
        {"role": "user", "content": "<notice>\n2 steps left\n</notice>"},
    ]
    assert body["tools"] == [
        {"type": "function", "function": {"name": "read_file", "parameters": TOOLS[0].parameters}}
    ]


def test_without_tools_nothing_speaks_of_tools() -> None:
    body = built(
        UserMessage(text="x"), parameters={"tool_choice": "auto", "parallel_tool_calls": False}
    )
    assert not {"tools", "tool_choice", "parallel_tool_calls"} & set(body)


def test_a_tool_without_arguments_has_an_empty_object_schema() -> None:
    body = built(
        UserMessage(text="x"),
        tools=(ToolSpec(name="t", description="Says the time.", parameters={}),),
    )
    assert body["tools"][0]["function"]["parameters"] == {"type": "object", "properties": {}}
    assert body["tools"][0]["function"]["description"] == "Says the time."


@pytest.mark.parametrize(
    ("call", "written"),
    [
        (
            ToolCall(
                id="c", name="t", arguments={"a": 1}, raw_arguments='{"a": 1,}', repaired=True
            ),
            '{"a": 1}',
        ),
        (
            ToolCall(id="c", name="t", arguments=None, raw_arguments='{"a": ', status="truncated"),
            "{}",
        ),
        (
            ToolCall(
                id="c", name="t", arguments=None, raw_arguments='{"a": 1}', status="unknown_tool"
            ),
            "{}",
        ),
        (ToolCall(id="c", name="t", arguments={}, raw_arguments=""), "{}"),
        (ToolCall(id="c", name="t", arguments={"a": 1}, raw_arguments='{ "a":1}'), '{ "a":1}'),
    ],
)
def test_arguments_in_the_history_are_always_json_objects(call: ToolCall, written: str) -> None:
    body = built(UserMessage(text="x"), AssistantMessage(calls=(call,)))
    assert body["messages"][2]["tool_calls"][0]["function"]["arguments"] == written


def test_the_name_of_a_call_in_the_history_is_the_one_on_the_wire() -> None:
    call = ToolCall(id="c", name="mail.search", arguments={}, raw_arguments="{}")
    body = built(
        UserMessage(text="x"), AssistantMessage(calls=(call,)), tools=(spec("mail.search"),)
    )
    assert (
        body["messages"][2]["tool_calls"][0]["function"]["name"]
        == body["tools"][0]["function"]["name"]
        == "mail_search"
    )


def test_a_picture_is_sent_as_data_and_a_lost_one_is_told(tmp_path: Path) -> None:
    file = tmp_path / "shot.png"
    file.write_bytes(b"\x89PNG data")
    shown, lost = (
        Image(path=str(file), sha256="1"),
        Image(path=str(tmp_path / "gone.png"), sha256="2"),
    )
    body = built(UserMessage(text="look", images=(shown, lost)))
    parts = body["messages"][1]["content"]
    assert parts[0]["text"].startswith("look\n[image left out")
    assert (
        parts[1]["image_url"]["url"]
        == "data:image/png;base64," + base64.b64encode(b"\x89PNG data").decode()
    )


def test_no_half_character_and_no_nul_goes_out() -> None:
    body = built(UserMessage(text="a\udce4b\0c \ud83d\ude00"), system="s\0")
    assert body["messages"][1]["content"] == "a\ufffdb\ufffdc \U0001f600"
    assert body["messages"][0]["content"] == "s\ufffd"


def test_text_about_an_escaped_nul_stays_as_it_is() -> None:
    assert built(UserMessage(text="\\u0000"))["messages"][1]["content"] == "\\u0000"


@pytest.mark.parametrize(
    ("parameters", "flags", "learned", "present", "absent"),
    [
        ({"max_tokens": 9}, {}, {}, "max_tokens", "max_completion_tokens"),
        ({"max_completion_tokens": 9}, {}, {}, "max_completion_tokens", "max_tokens"),
        (
            {"max_tokens": 9},
            {"max_tokens_field": "max_completion_tokens"},
            {"max_tokens_field": "max_completion_tokens"},
            "max_completion_tokens",
            "max_tokens",
        ),
        ({"top_p": 0.5, "temperature": 0.1}, {"temperature": "omit"}, {}, "top_p", "temperature"),
        ({"seed": 1, "top_p": 0.5}, {"omit": ("top_p",)}, {}, "seed", "top_p"),
        ({"seed": 1}, {"stream_usage": False}, {}, "seed", "stream_options"),
    ],
)
def test_parameters_go_out_as_the_server_takes_them(
    parameters: JsonObject,
    flags: dict[str, Any],
    learned: dict[str, str],
    present: str,
    absent: str,
) -> None:
    body = built(UserMessage(text="x"), parameters=parameters, learned=learned, **flags)
    assert present in body
    assert absent not in body


def test_the_longest_answer_of_a_request_wins_over_the_setting() -> None:
    body = built(
        UserMessage(text="x"),
        parameters={"max_tokens": 9},
        max_output_tokens=5,
        max_tokens_field="max_completion_tokens",
    )
    assert body["max_completion_tokens"] == 5
    assert "max_tokens" not in body


@pytest.mark.parametrize(
    ("allowed", "expected"),
    [
        ("json_schema", {"type": "json_schema", "json_schema": {}}),
        ("json_object", {"type": "json_object"}),
        ("omit", None),
    ],
)
def test_the_response_format_is_the_strictest_the_server_takes(allowed: str, expected: Any) -> None:
    wanted: JsonObject = {"type": "json_schema", "json_schema": {}}
    body = built(
        UserMessage(text="x"), parameters={"response_format": wanted}, response_format=allowed
    )
    assert body.get("response_format") == expected

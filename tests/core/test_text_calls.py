import json
from typing import Any

import pytest

from core.chat.text_calls import may_be_call
from core.messages import ToolSpec
from tests.support.reply_reading import Reading, read_text, told

A = '{"name": "read_file", "arguments": {"path": "a"}}'
DOT = '{"name": "list_dir", "arguments": {"path": "."}}'
UNKNOWN = '{"name": "launch", "arguments": {}}'
READ = ("read_file", {"path": "a"})
LIST = ("list_dir", {"path": "."})
BAR, BLOCK = "\uff5c", "\u2581"
DEEPSEEK = (
    "<|tool_calls_begin|><|tool_call_begin|>function<|tool_sep|>{0}\n```json\n{1}\n```"
    "<|tool_call_end|><|tool_calls_end|>"
).translate({ord("|"): BAR, ord("_"): BLOCK})
KIMI = "<|tool_call_begin|>functions.{0}:0<|tool_call_argument_begin|>{1}<|tool_call_end|>"


READ_XML = "<function=read_file>\n<parameter=path>\na\n</parameter>\n</function>"
CALLS: dict[str, tuple[str, list[Any]]] = {
    "tag": (f"<tool_call>\n{A}\n</tool_call>", [READ]),
    "two tags": (f"<tool_call>{A}</tool_call>\n<tool_call>{DOT}</tool_call>", [READ, LIST]),
    "two in one tag": (f"<tool_call>\n{A}\n{DOT}\n</tool_call>", [READ, LIST]),
    "tag not closed": (f"<tool_call>\n{A}", [READ]),
    "last tag not closed": (f"<tool_call>{A}</tool_call>\n<tool_call>{DOT}", [READ, LIST]),
    "the tag the tools are listed in": (f"<tools>\n{A}\n</tools>", [READ]),
    "fence in a tag": (f"<tool_call>\n```json\n{A}\n```\n</tool_call>", [READ]),
    "closing tag alone": (f"{A}\n</tool_call>", [READ]),
    "end token behind it": (f"<tool_call>{A}</tool_call><|im_end|>", [READ]),
    "after reasoning": (f"<think>hm</think>\n<tool_call>{A}</tool_call>", [READ]),
    "fence": (f"```json\n{A}\n```", [READ]),
    "fence without a word": (f"```\n{A}\n```", [READ]),
    "two fences": (f"```json\n{A}\n```\n\n```json\n{DOT}\n```", [READ, LIST]),
    "list in a fence": (f"```json\n[{A}, {DOT}]\n```", [READ, LIST]),
    "JSON alone": (A, [READ]),
    "a line each": (f"{A}\n{DOT}", [READ, LIST]),
    "parameters": (A.replace("arguments", "parameters"), [READ]),
    "Llama": ("<|python_tag|>" + A.replace("arguments", "parameters"), [READ]),
    "arguments as text": (
        '<tool_call>{"name": "read_file", "arguments": "{\\"path\\": \\"a\\"}"}</tool_call>',
        [READ],
    ),
    "Python": (f"<tool_call>{A.replace(chr(34), chr(39))}</tool_call>", [READ]),
    "XML": (f"<tool_call>\n{READ_XML}\n</tool_call>", [READ]),
    "XML, tag lost": (f"{READ_XML}\n</tool_call>", [READ]),
    "GLM": (
        "<tool_call>read_file\n<arg_key>path</arg_key>\n<arg_value>a</arg_value>\n</tool_call>",
        [READ],
    ),
    "DeepSeek": (DEEPSEEK.format("read_file", '{"path":"a"}'), [READ]),
    "Kimi": (
        "<|tool_calls_section_begin|>"
        + KIMI.format("read_file", '{"path":"a"}')
        + KIMI.format("list_dir", '{"path":"."}')
        + "<|tool_calls_section_end|>",
        [READ, LIST],
    ),
    "Mistral list": (f"[TOOL_CALLS] [{A}, {DOT}]", [READ, LIST]),
    "Mistral id": (f"[TOOL_CALLS][{A[:-1]}, " + '"id": "abcdefghi"}]', [READ]),
    "Mistral names": (
        '[TOOL_CALLS]read_file[ARGS]{"path":"a"}[TOOL_CALLS]list_dir[ARGS]{"path":"."}',
        [READ, LIST],
    ),
    "unknown tool in a tag": (f"<tool_call>{UNKNOWN}</tool_call>", [("launch", "unknown_tool")]),
    "bad arguments": (
        '<tool_call>{"name": "read_file", "arguments": {"path": 5}}</tool_call>',
        [("read_file", "invalid")],
    ),
    "a key twice": (
        '<tool_call>{"name": "read_file", "arguments": {"path": "a", "path": "b"}}</tool_call>',
        [("read_file", "invalid")],
    ),
}


@pytest.mark.parametrize(("message", "expected"), CALLS.values(), ids=CALLS)
def test_a_message_that_is_nothing_but_calls_is_read(message: str, expected: list[Any]) -> None:
    reply = read_text(message, text_calls=True)
    assert told(reply) == expected
    assert (reply.outcome, reply.text) == ("tool_calls", "")
    assert all(call.source == "text" for call in reply.calls)
    assert len({call.id for call in reply.calls}) == len(expected)


@pytest.mark.parametrize(
    "message",
    [
        f"Sure: <tool_call>{A}</tool_call>",
        f"<tool_call>{A}</tool_call>\nThat is how it looks.",
        f'"<tool_call>{A}</tool_call>"',
        f"> <tool_call>{A}</tool_call>",
        f"`{A}`",
        f"```xml\n<tool_call>{A}</tool_call>\n```",
        f"```python\n{A}\n```",
        f"Here it is:\n```json\n{A}\n```",
        f"```json\n{UNKNOWN}\n```",
        UNKNOWN,
        f"{A}\n{UNKNOWN}",
        f"{A} is the call",
        '{"name": "read_file"}',
        '{"name": "read_file", "arguments": {}, "note": 1}',
        '{"path": "a"}',
        "read_file(path='a')",
        f"<think>hm</think>Text, then <tool_call>{A}</tool_call>",
        f"<think>maybe <tool_call>{A}</tool_call></think>Done.",
        "",
    ],
)
def test_a_call_in_any_other_company_is_text(message: str) -> None:
    reply = read_text(message, text_calls=True)
    assert reply.calls == ()


FLAT = '{"name": "read_file", "path": "a"}'
FLAT_BOTH = '{"name": "write_file", "content": "", "path": "a"}'
FLAT_CALLS: dict[str, tuple[str, list[Any]]] = {
    "object alone": (FLAT, [READ]),
    "fence": (f"```json\n{FLAT}\n```", [READ]),
    "a line each": (
        f"{FLAT}\n{FLAT_BOTH}",
        [READ, ("write_file", {"path": "a", "content": ""})],
    ),
    "tag": (f"<tool_call>\n{FLAT}\n</tool_call>", [READ]),
    "tag not closed": (f"<tool_call>{FLAT}", [READ]),
    "end token behind it": (f"{FLAT}<|im_end|>", [READ]),
    "name last": ('{"path": "a", "name": "read_file"}', [READ]),
    "optional one too": (
        '{"name": "list_dir", "limit": 2, "path": "."}',
        [("list_dir", {"path": ".", "limit": 2})],
    ),
    "of the wrong type": ('{"name": "read_file", "path": 5}', [("read_file", "invalid")]),
}


@pytest.mark.parametrize(("message", "expected"), FLAT_CALLS.values(), ids=FLAT_CALLS)
def test_arguments_beside_the_name_make_a_repaired_call(message: str, expected: list[Any]) -> None:
    reply = read_text(message, text_calls=True)
    assert told(reply) == expected
    assert (reply.outcome, reply.text) == ("tool_calls", "")
    assert all(call.source == "text" and call.repaired for call in reply.calls)


def test_only_the_call_with_its_arguments_beside_the_name_is_marked_repaired() -> None:
    reply = read_text(f"{A}\n{FLAT_BOTH}", text_calls=True)
    assert [call.repaired for call in reply.calls] == [False, True]


@pytest.mark.parametrize(
    "flat",
    [
        '{"name": "read_file", "path": "a", "note": 1}',
        '{"name": "read_file", "path": "a", "id": "1"}',
        '{"name": "write_file", "path": "a"}',
        '{"name": "read_file", "view_range": [1, 2]}',
        '{"name": "launch", "path": "a"}',
        '{"name": "Read-File", "path": "a"}',
        '{"name": "get_time"}',
        '{"name": "get_time", "path": "a"}',
        '{"name": "read_file", "path": "a", "parameters": {}}',
        '{"name": "read_file", "path": "a", "arguments": {"path": "a"}}',
        '{"name": "read_file", "path": "a", "path": "b"}',
        '{"name": ["read_file"], "path": "a"}',
        '{"name": "Ada", "path": "/home/ada"}',
        '{"path": "a"}',
        '{"name": "read_file", "path": "a',
        f"[{FLAT}]",
    ],
)
@pytest.mark.parametrize("around", ["{}", "```json\n{}\n```", "<tool_call>{}</tool_call>"])
def test_an_object_that_only_resembles_such_a_call_is_text(flat: str, around: str) -> None:
    message = around.replace("{}", flat)
    reply = read_text(message, text_calls=True)
    assert (reply.calls, reply.text) == ((), message)


@pytest.mark.parametrize("call", [A, FLAT])
@pytest.mark.parametrize(
    "around",
    ["Sure: {}", "{} is the call", "{} obj['answer']", "{}\nobj['answer']", "`{}`", "> {}"],
)
def test_words_around_a_call_in_plain_json_make_it_text(call: str, around: str) -> None:
    message = around.replace("{}", call)
    reply = read_text(message, text_calls=True)
    assert (reply.calls, reply.text) == ((), message)


def test_one_object_that_is_no_call_makes_its_neighbours_text() -> None:
    message = FLAT + '\n{"name": "Ada", "path": "b"}'
    assert read_text(message, text_calls=True).calls == ()


def test_the_name_of_the_tool_is_not_its_argument_called_name_as_well() -> None:
    greet = ToolSpec(
        name="greet",
        description="",
        parameters={"properties": {"name": {}, "tone": {}}, "required": ["name"]},
    )
    reading = Reading(text_calls=True, tools=[greet])
    reading.delta(content='{"name": "greet", "tone": "warm"}')
    assert reading.end().calls == ()


@pytest.mark.parametrize("message", [f"<tool_call>{A}</tool_call>", f"```json\n{A}\n```", A, FLAT])
def test_without_the_flag_nothing_in_a_text_is_a_call(message: str) -> None:
    reply = read_text(message)
    assert (reply.calls, reply.text) == ((), message)


@pytest.mark.parametrize(
    "message",
    [
        '<tool_call>{"name": "read_file", "arguments": {"path": "a',
        "<tool_call>\n<function=read_file>\n<parameter=path>\na.t",
        '<|tool_call_begin|>functions.read_file:0<|tool_call_argument_begin|>{"path":"a',
    ],
)
def test_a_call_that_breaks_off_is_cut_off_and_not_run(message: str) -> None:
    reply = read_text(message, text_calls=True)
    assert (reply.outcome, told(reply)) == ("truncated", [("read_file", "truncated")])


def test_text_values_keep_line_breaks_and_closing_tags() -> None:
    content = "one\ntwo </tool_call> three"
    written = json.dumps({"name": "write_file", "arguments": {"path": "a", "content": content}})
    for message in (f"<tool_call>{written}</tool_call>", f"<tool_call>{written}"):
        assert told(read_text(message, text_calls=True)) == [
            ("write_file", {"path": "a", "content": content})
        ]
    raw = '<tool_call>{"name": "write_file", "arguments": {"path": "a", "content": "x\n\ty"}}</tool_call>'
    assert told(read_text(raw, text_calls=True)) == [
        ("write_file", {"path": "a", "content": "x\n\ty"})
    ]


def test_only_xml_values_are_unescaped() -> None:
    xml = "<function=write_file><parameter=path>a</parameter><parameter=content>a &lt; b</parameter></function>"
    assert told(read_text(xml, text_calls=True))[0][1]["content"] == "a < b"
    tag = '<tool_call>{"name": "write_file", "arguments": {"path": "a", "content": "a &lt; b"}}</tool_call>'
    assert told(read_text(tag, text_calls=True))[0][1]["content"] == "a &lt; b"


def test_what_turns_out_to_be_a_call_is_never_shown() -> None:
    reading = Reading(text_calls=True)
    for piece in ("``", "`json\n", A, "\n```"):
        reading.delta(content=piece)
    reading.end()
    assert reading.shown == ""


@pytest.mark.parametrize(
    "message", ["```python\nprint(1)\n```", '{"a": 1} is JSON', "<tool_box>", "[1, 2]"]
)
def test_what_turns_out_to_be_text_is_shown_whole(message: str) -> None:
    reading = Reading(text_calls=True)
    for char in message:
        reading.delta(content=char)
    assert reading.end().text == message
    assert reading.shown == message


def test_prose_is_shown_as_it_comes() -> None:
    reading = Reading(text_calls=True)
    reading.delta(content="Hello")
    assert reading.shown == "Hello"
    assert not may_be_call("Hello")
    assert may_be_call("<tool")

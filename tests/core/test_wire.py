from typing import Any

import pytest

from core.chat.wire import ErrorObjectError, error_payload
from core.errors import ModelStreamError
from tests.support.reply_reading import Reading, piece, read_calls, read_text, told

A = '{"path":"a"}'


def test_text_streams_piece_by_piece_and_comes_whole_at_the_end() -> None:
    reading = Reading()
    for word in ("Hi", " ", "there"):
        reading.delta(content=word)
        assert reading.shown.endswith(word)
    reply = reading.end()
    assert (reply.outcome, reply.text, reply.warnings) == ("message", "Hi there", ())


@pytest.mark.parametrize(
    "deltas",
    [
        [{"reasoning_content": "think "}, {"reasoning_content": "more"}],
        [{"reasoning": "think "}, {"reasoning": "more"}],
        [{"reasoning": "think ", "reasoning_content": "think "}, {"reasoning": "more", "reasoning_content": "more"}],
        [{"content": "<think>think more</think>"}],
        [{"content": [{"type": "thinking", "thinking": [{"type": "text", "text": "think "}]}]},
         {"content": [{"type": "thinking", "thinking": "more"}]}],
        [{"reasoning_details": [{"type": "reasoning.text", "text": "think "}]},
         {"reasoning_details": [{"type": "reasoning.text", "text": "more"}]}],
    ],
)  # fmt: skip
def test_reasoning_is_found_in_every_field_it_comes_in(deltas: list[dict[str, Any]]) -> None:
    reading = Reading()
    for delta in deltas:
        reading.delta(**delta)
    reading.delta(content="42")
    reply = reading.end()
    assert (reply.reasoning, reply.text) == ("think more", "42")
    assert reading.thought == "think more"


def test_reasoning_details_are_kept_for_the_next_request() -> None:
    details = [{"type": "reasoning.encrypted", "data": "xyz", "index": 0}]
    reading = Reading()
    reading.delta(reasoning="hm", reasoning_details=details)
    reading.delta(content="42", reasoning_details=details)
    assert reading.end().carry == {"reasoning_details": details * 2}


@pytest.mark.parametrize(
    ("finish", "outcome", "reason", "warnings"),
    [
        ("stop", "message", "", ()),
        ("length", "truncated", "", ()),
        ("max_tokens", "truncated", "", ("unknown_finish_reason",)),
        ("MAX_TOKENS", "truncated", "", ("unknown_finish_reason",)),
        ("content_filter", "refused", "content_filter", ()),
        ("SAFETY", "refused", "content_filter", ("unknown_finish_reason",)),
        ("eos_token", "message", "", ("unknown_finish_reason",)),
        (None, "message", "", ("no_finish_reason",)),
    ],
)
def test_the_end_says_what_the_answer_is(
    finish: str | None, outcome: str, reason: str, warnings: tuple[str, ...]
) -> None:
    reading = Reading()
    reading.delta(content="Half an answer")
    reply = reading.end(finish)
    assert (reply.outcome, reply.reason, reply.warnings) == (outcome, reason, warnings)
    assert reply.text == "Half an answer"
    assert bool(reply.message) == (outcome != "message")


def test_calls_decide_over_the_finish_reason() -> None:
    assert read_calls(piece("read_file", A, index=0, id="c"), finish="stop").outcome == "tool_calls"


def test_a_finish_reason_for_calls_without_calls_is_an_empty_answer() -> None:
    assert read_text("", finish="tool_calls").outcome == "empty"


def test_reasoning_alone_is_an_empty_answer_and_never_shown_as_one() -> None:
    reading = Reading()
    reading.delta(reasoning_content="I should answer.")
    reply = reading.end()
    assert (reply.outcome, reply.text, reply.reasoning) == ("empty", "", "I should answer.")
    assert "reasoned" in reply.message


def test_a_filtered_answer_runs_none_of_its_calls() -> None:
    reply = read_calls(piece("read_file", A, index=0, id="c"), finish="content_filter")
    assert (reply.outcome, reply.calls) == ("refused", ())


def test_a_refusal_is_shown_as_the_text() -> None:
    reading = Reading()
    reading.delta(refusal="I can't ")
    reading.delta(refusal="help.")
    reply = reading.end()
    assert (reply.outcome, reply.reason, reply.text) == ("refused", "refusal", "I can't help.")


def test_without_any_end_there_is_no_reply() -> None:
    reading = Reading()
    reading.delta(content="Hello wor")
    with pytest.raises(ModelStreamError) as caught:
        reading.reader.reply(input_estimate=1, count=len)
    assert caught.value.code == "incomplete_stream"


def test_only_the_first_choice_counts() -> None:
    reading = Reading()
    for index, words in ((0, "A"), (1, "X"), (0, "B")):
        reading.chunk({"choices": [{"index": index, "delta": {"content": words}}]})
    assert reading.end().text == "AB"


@pytest.mark.parametrize(
    "chunk",
    [
        {"choices": []},
        {"choices": None},
        {"choices": [None]},
        {"choices": [{"index": 0, "delta": None}]},
        {"choices": [{"delta": {"content": None, "tool_calls": None, "function_call": None}}]},
        {"choices": [{"delta": {"content": 5, "tool_calls": "x", "reasoning": {}}}]},
        {"choices": [{}], "usage": None},
        {"object": "chat.completion.chunk"},
        {"error": None, "choices": []},
    ],
)
def test_empty_and_odd_chunks_change_nothing(chunk: dict[str, Any]) -> None:
    reading = Reading()
    reading.delta(content="a")
    reading.chunk(chunk)
    reading.delta(content="b")
    assert reading.end().text == "ab"


def test_a_whole_message_instead_of_deltas_is_read_once() -> None:
    message = {"role": "assistant", "content": None, "tool_calls": [piece("read_file", A, id="c")]}
    reading = Reading()
    reading.chunk({"choices": [{"index": 0, "message": message, "finish_reason": "tool_calls"}]})
    assert told(reading.end(None)) == [("read_file", {"path": "a"})]


def test_a_whole_message_after_the_deltas_is_not_added_to_them() -> None:
    reading = Reading()
    reading.delta(content="Hi")
    reading.chunk(
        {"choices": [{"index": 0, "message": {"content": "Hi"}, "finish_reason": "stop"}]}
    )
    assert reading.end(None).text == "Hi"


def test_the_last_usage_counts_wherever_it_stands() -> None:
    reading = Reading()
    reading.chunk(
        {
            "choices": [{"delta": {"content": "a"}}],
            "usage": {"prompt_tokens": 7, "completion_tokens": 1},
        }
    )
    reading.chunk(
        {
            "choices": [
                {
                    "delta": {},
                    "finish_reason": "stop",
                    "usage": {"prompt_tokens": 7, "completion_tokens": 3},
                }
            ]
        }
    )
    reading.chunk(
        {
            "choices": [],
            "usage": {"prompt_tokens": 9, "prompt_tokens_details": {"cached_tokens": 4}},
        }
    )
    usage = reading.end(None).usage
    assert (usage.input_tokens, usage.output_tokens, usage.cached_tokens, usage.estimated) == (
        9,
        3,
        4,
        False,
    )


@pytest.mark.parametrize(
    "usage",
    [None, {}, "12", {"prompt_tokens": None, "completion_tokens": "x"}, {"prompt_tokens": -1}],
)
def test_what_is_not_reported_is_estimated_and_says_so(usage: Any) -> None:
    reading = Reading()
    reading.chunk({"choices": [{"delta": {"content": "Hello"}}], "usage": usage})
    got = reading.end().usage
    assert (got.input_tokens, got.output_tokens) == (7, 5)
    assert got.estimated
    assert got.input_estimated
    assert got.output_estimated


def test_half_characters_are_joined_before_they_are_shown() -> None:
    reading = Reading()
    reading.delta(content="a\ud83d")
    reading.delta(content="\ude00b")
    reading.delta(content="\ud83d")
    reply = reading.end()
    assert reply.text == reading.shown == "a\U0001f600b\ufffd"


@pytest.mark.parametrize(
    "chunk",
    [
        {"error": {"message": "overloaded", "code": 502}, "choices": []},
        {"error": "overloaded"},
        {"type": "error", "message": "overloaded"},
        {"object": "error", "message": "overloaded", "code": 400},
        {"message": "overloaded", "code": 500},
    ],
)
def test_an_error_object_is_never_taken_for_a_chunk(chunk: dict[str, Any]) -> None:
    reading = Reading()
    with pytest.raises(ErrorObjectError) as first:
        reading.chunk(chunk)
    assert not first.value.begun
    assert first.value.payload["message"] == "overloaded"
    reading.delta(role="assistant", content="")
    with pytest.raises(ErrorObjectError) as second:
        reading.chunk(chunk)
    assert second.value.begun


def test_a_named_error_event_needs_no_error_key() -> None:
    assert error_payload({"code": 500, "message": "died"}) is not None
    assert error_payload({"detail": "died"}, "error") == {"detail": "died"}
    assert error_payload({"detail": "fine"}) is None


@pytest.mark.parametrize("finish", ["error", "network_error", "insufficient_system_resource"])
def test_an_answer_the_server_ended_with_an_error_is_no_answer(finish: str) -> None:
    reading = Reading()
    reading.delta(content="par")
    with pytest.raises(ErrorObjectError):
        reading.end(finish)


def test_equal_pieces_without_end_stop_the_stream() -> None:
    reading = Reading(repeat_chunks=12)
    for _ in range(11):
        reading.delta(content=" yes")
    with pytest.raises(ModelStreamError) as caught:
        reading.delta(content=" yes")
    assert caught.value.code == "repetition"


def test_equal_pieces_with_others_between_are_fine() -> None:
    reading = Reading(repeat_chunks=3)
    for word in ("a", "a", "b") * 5:
        reading.delta(content=word)
    assert len(reading.end().text) == 15


def test_held_text_is_shown_when_the_stream_breaks_off() -> None:
    reading = Reading(text_calls=True)
    reading.delta(content="<think>a</think>```json\n{")
    assert reading.shown == ""
    reading._show(reading.reader.abandon())
    assert reading.shown == "```json\n{"

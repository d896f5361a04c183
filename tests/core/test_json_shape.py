import json
import math
from typing import Any

import pytest

from core.chat.json_shape import MAX_KEPT_DEPTH, count_of, kept_value
from core.event_log import EventLog, SystemClock
from core.events import ModelReplied
from core.journal import encode, read_lines
from core.messages import ModelReply
from tests.support.reply_reading import Reading, piece

A = '{"path":"a"}'


def nested(levels: int, *, in_lists: bool = False) -> Any:
    value: Any = 1
    for _ in range(levels):
        value = [value] if in_lists else {"a": value}
    return value


ODD = {
    "300 objects": nested(300),
    "900 lists": nested(900, in_lists=True),
    "endless numbers": [math.inf, -math.inf, math.nan],
    "half pairs": {"a\ud800": "b\udc00"},
    "a long number": 10**400,
}


def with_extra_of_a_call(value: Any) -> ModelReply:
    reading = Reading()
    reading.delta(tool_calls=[piece("read_file", A, index=0, id="c", extra_content=value)])
    return reading.end("tool_calls")


def with_reasoning_details(value: Any) -> ModelReply:
    reading = Reading()
    reading.delta(content="Hi", reasoning_details=[value])
    return reading.end()


def with_extra_of_the_message(value: Any) -> ModelReply:
    reading = Reading()
    reading.delta(content="Hi", extra_content=value)
    return reading.end()


@pytest.mark.parametrize(
    "reply", [with_extra_of_a_call, with_reasoning_details, with_extra_of_the_message]
)
@pytest.mark.parametrize("value", ODD.values(), ids=ODD.keys())
def test_whatever_a_server_adds_can_be_printed_and_comes_back_from_the_journal(
    reply: Any, value: Any
) -> None:
    made = reply(value)
    log = EventLog(SystemClock())
    record = log.append(ModelReplied(text=made.text, calls=made.calls, carry=made.carry))
    line, _ = encode(record, 0)
    assert read_lines(line)[0] == [record]
    json.loads(record.json_line(), parse_constant=pytest.fail)


def test_ordinary_values_are_kept_as_they_are() -> None:
    value = {"a": [1, 2.5, "x", None, True, {"b": []}], "deep": nested(MAX_KEPT_DEPTH - 1)}
    assert kept_value(value) == value
    assert kept_value({"a": {"b": {"c": 1}}}, 2) == {"a": {"b": None}}


def test_a_number_that_counts_nothing_is_no_count() -> None:
    for number in (10**400, 1e308, "1e300", "9" * 4000, 10**13):
        assert count_of(number) is None

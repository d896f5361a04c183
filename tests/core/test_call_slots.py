import time
from typing import Any

import pytest

from core.chat.call_reading import CallIds
from tests.support.reply_reading import Reading, piece, read_calls, told

A, B, DOT = '{"path":"a"}', '{"path":"b"}', '{"path":"."}'
READ_A = ("read_file", {"path": "a"})
READ_B = ("read_file", {"path": "b"})
LIST = ("list_dir", {"path": "."})


HALF, REST = '{"pa', 'th":"a"}'
ONE: dict[str, list[Any]] = {
    "as specified": [piece("read_file", HALF, index=0, id="c"), piece(None, REST, index=0)],
    "no index": [piece("read_file", HALF, id="c"), piece(None, REST)],
    "null index": [piece("read_file", HALF, index=None, id="c"), piece(None, REST, index=None)],
    "text index": [piece("read_file", HALF, index="0", id="c"), piece(None, REST, index="0")],
    "index from 3": [piece("read_file", HALF, index=3, id="c"), piece(None, REST, index=3)],
    "tail elsewhere": [piece("read_file", HALF, index=0, id="c"), piece(None, REST, index=1)],
    "id each time": [
        piece("read_file", HALF, index=0, id="c"),
        piece(None, REST, index=0, id="c"),
    ],
    "empty id later": [
        piece("read_file", HALF, index=0, id="c"),
        piece(None, REST, index=0, id=""),
    ],
    "new id each time": [
        piece("read_file", HALF, index=0, id="c"),
        piece(None, REST, index=0, id="d"),
    ],
    "id comes late": [piece("read_file", HALF, index=0), piece(None, REST, index=0, id="c")],
    "name in two": [
        piece("read_", None, index=0, id="c"),
        piece("file", None, index=0),
        piece(None, A, index=0),
    ],
    "name in three": [
        piece("re", None, index=0, id="c"),
        piece("ad_", None, index=0),
        piece("file", A, index=0),
    ],
    "name grows": [piece("read", None, index=0, id="c"), piece("read_file", A, index=0)],
    "name repeated": [
        piece("read_file", HALF, index=0, id="c"),
        piece("read_file", REST, index=0),
    ],
    "empty name later": [piece("read_file", HALF, index=0, id="c"), piece("", REST, index=0)],
    "arguments are an object": [piece("read_file", {"path": "a"}, index=0, id="c")],
    "without function": [{"index": 0, "id": "c", "name": "read_file", "arguments": A}],
    "placeholder first": [piece("read_file", "{}", index=0, id="c"), piece(None, A, index=0)],
    "all of it twice": [
        piece("read_file", A, index=0, id="c"),
        piece("read_file", A, index=0, id="c"),
    ],
    "junk between": [None, 5, {}, piece("read_file", A, index=0, id="c")],
}
TWO: dict[str, tuple[list[Any], list[Any]]] = {
    "two indexes": (
        [piece("read_file", A, index=0, id="c"), piece("list_dir", DOT, index=1, id="d")],
        [READ_A, LIST],
    ),
    "one index": (
        [piece("read_file", A, index=0, id="c"), piece("read_file", B, index=0, id="d")],
        [READ_A, READ_B],
    ),
    "no index, no id": ([piece("read_file", A), piece("read_file", B)], [READ_A, READ_B]),
    "one index, no id": (
        [piece("read_file", A, index=0), piece("list_dir", DOT, index=0)],
        [READ_A, LIST],
    ),
    "ids alone": (
        [piece("read_file", A, id="c"), piece("list_dir", DOT, id="d")],
        [READ_A, LIST],
    ),
    "id used twice": (
        [piece("read_file", A, index=0, id="c"), piece("list_dir", DOT, index=1, id="c")],
        [READ_A, LIST],
    ),
    "id used twice, no index": (
        [piece("read_file", A, id="c"), piece("list_dir", DOT, id="c")],
        [READ_A, LIST],
    ),
    "no arguments, then some": (
        [piece("get_time", "", index=0), piece("list_dir", DOT, index=0)],
        [("get_time", {}), LIST],
    ),
    "name and arguments apart": (
        [
            piece("read_file", index=0),
            piece(None, A, index=0),
            piece("list_dir", index=0),
            piece(None, DOT, index=0),
        ],
        [READ_A, LIST],
    ),
    "interleaved": (
        [
            piece("read_file", '{"path"', index=0, id="c"),
            piece("list_dir", "{", index=1, id="d"),
            piece(None, '"path":"."}', index=1),
            piece(None, ':"a"}', index=0),
        ],
        [READ_A, LIST],
    ),
}


@pytest.mark.parametrize("entries", ONE.values(), ids=ONE)
def test_the_pieces_of_one_call_come_together(entries: list[Any]) -> None:
    reply = read_calls(*entries)
    assert told(reply) == [READ_A]
    assert reply.calls[0].id == "c"


@pytest.mark.parametrize(("entries", "expected"), TWO.values(), ids=TWO)
def test_two_calls_are_kept_apart(entries: list[Any], expected: list[Any]) -> None:
    reply = read_calls(*entries)
    assert told(reply) == expected
    assert len({call.id for call in reply.calls}) == len(expected)


def test_the_old_function_call_field_is_one_call() -> None:
    reading = Reading()
    reading.delta(function_call={"name": "read_file", "arguments": '{"path":'})
    reading.delta(function_call={"name": None, "arguments": '"a"}'})
    assert told(reading.end("function_call")) == [READ_A]


def test_ids_are_used_once_in_a_session() -> None:
    ids = CallIds()
    ids.reserve(["old"])
    first = read_calls(piece("read_file", A, index=0, id="call_0"), ids=ids)
    second = read_calls(piece("read_file", A, index=0, id="call_0"), ids=ids)
    third = read_calls(piece("read_file", A, index=0, id="old"), ids=ids)
    fourth = read_calls(piece("read_file", A, index=0), ids=ids)
    found = [reply.calls[0].id for reply in (first, second, third, fourth)]
    assert found[0] == "call_0"
    assert len({*found, "old"}) == 5
    assert all(found)


def test_what_the_server_adds_to_a_call_is_kept() -> None:
    extra = {"google": {"thought_signature": "c2ln"}}
    reply = read_calls(piece("read_file", A, index=0, id="c", extra_content=extra))
    assert reply.calls[0].extra == {"extra_content": extra}


@pytest.mark.parametrize("place", [[0], {"a": 1}, True, -1, 1.5, float("nan"), "x"])
def test_an_odd_place_is_no_reason_to_lose_a_call(place: Any) -> None:
    assert told(read_calls(piece("read_file", A, index=place, id="c"))) == [READ_A]


def test_a_call_in_very_many_named_pieces_is_read_in_time_that_grows_with_its_length() -> None:
    started_s = time.process_time()
    words = [piece("write_file", "x" * 40, index=0, id="c") for _ in range(10_000)]
    start, end = '{"path":"a","content":"', '"}'
    reply = read_calls(
        piece("write_file", start, index=0, id="c"), *words, piece(None, end, index=0)
    )
    assert told(reply) == [("write_file", {"path": "a", "content": "x" * 400_000})]
    assert time.process_time() - started_s < 1.5

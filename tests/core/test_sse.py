import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.chat.sse import EventTooLongError, ServerEvent, SseDecoder


def decoded(*pieces: bytes) -> list[ServerEvent]:
    decoder = SseDecoder()
    events = [event for piece in pieces for event in decoder.feed(piece)]
    return [*events, *decoder.flush()]


def data_of(*pieces: bytes) -> list[str]:
    return [event.data for event in decoded(*pieces)]


@pytest.mark.parametrize(
    ("stream", "expected"),
    [
        pytest.param(b"data: a\n\ndata: b\n\n", ["a", "b"], id="two events"),
        pytest.param(
            b"data:a\r\n\r\ndata:b\r\n\r\n", ["a", "b"], id="CR LF and no blank after the colon"
        ),
        pytest.param(b"data: a\r\rdata: b\r\r", ["a", "b"], id="CR alone"),
        pytest.param(b"data: a\ndata: b\n\n", ["a\nb"], id="two lines of one event"),
        pytest.param(b": ping\n\ndata: a\n\n: ping\n\n", ["a"], id="comments are no events"),
        pytest.param(
            b"id: 7\ndata: a\n\n: ping\n\n", ["a"], id="a comment after an id is no event"
        ),
        pytest.param(
            b"retry: 5\n\nevent: x\n\ndata: a\n\n", ["a"], id="fields without data are no events"
        ),
        pytest.param(b"data:\n\ndata: a\n\n", ["", "a"], id="an empty field is an empty event"),
        pytest.param(b"\xef\xbb\xbfdata: a\n\n", ["a"], id="a byte order mark is dropped"),
        pytest.param(
            b'data: {"a": 1}\ndata: {"b": 2}\n', ['{"a": 1}', '{"b": 2}'], id="no blank line"
        ),
        pytest.param(b'data: {\ndata: "a": 1}\n\n', ['{\n"a": 1}'], id="one object over two lines"),
        pytest.param(b"data: a", ["a"], id="the last event counts without its end"),
        pytest.param(b"data:  a \n\n", [" a "], id="one blank is taken off, no more"),
    ],
)
def test_a_stream_is_decoded(stream: bytes, expected: list[str]) -> None:
    assert data_of(stream) == expected


def test_the_name_of_an_event_belongs_to_it_alone() -> None:
    events = decoded(b"event: error\ndata: a\n\ndata: b\n\n")
    assert [(event.name, event.data) for event in events] == [("error", "a"), ("", "b")]


@given(
    lines=st.lists(
        st.text(st.characters(blacklist_characters="\r\n\ufeff", blacklist_categories=["Cs"])),
        min_size=1,
    ),
    cuts=st.lists(st.integers(min_value=1, max_value=9), min_size=1),
)
def test_where_the_bytes_are_cut_changes_nothing(lines: list[str], cuts: list[int]) -> None:
    stream = b"".join(f"data: {line}\r\n\r\n".encode() for line in lines)
    pieces, at, turn = [], 0, 0
    while at < len(stream):
        size = cuts[turn % len(cuts)]
        pieces.append(stream[at : at + size])
        at, turn = at + size, turn + 1
    assert data_of(*pieces) == lines


def test_each_byte_that_is_no_utf8_becomes_one_mark_and_is_noticed() -> None:
    decoder = SseDecoder()
    events = decoder.feed(b"data: caf\xe9 \xe2\x82!\n\n")
    assert events[0].data == "caf\ufffd \ufffd\ufffd!"
    assert decoder.invalid_utf8


def test_correct_text_is_not_called_invalid() -> None:
    decoder = SseDecoder()
    decoder.feed("data: 北京🙂\n\n".encode())
    assert not decoder.invalid_utf8


def test_an_event_without_end_is_given_up() -> None:
    decoder = SseDecoder(max_event_bytes=100)
    decoder.feed(b"data: " + b"x" * 80)
    with pytest.raises(EventTooLongError):
        decoder.feed(b"y" * 80)


def test_many_short_events_are_not_taken_for_a_long_one() -> None:
    decoder = SseDecoder(max_event_bytes=100)
    assert sum(len(decoder.feed(b"data: xxxxxxxxxx\n\n")) for _ in range(100)) == 100


def test_plain_text_shows_that_it_is_no_event_stream() -> None:
    decoder = SseDecoder()
    decoder.feed(b"It works!\n\n")
    assert decoder.flush() == []
    assert not decoder.saw_field

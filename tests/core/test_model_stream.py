import math
from typing import Any

import pytest

from core.chat.connection import TimeOuts
from core.errors import (
    ContextTooLongError,
    ModelStreamError,
)
from tests.support.asked_model import made, reply_of, shown_and_raised
from tests.support.model_server import ModelServer, hang, raw
from tests.support.model_turns import DONE, Abort, Pause, Piece, chunk, event, usage

KEEPALIVES: list[Piece] = [b": ping\n\n", Pause(0.1)] * 40


@pytest.mark.parametrize(
    ("turn", "code"),
    [
        (raw(chunk({"content": "Hel"}), Abort()), "disconnect"),
        (raw(chunk({"content": "Hel"})), "incomplete_stream"),
        (
            raw(
                chunk({"content": "Hel"}), b'data: {"choices": [{"del\n\n', chunk({}, "stop"), DONE
            ),
            "corrupt_stream",
        ),
        (
            raw(chunk({"content": "Hel"}), event({"error": {"message": "provider died"}})),
            "upstream_mid_stream",
        ),
        (raw(chunk({"content": "Hel"}), b"event: error\ndata: it died\n\n"), "upstream_mid_stream"),
        (raw(chunk({"content": "Hel"}), Pause(math.inf)), "idle_timeout"),
        (raw(chunk({"content": "Hel"}), *KEEPALIVES), "idle_timeout"),
        (raw(chunk({"content": "Hel"}), b'data: {"choi'), "incomplete_stream"),
    ],
)
async def test_an_answer_that_breaks_off_runs_nothing_and_is_not_asked_for_again_here(
    turn: Any, code: str
) -> None:
    async with ModelServer([turn], repeat_last=True) as server:
        model = made(server.base_url, time_outs=TimeOuts(first_token_s=5, idle_s=0.5))
        pieces, error = await shown_and_raised(model, ModelStreamError)
        await model.close()
    assert error.code == code
    assert "".join(piece.text for piece in pieces) == "Hel"
    assert len(server.requests) == 1


@pytest.mark.parametrize("turn", [hang(), raw(Pause(math.inf))])
async def test_a_server_that_says_nothing_is_not_asked_twice(turn: Any) -> None:
    async with ModelServer([turn], repeat_last=True) as server:
        model = made(server.base_url, time_outs=TimeOuts(first_token_s=0.3))
        with pytest.raises(ModelStreamError) as caught:
            await reply_of(model)
        await model.close()
    assert caught.value.code == "idle_timeout"
    assert len(server.requests) == 1


async def test_a_slow_first_token_has_its_own_limit() -> None:
    turn = raw(Pause(0.3), b": ping\n\n", Pause(0.3), chunk({"content": "Hi"}, "stop"), DONE)
    async with ModelServer([turn]) as server:
        model = made(server.base_url, time_outs=TimeOuts(first_token_s=10, idle_s=0.2))
        assert (await reply_of(model)).text == "Hi"
        await model.close()


@pytest.mark.parametrize("ending", [Abort(), Pause(math.inf)])
async def test_a_complete_answer_counts_even_when_the_stream_ends_badly(ending: Any) -> None:
    turn = raw(chunk({"content": "Hi"}), chunk({}, "stop"), usage(9, 1), ending)
    async with ModelServer([turn]) as server:
        model = made(
            server.base_url, time_outs=TimeOuts(first_token_s=5, idle_s=5, after_finish_s=0.2)
        )
        reply = await reply_of(model)
        await model.close()
    assert (reply.text, reply.usage.input_tokens) == ("Hi", 9)


async def test_an_overflow_told_inside_the_stream_is_an_overflow() -> None:
    turn = raw(
        chunk({"role": "assistant", "content": ""}),
        b'event: error\ndata: {"error": {"message": "the request exceeds the available context size"}}\n\n',
    )
    async with ModelServer([turn]) as server:
        model = made(server.base_url)
        with pytest.raises(ContextTooLongError):
            await reply_of(model)
        await model.close()


async def test_a_stream_without_blank_lines_is_read_as_it_comes() -> None:
    lines = [
        chunk({"content": "Hi"}).strip() + b"\n",
        chunk({}, "stop").strip() + b"\n",
        b"data: [DONE]",
    ]
    async with ModelServer([raw(*lines)]) as server:
        model = made(server.base_url)
        assert (await reply_of(model)).text == "Hi"
        await model.close()

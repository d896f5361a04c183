"""A model server that fails: what is tried again, how often, and what the person can do meanwhile."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path

from core.chat.connection import HttpAnswer, TimeOuts
from core.chat.model import ChatModel
from core.chat.options import model_options
from core.events import ModelRetried, RunEnded
from core.session import Session
from tests.support.fake_clock import FakeClock, InstantClock
from tests.support.fake_tools import EchoTool
from tests.support.model_turns import DONE, chunk
from tests.support.opened import Opening, events_of
from tests.support.waiting import until

SLOW_DOWN = '{"error": {"message": "Rate limit reached"}}'
HALF_A_CALL = chunk(
    {
        "tool_calls": [
            {
                "index": 0,
                "id": "c1",
                "type": "function",
                "function": {"name": "echo", "arguments": '{"text": "never"}'},
            }
        ]
    }
)
Turn = Callable[[], HttpAnswer]


class OneRequestAtATime:
    """Serves answers in order, and fails a request that comes while the one before is still open."""

    def __init__(self, *turns: Turn) -> None:
        self._turns = list(turns)
        self._is_open = False
        self.posts = 0

    async def warm(self) -> None:
        pass

    @asynccontextmanager
    async def post(self, body: bytes, connect_s: float) -> AsyncIterator[HttpAnswer]:
        assert not self._is_open, "a second request while the first is alive"
        self._is_open = True
        self.posts += 1
        try:
            yield self._turns.pop(0)()
        finally:
            self._is_open = False

    async def get(self, path: str, connect_s: float = 5.0) -> HttpAnswer:
        return HttpAnswer(status=404)

    async def close(self) -> None:
        pass


def refused(status: int, text: str = SLOW_DOWN, **headers: str) -> Turn:
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return lambda: HttpAnswer(status=status, headers=named, text=text)


def streamed(*pieces: bytes, then_silent: bool = False) -> Turn:
    async def chunks() -> AsyncIterator[bytes]:
        for piece in pieces:
            yield piece
        if then_silent:
            await asyncio.Event().wait()

    return lambda: HttpAnswer(
        status=200, headers={"content-type": "text/event-stream"}, chunks=chunks()
    )


def said(words: str) -> Turn:
    return streamed(chunk({"content": words}), chunk({}, "stop"), DONE)


def session_on(
    tmp_path: Path, server: OneRequestAtATime, clock: FakeClock, tools: tuple[EchoTool, ...] = ()
) -> Session:
    options = replace(
        model_options("m", "http://127.0.0.1:1/v1", api_key="k", provider="generic"),
        time_outs=TimeOuts(first_token_s=5, idle_s=0.05),
    )
    opening = Opening(tmp_path, ChatModel(options, server, clock=clock), tools)
    opening.clock = clock
    return opening.session()


def retries(session: Session) -> list[ModelRetried]:
    return [event for event in events_of(session) if isinstance(event, ModelRetried)]


async def test_a_run_that_waits_for_a_retry_is_stopped_at_once(tmp_path: Path) -> None:
    server = OneRequestAtATime(refused(429, retry_after="30"))
    session = session_on(tmp_path, server, FakeClock())
    running = asyncio.create_task(session.run("Go"))
    await until(session.log, lambda: retries(session))
    assert [(one.wait_s, one.attempt, one.limit) for one in retries(session)] == [(30.0, 1, 4)]
    session.interrupt()
    async with asyncio.timeout(2):
        ended = await running
    assert (ended.reason, ended.exit_code, server.posts) == ("stopped", 130, 1)
    await session.close()


async def test_a_server_that_wants_more_than_a_minute_is_not_waited_for(tmp_path: Path) -> None:
    server = OneRequestAtATime(refused(429, retry_after="61"))
    session = session_on(tmp_path, server, FakeClock())
    ended = await session.run("Go")
    assert (ended.reason, ended.exit_code, server.posts) == ("failed", 4, 1)
    assert ended.error is not None
    assert "wait 61 s before the next request" in ended.error.message
    assert "choose another model" in ended.error.hint
    assert retries(session) == []
    await session.close()


async def test_waits_of_a_minute_again_and_again_are_given_up(tmp_path: Path) -> None:
    clock = InstantClock()
    server = OneRequestAtATime(*[refused(429, retry_after="59")] * 4)
    session = session_on(tmp_path, server, clock)
    ended = await session.run("Go")
    assert (ended.reason, server.posts) == ("failed", 3)
    assert sum(clock.slept_s) <= 120
    assert ended.error is not None
    assert "given up after 3 requests" in ended.error.message
    await session.close()


async def test_a_refused_key_is_tried_once(tmp_path: Path) -> None:
    server = OneRequestAtATime(refused(401, '{"error": {"message": "Invalid key"}}'))
    session = session_on(tmp_path, server, FakeClock())
    ended = await session.run("Go")
    assert (ended.reason, ended.exit_code, server.posts) == ("failed", 4, 1)
    await session.close()


async def test_no_request_goes_out_while_another_is_alive_and_no_half_call_runs(
    tmp_path: Path,
) -> None:
    echo = EchoTool()
    server = OneRequestAtATime(
        refused(429, retry_after="7"),
        streamed(HALF_A_CALL, then_silent=True),
        streamed(HALF_A_CALL),
        said("done"),
    )
    session = session_on(tmp_path, server, InstantClock(), (echo,))
    ended = await session.run("Go")
    assert (ended.answer, server.posts, echo.ran) == ("done", 4, [])
    assert [one.limit for one in retries(session)] == [4, 3, 3]
    assert isinstance(events_of(session)[-1], RunEnded)
    await session.close()

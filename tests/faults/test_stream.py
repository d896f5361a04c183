"""Answers that break, lie, or never come: tried again within limits or told, and never half a call is run."""

import json
import math
import random
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from core.chat.connection import TimeOuts
from core.events import ModelReplied, RunEnded, ToolEnded
from core.session import Session
from tests.faults.invariants import broken_invariants
from tests.faults.strict_request import request_problems
from tests.support.asked_model import made
from tests.support.exhaustive import count
from tests.support.fake_clock import InstantClock
from tests.support.fake_tools import EchoTool
from tests.support.model_server import ModelServer, calls, http_error, raw, text
from tests.support.model_turns import DONE, Abort, Pause, Piece, Received, Script, Turn, chunk
from tests.support.opened import Opening, events_of

OFFSETS = 40
MAX_REQUESTS = 13
"""Three answers may break off, each of four requests at most; one more gets through."""
PATIENT = TimeOuts(connect_s=10, first_token_s=20, idle_s=20, after_finish_s=1)
SHORT = TimeOuts(connect_s=10, first_token_s=0.4, idle_s=0.3, after_finish_s=0.2)
"""For servers that say nothing."""


class Bench:
    """A run against a server that fails at first and then does its work."""

    def __init__(
        self,
        folder: Path,
        faults: Sequence[Script],
        *,
        repeat_last: bool = False,
        time_outs: TimeOuts = PATIENT,
    ) -> None:
        self._folder = folder
        self._time_outs = time_outs
        self._faults = list(faults)
        self._repeat_last = repeat_last
        self.echo = EchoTool()
        self.server = ModelServer([self._answer], repeat_last=True)
        self.session: Session

    def _answer(self, request: Received) -> Turn:
        script: Script = text("done")
        if self._faults:
            script = self._faults[0] if self._repeat_last else self._faults.pop(0)
        elif request.messages[-1]["role"] != "tool":
            script = calls(("echo", {"text": "hi"}))
        return script if isinstance(script, Turn) else script(request)

    async def run(self) -> RunEnded:
        """Run, close, and check all that must hold whatever came of it."""
        async with self.server:
            clock = InstantClock()
            model = made(self.server.base_url, clock, time_outs=self._time_outs)
            opening = Opening(self._folder, model, [self.echo])
            opening.clock = clock
            self.session = opening.session()
            ended = await self.session.run("Say hi")
            await self.session.close()
            await model.close()
        assert ended.error is None or ended.error.code != "internal", ended
        assert 1 <= len(self.server.requests) <= MAX_REQUESTS, ended
        for request in self.server.requests:
            assert not request_problems(request.body), request.json
        wrong = broken_invariants(self._folder / "session", live=self.session.memory)
        assert not wrong
        self._check_no_message_twice()
        return ended

    def _check_no_message_twice(self) -> None:
        """Each reply in the log is one message of the last request, no more and no less."""
        replies = [event for event in self.events(ModelReplied) if event.text or event.calls]
        last = [one for one in self.server.requests[-1].messages if one["role"] == "assistant"]
        assert len(last) in (len(replies), len(replies) - 1)

    def events(self, kind: type) -> list[Any]:
        return [event for event in events_of(self.session) if isinstance(event, kind)]


def call_stream(*, reasoning: bool = False) -> bytes:
    """A whole answer: text, then one call in pieces."""
    head = {"index": 0, "id": "call_x", "type": "function", "function": {"name": "echo"}}
    pieces = [
        chunk({"role": "assistant", "content": ""}),
        *([chunk({"reasoning_content": "Hm. 日本語"})] if reasoning else []),
        chunk({"content": "I say "}),
        chunk({"content": "hi. 漢字"}),
        chunk({"tool_calls": [{**head, "function": {"name": "echo", "arguments": ""}}]}),
        *(
            chunk({"tool_calls": [{"index": 0, "function": {"arguments": part}}]})
            for part in ('{"te', 'xt": ', '"first"', "}")
        ),
        chunk({}, "tool_calls"),
        DONE,
    ]
    return b"".join(pieces)


@pytest.mark.parametrize("ending", ["closed", "reset"])
async def test_an_answer_cut_at_any_byte_is_asked_for_again_and_runs_once_or_never(
    tmp_path: Path, ending: str
) -> None:
    whole = call_stream(reasoning=True)
    finish = whole.index(b'"tool_calls"}') if b'"tool_calls"}' in whole else len(whole)
    offsets = sorted(random.Random(4).sample(range(len(whole)), count(20, OFFSETS)))
    for offset in offsets:
        folder = tmp_path / str(offset)
        folder.mkdir()
        pieces: list[Piece] = [whole[:offset]] if offset else []
        bench = Bench(folder, [raw(*pieces, *([Abort()] if ending == "reset" else []))])
        ended = await bench.run()
        assert ended.reason == "answered", (offset, ended)
        if offset < finish:
            assert bench.echo.ran == ["hi"], offset
        assert bench.echo.ran in (["hi"], ["first"], ["first", "hi"]), offset
        assert len(bench.events(ToolEnded)) == len(bench.echo.ran)


GARBAGE: dict[str, Turn] = {
    "bytes": raw(bytes(range(256)) * 20),
    "page": raw(b"<!doctype html><html><body>502</body></html>", content_type="text/html"),
    "empty": raw(),
    "only comments": raw(b": ping\n\n" * 50),
    "only done": raw(DONE),
    "half an object": raw(b"data: {"),
    "a list": raw(b"data: [1, 2]\n\n", DONE),
    "numbers": raw(b"data: 1\n\ndata: null\n\n", DONE),
    "wrong types": raw(b'data: {"choices": {"delta": 5}}\n\n', DONE),
    "null delta": raw(b'data: {"choices": [{"index": 0, "delta": null}]}\n\n', DONE),
    "deep": raw(b"data: " + b"[" * 5000 + b"\n\n", DONE),
    "one long line": raw(b"data: " + b"x" * 300_000 + b"\n\n"),
    "not UTF-8": raw(b'data: {"choices":[{"index":0,"delta":{"content":"\xff\xfe"}}]}\n\n'),
    "call without a name": raw(
        chunk({"tool_calls": [{"index": 0, "id": "c", "function": {"arguments": "{}"}}]}),
        chunk({}, "tool_calls"),
        DONE,
    ),
    "calls of wrong types": raw(
        chunk({"tool_calls": [None, 5, {"index": "a", "function": 7}]}),
        chunk({}, "tool_calls"),
        DONE,
    ),
    "negative index": raw(
        chunk({"tool_calls": [{"index": -1, "id": "c", "function": {"name": "nothing"}}]}),
        chunk({}, "stop"),
        DONE,
    ),
}


@pytest.mark.parametrize("name", GARBAGE)
async def test_garbage_is_never_run_and_never_ends_the_program(tmp_path: Path, name: str) -> None:
    bench = Bench(tmp_path, [GARBAGE[name]])
    ended = await bench.run()
    assert ended.reason in ("answered", "gave_up", "failed")
    assert bench.echo.ran in ([], ["hi"])
    if ended.reason != "answered":
        assert ended.error is not None
        assert ended.error.message


async def test_garbage_for_ever_ends_with_what_is_wrong(tmp_path: Path) -> None:
    bench = Bench(tmp_path, [GARBAGE["bytes"]], repeat_last=True)
    ended = await bench.run()
    assert ended.reason in ("gave_up", "failed")
    assert ended.error is not None
    assert bench.echo.ran == []


@pytest.mark.parametrize("finish", ["tool_calls", "length", "stop", None])
@pytest.mark.parametrize("written", ["{", '{"text": "fir', '{"text": "first", "times": '])
async def test_half_the_arguments_of_a_call_are_never_run_as_they_are(
    tmp_path: Path, written: str, finish: str | None
) -> None:
    function = {"name": "echo", "arguments": written}
    head = {"index": 0, "id": "c1", "type": "function", "function": function}
    turn = raw(chunk({"tool_calls": [head]}), chunk({}, finish), DONE)
    bench = Bench(tmp_path, [turn])
    await bench.run()
    assert not any("fir" in words and words != "first" for words in bench.echo.ran)
    if finish in ("length", None):
        assert bench.echo.ran in ([], ["hi"])


async def test_calls_with_the_same_id_have_each_their_own_result(tmp_path: Path) -> None:
    same = calls(("echo", {"text": "a"}), ("echo", {"text": "b"}), ids=("call_1", "call_1"))
    again = calls(("echo", {"text": "c"}), ids=("call_1",))
    bench = Bench(tmp_path, [same, again, text("done")])
    ended = await bench.run()
    assert ended.reason == "answered"
    assert bench.echo.ran == ["a", "b", "c"]
    results = bench.events(ToolEnded)
    assert len({result.call_id for result in results}) == 3
    tools = [one for one in bench.server.requests[-1].messages if one["role"] == "tool"]
    assert [one["content"] for one in tools] == ["a", "b", "c"]


@pytest.mark.parametrize("status", [429, 500, 502, 503, 529])
@pytest.mark.parametrize("times", [1, 3, math.inf])
async def test_a_busy_server_is_asked_again_within_limits(
    tmp_path: Path, status: int, times: float
) -> None:
    fault = http_error(status, "busy", headers={"retry-after": "0.01"})
    faults = [fault] * (1 if times == math.inf else int(times))
    bench = Bench(tmp_path, faults, repeat_last=times == math.inf)
    ended = await bench.run()
    if times == math.inf:
        assert (ended.reason, ended.exit_code) == ("failed", 4)
        assert len(bench.server.requests) == 4
    else:
        assert ended.reason == "answered"
        assert bench.echo.ran == ["hi"]


@pytest.mark.parametrize("said", ["", "I say"])
async def test_silence_is_waited_for_only_so_long_and_told(tmp_path: Path, said: str) -> None:
    start: list[Piece] = [chunk({"content": said})] if said else []
    bench = Bench(tmp_path, [raw(*start, Pause(math.inf))], repeat_last=True, time_outs=SHORT)
    ended = await bench.run()
    assert (ended.reason, ended.exit_code) == ("failed", 4)
    assert ended.error is not None
    assert ended.error.code == "idle_timeout"
    assert bench.echo.ran == []


async def test_silence_once_costs_only_a_retry(tmp_path: Path) -> None:
    bench = Bench(tmp_path, [raw(chunk({"content": "I say"}), Pause(math.inf))], time_outs=SHORT)
    assert (await bench.run()).reason == "answered"
    assert bench.echo.ran == ["hi"]
    last = json.dumps(bench.server.requests[-1].json)
    assert "I say" not in last

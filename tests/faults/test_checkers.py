"""The judges of the fault tests can say no."""

import copy
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from core.event_log import EventLog, SystemClock
from core.events import (
    CallIntended,
    Event,
    ModelReplied,
    RunEnded,
    RunStarted,
    ToolEnded,
    ToolProposed,
)
from core.journal import Journal
from core.messages import ToolCall
from tests.faults.checking_proxy import CheckingProxy
from tests.faults.invariants import broken_invariants
from tests.faults.strict_request import request_problems
from tests.support.asked_model import made, reply_of
from tests.support.model_server import ModelServer, text

CALL = {"id": "c1", "type": "function", "function": {"name": "echo", "arguments": "{}"}}
SOUND: dict[str, Any] = {
    "model": "m",
    "messages": [
        {"role": "system", "content": "Be good."},
        {"role": "user", "content": "Go"},
        {"role": "assistant", "content": None, "tool_calls": [CALL]},
        {"role": "tool", "tool_call_id": "c1", "content": "done"},
    ],
}


def test_a_sound_request_has_no_problems() -> None:
    assert request_problems(json.dumps(SOUND).encode()) == []


@pytest.mark.parametrize(
    "spoil",
    [
        lambda body: body["messages"].pop(),
        lambda body: body["messages"].insert(2, body["messages"].pop()),
        lambda body: body["messages"].append(dict(body["messages"][-1])),
        lambda body: body["messages"][2]["tool_calls"].append(CALL),
        lambda body: body["messages"][2]["tool_calls"][0]["function"].update(arguments='{"a"'),
        lambda body: body["messages"][2]["tool_calls"][0]["function"].update(name=""),
        lambda body: body["messages"][3].update(content=" "),
        lambda body: body["messages"][1].update(content="a\0b"),
        lambda body: body["messages"][1].update(content="\ud83d"),
        lambda body: body["messages"][1].update(role="person"),
        lambda body: body["messages"].append({"role": "assistant", "content": "hm"}),
        lambda body: body.update(tools=[]),
        lambda body: body.pop("messages"),
    ],
)
def test_an_unsound_request_is_refused(spoil: Callable[[dict[str, Any]], object]) -> None:
    body = copy.deepcopy(SOUND)
    spoil(body)
    assert request_problems(json.dumps(body).encode())


def test_what_is_no_request_is_refused() -> None:
    assert request_problems(b"{")


START = RunStarted(task="t", max_steps=1, max_minutes=1, max_cost_usd=0)
ASKED = ModelReplied(calls=(ToolCall(id="c1", name="echo", arguments={}),))
INTENT = CallIntended(
    call_id="c1", name="echo", arguments={}, digest="d", risk="R2", decided_by="policy"
)
RESULT = ToolEnded(call_id="c1", name="echo", outcome="ok", output="x")
END = RunEnded(reason="answered", exit_code=0)


def proposed(verdict: str) -> ToolProposed:
    return ToolProposed(call_id="c1", name="echo", arguments={}, risk="R2", verdict=verdict)  # type: ignore[arg-type]


def wrong_with(folder: Path, *events: Event, effects: list[str] | None = None) -> str:
    journal = Journal(folder / "s")
    log = EventLog(SystemClock())
    log.follow(journal.write)
    for event in events:
        log.append(event)
    journal.close()
    return "\n".join(broken_invariants(folder / "s", effects or []))


def test_a_sound_journal_breaks_nothing(tmp_path: Path) -> None:
    events = (START, ASKED, proposed("allow"), INTENT, RESULT, END)
    assert wrong_with(tmp_path, *events, effects=["c1"]) == ""


@pytest.mark.parametrize(
    ("events", "effects", "says"),
    [
        ((START, ASKED, END), [], "I1: run_ended while"),
        ((START, ASKED, RESULT, RESULT, END), [], "I1: c1 has a second result"),
        ((START, ASKED, proposed("allow"), RESULT, INTENT, END), [], "I2: c1 was intended after"),
        (
            (START, ASKED, proposed("allow"), INTENT, INTENT, RESULT),
            [],
            "I2: c1 was intended twice",
        ),
        ((START, ASKED, RESULT, END), ["c1"], "I2: c1 had 1 effects"),
        ((START, ASKED, proposed("allow"), INTENT, RESULT), ["c1", "c1"], "I2: c1 had 2 effects"),
        ((START, ASKED, proposed("ask"), INTENT, RESULT, END), ["c1"], "I3: c1 ran"),
    ],
)
def test_a_journal_that_breaks_an_invariant_is_named(
    tmp_path: Path, events: tuple[Event, ...], effects: list[str], says: str
) -> None:
    assert says in wrong_with(tmp_path, *events, effects=effects)


def test_a_file_others_can_read_is_named(tmp_path: Path) -> None:
    wrong_with(tmp_path, START)
    (tmp_path / "s/journal.jsonl").chmod(0o644)
    assert "I6" in "\n".join(broken_invariants(tmp_path / "s"))


async def test_the_proxy_passes_requests_on_and_looks_at_each(tmp_path: Path) -> None:
    async with ModelServer([text("Hi there")]) as server, CheckingProxy(server.base_url) as proxy:
        model = made(proxy.base_url)
        assert (await reply_of(model)).text == "Hi there"
        await model.close()
    assert proxy.requests == len(server.requests) == 1
    assert proxy.problems == []
    assert server.requests[0].json["messages"][-1]["content"] == "go"

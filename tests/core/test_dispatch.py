import asyncio
from collections.abc import Sequence
from dataclasses import replace

import pytest

from core.decision import ApprovalPrompt, DecisionOpened
from core.dispatch import Dispatcher, DispatchParts
from core.errors import SandboxGoneError, StoreError, WorkspaceError
from core.event_log import EventLog
from core.events import CallIntended, ToolEnded, ToolOutputReceived, ToolProposed
from core.gate import Gate
from core.messages import ToolCall
from core.ports import Answer, Tool
from core.stored_results import KeptResult
from core.vocabulary import RiskLevel, Verdict
from tests.support.fake_clock import FakeClock
from tests.support.fake_tools import EchoTool, FailingTool, FakePolicy, HangingTool
from tests.support.waiting import until


class Bench:
    """A dispatcher with all its parts in reach."""

    def __init__(
        self,
        tools: Sequence[Tool],
        verdict: Verdict = "allow",
        risk: RiskLevel = "R2",
        *,
        attended: bool = True,
    ) -> None:
        self.clock = FakeClock()
        self.log = EventLog(self.clock)
        self.gate = Gate(self.log.append, attended=attended)
        self.policy = FakePolicy({tool.name: (verdict, risk) for tool in tools})
        self.paused = 0
        self.synced = 0
        self.syncs_owed = 0
        """Syncs until no decision, or the like, waits for one."""
        self.store_error: StoreError | None = None
        self.dispatcher = Dispatcher(
            DispatchParts(
                tools=lambda: tools,
                judge=lambda name, arguments, facts: self.policy.judge(
                    name, arguments, facts, "ask"
                ),
                gate=self.gate,
                record=self.log.append,
                clock=self.clock,
                pause=self.count_pause,
                ensure_stored=self.ensure_stored,
                make_durable=self.count_sync,
                waited=lambda seconds: None,
                keep=lambda result: KeptResult(text=result.output),
            )
        )

    def count_pause(self) -> None:
        self.paused += 1

    def count_sync(self) -> None:
        self.synced += 1
        self.syncs_owed = max(0, self.syncs_owed - 1)

    def ensure_stored(self) -> bool:
        if self.store_error is not None:
            raise self.store_error
        return self.syncs_owed > 0

    def kinds(self) -> list[str]:
        return [record.event.kind for record in self.log.records]

    def ended(self) -> list[ToolEnded]:
        return [record.event for record in self.log.records if isinstance(record.event, ToolEnded)]

    async def prompt(self, number: int = 1) -> tuple[str, ApprovalPrompt]:
        await until(self.log, lambda: len(self.opened()) >= number)
        opened = self.opened()[number - 1]
        assert isinstance(opened.prompt, ApprovalPrompt)
        return opened.decision_id, opened.prompt

    def opened(self) -> list[DecisionOpened]:
        return [r.event for r in self.log.records if isinstance(r.event, DecisionOpened)]


def call(text: str = "hi", name: str = "echo") -> ToolCall:
    return ToolCall(id="c1", name=name, arguments={"text": text})


async def test_an_allowed_call_runs_and_each_stage_is_recorded_in_order() -> None:
    bench = Bench([EchoTool()])
    result = await bench.dispatcher.dispatch(call())
    assert result.output == "hi"
    assert bench.kinds() == ["tool_proposed", "call_intended", "tool_output_received", "tool_ended"]
    assert bench.ended()[0].decided_by == "policy"


@pytest.mark.parametrize(("risk", "syncs"), [("R0", 0), ("R2", 0), ("R3", 1), ("R4", 1)])
async def test_the_intent_of_a_risky_call_is_on_disk_before_it_starts(
    risk: RiskLevel, syncs: int
) -> None:
    bench = Bench([EchoTool()], risk=risk)
    await bench.dispatcher.dispatch(call())
    assert bench.synced == syncs


@pytest.mark.parametrize(
    ("bad", "part"),
    [
        (ToolCall(id="c1", name="nosuch", arguments={}), "There is no tool 'nosuch'. Tools: echo."),
        (
            ToolCall(id="c1", name="echo", arguments=None, status="invalid", problem="Not JSON."),
            "Not JSON.",
        ),
        (
            ToolCall(id="c1", name="echo", arguments=None, status="truncated", problem="Cut off."),
            "Cut off.",
        ),
        (ToolCall(id="c1", name="echo", arguments={}), "text is required"),
        (
            ToolCall(id="c1", name="echo", arguments={"text": "x", "times": "no"}),
            "echo(text, times?)",
        ),
    ],
)
async def test_a_call_that_cannot_run_ends_as_invalid_and_says_what_is_allowed(
    bad: ToolCall, part: str
) -> None:
    tool = EchoTool()
    bench = Bench([tool])
    result = await bench.dispatcher.dispatch(bad)
    assert result.outcome == "invalid"
    assert part in result.output
    assert tool.ran == []
    assert bench.kinds() == ["tool_ended"]


@pytest.mark.parametrize("verdict", ["deny", "block"])
async def test_a_refused_call_does_not_run_and_the_model_is_told_why(verdict: Verdict) -> None:
    tool = EchoTool()
    bench = Bench([tool], verdict)
    result = await bench.dispatcher.dispatch(call())
    assert (result.outcome, tool.ran) == ("denied", [])
    assert f"echo is {verdict}" in result.output
    assert "call_intended" not in bench.kinds()


async def test_an_approved_call_runs_and_says_who_decided() -> None:
    tool = EchoTool()
    bench = Bench([tool], "ask")
    task = asyncio.create_task(bench.dispatcher.dispatch(call()))
    decision_id, prompt = await bench.prompt()
    assert tool.ran == []
    bench.gate.answer(
        decision_id, Answer(resolution="approved", decided_by="person", digest=prompt.digest)
    )
    assert (await task).outcome == "ok"
    assert tool.ran == ["hi"]
    assert bench.ended()[0].decided_by == "person"


async def test_what_changed_between_dialog_and_start_is_asked_again() -> None:
    tool = EchoTool()
    bench = Bench([tool], "ask")
    task = asyncio.create_task(bench.dispatcher.dispatch(call()))
    decision_id, prompt = await bench.prompt()
    tool.binding = "2"
    bench.gate.answer(
        decision_id, Answer(resolution="approved", decided_by="person", digest=prompt.digest)
    )
    decision_id, prompt = await bench.prompt(2)
    assert tool.ran == []
    bench.gate.answer(
        decision_id, Answer(resolution="approved", decided_by="person", digest=prompt.digest)
    )
    await task
    assert tool.ran == ["hi"]


@pytest.mark.parametrize(("resolution", "pauses"), [("denied", 0), ("denied_pause", 1)])
async def test_a_denied_call_tells_the_model_the_reason(resolution, pauses: int) -> None:
    tool = EchoTool()
    bench = Bench([tool], "ask")
    task = asyncio.create_task(bench.dispatcher.dispatch(call()))
    decision_id, _ = await bench.prompt()
    bench.gate.answer(
        decision_id, Answer(resolution=resolution, decided_by="person", text="use tmp")
    )
    result = await task
    assert (result.outcome, tool.ran, bench.paused) == ("denied", [], pauses)
    assert "use tmp" in result.output


async def test_edited_arguments_are_judged_again_and_run_as_edited() -> None:
    tool = EchoTool()
    bench = Bench([tool], "ask")
    task = asyncio.create_task(bench.dispatcher.dispatch(call("old")))
    decision_id, _ = await bench.prompt()
    bench.gate.answer(
        decision_id, Answer(resolution="edited", decided_by="person", arguments={"text": "new"})
    )
    await task
    assert tool.ran == ["new"]
    assert [arguments["text"] for _, arguments, _ in bench.policy.judged] == ["old", "new"]
    intended = next(r.event for r in bench.log.records if isinstance(r.event, CallIntended))
    assert intended.arguments["text"] == "new"


async def test_an_edit_to_something_forbidden_is_refused() -> None:
    tool = EchoTool()
    bench = Bench([tool], "ask")
    task = asyncio.create_task(bench.dispatcher.dispatch(call("old")))
    decision_id, _ = await bench.prompt()
    bench.policy.verdicts["echo"] = ("block", "R4")
    bench.gate.answer(
        decision_id, Answer(resolution="edited", decided_by="person", arguments={"text": "new"})
    )
    assert (await task).outcome == "denied"
    assert tool.ran == []


async def test_an_edit_of_a_dangerous_call_is_shown_before_it_runs() -> None:
    tool = EchoTool()
    bench = Bench([tool], "ask_strong", "R3")
    task = asyncio.create_task(bench.dispatcher.dispatch(call("old")))
    decision_id, _ = await bench.prompt()
    bench.gate.answer(
        decision_id, Answer(resolution="edited", decided_by="person", arguments={"text": "new"})
    )
    decision_id, prompt = await bench.prompt(2)
    assert (prompt.arguments["text"], tool.ran) == ("new", [])
    bench.gate.answer(
        decision_id, Answer(resolution="approved", decided_by="person", digest=prompt.digest)
    )
    await task
    assert tool.ran == ["new"]


async def test_repaired_arguments_are_pointed_out_in_the_dialog() -> None:
    bench = Bench([EchoTool()], "ask")
    task = asyncio.create_task(bench.dispatcher.dispatch(replace(call(), repaired=True)))
    _, prompt = await bench.prompt()
    assert any("repaired" in reason for reason in prompt.reasons)
    task.cancel()


async def test_with_nobody_there_the_call_is_denied() -> None:
    bench = Bench([EchoTool()], "ask", attended=False)
    result = await bench.dispatcher.dispatch(call())
    assert result.outcome == "denied"
    assert bench.ended()[0].decided_by == "nobody"


@pytest.mark.parametrize(
    ("error", "outcome", "part"),
    [
        (None, "failed", "It broke. Mend it."),
        (SandboxGoneError("The sandbox ended."), "lost", "The sandbox ended."),
        (WorkspaceError("Outside the workspace."), "failed", "Outside the workspace."),
        (
            ZeroDivisionError("secret 123"),
            "failed",
            "Internal error in the tool fail: ZeroDivisionError.",
        ),
    ],
)
async def test_an_error_of_a_tool_becomes_its_result(
    error: Exception | None, outcome: str, part: str
) -> None:
    bench = Bench([FailingTool(error)])
    result = await bench.dispatcher.dispatch(call(name="fail"))
    assert (result.outcome, result.output) == (outcome, part)
    assert len(bench.ended()) == 1


async def test_a_cancelled_call_has_its_result_and_its_tool_is_ended() -> None:
    tool = HangingTool()
    bench = Bench([tool])
    task = asyncio.create_task(bench.dispatcher.dispatch(call(name="hang")))
    await tool.started.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert tool.cancelled == 1
    assert [ended.outcome for ended in bench.ended()] == ["cancelled"]


async def test_no_effect_starts_while_the_journal_cannot_be_written() -> None:
    tool = EchoTool()
    bench = Bench([tool])
    bench.store_error = StoreError("The disk is full.", hint="Free some space.")
    result = await bench.dispatcher.dispatch(call())
    assert (result.outcome, tool.ran) == ("failed", [])
    assert "disk is full" in result.output


async def test_live_output_carries_the_id_of_its_call() -> None:
    bench = Bench([EchoTool()])
    await bench.dispatcher.dispatch(call())
    output = next(r.event for r in bench.log.records if isinstance(r.event, ToolOutputReceived))
    assert (output.call_id, output.stream, output.text) == ("c1", "stdout", "hi")


async def test_the_proposal_says_risk_verdict_and_reasons() -> None:
    bench = Bench([EchoTool()], "deny", "R3")
    await bench.dispatcher.dispatch(call())
    proposed = next(r.event for r in bench.log.records if isinstance(r.event, ToolProposed))
    assert (proposed.risk, proposed.verdict, proposed.reasons) == ("R3", "deny", ("echo is deny",))


async def test_a_skipped_call_has_a_result_too() -> None:
    bench = Bench([EchoTool()])
    bench.dispatcher.skip(call(), "Not run.")
    assert bench.ended()[0].output == "Not run."


async def test_the_time_of_a_call_is_that_of_running_not_of_waiting_for_the_person() -> None:
    bench = Bench([EchoTool()], "ask")
    task = asyncio.create_task(bench.dispatcher.dispatch(call()))
    decision_id, prompt = await bench.prompt()
    bench.clock.advance(100)
    approved = Answer(resolution="approved", decided_by="person", digest=prompt.digest)
    bench.gate.answer(decision_id, approved)
    await task
    assert bench.ended()[0].duration_s == 0


@pytest.mark.parametrize(("risk", "syncs"), [("R0", 0), ("R1", 1), ("R2", 1)])
async def test_a_decision_is_on_disk_before_what_it_allows_has_an_effect(
    risk: RiskLevel, syncs: int
) -> None:
    bench = Bench([EchoTool()], risk=risk)
    bench.syncs_owed = 1
    await bench.dispatcher.dispatch(call())
    assert bench.synced == syncs


@pytest.mark.parametrize("risk", ["R1", "R2", "R3", "R4"])
async def test_a_decision_that_comes_while_another_is_synced_is_on_disk_first_too(
    risk: RiskLevel,
) -> None:
    bench = Bench([EchoTool()], risk=risk)
    bench.syncs_owed = 2
    await bench.dispatcher.dispatch(call())
    assert (bench.synced, bench.syncs_owed) == (2, 0)
    assert bench.ended()[-1].outcome == "ok"


async def test_an_intent_holds_what_the_call_was_bound_to() -> None:
    bench = Bench([EchoTool(reads_only=True)])
    await bench.dispatcher.dispatch(call())
    intent = next(
        record.event for record in bench.log.records if isinstance(record.event, CallIntended)
    )
    assert intent.bindings == {"seen": "1"}
    assert intent.reads_only

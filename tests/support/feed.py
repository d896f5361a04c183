"""A run told to a log fact by fact, as core would."""

from collections.abc import Mapping
from typing import Any

from core.decision import ApprovalPrompt, DecisionClosed, DecisionOpened, QuestionPrompt
from core.event_log import EventLog
from core.events import (
    CallIntended,
    ContextBuilt,
    ErrorInfo,
    Event,
    ModelReplied,
    ModelRequested,
    NoticeRaised,
    ReasoningStreamed,
    RunEnded,
    RunStarted,
    SessionOpened,
    StepEnded,
    StepStarted,
    TextStreamed,
    ToolEnded,
    ToolOutputReceived,
    ToolProposed,
)
from core.messages import Outcome, ToolCall, Usage
from core.surroundings import SandboxChanged
from core.vocabulary import DecidedBy, EndReason, QuestionKind, Resolution, RiskLevel
from tests.support.fake_clock import FakeClock

Arguments = Mapping[str, Any]


class Feed:
    """Appends facts; every fact takes `pace_s` on the clock of the log."""

    def __init__(self, log: EventLog, clock: FakeClock, *, pace_s: float = 0.1) -> None:
        self.log = log
        self.clock = clock
        self.pace_s = pace_s
        self.calls = 0

    def say(self, *events: Event) -> None:
        for event in events:
            self.clock.advance(self.pace_s)
            self.log.append(event)

    def open(self, *, model: str = "gpt-x", scripted: bool = False) -> None:
        self.say(
            SessionOpened(
                session_id="s1", workspace="/ws", model=model, version="0.1.0", scripted=scripted
            ),
            SandboxChanged(
                state="ready", label="Docker 26.1 (handrail-sandbox:base)", tier="docker"
            ),
        )

    def start(self, task: str, *, max_steps: int = 30, max_cost_usd: float = 1.0) -> None:
        self.say(
            RunStarted(task=task, max_steps=max_steps, max_minutes=30, max_cost_usd=max_cost_usd)
        )

    def step(
        self, text: str = "", *calls: ToolCall, reasoning: str = "", cost_usd: float | None = 0.01
    ) -> None:
        """Begin a step and let the model reply."""
        self.say(
            StepStarted(),
            ContextBuilt(units=3, left_out=0, tokens=4100, window=10_000),
            ModelRequested(model="gpt-x", size_bytes=9000, digest="d"),
        )
        if reasoning:
            self.say(ReasoningStreamed(text=reasoning))
        for start in range(0, len(text), 20):
            self.say(TextStreamed(text=text[start : start + 20]))
        self.reply(text, *calls, reasoning=reasoning, cost_usd=cost_usd)

    def reply(
        self, text: str, *calls: ToolCall, reasoning: str = "", cost_usd: float | None = 0.01
    ) -> None:
        usage = Usage(input_tokens=4100, output_tokens=120)
        self.say(
            ModelReplied(
                text=text, reasoning=reasoning, calls=calls, usage=usage, cost_usd=cost_usd
            )
        )

    def call(self, name: str, arguments: Arguments) -> ToolCall:
        self.calls += 1
        return ToolCall(id=f"c{self.calls}", name=name, arguments=arguments)

    def propose(self, call: ToolCall, *, risk: RiskLevel = "R2", reason: str = "") -> None:
        self.say(
            ToolProposed(
                call_id=call.id,
                name=call.name,
                arguments=call.arguments or {},
                risk=risk,
                verdict="ask" if reason else "allow",
                reasons=(reason,) if reason else (),
            )
        )

    def intend(self, call: ToolCall, *, risk: RiskLevel = "R2", by: DecidedBy = "policy") -> None:
        self.say(
            CallIntended(
                call_id=call.id,
                name=call.name,
                arguments=call.arguments or {},
                digest="d",
                risk=risk,
                decided_by=by,
            )
        )

    def output(self, call: ToolCall, text: str, *, stream: str = "stdout") -> None:
        self.say(ToolOutputReceived(call_id=call.id, stream=stream, text=text))  # type: ignore[arg-type]

    def end_call(
        self, call: ToolCall, outcome: Outcome = "ok", output: str = "", **more: Any
    ) -> None:
        duration_s = more.pop("duration_s", 1.2)
        self.say(
            ToolEnded(
                call_id=call.id,
                name=call.name,
                outcome=outcome,
                output=output,
                duration_s=duration_s,
                **more,
            )
        )

    def run_call(
        self, call: ToolCall, output: str = "", *, outcome: Outcome = "ok", **more: Any
    ) -> None:
        """Propose, start and end a call that needs nobody."""
        self.propose(call)
        self.intend(call)
        if call.name == "shell" and output:
            self.output(call, output)
        self.end_call(call, outcome, output, **more)

    def end_step(self) -> None:
        self.say(StepEnded(duration_s=2.5))

    def whole_step(self, number: int) -> None:
        """Take a small step with one call."""
        call = self.call("shell", {"command": f"echo {number}"})
        self.step("", call)
        self.run_call(call, f"{number}\n", duration_s=0.01)
        self.end_step()

    def ask(self, call: ToolCall, question: str, *options: str, kind: QuestionKind = "text") -> str:
        """Open a question and return the decision's id."""
        kind = "choice" if options else kind
        return self.open_decision(
            QuestionPrompt(call_id=call.id, question=question, answer_kind=kind, options=options)
        )

    def ask_approval(self, call: ToolCall, *, title: str = "shell in sandbox (network off)") -> str:
        """Open an approval and return the decision's id."""
        return self.open_decision(
            ApprovalPrompt(
                call_id=call.id,
                tool=call.name,
                arguments=call.arguments or {},
                risk="R2",
                strong=False,
                title=title,
                parts=("python3 primes.py",),
                reasons=("writes files in the workspace",),
                digest="abc",
            )
        )

    def open_decision(self, prompt: ApprovalPrompt | QuestionPrompt) -> str:
        decision_id = f"d-{prompt.call_id}"
        self.say(DecisionOpened(decision_id=decision_id, prompt=prompt))
        return decision_id

    def close_decision(
        self,
        decision_id: str,
        resolution: Resolution,
        *,
        by: DecidedBy = "person",
        text: str = "",
        **more: Any,
    ) -> None:
        self.say(
            DecisionClosed(
                decision_id=decision_id, resolution=resolution, decided_by=by, text=text, **more
            )
        )

    def notice(self, text: str, hint: str = "", level: str = "warning") -> None:
        self.say(NoticeRaised(level=level, text=text, hint=hint))  # type: ignore[arg-type]

    def end(self, answer: str = "", reason: EndReason = "answered", **more: Any) -> None:
        error = more.pop("error", None)
        self.say(
            RunEnded(
                reason=reason,
                exit_code=0 if reason == "answered" else 1,
                answer=answer,
                usage=Usage(input_tokens=12_300, output_tokens=900),
                cost_usd=more.pop("cost_usd", 0.18),
                steps=more.pop("steps", 3),
                duration_s=more.pop("duration_s", 151.0),
                error=ErrorInfo(code="x", message=error, hint="Check the key.") if error else None,
                **more,
            )
        )

"""Runs one case against the real model layer over real HTTP and writes down what came of it."""

import json
import time
from collections.abc import Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field
from typing import Any

from core.chat.connection import TimeOuts
from core.chat.failure import next_step
from core.chat.options import ModelOptions
from core.chat.request_body import BodyBuilder
from core.chat.tool_names import ToolNames
from core.errors import ContextTooLongError, ModelError, ModelStreamError
from core.event_log import SystemClock
from core.events import ModelAdapted, TextStreamed
from core.loop_guard import LoopGuard
from core.messages import ModelReply, ModelRequest, ToolCall, ToolSpec, UserMessage
from core.model_openai import OpenAIModel
from core.provider import Provider, ProviderFlags
from core.tokens import TokenCounter
from tests.conformance.wire_answers import script_of
from tests.support.model_server import ModelServer

MAX_TURNS = 20
"""A loop that goes on longer than this is ended."""
NO_PARAMETERS: Mapping[str, Any] = {"type": "object", "properties": {}}
Result = dict[str, Any]


class CountingClock(SystemClock):
    """The real clock; it adds up what was slept."""

    def __init__(self) -> None:
        self.slept_s = 0.0

    async def sleep(self, seconds: float) -> None:
        self.slept_s += seconds
        await super().sleep(seconds)


class GivenCounter(TokenCounter):
    """Takes the estimate of a request as the case gives it."""

    def __init__(self, given: int) -> None:
        super().__init__()
        self._given = given

    def request(self, request: ModelRequest) -> int:
        return self._given


@dataclass
class Turn:
    """What one request with its tries came to."""

    reply: ModelReply | None = None
    error: ModelError | None = None
    text: str = ""
    learned: list[str] = field(default_factory=list)


class CaseRun:
    """One case.

    Args:
        case: As the file has it.
        meta: The file's meta: provider flags and usual tools.
    """

    def __init__(self, case: Mapping[str, Any], meta: Mapping[str, Any]) -> None:
        self._case = case
        self._given: Mapping[str, Any] = case.get("given") or {}
        providers = {"generic": {}, **meta["providers"]}
        self._flags = ProviderFlags(**(providers[case.get("provider", "generic")] or {}))
        self._specs = _specs(self._given, meta["tools"])
        self._history = _history(self._given)
        self._clock = CountingClock()
        self._guard = LoopGuard()
        self._executions = 0

    async def result(self) -> Result:
        """Run it."""
        started_s = time.monotonic()
        async with ModelServer(script_of(self._case), repeat_last=True) as server:
            model = self._model(server.base_url)
            turn, outcome = await self._turns(model)
            window = model.window
            await model.close()
        bodies = [request.json for request in server.requests]
        return {
            "id": self._case["id"],
            **self._told(turn, outcome),
            "requests": len(bodies),
            "waited_s": round(self._clock.slept_s, 3),
            "took_s": round(time.monotonic() - started_s, 3),
            "request": bodies[0] if bodies else None,
            "second_request": bodies[1] if len(bodies) > 1 else None,
            "learned_window": window if window != self._given.get("context_window", 0) else None,
            "tool_names": ToolNames(self._specs).originals,
            "executions": self._executions,
        }

    def _model(self, base_url: str) -> OpenAIModel:
        limits = self._given.get("timeouts") or {}
        options = ModelOptions(
            model="m",
            base_url=base_url,
            api_key="sk-test-0123456789",
            provider=Provider(name="conformance", label="conformance", flags=self._flags),
            time_outs=TimeOuts(
                first_token_s=limits.get("first_token_s", 20), idle_s=limits.get("idle_s", 20)
            ),
            window=self._given.get("context_window", 0),
            parameters=self._given.get("params") or {},
            repeat_chunks=(self._given.get("limits") or {}).get("repeat_chunks", 400),
            lists_models=False,
        )
        given = self._given.get("estimated_input_tokens")
        bodies = BodyBuilder("m", options.parameters, history=lambda _: self._history)
        counter = GivenCounter(given) if given is not None else None
        return OpenAIModel(options, clock=self._clock, counter=counter, bodies=bodies)

    async def _turns(self, model: OpenAIModel) -> tuple[Turn, str]:
        """Return the last turn and how it ended, more than one only in a loop."""
        learned: list[str] = []
        for _ in range(MAX_TURNS if self._case.get("phase") == "loop" else 1):
            turn = await self._turn(model)
            learned += turn.learned
            turn.learned = learned
            if turn.reply is None or not turn.reply.calls or self._case.get("phase") != "loop":
                return turn, _outcome(turn)
            if self._act(turn.reply):
                return turn, "stuck"
        return turn, "stuck"

    async def _turn(self, model: OpenAIModel) -> Turn:
        turn = Turn()
        words = json.dumps(self._history, default=str)
        request = ModelRequest(system="", messages=(UserMessage(text=words),), tools=self._specs)
        try:
            async with aclosing(model.reply(request)) as pieces:
                async for piece in pieces:
                    _note(turn, piece)
        except ModelError as error:
            turn.error = error
        return turn

    def _act(self, reply: ModelReply) -> bool:
        """Execute the calls with a stub and add them to the history; True when the guard gives up."""
        self._history.append(_assistant(reply))
        seen: list[tuple[ToolCall, str]] = []
        for call in reply.calls:
            refusal = call.problem or self._guard.refusal(call)
            if not refusal:
                self._executions += 1
            result = f"Error: {refusal}" if refusal else "done"
            self._history.append({"role": "tool", "tool_call_id": call.id, "content": result})
            seen.append((call, result))
        verdict = self._guard.observe(seen)
        if verdict.message:
            self._history.append({"role": "user", "content": verdict.message})
        return verdict.kind == "ask"

    def _told(self, turn: Turn, outcome: str) -> Result:
        reply = turn.reply or ModelReply(outcome="empty")
        error = turn.error
        fatal = error is not None and not isinstance(error, ContextTooLongError)
        usage = reply.usage
        return {
            "outcome": outcome,
            "text": reply.text,
            "reasoning": reply.reasoning,
            "tool_calls": [_call(call) for call in reply.calls],
            "usage": {
                "input": usage.input_tokens,
                "output": usage.output_tokens,
                "input_estimated": usage.input_estimated,
                "output_estimated": usage.output_estimated,
            },
            "error": error.code if fatal and error else None,
            "reason": reply.reason or None,
            "message": error.line() if error else reply.message,
            "warnings": list(reply.warnings),
            "carry": dict(reply.carry),
            "partial_text": turn.text if error else "",
            "next": _next(turn, outcome),
            "remembered": [flag for flag in turn.learned if not flag.startswith("context_window=")],
        }


def _note(turn: Turn, piece: object) -> None:
    if isinstance(piece, ModelReply):
        turn.reply = piece
    elif isinstance(piece, TextStreamed):
        turn.text += piece.text
    elif isinstance(piece, ModelAdapted):
        turn.learned.append(piece.flag)


def _outcome(turn: Turn) -> str:
    if turn.reply is not None:
        return turn.reply.outcome
    if isinstance(turn.error, ContextTooLongError):
        suspected = turn.error.code == "context_overflow_suspected"
        return "context_overflow_suspected" if suspected else "context_overflow"
    return "retryable_error" if isinstance(turn.error, ModelStreamError) else "fatal_error"


def _next(turn: Turn, outcome: str) -> str | None:
    if outcome == "stuck":
        return "nudge_then_ask_human"
    if turn.error is not None:
        return next_step(turn.error.code) or None
    only_reasoned = outcome == "empty" and turn.reply is not None and bool(turn.reply.reasoning)
    return next_step("reasoning_only" if only_reasoned else outcome) or None


def _call(call: ToolCall) -> Result:
    return {
        "id": call.id,
        "name": call.name,
        "arguments": call.arguments,
        "status": call.status,
        "repaired": call.repaired,
        "source": call.source,
    }


def _assistant(reply: ModelReply) -> Result:
    calls = [
        {
            "id": call.id,
            "type": "function",
            "function": {"name": call.name, "arguments": call.raw_arguments},
        }
        for call in reply.calls
    ]
    return {"role": "assistant", "content": reply.text or None, "tool_calls": calls}


def _specs(given: Mapping[str, Any], usual: Sequence[Mapping[str, Any]]) -> tuple[ToolSpec, ...]:
    if "tools_count" in given:
        tools: Sequence[Mapping[str, Any]] = [
            {"name": f"tool_{n:03}"} for n in range(1, given["tools_count"] + 1)
        ]
    else:
        tools = given.get("tools", usual)
    return tuple(
        ToolSpec(
            name=tool["name"],
            description=tool.get("description", ""),
            parameters=tool.get("parameters") or NO_PARAMETERS,
        )
        for tool in tools
    )


def _history(given: Mapping[str, Any]) -> list[dict[str, Any]]:
    made = []
    for message in given.get("messages") or [{"role": "user", "content": "x"}]:
        decoded = dict(message)
        if "content_json" in decoded:
            decoded["content"] = json.loads(decoded.pop("content_json"))
        made.append(decoded)
    return made

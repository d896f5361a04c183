"""Closes what a killed app left open in a journal, without running anything again.

What became of a call is found out by looking where that is possible; else it is said to be unknown, to the model and to
the person, who is asked.
"""

import hashlib
import json
import os
from collections.abc import Sequence
from pathlib import Path

from core import dir_walk
from core.decision import DecisionClosed, QuestionPrompt
from core.event_log import EventLog
from core.events import (
    CallIntended,
    ErrorInfo,
    MessageSteered,
    ModelReplied,
    RunEnded,
    RunStarted,
    ToolEnded,
)
from core.gate import Gate
from core.messages import Outcome, ToolCall, Usage
from core.open_ends import OpenEnds, UnknownCall, read_open_ends, told_text
from core.preimage import ABSENT
from core.record import Record

UNKNOWN = (
    "The outcome of this call is unknown: Handrail ended while it ran. "
    "It may have happened, wholly, in part or not at all. Look before you do it again."
)
NOT_STARTED = "Not run: Handrail ended before this call started."
ONLY_READ = (
    "No result: Handrail ended while this call ran. "
    "It changes nothing, so do it again if you still need it."
)
NOT_TAKEN_UP = "Not run: the run ended before this call."
BROKEN_OFF = (
    "The outcome of this call is unknown: the run ended while it ran. Look before you do it again."
)
HAPPENED, DID_NOT_HAPPEN, LOOK = "It happened", "It did not happen", "The model should look"
"""What the person can say of a call of unknown outcome."""
MAX_SHOWN = 300
"""Characters of the arguments in the question to the person."""
_READ_BYTES = 1 << 20


def close_open_ends(log: EventLog, workspace: Path) -> None:
    """Give each call without a result one, withdraw open decisions, and end a run that has no end."""
    ends = read_open_ends(log.records)
    for decision_id in ends.decisions:
        log.append(DecisionClosed(decision_id=decision_id, resolution="withdrawn", decided_by=""))
    for call in ends.calls.values():
        log.append(_end_of(call, ends, workspace))
    if ends.run:
        log.append(_cut_end(ends.run))


def close_calls(log: EventLog, records: Sequence[Record]) -> None:
    """Give each call of a run that is ending a result, whatever kept it from having one.

    Args:
        log: Takes the results.
        records: Of the run so far.
    """
    ends = read_open_ends(records)
    for call in ends.calls.values():
        if call.id in ends.intents:
            log.append(_ended(call, "unknown", BROKEN_OFF))
        else:
            log.append(_ended(call, "cancelled", NOT_TAKEN_UP))


async def settle_unknown(log: EventLog, gate: Gate) -> None:
    """Ask the person about calls whose outcome is unknown, one after the other, and tell the model what they say.

    Cancel it when the session closes. What was not answered is asked when the session is opened again, unless a run has
    begun meanwhile.
    """
    for unknown in tuple(read_open_ends(_since_last_run(log.records)).unknown.values()):
        answer = unknown.answer
        if answer is None:
            said = await gate.ask(_question(unknown))
            answer = said.text if said.resolution == "answered" else None
        if answer is not None:
            log.append(MessageSteered(text=told_text(unknown.call, answer), author="handrail"))


def _since_last_run(records: Sequence[Record]) -> Sequence[Record]:
    """Return the records from the start of the newest run on: what was unknown before is settled by its start."""
    for at in range(len(records) - 1, -1, -1):
        if isinstance(records[at].event, RunStarted):
            return records[at:]
    return records


def _question(unknown: UnknownCall) -> QuestionPrompt:
    call = unknown.call
    shown = " ".join(json.dumps(call.arguments, ensure_ascii=False, default=dict).split())
    if len(shown) > MAX_SHOWN:
        shown = shown[:MAX_SHOWN] + "..."
    return QuestionPrompt(
        call_id=call.id,
        question=f"Handrail ended while this call ran, so its outcome is unknown:\n{call.name} {shown}\n"
        "What do you know of it? It is not run again by itself.",
        answer_kind="choice",
        options=(HAPPENED, DID_NOT_HAPPEN, LOOK),
        default=LOOK,
    )


def _end_of(call: ToolCall, ends: OpenEnds, workspace: Path) -> ToolEnded:
    """Return the result of a call that has none."""
    intent = ends.intents.get(call.id)
    if intent is None:
        return _ended(call, "cancelled", NOT_STARTED)
    answered = ends.answers.get(call.id)
    if answered is not None and answered.resolution == "answered":
        return _ended(call, "ok", answered.text or "(an empty answer)", answered)
    if _only_read(intent):
        return _ended(call, "cancelled", ONLY_READ)
    if {"file", "pre_image", "post_image"} <= intent.bindings.keys():
        return _looked_up(call, intent, workspace)
    return _ended(call, "unknown", UNKNOWN)


def _only_read(intent: CallIntended) -> bool:
    """Whether a call changed nothing, however far it came: going to a page, in the browser, does not either."""
    went_there = intent.name == "browser" and intent.risk == "R1"
    return intent.reads_only or intent.risk == "R0" or went_there


def _looked_up(call: ToolCall, intent: CallIntended, workspace: Path) -> ToolEnded:
    """Tell from what the file holds whether an edit happened: it is written whole or not at all."""
    file = intent.bindings["file"]
    now = _digest_of(workspace, file)
    if now == intent.bindings["post_image"]:
        text = f"It happened: Handrail ended before the result was recorded, but {file} is as this call left it."
        return _ended(call, "ok", text)
    if now == intent.bindings["pre_image"]:
        text = f"It did not happen: Handrail ended before, and {file} is as it was."
        return _ended(call, "cancelled", text)
    text = f"{file} is neither as it was before nor as this call would have left it. {UNKNOWN}"
    return _ended(call, "unknown", text)


def _digest_of(workspace: Path, file: str) -> str:
    """Return the SHA-256 of a file of the workspace, `ABSENT` where there is none, "" where it cannot be read."""
    digest = hashlib.sha256()
    try:
        with os.fdopen(dir_walk.open_regular(os.fspath(workspace), file), "rb") as stream:
            while data := stream.read(_READ_BYTES):
                digest.update(data)
    except FileNotFoundError:
        return ABSENT
    except OSError:
        return ""
    return digest.hexdigest()


def _ended(
    call: ToolCall, outcome: Outcome, text: str, answered: DecisionClosed | None = None
) -> ToolEnded:
    return ToolEnded(
        call_id=call.id,
        name=call.name,
        outcome=outcome,
        output=text,
        error="" if outcome == "ok" else text,
        decided_by=answered.decided_by if answered else "",
    )


def _cut_end(run: Sequence[Record]) -> RunEnded:
    """Return the end of a run that had none, with what is known of it."""
    replies = [record.event for record in run if isinstance(record.event, ModelReplied)]
    costs = [reply.cost_usd for reply in replies]
    return RunEnded(
        reason="stopped",
        exit_code=130,
        usage=Usage(
            input_tokens=sum(reply.usage.input_tokens for reply in replies),
            output_tokens=sum(reply.usage.output_tokens for reply in replies),
        ),
        cost_usd=None if None in costs else sum(cost for cost in costs if cost is not None),
        steps=run[-1].step,
        duration_s=round(max(0.0, run[-1].mono_s - run[0].mono_s), 3),
        error=ErrorInfo(code="ended_early", message="Handrail ended while this run went on."),
    )

"""What must hold of a session's journal after any fault."""

import stat
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from core.decision import ApprovalPrompt, DecisionClosed, DecisionOpened
from core.events import (
    CallIntended,
    ModelReplied,
    RunEnded,
    RunStarted,
    ToolEnded,
    ToolProposed,
)
from core.journal import FILE_NAME, read_journal
from core.memory import Memory
from core.messages import AssistantMessage, Message, ToolMessage
from core.record import Record


@dataclass(slots=True)
class Told:
    """What the records say of calls, in order."""

    wrong: list[str] = field(default_factory=list)
    open_calls: dict[str, None] = field(default_factory=dict)
    """Calls without a result."""
    proposed: dict[str, ToolProposed] = field(default_factory=dict)
    prompts: dict[str, ApprovalPrompt] = field(default_factory=dict)
    """Approvals by decision id."""
    approved: set[tuple[str, str]] = field(default_factory=set)
    """Call id and digest."""
    edited: set[str] = field(default_factory=set)
    """Calls whose arguments the person typed."""
    intents: list[str] = field(default_factory=list)
    """Call ids in the order they were intended."""

    def take(self, record: Record) -> None:
        event = record.event
        if isinstance(event, ModelReplied):
            self._reply(event)
        elif isinstance(event, ToolProposed):
            self.proposed[event.call_id] = event
        elif isinstance(event, DecisionOpened) and isinstance(event.prompt, ApprovalPrompt):
            self.prompts[event.decision_id] = event.prompt
        elif isinstance(event, DecisionClosed):
            self._decide(event)
        elif isinstance(event, CallIntended):
            self._intend(event)
        elif isinstance(event, ToolEnded):
            self._end(event)
        elif isinstance(event, RunStarted | RunEnded) and self.open_calls:
            self.wrong.append(f"I1: {event.kind} while {list(self.open_calls)} have no result")

    def _reply(self, event: ModelReplied) -> None:
        if self.open_calls:
            self.wrong.append(f"I1: a reply while {list(self.open_calls)} have no result")
        for call in event.calls:
            self.open_calls[call.id] = None

    def _decide(self, event: DecisionClosed) -> None:
        prompt = self.prompts.get(event.decision_id)
        if prompt is not None and event.resolution == "approved":
            self.approved.add((prompt.call_id, event.digest))
        elif prompt is not None and event.resolution == "edited":
            self.edited.add(prompt.call_id)

    def _intend(self, event: CallIntended) -> None:
        self.intents.append(event.call_id)
        if event.call_id not in self.open_calls:
            self.wrong.append(
                f"I2: {event.call_id} was intended after its result, or never asked for"
            )
        allowed = event.call_id in self.proposed and self.proposed[event.call_id].verdict == "allow"
        decided = (event.call_id, event.digest) in self.approved or event.call_id in self.edited
        if not allowed and not decided:
            self.wrong.append(f"I3: {event.call_id} ran and nobody allowed it")

    def _end(self, event: ToolEnded) -> None:
        if self.open_calls.pop(event.call_id, "") is not None:
            self.wrong.append(f"I1: {event.call_id} has a second result, or was never asked for")


def broken_invariants(
    folder: Path, effects: Sequence[str] = (), *, live: Memory | None = None
) -> list[str]:
    """Return what does not hold of a session that was opened again or closed, as text.

    Args:
        folder: Of the session.
        effects: Ids of the calls that had an effect, one an effect.
        live: The session's memory, to compare with that of its journal.
    """
    loaded = read_journal(folder / FILE_NAME)
    told = Told()
    memory = Memory()
    for record in loaded.records:
        told.take(record)
        memory.apply(record)
    wrong = [*told.wrong, *_modes(folder), *_pairs(memory)]
    wrong += [f"I1: {call_id} has no result" for call_id in told.open_calls]
    for call_id in set(effects) | set(told.intents):
        if told.intents.count(call_id) > 1:
            wrong.append(f"I2: {call_id} was intended twice")
        if effects.count(call_id) > told.intents.count(call_id):
            wrong.append(f"I2: {call_id} had {effects.count(call_id)} effects")
    if live is not None and memory_of(memory) != memory_of(live):
        wrong.append("I7: the journal gives another memory than the session has")
    return wrong


def memory_of(memory: Memory) -> list[tuple[str, bool, tuple[Message, ...]]]:
    """Return all that a request could be made of."""
    return [(unit.unit_id, unit.dropped, unit.messages()) for unit in memory.units]


def _pairs(memory: Memory) -> list[str]:
    """I1 as a server sees it: each call is followed by its results, in order."""
    wrong = []
    for unit in memory.units:
        head, *results = unit.messages()
        wanted = [call.id for call in head.calls] if isinstance(head, AssistantMessage) else []
        got = [one.call_id for one in results if isinstance(one, ToolMessage)]
        if got != wanted:
            wrong.append(f"I1: calls {wanted} have the results {got}")
    return wrong


def _modes(folder: Path) -> list[str]:
    """I6: all for the owner alone."""
    wanted: Mapping[bool, int] = {True: 0o700, False: 0o600}
    return [
        f"I6: {path.name} has the mode {stat.S_IMODE(path.stat().st_mode):o}"
        for path in (folder, *folder.rglob("*"))
        if stat.S_IMODE(path.stat().st_mode) != wanted[path.is_dir()]
    ]

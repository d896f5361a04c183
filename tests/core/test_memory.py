import random

from core.event_log import EventLog, SystemClock
from core.events import (
    Event,
    MemoryEdited,
    MessageSteered,
    ModelReplied,
    RunEnded,
    RunStarted,
    StepStarted,
    ToolEnded,
)
from core.memory import Memory
from core.messages import AssistantMessage, Message, ToolCall, ToolMessage


def remembered(*events: Event) -> Memory:
    log, memory = EventLog(SystemClock()), Memory()
    log.follow(memory.apply)
    for event in events:
        log.append(event)
    return memory


def started(task: str = "task") -> RunStarted:
    return RunStarted(task=task, max_steps=1, max_minutes=1, max_cost_usd=0)


def replied(*call_ids: str, text: str = "") -> ModelReplied:
    calls = tuple(ToolCall(id=call_id, name="shell", arguments={}) for call_id in call_ids)
    return ModelReplied(text=text, calls=calls)


def ended(call_id: str, output: str = "done") -> ToolEnded:
    return ToolEnded(call_id=call_id, name="shell", outcome="ok", output=output)


def sent(memory: Memory) -> list[Message]:
    return [message for unit in memory.units if not unit.dropped for message in unit.messages()]


def is_paired(messages: list[Message]) -> bool:
    waiting: list[str] = []
    for message in messages:
        if isinstance(message, ToolMessage):
            if not waiting or waiting.pop(0) != message.call_id:
                return False
        elif waiting:
            return False
        if isinstance(message, AssistantMessage):
            waiting = [call.id for call in message.calls]
    return not waiting


def test_results_follow_their_calls_in_the_order_of_the_calls() -> None:
    memory = remembered(
        started(), StepStarted(), replied("a", "b"), ended("b", "B"), ended("a", "A")
    )
    texts = [message.text for message in sent(memory)]
    assert texts == ["task", "", "A", "B"]


def test_a_call_without_a_result_gets_one_that_says_so() -> None:
    memory = remembered(started(), replied("a", "b"), ended("a"))
    assert is_paired(sent(memory))
    last = sent(memory)[-1]
    assert isinstance(last, ToolMessage)
    assert last.outcome == "unknown"


def test_an_empty_reply_and_a_result_without_a_call_leave_no_trace() -> None:
    memory = remembered(started(), replied(), ended("ghost"))
    assert len(memory.units) == 1


def test_what_the_person_says_meanwhile_comes_after_the_step() -> None:
    memory = remembered(started(), replied("a"), ended("a"), MessageSteered(text="faster"))
    assert [unit.role for unit in memory.units] == ["user", "assistant", "user"]


def test_the_same_records_make_the_same_memory() -> None:
    events = (started(), StepStarted(), replied("a"), ended("a"), replied(text="end"))
    first, second = remembered(*events), remembered(*events)
    assert [unit.text() for unit in first.units] == [unit.text() for unit in second.units]
    assert [unit.unit_id for unit in first.units] == [unit.unit_id for unit in second.units]


def test_an_edit_changes_the_text_and_marks_the_unit() -> None:
    memory = remembered(started("old"))
    unit = memory.units[0]
    log = EventLog(SystemClock())
    log.follow(memory.apply)
    log.append(MemoryEdited(operation="edit", unit_id=unit.unit_id, text="new"))
    assert unit.text() == "new"
    assert unit.edited


def test_random_edits_never_part_a_call_from_its_result() -> None:
    chance = random.Random(3)
    log, memory = EventLog(SystemClock()), Memory()
    log.follow(memory.apply)
    calls = 0
    for _ in range(3000):
        choice = chance.randrange(8)
        if choice == 0:
            log.append(started())
        elif choice <= 2:
            ids = [f"c{calls + number}" for number in range(chance.randrange(4))]
            calls += len(ids)
            log.append(replied(*ids, text=chance.choice(["", "hm"])))
            for call_id in chance.sample(ids, chance.randrange(len(ids) + 1)):
                log.append(ended(call_id))
        elif memory.units:
            unit = chance.choice(memory.units)
            operation = chance.choice(["edit", "drop", "restore", "pin", "unpin", "insert"])
            log.append(MemoryEdited(operation=operation, unit_id=unit.unit_id, text="x"))  # type: ignore[arg-type]
        assert is_paired(sent(memory)[-40:]) or is_paired(sent(memory))
    assert calls > 100
    log.append(RunEnded(reason="answered", exit_code=0))
    assert is_paired(sent(memory))

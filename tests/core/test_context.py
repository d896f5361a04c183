from core.context import ContextBuilder, request_limit
from core.event_log import EventLog, SystemClock
from core.events import MemoryEdited, ModelReplied, RunStarted, StepStarted, ToolEnded
from core.memory import Memory
from core.messages import ToolCall, ToolMessage, ToolSpec

TOOLS = (ToolSpec(name="shell", description="runs", parameters={"type": "object"}),)


def words(text: str) -> int:
    return len(text.split())


def filled(steps: int, result: str) -> tuple[Memory, EventLog]:
    log, memory = EventLog(SystemClock()), Memory()
    log.follow(memory.apply)
    log.append(RunStarted(task="the task itself", max_steps=1, max_minutes=1, max_cost_usd=0))
    for number in range(steps):
        log.append(StepStarted())
        call = ToolCall(id=f"c{number}", name="shell", arguments={}, raw_arguments="{}")
        log.append(ModelReplied(text=f"step {number}", calls=(call,)))
        log.append(ToolEnded(call_id=call.id, name="shell", outcome="ok", output=result))
    return memory, log


def test_without_a_limit_everything_is_sent() -> None:
    memory, _ = filled(10, "word " * 200)
    plan = ContextBuilder("be good", words).build(memory, TOOLS)
    assert len(plan.request.messages) == 21
    assert plan.left_out == 0


def test_old_results_are_cut_before_anything_is_left_out() -> None:
    memory, _ = filled(10, "word " * 200)
    whole = ContextBuilder("be good", words).build(memory, TOOLS).tokens
    plan = ContextBuilder("be good", words).build(memory, TOOLS, limit_tokens=whole - 280)
    states = [choice.state for choice in plan.choose()]
    assert states[:4] == ["sent", "shortened", "shortened", "sent"]
    assert plan.left_out == 0
    assert plan.tokens <= whole - 280


def test_the_task_pins_and_the_newest_units_always_stay() -> None:
    memory, log = filled(30, "word " * 300)
    pinned = memory.units[3]
    log.append(MemoryEdited(operation="pin", unit_id=pinned.unit_id))
    plan = ContextBuilder("be good", words).build(memory, TOOLS, limit_tokens=10)
    sent = [choice.unit for choice in plan.choose() if choice.state == "sent"]
    assert sent == [memory.units[0], pinned, *memory.units[-4:]]
    assert plan.left_out == 25


def test_each_call_keeps_its_result_whatever_is_left_out() -> None:
    memory, _ = filled(30, "word " * 300)
    builder = ContextBuilder("be good", words)
    for limit in range(10, 12_000, 500):
        messages = builder.build(memory, TOOLS, limit_tokens=limit).request.messages
        results = [message.call_id for message in messages if isinstance(message, ToolMessage)]
        calls = [call.id for message in messages for call in getattr(message, "calls", ())]
        assert calls == results


def test_the_rows_add_up_to_the_header() -> None:
    memory, log = filled(12, "word " * 100)
    log.append(MemoryEdited(operation="drop", unit_id=memory.units[2].unit_id))
    builder = ContextBuilder("be good", words)
    plan = builder.build(memory, TOOLS, limit_tokens=900)
    rows = builder.rows(plan, memory.steps)
    assert sum(row.tokens for row in rows if row.sent) == plan.tokens
    assert [row.role for row in rows[:3]] == ["system", "tools", "user"]
    dropped = next(row for row in rows if "dropped" in row.flags)
    assert not dropped.sent
    assert dropped.why == "dropped by you"


def test_a_nudge_is_sent_once_and_never_remembered() -> None:
    memory, _ = filled(1, "x")
    builder = ContextBuilder("be good", words)
    assert builder.build(memory, (), nudge="go on").request.messages[-1].text == "go on"
    assert builder.build(memory, ()).request.messages[-1].text == "x"


def test_tokens_of_a_unit_are_counted_once_and_again_after_a_change() -> None:
    counted: list[str] = []

    def count(text: str) -> int:
        counted.append(text)
        return 1

    memory, log = filled(3, "x")
    builder = ContextBuilder("be good", count)
    builder.build(memory, TOOLS)
    first = len(counted)
    builder.build(memory, TOOLS)
    assert len(counted) == first
    log.append(MemoryEdited(operation="edit", unit_id=memory.units[0].unit_id, text="other"))
    builder.build(memory, TOOLS)
    assert counted[first:] == ["other"]


def test_the_limit_leaves_room_for_the_answer_and_is_off_where_the_window_is_unknown() -> None:
    assert request_limit(10_000) == 9_000
    assert request_limit(0) == 0


def test_what_is_kept_between_requests_never_differs_from_a_fresh_look() -> None:
    memory, log = filled(3, "x y")
    builder = ContextBuilder("be good", words)
    for step in range(3, 40):
        call = ToolCall(id=f"n{step}", name="shell", arguments={}, raw_arguments="{}")
        log.append(ModelReplied(text=f"step {step}", calls=(call,)))
        assert (
            builder.build(memory, TOOLS).request
            == ContextBuilder("be good", words).build(memory, TOOLS).request
        )
        if step % 3:
            log.append(ToolEnded(call_id=call.id, name="shell", outcome="ok", output="late"))
        if step % 5 == 0:
            log.append(MemoryEdited(operation="drop", unit_id=memory.units[step // 5].unit_id))
        if step % 7 == 0:
            log.append(
                MemoryEdited(operation="edit", unit_id=memory.units[1].unit_id, text=f"edit {step}")
            )
        fresh = ContextBuilder("be good", words).build(memory, TOOLS)
        kept = builder.build(memory, TOOLS)
        assert (kept.request, kept.tokens, kept.units) == (fresh.request, fresh.tokens, fresh.units)

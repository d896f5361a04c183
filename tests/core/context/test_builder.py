import json

import pytest

from core.context.builder import ContextBuilder, ContextSettings
from core.context.plan import EARLIER_LEFT_OUT
from core.messages import Image, ToolMessage, ToolSpec, Usage
from core.tokens import TokenCounter, image_tokens
from tests.support.remembered import TOOLS, Remembered, builder, filled, states


def test_without_a_limit_everything_is_sent() -> None:
    made = filled(10, "word " * 200)
    plan = builder().build(made.memory, TOOLS)
    assert len(plan.request.messages) == 21
    assert plan.left_out == 0


def test_old_results_are_cut_before_anything_is_left_out() -> None:
    made = filled(10, "word " * 200)
    whole = builder().build(made.memory, TOOLS).tokens
    plan = builder().build(made.memory, TOOLS, limit_tokens=whole - 280)
    assert states(plan)[:2] == ["sent", "shortened"]
    assert "shortened" not in states(plan)[4:]
    assert plan.left_out == 0
    assert plan.tokens <= whole - 280


def test_the_task_pins_and_the_newest_units_always_stay() -> None:
    made = filled(30, "word " * 300)
    made.edit("pin", 3)
    plan = builder().build(made.memory, TOOLS, limit_tokens=10)
    sent = [choice.unit for choice in plan.choose() if choice.state in ("sent", "shortened")]
    assert sent == [made.memory.units[0], made.memory.units[3], *made.memory.units[-4:]]
    assert plan.left_out == 26 - 1


def test_a_pinned_unit_is_sent_whole_however_little_room_there_is() -> None:
    made = filled(30, "word " * 300)
    made.edit("pin", 3)
    plan = builder().build(made.memory, TOOLS, limit_tokens=10)
    assert next(c.state for c in plan.choose() if c.unit is made.memory.units[3]) == "sent"


def test_the_plan_is_never_left_out() -> None:
    made = filled(30, "word " * 300)
    made.memory.units[5].is_plan = True
    plan = builder().build(made.memory, TOOLS, limit_tokens=10)
    assert states(plan)[5] == "sent"


def test_each_call_keeps_its_result_whatever_is_left_out() -> None:
    made = filled(30, "word " * 300)
    building = builder()
    for limit in range(10, 12_000, 500):
        messages = building.build(made.memory, TOOLS, limit_tokens=limit).request.messages
        results = [message.call_id for message in messages if isinstance(message, ToolMessage)]
        calls = [call.id for message in messages for call in getattr(message, "calls", ())]
        assert calls == results


@pytest.mark.parametrize("factor", [0.5, 0.87, 1.0, 1.913])
@pytest.mark.parametrize("limit", [0, 100, 900, 1500, 4000])
def test_the_rows_add_up_to_the_header(factor: float, limit: int) -> None:
    made = filled(12, "word " * 100)
    made.edit("drop", 2)
    building = builder(factor)
    plan = building.build(made.memory, TOOLS, limit_tokens=limit)
    rows = building.rows(plan, made.memory)
    assert sum(row.tokens for row in rows if row.sent) == plan.tokens
    assert [row.role for row in rows[:3]] == ["system", "tools", "user"]
    dropped = next(row for row in rows if "dropped" in row.flags)
    assert not dropped.sent
    assert dropped.why == "dropped by you"


def test_a_new_factor_counts_nothing_again() -> None:
    counted: list[str] = []

    class Counting(TokenCounter):
        def plain_text(self, text: str) -> int:
            counted.append(text)
            return 100

    counter = Counting()
    building = ContextBuilder(ContextSettings(system="be good"), counter)
    made = filled(20, "x")
    before = building.build(made.memory, TOOLS).tokens
    asked = len(counted)
    counter.learn(1000, 1500)
    assert building.build(made.memory, TOOLS).tokens == round(1.5 * before)
    assert not {"step 1", "step 19", "x"} & set(counted[asked:])


def test_what_the_server_counted_is_exact_and_what_came_since_is_not() -> None:
    made, building = filled(6, "some words of a result"), builder()
    plan = building.build(made.memory, TOOLS)
    assert not any(row.exact for row in building.rows(plan, made.memory))
    reported = round(plan.tokens * 1.21)
    building.measure(plan, Usage(input_tokens=reported))
    same = building.build(made.memory, TOOLS)
    assert same.tokens == reported
    assert all(row.exact for row in building.rows(same, made.memory))
    made.step("one more result")
    later = building.build(made.memory, TOOLS)
    rows = building.rows(later, made.memory)
    assert [row.exact for row in rows] == [True] * (len(rows) - 1) + [False]
    assert sum(row.tokens for row in rows) == later.tokens
    made.edit("drop", 1)
    edited = building.build(made.memory, TOOLS)
    assert not any(row.exact for row in building.rows(edited, made.memory))


@pytest.mark.parametrize("share", [0.1, 9.0])
def test_a_count_that_cannot_be_is_not_believed(share: float) -> None:
    made, building = filled(6, "some words of a result"), builder()
    plan = building.build(made.memory, TOOLS)
    building.measure(plan, Usage(input_tokens=round(plan.tokens * share)))
    assert building.build(made.memory, TOOLS).tokens == plan.tokens


def test_a_nudge_is_sent_once_counted_and_never_remembered() -> None:
    made, building = filled(1, "x"), builder()
    nudged = building.build(made.memory, (), nudge="go on")
    plain = building.build(made.memory, ())
    assert nudged.request.messages[-1].text == "go on"
    assert plain.request.messages[-1].text == "x"
    assert nudged.tokens > plain.tokens


def test_a_request_carries_its_estimate_so_that_nobody_counts_it_again() -> None:
    made = filled(6, "some words of a result")
    request = builder().build(made.memory, TOOLS, nudge="go on").request
    counter = TokenCounter()
    parts = counter.plain_text(request.system) + 4
    parts += sum(map(counter.plain_message, request.messages))
    assert request.plain_tokens == parts + sum(map(counter.plain_tool, request.tools))


def test_pictures_are_counted_by_their_size() -> None:
    def tokens(width: int, height: int) -> int:
        made = filled(1, "x")
        result = next(iter(made.memory.units[1].results.values()))
        picture = Image(path="/p.png", width=width, height=height)
        made.memory.add_result(
            ToolMessage(call_id=result.call_id, name="shell", text="x", images=(picture,))
        )
        return builder().build(made.memory, ()).tokens

    assert tokens(2048, 512) - tokens(512, 512) == image_tokens(2048, 512) - image_tokens(512, 512)


@pytest.mark.parametrize(
    ("window", "answer_tokens", "limit"),
    [(10_000, 0, 9_000), (0, 0, 0), (10_000, 4_000, 6_000), (10_000, 32_000, 5_000)],
)
def test_the_limit_leaves_room_for_the_answer(window: int, answer_tokens: int, limit: int) -> None:
    assert builder(answer_tokens=answer_tokens).limit(window) == limit


def test_what_a_server_refused_as_too_long_is_a_limit_too() -> None:
    building = builder()
    building.refuse_from(4_000)
    assert building.limit(0) == 4_000
    assert building.limit(10_000) == 4_000
    assert building.limit(2_000) == 1_800


def test_a_request_begins_with_the_person_even_where_the_beginning_is_left_out() -> None:
    made = Remembered("old task")
    made.step("word " * 50)
    made.start("new task")
    made.edit("drop", 0)
    building = builder()
    plan = building.build(made.memory, TOOLS)
    assert plan.request.messages[0].text == EARLIER_LEFT_OUT
    rows = building.rows(plan, made.memory)
    assert sum(row.tokens for row in rows if row.sent) == plan.tokens


def test_what_goes_is_the_same_for_several_steps_so_that_a_cache_stays_good() -> None:
    made, building = filled(40, "word " * 100), builder()
    limit = building.build(made.memory, TOOLS).tokens - 1
    starts: list[str] = []
    for _ in range(12):
        made.step("word " * 12)
        request = building.build(made.memory, TOOLS, limit_tokens=limit).request
        starts.append(json.dumps([message.text for message in request.messages[:60]]))
    assert len(set(starts)) <= 4


def test_a_tool_that_changed_is_counted_again() -> None:
    made, building = filled(1, "x"), builder()
    one = building.build(made.memory, TOOLS).tokens
    longer = (ToolSpec(name="shell", description="runs " * 50, parameters={"type": "object"}),)
    assert building.build(made.memory, longer).tokens > one + 40


def test_what_is_kept_between_requests_never_differs_from_a_fresh_look() -> None:
    made, building = filled(3, "x y"), builder()
    for step in range(3, 40):
        made.step("late", text=f"step {step}")
        if step % 5 == 0:
            made.edit("drop", step // 5)
        if step % 7 == 0:
            made.edit("edit", 1, text=f"edit {step}")
        if step % 9 == 0:
            made.edit("undo")
        fresh = builder().build(made.memory, TOOLS)
        kept = building.build(made.memory, TOOLS)
        assert (kept.request, kept.tokens, kept.units) == (fresh.request, fresh.tokens, fresh.units)

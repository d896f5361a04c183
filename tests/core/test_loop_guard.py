from core.loop_guard import BLOCKED_STEPS, LoopGuard, call_key
from core.messages import ToolCall


def call(name: str = "shell", **arguments: object) -> ToolCall:
    return ToolCall(id="c", name=name, arguments=arguments)  # type: ignore[arg-type]


def step(guard: LoopGuard, one: ToolCall, result: str = "same") -> str:
    """Run a call unless it is refused; return refused, or what the guard says then."""
    refusal = guard.refusal(one)
    verdict = guard.observe([(one, refusal or result)])
    return "refused" if refusal and verdict.kind == "go_on" else verdict.kind


def test_three_equal_calls_give_a_hint_then_refusals_then_a_question() -> None:
    guard = LoopGuard()
    one = call(command="ls")
    assert [step(guard, one) for _ in range(5)] == ["go_on", "go_on", "hint", "refused", "ask"]


def test_equal_calls_with_other_steps_between_count_within_five_steps() -> None:
    guard = LoopGuard()
    kinds = [step(guard, call(command=command)) for command in ("a", "b", "a", "c", "a")]
    assert kinds[-1] == "hint"
    spread = LoopGuard()
    kinds = [step(spread, call(command=command)) for command in ("a", "b", "c", "a", "d", "e", "a")]
    assert set(kinds) == {"go_on"}


def test_two_calls_in_turn_are_a_circle_and_both_are_refused() -> None:
    guard = LoopGuard()
    a, b = call(command="a"), call(command="b")
    assert [step(guard, one) for one in (a, b, a, b)] == ["go_on", "go_on", "go_on", "hint"]
    assert guard.refusal(a)
    assert guard.refusal(b)


def test_a_call_that_finds_something_new_each_time_is_no_circle() -> None:
    guard = LoopGuard()
    assert {step(guard, call(command="make"), f"{n} errors") for n in range(10)} == {"go_on"}


def test_another_way_ends_the_block_after_some_steps() -> None:
    guard = LoopGuard()
    one = call(command="ls")
    for _ in range(3):
        step(guard, one)
    for number in range(BLOCKED_STEPS):
        assert guard.refusal(one)
        guard.observe([(call(command=f"other {number}"), f"{number}")])
    assert guard.refusal(one) == ""


def test_the_person_can_let_it_go_on() -> None:
    guard = LoopGuard()
    one = call(command="ls")
    for _ in range(5):
        step(guard, one)
    guard.allow_again()
    assert guard.refusal(one) == ""
    assert step(guard, one) == "go_on"


def test_blanks_around_values_and_the_order_of_keys_do_not_make_another_call() -> None:
    assert call_key(call(a=" x ", b=1)) == call_key(call(b=1, a="x"))
    assert call_key(call(a="x  y")) != call_key(call(a="x y"))
    assert call_key(call("shell", a="x")) != call_key(call("python", a="x"))


def test_calls_beside_each_other_in_one_step_count_once() -> None:
    guard = LoopGuard()
    one = call(command="ls")
    assert guard.observe([(one, "same")] * 3).kind == "go_on"


def test_steps_without_calls_are_no_circle() -> None:
    guard = LoopGuard()
    assert {guard.observe([]).kind for _ in range(8)} == {"go_on"}

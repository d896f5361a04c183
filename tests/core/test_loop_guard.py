from core.loop_guard import BLOCKED_STEPS, LoopGuard
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


def test_calls_beside_each_other_in_one_step_count_once() -> None:
    guard = LoopGuard()
    one = call(command="ls")
    assert guard.observe([(one, "same")] * 3).kind == "go_on"


def test_steps_without_calls_are_no_circle() -> None:
    guard = LoopGuard()
    assert {guard.observe([]).kind for _ in range(8)} == {"go_on"}


class Page:
    """What the browser shows."""

    def __init__(self) -> None:
        self.url = "https://a/"

    def __call__(self) -> str:
        return self.url


def browse(guard: LoopGuard, number: int, **arguments: object) -> str:
    """Act in the browser; every page says something else."""
    return step(guard, call("browser", **arguments), f"page seen {number}")


def test_the_same_action_on_the_same_page_four_times_in_six_steps_is_a_circle() -> None:
    guard = LoopGuard(Page())
    kinds = []
    for number in range(4):
        kinds.append(browse(guard, number, action="click", ref=3))
        if number < 2:
            step(guard, call(command=f"echo {number}"), str(number))
    assert kinds == ["go_on", "go_on", "go_on", "hint"]


def test_the_same_action_on_other_pages_is_none() -> None:
    page = Page()
    guard = LoopGuard(page)
    for number in range(8):
        page.url = f"https://a/{number}"
        assert browse(guard, number, action="click", ref=3) == "go_on"


def test_scrolling_down_a_long_page_is_no_circle_but_at_its_end_it_is() -> None:
    guard = LoopGuard(Page())
    assert {browse(guard, number, action="scroll", dy=800) for number in range(9)} == {"go_on"}
    end = call("browser", action="scroll", dy=800)
    assert [step(guard, end, "nothing new") for _ in range(3)][-1] == "hint"


def test_the_same_reply_again_and_again_is_a_circle() -> None:
    guard = LoopGuard()
    kinds = [guard.observe([], reply="I am  looking.").kind for _ in range(5)]
    assert kinds == ["go_on", "go_on", "hint", "go_on", "ask"]
    assert {guard.observe([], reply=f"Found {n}.").kind for n in range(9)} == {"go_on"}


def test_a_reply_and_a_call_in_turn_are_a_circle() -> None:
    guard = LoopGuard()
    one = call(command="ls")
    kinds = []
    for _ in range(2):
        kinds.append(guard.observe([], reply="I am looking.").kind)
        kinds.append(guard.observe([(one, "same")]).kind)
    assert kinds == ["go_on", "go_on", "go_on", "hint"]
    assert guard.refusal(one)


def test_a_call_that_goes_round_a_third_time_is_asked_about_at_once() -> None:
    guard = LoopGuard()
    one, kinds = call(command="ls"), []
    for _ in range(3):
        kinds += [step(guard, one) for _ in range(3)]
        for number in range(BLOCKED_STEPS):
            guard.observe([(call(command=f"other {number}"), str(number))])
    assert kinds == ["go_on", "go_on", "hint"] * 2 + ["go_on", "go_on", "ask"]


def test_counters_are_told_when_they_rise_and_ordinary_steps_tell_nothing() -> None:
    guard = LoopGuard()
    one, told = call(command="ls"), []
    for _ in range(5):
        refusal = guard.refusal(one)
        verdict = guard.observe([(one, refusal or "same")])
        told.append([(seen.stage, seen.count, seen.limit) for seen in verdict.noticed])
    assert told == [
        [],
        [("counted", 2, 3)],
        [("hinted", 1, 3)],
        [("refused", 1, 2)],
        [("asked", 2, 2)],
    ]
    fresh = LoopGuard()
    for number in range(20):
        assert fresh.observe([(call(command=str(number)), "same")]).noticed == ()


def test_the_counter_of_actions_on_a_page_is_told_before_the_last_one() -> None:
    guard = LoopGuard(Page())
    verdicts = [
        guard.observe([(call("browser", action="click", ref=3), f"page {number}")])
        for number in range(4)
    ]
    assert [len(verdict.noticed) for verdict in verdicts] == [0, 0, 1, 1]
    assert verdicts[2].noticed[0].line == "same call 3 of 4: browser click 3"


def test_results_that_differ_by_the_clock_alone_are_the_same() -> None:
    guard = LoopGuard()
    one = call(command="make test")
    assert [step(guard, one, f"ok in {n}.5 s") for n in range(3)][-1] == "hint"


class CountedText(str):
    """A result that counts how often it is looked at."""

    looks = 0

    def __getitem__(self, index: object) -> str:
        CountedText.looks += 1
        return super().__getitem__(index)  # type: ignore[index]


def test_results_of_calls_that_differ_are_never_looked_at() -> None:
    guard = LoopGuard()
    for number in range(9):
        guard.observe([(call(command=str(number)), CountedText("same"))])
    assert CountedText.looks == 0
    for _ in range(2):
        guard.observe([(call(command="again"), CountedText("same"))])
    assert CountedText.looks == 2

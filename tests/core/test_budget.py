import pytest

from core.budget import Budget, Limits
from core.errors import RunStopped, StoreError
from core.messages import Usage
from tests.support.fake_clock import FakeClock


def test_the_step_after_the_last_allowed_one_does_not_begin() -> None:
    budget = Budget(Limits(max_steps=2), FakeClock())
    budget.start_step()
    budget.start_step()
    with pytest.raises(RunStopped) as stopped:
        budget.start_step()
    assert stopped.value.reason == "steps"
    assert budget.steps == 2


def test_time_spent_waiting_for_the_person_does_not_count() -> None:
    clock = FakeClock()
    budget = Budget(Limits(max_minutes=1), clock)
    clock.advance(300)
    budget.exclude(290)
    budget.start_step()
    clock.advance(60)
    with pytest.raises(RunStopped) as stopped:
        budget.start_step()
    assert stopped.value.reason == "minutes"


def test_money_is_added_up_and_stops_the_run() -> None:
    budget = Budget(Limits(max_cost_usd=0.1), FakeClock())
    budget.spend(Usage(input_tokens=5, output_tokens=1), 0.06)
    budget.start_step()
    budget.spend(Usage(input_tokens=7, output_tokens=2), 0.06)
    assert budget.cost_usd == pytest.approx(0.12)
    assert (budget.usage.input_tokens, budget.usage.output_tokens) == (12, 3)
    with pytest.raises(RunStopped) as stopped:
        budget.start_step()
    assert stopped.value.reason == "cost"


def test_one_unknown_price_makes_the_cost_unknown() -> None:
    budget = Budget(Limits(), FakeClock())
    budget.spend(Usage(), 0.5)
    budget.spend(Usage(), None)
    assert budget.cost_usd is None


def test_zero_means_no_limit() -> None:
    clock = FakeClock()
    budget = Budget(Limits(max_steps=0, max_minutes=0, max_cost_usd=0), clock)
    clock.advance(1e6)
    budget.spend(Usage(), 1e6)
    for _ in range(1000):
        budget.start_step()
    assert budget.steps == 1000


class SharedPurse:
    """What other sessions spent today, in the test's hands."""

    def __init__(self, today_usd: float = 0.0) -> None:
        self.spent_usd = today_usd
        self.problem: StoreError | None = None

    def start_run(self) -> None:
        pass

    def today_usd(self) -> float:
        if self.problem:
            raise self.problem
        return self.spent_usd

    def add(self, cost_usd: float | None) -> None:
        if self.problem:
            raise self.problem
        self.spent_usd += cost_usd or 0.0


def test_a_request_that_would_pass_the_limit_is_not_sent() -> None:
    budget = Budget(Limits(max_cost_usd=0.1), FakeClock())
    budget.spend(Usage(), 0.06)
    budget.check_price(0.04)
    with pytest.raises(RunStopped) as stopped:
        budget.check_price(0.041)
    assert stopped.value.reason == "cost"
    assert "$0.10 would be passed: $0.0600 is spent" in stopped.value.message


def test_what_a_last_answer_costs_is_kept() -> None:
    budget = Budget(Limits(max_cost_usd=0.1), FakeClock())
    budget.spend(Usage(), 0.06)
    with pytest.raises(RunStopped, match="kept for a last answer"):
        budget.check_price(0.03, kept_usd=0.02)
    budget.check_price(0.02, kept_usd=0.02)
    budget.check_price(0.03)


def test_a_request_whose_price_is_not_known_is_never_stopped_by_money() -> None:
    budget = Budget(Limits(max_cost_usd=0.1, max_cost_per_day_usd=0.1), FakeClock(), SharedPurse(9))
    budget.check_price(None)


def test_the_limit_of_a_day_counts_what_all_sessions_spent() -> None:
    purse = SharedPurse(1.9)
    budget = Budget(Limits(max_cost_usd=0, max_cost_per_day_usd=2.0), FakeClock(), purse)
    budget.check_price(0.1)
    budget.spend(Usage(), 0.05)
    assert purse.spent_usd == pytest.approx(1.95)
    with pytest.raises(RunStopped) as stopped:
        budget.check_price(0.06)
    assert stopped.value.reason == "cost_per_day"
    assert "Today's limit of $2.00" in stopped.value.message


def test_a_limit_of_the_day_that_cannot_be_kept_stops_and_says_why() -> None:
    purse = SharedPurse()
    purse.problem = StoreError("The disk is full.")
    unlimited = Budget(Limits(), FakeClock(), purse)
    unlimited.spend(Usage(), 0.5)
    unlimited.check_price(0.1)
    assert unlimited.cost_usd == 0.5
    limited = Budget(Limits(max_cost_per_day_usd=9), FakeClock(), purse)
    with pytest.raises(StoreError):
        limited.check_price(0.1)
    purse.problem = None
    limited.check_price(0.1)
    purse.problem = StoreError("The disk is full.")
    limited.spend(Usage(), 0.5)
    purse.problem = None
    with pytest.raises(StoreError):
        limited.check_price(0.1)


def test_a_tool_may_be_called_as_often_as_its_limit_says() -> None:
    budget = Budget(Limits(max_calls={"shell": 2}), FakeClock())
    assert [budget.take_call("shell") for _ in range(2)] == ["", ""]
    assert "may call shell 2 times" in budget.take_call("shell")
    assert {budget.take_call("echo") for _ in range(50)} == {""}

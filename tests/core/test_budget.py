import pytest

from core.budget import Budget, Limits
from core.errors import RunStopped
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

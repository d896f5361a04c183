import random
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import pytest

from core.chat.failure import Failure
from core.chat.retry import MAX_REQUESTS, RetryBudget
from core.chat.retry_after import asked_wait_s
from core.errors import ModelOverloadedError, ModelRefusedError, ModelUnreachableError
from tests.support.fake_clock import FakeClock

PASSING = Failure(error=ModelOverloadedError("busy"), may_pass=True)
FINAL = Failure(error=ModelRefusedError("no", code="auth"))
NOBODY = Failure(error=ModelUnreachableError("refused"), may_pass=True)
LEARNED = Failure(error=ModelRefusedError("no"), learn=("temperature", "omit"))


def budget(clock: FakeClock | None = None) -> RetryBudget:
    return RetryBudget(clock or FakeClock(), random.Random(1))


def test_waits_grow_and_end_after_four_requests() -> None:
    tries = budget()
    waits = []
    for _ in range(MAX_REQUESTS - 1):
        tries.requests += 1
        waits.append(tries.after(PASSING))
    assert waits == sorted(waits)
    assert 0.375 <= waits[0] <= 0.5
    tries.requests += 1
    with pytest.raises(ModelOverloadedError, match="after 4 requests"):
        tries.after(PASSING)


def test_a_final_refusal_is_not_tried_again() -> None:
    tries = budget()
    tries.requests += 1
    with pytest.raises(ModelRefusedError):
        tries.after(FINAL)


def test_the_wait_of_the_server_is_kept_to_the_second() -> None:
    tries = budget()
    tries.requests += 1
    assert tries.after(Failure(error=PASSING.error, may_pass=True, wait_s=7.0)) == 7.0


def test_an_adapted_request_goes_out_at_once_but_counts() -> None:
    tries = budget()
    tries.requests = MAX_REQUESTS - 1
    assert tries.after(LEARNED) == 0.0
    tries.requests += 1
    with pytest.raises(ModelRefusedError):
        tries.after(LEARNED)


def test_nobody_there_is_tried_three_times_within_ten_seconds() -> None:
    tries = budget()
    waited_s = tries.after(NOBODY) + tries.after(NOBODY)
    with pytest.raises(ModelUnreachableError):
        tries.after(NOBODY)
    assert waited_s < 3


def test_connections_that_hang_do_not_go_beyond_ten_seconds() -> None:
    clock = FakeClock()
    tries = budget(clock)
    assert tries.connect_timeout_s(10.0) == 10.0
    clock.now_s += 4
    wait_s = tries.after(NOBODY)
    clock.now_s += wait_s
    assert 4 + wait_s + tries.connect_timeout_s(10.0) == pytest.approx(10.0)
    clock.now_s += 10
    with pytest.raises(ModelUnreachableError):
        tries.after(NOBODY)


@pytest.mark.parametrize(
    ("headers", "text", "expected"),
    [
        ({"retry-after": "7"}, "", 7.0),
        ({"retry-after": "1.5"}, "", 1.5),
        ({"retry-after-ms": "250", "retry-after": "9"}, "", 0.25),
        ({"retry-after": "-1"}, "", None),
        ({"retry-after": "soon"}, "", None),
        ({"retry-after": "inf"}, "", None),
        ({"retry-after": "Mon, 20 Nov 1995 19:12:08 +99999999999999"}, "", None),
        ({"retry-after": "Mon, 20 Nov 1995 19:12:08 -9999"}, "", None),
        ({"retry-after": "Fri, 31 Dec 9999 23:59:59 -9959"}, "", None),
        ({"retry-after": "Mon, 01 Jan 0001 00:00:00 +2359"}, "", 0.0),
        ({"retry-after": "Wed, 21 Oct 2015 07:28:00 GMT"}, "", 0.0),
        ({}, "Please try again in 6s.", 6.0),
        ({}, "Please try again in 250ms.", 0.25),
        ({}, "Please retry in 34.5s.", 34.5),
        ({}, "Try again in 2 minutes", 120.0),
        ({}, "wait 2 hours", 7200.0),
        ({}, "no number here", None),
    ],
)
def test_the_wait_a_server_asks_for_is_read(
    headers: dict[str, str], text: str, expected: float | None
) -> None:
    assert asked_wait_s(headers, text) == expected


def test_a_date_is_counted_from_now() -> None:
    date = format_datetime(datetime.now(UTC) + timedelta(seconds=30), usegmt=True)
    wait_s = asked_wait_s({"retry-after": date})
    assert wait_s is not None
    assert 27 <= wait_s <= 30

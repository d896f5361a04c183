"""Refusals and learned values that make no sense: nothing of them may end a run with a defect."""

import json

import pytest

from core.chat.asked import AskedFor
from core.chat.failure import Failure, classify
from core.chat.failure_reading import HttpFailure, said_message
from core.errors import ContextTooLongError
from core.provider import ProviderFlags, with_learned


def judged(message: str, http: int = 400) -> Failure:
    body = json.dumps({"error": {"message": message}})
    return classify(HttpFailure(status=http, text=body), AskedFor())


@pytest.mark.parametrize("number", [",,,,,", "___", "9" * 4500, "\u0663,,_"])
def test_a_window_that_is_no_number_is_none(number: str) -> None:
    found = judged(f"This model's maximum context length is {number} tokens.")
    assert isinstance(found.error, ContextTooLongError)
    assert found.window == 0


def test_a_wait_without_end_is_too_long_a_wait() -> None:
    found = judged(f"Rate limit reached, try again in {'9' * 400}s", 429)
    assert not found.may_pass
    assert found.error.code == "rate_limited"


@pytest.mark.parametrize(
    ("learned", "flag"),
    [
        ({"vision": "banana"}, "vision"),
        ({"tool_protocol": "x"}, "tool_protocol"),
        ({"max_tokens_field": "messages"}, "max_tokens_field"),
        ({"empty_content": "true"}, "empty_content"),
        ({"system_role": "0"}, "system_role"),
    ],
)
def test_a_learned_value_that_a_flag_cannot_have_changes_nothing(
    learned: dict[str, str], flag: str
) -> None:
    assert getattr(with_learned(ProviderFlags(), learned), flag) == getattr(ProviderFlags(), flag)


def test_a_page_of_titles_without_an_end_is_read_in_no_time() -> None:
    assert said_message(HttpFailure(status=502, text="<title>" * 200_000)) == "an HTML page"

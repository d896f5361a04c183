import tomllib
from datetime import date
from importlib import resources

import pytest

from core.messages import Usage
from core.pricing import Price, find_price
from core.provider import provider_names

USAGE = Usage(input_tokens=1_000_000, output_tokens=100_000, cached_tokens=400_000)


def test_cached_input_has_its_own_price() -> None:
    assert Price(input_usd=2.0, output_usd=10.0, cached_usd=0.5).cost_usd(USAGE) == pytest.approx(
        1.2 + 0.2 + 1.0
    )
    assert Price(input_usd=2.0, output_usd=10.0).cost_usd(USAGE) == pytest.approx(3.0)


def test_a_model_without_a_known_price_has_none() -> None:
    assert find_price("openai", "gpt-99") is None
    assert find_price("generic", "gpt-4o") is None


def test_a_local_model_is_free() -> None:
    price = find_price("ollama", "anything", local=True)
    assert price is not None
    assert price.cost_usd(USAGE) == 0.0


def test_the_more_exact_row_counts() -> None:
    mini, full = find_price("openai", "gpt-4o-mini"), find_price("openai", "gpt-4o-2024-08-06")
    assert mini is not None
    assert full is not None
    assert mini.input_usd < full.input_usd


def test_the_prices_of_the_person_win() -> None:
    own = Price(input_usd=1.0, output_usd=1.0)
    assert find_price("openai", "gpt-4o", overrides={"gpt-*": own}) is own
    assert find_price("ollama", "gpt-4o", local=True, overrides={"gpt-*": own}) is own


def test_every_row_is_dated_and_belongs_to_a_provider() -> None:
    table = tomllib.loads((resources.files("core") / "prices.toml").read_text(encoding="utf-8"))[
        "price"
    ]
    assert set(table) <= set(provider_names())
    for rows in table.values():
        for row in rows:
            assert isinstance(row["as_of"], date)
            assert 0 <= row.get("cached", 0) <= row["input"] <= row["output"]

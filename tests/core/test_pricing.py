import tomllib
from datetime import date
from importlib import resources

import pytest

from core.config import PriceSettings
from core.messages import Usage
from core.pricing import FREE, Price, find_price, own_prices
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


def test_the_exact_name_wins_over_a_pattern_that_stands_before_it() -> None:
    wide, exact = (Price(input_usd=usd, output_usd=usd) for usd in (1.0, 2.0))
    own = {"m*": wide, "m-1": exact, "m[1]": exact}
    assert find_price("generic", "m-1", overrides=own) is exact
    assert find_price("generic", "m-2", overrides=own) is wide
    assert find_price("generic", "m[1]", overrides=own) is exact


def test_settings_become_prices() -> None:
    given = PriceSettings(input_usd_per_mtok=2.0, output_usd_per_mtok=8.0)
    assert own_prices({"m": given}) == {"m": Price(input_usd=2.0, output_usd=8.0)}


def test_a_price_is_told_with_its_day_or_who_set_it() -> None:
    listed = find_price("openai", "gpt-4.1")
    assert listed is not None
    assert "$2 in, $0.5 of it when cached, $8 out" in listed.line()
    assert f"list price of {listed.as_of}" in listed.line()
    assert "set by you" in Price(input_usd=1.0, output_usd=1.0).line()
    assert "free" in FREE.line()


def test_every_row_is_dated_and_belongs_to_a_provider() -> None:
    table = tomllib.loads((resources.files("core") / "prices.toml").read_text(encoding="utf-8"))[
        "price"
    ]
    assert set(table) <= set(provider_names())
    for rows in table.values():
        for row in rows:
            assert isinstance(row["as_of"], date)
            assert 0 <= row.get("cached", 0) <= row["input"] <= row["output"]

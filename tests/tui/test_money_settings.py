"""Prices and limits from the settings to what is done and what is seen of them."""

import asyncio
import json
from pathlib import Path

import pytest

from core.config_load import load_configuration
from core.event_log import SystemClock
from core.events import NoticeRaised, RunStarted
from core.profile import Profile, ProfileFile
from core.spending import FOLDER_NAME, FilePurse
from tests.support.command_line import run_handrail
from tests.support.model_server import ModelServer, ModelServerThread, text
from tui.__main__ import run_command
from tui.findings import look_around
from tui.health_model import model_rows
from tui.model_choice import choose_model, options_of
from tui.run_limits import limits_of
from tui.tour import Tour
from tui.wiring import Wiring

ELSEWHERE = '[model]\nprovider = "generic"\n'
"""The server on this machine is only a gate to one that wants money."""
PRICE = "input_usd_per_mtok = 2.0\noutput_usd_per_mtok = 8.0\n"


def settings(home: Path, text: str) -> Path:
    folder = home / "config"
    folder.mkdir(exist_ok=True)
    (folder / "config.toml").write_text(text, encoding="utf-8")
    return folder / "config.toml"


def spend(home: Path, *costs: float | None) -> None:
    purse = FilePurse(home / "state" / FOLDER_NAME, "earlier", SystemClock())
    purse.start_run()
    for cost in costs:
        purse.add(cost)


@pytest.mark.parametrize(
    ("file", "parts"),
    [
        (
            '[prices."gpt-4.1"]\ninput_usd_per_mtok = 1\n',
            ["line 1", "output_usd_per_mtok is missing"],
        ),
        (
            f'[prices."gpt-4.1"]\n{PRICE}cached_usd_per_mtok = "1"\n',
            ["line 4", 'prices.gpt-4.1.cached_usd_per_mtok cannot be "1"', "a number from 0"],
        ),
        (f"[prices.m]\n{PRICE}input = 1\n", ["line 4", "prices.m.input is not a setting"]),
        ("[prices.m]\ninput = 1\n", ["line 2", "prices.m.input is not a setting", "Known here"]),
        (f"[prices.m]\n{PRICE.replace('2.0', '-2.0')}", ["line 2", "cannot be -2.0"]),
        ("prices = 3\n", ["line 1", "a table of names"]),
        ("[prices]\nm = 3\n", ["line 2", "prices.m", "a group of settings"]),
        ("[limits.max_calls]\nshell = 0\n", ["line 2", "a whole number from 1"]),
        ('[limits.max_calls]\nshell = "x"\n', ["line 2", "limits.max_calls.shell"]),
        ("[limits]\nmax_calls = 3\n", ["line 2", "limits.max_calls", "a table of names"]),
        ("[limits]\nmax_cost_per_day_usd = -1\n", ["line 2", "a number from 0"]),
    ],
)
def test_a_mistake_about_money_names_file_line_key_and_what_is_allowed(
    home: Path, capfd: pytest.CaptureFixture[str], file: str, parts: list[str]
) -> None:
    path = settings(home, file)
    assert run_command(["config", "show"]) == 2
    line = capfd.readouterr().err
    assert str(path) in line
    assert line.count("\n") == 1
    for part in parts:
        assert part in line


def test_limits_come_from_the_settings_and_the_profile(home: Path) -> None:
    settings(
        home,
        "[limits]\nmax_cost_per_day_usd = 2.0\n[limits.max_calls]\nshell = 20\n"
        "[model]\nmax_output_tokens = 500\n",
    )
    file = ProfileFile.model_validate(
        {"title": "t", "prompt": "p.md", "max_calls": {"shell": 3, "browser": 5}}
    )
    limits = limits_of(load_configuration(), Profile(name="own", file=file, prompt=""))
    assert limits.max_cost_per_day_usd == 2.0
    assert limits.max_calls == {"shell": 20, "browser": 5}
    assert limits.reply_tokens == 500


async def test_a_limit_for_a_tool_that_does_not_exist_is_said(home: Path, workspace: Path) -> None:
    path = settings(home, "[limits.max_calls]\nshel = 20\nshell = 3\n")
    session = await Wiring(load_configuration(), workspace, attended=True).open_without_model()
    [notice] = [one.event for one in session.log.records if isinstance(one.event, NoticeRaised)]
    assert notice.text.startswith(f"{path} line 2: limits.max_calls.shel: there is no tool")
    assert "Did you mean shell?" in notice.hint
    await session.close()


@pytest.mark.parametrize("name", ["my-model", "my-*"])
def test_the_prices_of_the_person_reach_the_model(home: Path, name: str) -> None:
    settings(
        home,
        f'[prices."{name}"]\n{PRICE}\n[model]\nname = "my-model"\nbase_url = "http://127.0.0.1:1/v1"\n',
    )
    configuration = load_configuration()
    price = options_of(configuration, choose_model(configuration)).price
    assert price is not None
    assert (price.input_usd, price.output_usd) == (2.0, 8.0)


def test_the_price_of_the_model_is_shown_with_the_settings(
    home: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def shown(model: str) -> str:
        monkeypatch.setenv("HANDRAIL_MODEL", model)
        assert run_command(["config", "show"]) == 0
        return capfd.readouterr().out.splitlines()[-1]

    assert shown("gpt-4.1").startswith("price of gpt-4.1: $2 in")
    assert 'unknown; a limit of money cannot be kept without it: set it under [prices."x-1"]' in (
        shown("x-1")
    )
    settings(home, f"[prices.x-1]\n{PRICE}")
    assert shown("x-1") == "price of x-1: $2 in, $8 out for a million tokens (set by you)"
    assert run_command(["config", "show", "--json"]) == 0
    assert json.loads(capfd.readouterr().out)["price"]["input_usd"] == 2.0


def test_past_costs_stand_below_the_list_of_sessions(
    home: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    spend(home, 0.1, 0.2)
    settings(home, "[limits]\nmax_cost_per_day_usd = 2.0\n")
    assert run_command(["sessions", "list"]) == 0
    assert capfd.readouterr().out == (
        "1 paid run, on average $0.30, at most $0.30; today $0.30 of $2.00\n"
    )
    assert run_command(["sessions", "list", "--json"]) == 0
    assert capfd.readouterr().out == ""


async def test_past_costs_and_an_unknown_price_are_on_the_first_screen(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    spend(home, 0.1, None)
    settings(home, ELSEWHERE)
    monkeypatch.setenv("HANDRAIL_MODEL", "scripted")
    monkeypatch.setenv("OPENAI_API_KEY", "k")
    async with ModelServer([]) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.base_url)
        configuration = load_configuration()
        found = await look_around(configuration, Tour(configuration, attended=True).open_session)
    texts = {row.name: row.text for row in found.rows}
    assert texts["Spent"].startswith("0 paid runs; 1 at an unknown price")
    assert "price unknown" in texts["Model"]


async def test_the_doctor_names_the_price(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HANDRAIL_MODEL", "scripted")
    monkeypatch.setenv("OPENAI_API_KEY", "k")
    async with ModelServer([text("Hi")], repeat_last=True) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.base_url)
        settings(home, ELSEWHERE)
        rows = await asyncio.to_thread(model_rows, load_configuration())
        settings(home, f"{ELSEWHERE}[prices.scripted]\n{PRICE}")
        priced = await asyncio.to_thread(model_rows, load_configuration())
    [unknown] = [row for row in rows if row.name == "price"]
    [known] = [row for row in priced if row.name == "price"]
    assert (unknown.ok, unknown.needed, known.ok) == (False, False, True)
    assert "[prices." in unknown.detail


def test_the_limit_of_a_day_is_one_line_and_exit_code_3(home: Path, workspace: Path) -> None:
    spend(home, 1.9999)
    settings(home, f"[limits]\nmax_cost_per_day_usd = 2.0\n[prices.scripted]\n{PRICE}")
    with ModelServerThread([text("never")]) as server:
        words = ("--base-url", server.base_url, "--model", "scripted", "--no-browser")
        done = run_handrail("run", "do it", *words, "--json", folder=workspace)
        assert server.requests == []
    assert (done.code, done.ended["limit"]) == (3, "cost_per_day")
    assert "Today's limit of $2.00 would be passed: $1.9999 is spent" in done.one_line
    [started] = [event for event in done.events if event["kind"] == "run_started"]
    assert started["max_cost_per_day_usd"] == 2.0


def test_what_a_run_costs_is_told_and_kept(home: Path, workspace: Path) -> None:
    settings(home, f"[prices.scripted]\n{PRICE}")
    with ModelServerThread([text("Hi")]) as server:
        words = ("--base-url", server.base_url, "--model", "scripted", "--no-browser")
        done = run_handrail("run", "do it", *words, "--json", folder=workspace)
    cost_usd = done.ended["cost_usd"]
    assert cost_usd > 0
    [path] = (home / "state" / FOLDER_NAME).iterdir()
    [line] = path.read_text(encoding="utf-8").splitlines()
    assert json.loads(line)["cost_usd"] == pytest.approx(cost_usd)


def test_old_journals_without_a_limit_of_the_day_are_read() -> None:
    assert (
        RunStarted(task="t", max_steps=1, max_minutes=1, max_cost_usd=1).max_cost_per_day_usd == 0
    )

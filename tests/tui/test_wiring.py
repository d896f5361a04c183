from pathlib import Path

import pytest

from core.config_layers import Override
from core.config_load import Configuration, load_configuration, load_or_excuse
from core.errors import ConfigError
from core.events import NoticeRaised, SessionOpened
from core.profile import Profile, ProfileFile
from tests.support.fake_tools import EchoTool
from tui.findings import look_around
from tui.run_limits import limits_of
from tui.tour import Tour
from tui.wiring import Wiring, offered_tools


def configured(**overrides: object) -> Configuration:
    return load_configuration(
        [
            Override(key=key.replace("__", "."), value=value, option="--test")
            for key, value in overrides.items()
        ]
    )


def profile(**fields: object) -> Profile:
    file = ProfileFile.model_validate({"title": "t", "prompt": "p.md", **fields})
    return Profile(name="own", file=file, prompt="")


def test_a_profile_sets_limits_only_where_the_person_says_nothing() -> None:
    own = profile(max_steps=5, max_cost_usd=0)
    assert limits_of(configured(), own).max_steps == 5
    assert limits_of(configured(), own).max_cost_usd == 0
    assert limits_of(configured(), own).max_minutes == 30
    assert limits_of(configured(limits__max_steps=30), own).max_steps == 30


def test_a_profile_offers_the_tools_it_names() -> None:
    tools = [EchoTool("a"), EchoTool("b")]
    assert [tool.name for tool in offered_tools(tools, profile(tools=["b"]))] == ["b"]
    assert len(offered_tools(tools, profile())) == 2
    with pytest.raises(ConfigError, match="shel"):
        offered_tools(tools, profile(tools=["a", "shel"]))


async def test_a_profile_limits_the_tools_of_a_request_and_the_length_of_a_result(
    workspace: Path, home: Path
) -> None:
    for folder in ("profiles", "prompts"):
        (home / "config" / folder).mkdir(parents=True)
    (home / "config/prompts/few.md").write_text("Be brief.", encoding="utf-8")
    lines = 'title = "Few"\nprompt = "few.md"\nmax_tools = 3\nresult_bytes = 2500\n'
    (home / "config/profiles/few.toml").write_text(lines, encoding="utf-8")
    session = await Wiring(configured(profile="few"), workspace, attended=True).open_without_model()
    tools = session.next_request().rows[1]
    assert tools.why.startswith("3 of ")
    assert "finish: always offered" in tools.text
    assert session.results.limit_bytes == 2500
    await session.close()


async def test_without_a_model_the_session_opens_and_its_runs_say_what_is_missing(
    workspace: Path,
) -> None:
    wiring = Wiring(configured(), workspace, attended=True)
    with pytest.raises(ConfigError, match="No model"):
        await wiring.open_session()
    session = await wiring.open_without_model()
    ended = await session.run("hello")
    assert ended.error is not None
    assert ended.error.code == "no_model"
    await session.close()


async def test_a_broken_configuration_is_told_in_the_session(workspace: Path, home: Path) -> None:
    (home / "config").mkdir()
    (home / "config" / "config.toml").write_text("[limits\n", encoding="utf-8")
    session = await Wiring(load_or_excuse(), workspace, attended=True).open_without_model()
    [notice] = [one.event for one in session.log.records if isinstance(one.event, NoticeRaised)]
    assert (notice.level, notice.code) == ("error", "config")
    assert session.mode == "read"
    await session.close()


async def test_a_broken_rule_file_starts_the_session_in_mode_read(
    workspace: Path, home: Path
) -> None:
    (home / "config").mkdir()
    (home / "config" / "policy.toml").write_text("version = 2\n", encoding="utf-8")
    session = await Wiring(load_or_excuse(), workspace, attended=True).open_without_model()
    [notice] = [one.event for one in session.log.records if isinstance(one.event, NoticeRaised)]
    assert notice.level == "error"
    assert "policy.toml, line 1" in notice.text
    assert session.mode == "read"
    await session.close()


async def test_a_session_goes_on_in_its_folder(workspace: Path, tmp_path: Path) -> None:
    folder = tmp_path / "20260101-000000-abcdef"
    for resumed in (False, True):
        wiring = Wiring(configured(), workspace, attended=True, folder=folder)
        session = await wiring.open_without_model()
        opened = [one.event for one in session.log.records if isinstance(one.event, SessionOpened)]
        assert opened[-1].resumed is resumed
        assert opened[-1].session_id == folder.name
        await session.close()


async def test_the_system_prompt_holds_the_day_and_the_tools_are_those_of_the_issue(
    workspace: Path,
) -> None:
    from tui.tour_script import TASK

    session = await Tour(configured(sandbox__kind="none"), attended=True).open_session()
    request = session.next_request()
    assert b"Today is" in request.body
    assert TASK.encode() not in request.body
    assert {"read_file", "edit_file", "list_files", "fetch_page", "ask_human", "finish"} <= {
        name.strip() for name in request.rows[1].text.split(",")
    }
    folder = session.places.workspace
    assert folder.is_dir()
    await session.close()
    assert not folder.exists()


async def test_the_first_screen_is_told_what_is_there(workspace: Path) -> None:
    tour = Tour(configured(), attended=True)
    found = await look_around(configured(browser__enabled=False), tour.open_session)
    assert not found.has_model
    names = [row.name for row in found.rows]
    assert names[0] == "Model"
    assert {"Container engine", "Bubblewrap", "Chromium"} <= set(names)
    assert found.rows[0].state == "missing"
    assert "HANDRAIL_MODEL" in found.rows[0].fix

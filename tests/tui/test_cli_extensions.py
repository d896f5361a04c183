"""What the command line says of profiles and own tools."""

import json
from pathlib import Path

import pytest
from textual.command import CommandPalette

from core.config import Settings
from core.ports import Places
from core.profile import load_profile, profile_names
from core.stored_results import StoredResults
from tests.support.app import WIDE, FakeSession, eventually, make_app, ready
from tui.__main__ import run_command
from tui.health_extensions import own_files, own_tools
from tui.toolbox import packed_toolbox
from tui.wiring import offered_tools

UP = 'def up(text: str) -> str:\n    """Make upper case."""\n    return text.upper()\n'


def put(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    path.chmod(0o600)


def test_every_profile_that_comes_with_the_app_names_tools_there_are(tmp_path: Path) -> None:
    places = Places(workspace=tmp_path, session=tmp_path / "s")
    toolbox = packed_toolbox(
        Settings(), places, lambda event: None, StoredResults(places.session, lambda: 0)
    )
    for name in profile_names():
        profile = load_profile(name)
        names = [tool.name for tool in offered_tools(toolbox.tools, profile)]
        assert {"finish", "ask_human", "skill"} <= set(names)
        assert len(names) == len(profile.file.tools or toolbox.tools) + bool(profile.file.tools)


def test_profiles_are_listed_with_where_they_come_from(
    home: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    put(home / "config" / "profiles" / "mine.toml", 'title = "Mine"\nprompt = "code.md"\n')
    put(home / "config" / "profiles" / "bad.toml", 'title = "x"\nprmpt = "code.md"\n')
    assert run_command(["config", "profiles"]) == 0
    lines = capfd.readouterr().out.splitlines()
    assert [line.split()[0] for line in lines] == sorted([*profile_names(), "bad", "mine"])
    assert any("Mine" in line and "mine.toml)" in line for line in lines)
    [bad] = [line for line in lines if line.startswith("bad")]
    assert "bad.toml line 2: prmpt is no key of a profile. Did you mean prompt?" in bad
    assert run_command(["config", "profiles", "--json"]) == 0
    assert json.loads(capfd.readouterr().out)["code"]["from"] == "built in"


def test_the_example_of_the_page_is_a_profile(home: Path) -> None:
    page = Path(__file__).resolve().parents[2] / "docs" / "profiles.md"
    lines = page.read_text(encoding="utf-8").splitlines()
    start = lines.index("    # profiles/review.toml")
    block = lines[start : lines.index("", start)]
    put(home / "profiles" / "review.toml", "\n".join(line[4:] for line in block))
    put(home / "prompts" / "review.md", "Read. It is $today.")
    profile = load_profile("review", home)
    assert profile.file.max_steps == 40
    assert not profile.file.own_tools


def test_doctor_has_a_row_for_each_own_tool_and_each_broken_one(home: Path) -> None:
    [none] = own_tools()
    assert none.ok
    assert none.detail.startswith("none (")
    put(home / "config" / "tools" / "up.py", UP)
    put(home / "config" / "tools" / "bad.py", "def f(:\n")
    rows = own_tools()
    assert [(row.ok, row.needed) for row in rows] == [(True, False), (False, False)]
    assert rows[0].detail == "up from up.py"
    assert "bad.py, line 1: SyntaxError" in rows[1].detail


def test_doctor_has_a_row_for_each_file_of_ones_own_that_is_wrong(home: Path) -> None:
    config = home / "config"
    assert [row.ok for row in own_files("general")] == [True]
    put(config / "policy.toml", 'version = 1\n[[rule]]\nid = "a"\ntool = "x"\ndecision = "alow"\n')
    put(config / "profiles" / "bad.toml", 'title = "x"\nprompt = "none.md"\n')
    put(config / "providers" / "corp.toml", 'label = "x"\n[flags]\nvisions = true\n')
    rows = own_files("reserch")
    assert [(row.name, row.needed) for row in rows] == [
        ("policy", False),
        ("profile", False),
        ("profile", True),
        ("provider", True),
    ]
    told = [row.detail + row.hint for row in rows]
    assert "line 5" in told[0]
    assert "bad.toml line 2" in told[1]
    assert "Did you mean research?" in told[2]
    assert "Did you mean flags.vision?" in told[3]


def test_an_own_tool_is_asked_for_until_a_rule_says_otherwise(
    home: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    put(home / "config" / "tools" / "up.py", UP)
    call = ["policy", "check", 'up {"text": "a"}', "--json"]
    assert run_command(call) == 0
    found = json.loads(capfd.readouterr().out)
    assert found["risk"] == "R3"
    assert found["verdicts"] == {"read": "deny", "ask": "ask", "auto": "ask", "full": "ask"}
    rule = 'version = 1\n[[rule]]\nid = "u"\ntool = "up"\ndecision = "allow"\n'
    put(home / "config" / "policy.toml", rule)
    assert run_command(call) == 0
    verdicts = json.loads(capfd.readouterr().out)["verdicts"]
    assert verdicts == {"read": "deny", "ask": "allow", "auto": "allow", "full": "allow"}


async def test_the_palette_sets_the_profile_of_later_sessions(home: Path) -> None:
    session = FakeSession()
    app = make_app(session)
    async with app.run_test(size=WIDE) as pilot:
        await ready(pilot, session)
        await pilot.press("ctrl+p")
        await eventually(pilot, lambda: isinstance(app.screen, CommandPalette))
        [command] = [
            one
            for one in app.get_system_commands(app.screen)
            if one.title.startswith("Profile code,")
        ]
        command.callback()
        await eventually(
            pilot, lambda: 'profile = "code"' in (home / "config" / "config.toml").read_text()
        )

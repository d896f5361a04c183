from pathlib import Path

import pytest

from core.assessment import OriginText
from core.grants import proposed_rule
from core.policy import judge
from core.ports import CallFacts, ElementFacts
from tests.support.policy_world import PolicyWorld

MENU = CallFacts(
    element=ElementFacts(role="button", name="Menu", tag="button"), origin="https://x.test"
)


@pytest.fixture
def world(tmp_path: Path) -> PolicyWorld:
    return PolicyWorld(tmp_path)


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("shell", {"command": "make"}),
        ("shell", {"command": "ls && pytest -q tests/test_a.py | tail -5"}),
        ("python", {"code": "print(1)"}),
        ("edit_file", {"command": "create", "path": "new.txt"}),
        ("browser", {"action": "click", "ref": 1}),
    ],
)
def test_what_is_granted_covers_the_call_on_the_screen(world, tool, arguments):
    found = world.assess(tool, arguments, MENU)
    rule = proposed_rule(found, mode="ask")
    assert rule is not None
    assert judge(found, mode="ask").verdict == "ask"
    assert judge(found, mode="ask", rules=(rule,)).verdict == "allow"
    assert judge(found, mode="read", rules=(rule,)).verdict != "allow"


@pytest.mark.parametrize(
    "command",
    [
        "rm -rf build",
        "curl x | sh",
        "echo $(id)",
        "touch x > y",
        "make; pytest",
        "git push",
        "ls > x",
        "touch Makefile",
    ],
)
def test_strong_opaque_and_double_questions_cannot_be_granted(world, command):
    assert proposed_rule(world.assess("shell", {"command": command}), mode="ask") is None


def test_nothing_can_be_granted_once_strangers_wrote(world):
    page = OriginText(origin="web:https://page.test", text="x")
    tainted = world.with_situation(taint=(page,))
    assert proposed_rule(tainted.assess("shell", {"command": "make"}), mode="ask") is None


def test_a_grant_is_no_wider_than_what_was_asked(world):
    rule = proposed_rule(world.assess("shell", {"command": "pytest -q"}), mode="ask")
    assert rule is not None
    for command in ("pytest", "pytest -q -x", "pytest -q; rm x", "pytest -q > x", "./pytest -q"):
        assert world.shell(command, rules=(rule,)) != "allow", command
    click = proposed_rule(world.assess("browser", {"action": "click", "ref": 1}, MENU), mode="ask")
    assert click is not None
    elsewhere = CallFacts(element=MENU.element, origin="https://y.test")
    arguments = {"action": "click", "ref": 1}
    assert world.judge("browser", arguments, rules=(click,), facts=elsewhere).verdict == "ask"
    typed = {"action": "type", "ref": 1, "text": "x"}
    assert world.judge("browser", typed, rules=(click,), facts=MENU).verdict == "ask"
    write = proposed_rule(world.assess("edit_file", {"command": "create", "path": "a"}), mode="ask")
    assert write is not None
    makefile = {"command": "create", "path": "Makefile"}
    assert world.judge("edit_file", makefile, rules=(write,)).verdict == "ask_strong"


def test_a_call_that_runs_anyway_needs_no_grant(world):
    assert proposed_rule(world.assess("shell", {"command": "ls"}), mode="ask") is None

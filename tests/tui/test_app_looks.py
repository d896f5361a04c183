"""What the app looks like, at two sizes, dark and light; made anew with `pytest --snapshot-update`."""

from collections.abc import Awaitable, Callable
from typing import Protocol

import pytest
from textual.pilot import Pilot

from core.surroundings import SandboxChanged
from tests.support.app import NARROW, WIDE, FakeSession, eventually, make_app, ready, seen
from tests.support.feed import Feed
from tui.app import HandrailApp
from tui.screens.help import HelpScreen
from tui.session_port import Finding, Findings


class SnapCompare(Protocol):
    """The fixture of pytest-textual-snapshot."""

    def __call__(
        self,
        app: HandrailApp,
        *,
        terminal_size: tuple[int, int],
        run_before: Callable[[Pilot[None]], Awaitable[None]],
    ) -> bool: ...


SIZES = pytest.mark.parametrize("size", [NARROW, WIDE], ids=["80x24", "120x40"])
THEMES = pytest.mark.parametrize("theme", ["dark", "light"])
ANSWER = "The last prime below 50 is **47**.\n\n| n | prime |\n|---|---|\n| 15 | 47 |\n"


def whole_run(feed: Feed) -> None:
    """A run with everything that a transcript can hold."""
    feed.start(
        "Make a file primes.py that prints the primes below 50, run it, and tell me the last one."
    )
    edit = feed.call(
        "edit_file", {"command": "create", "path": "primes.py", "file_text": "print(2)\n"}
    )
    feed.step(
        "I write the file, **then** run it:\n\n1. write\n2. run\n",
        edit,
        reasoning="Primes below 50.",
    )
    feed.propose(edit, reason="creates a file")
    decision = feed.ask_approval(edit, title="create primes.py")
    feed.close_decision(decision, "approved")
    feed.intend(edit, by="person")
    feed.end_call(edit, "ok", "created primes.py", decided_by="person")
    feed.end_step()
    run = feed.call("shell", {"command": "python3 primes.py | tail -1"})
    clean = feed.call("shell", {"command": "rm -r build"})
    visit = feed.call("browser", {"action": "goto", "url": "http://a.example/"})
    feed.step("", run, clean, visit)
    feed.run_call(run, "47\n")
    feed.run_call(clean, "rm: cannot remove 'build'\n", outcome="failed", exit_code=1)
    feed.propose(visit, reason="a new site")
    decision = feed.ask_approval(visit, title="open a.example")
    feed.close_decision(decision, "denied", text="stay here")
    feed.end_call(visit, "denied", "refused", decided_by="person")
    feed.end_step()
    ask = feed.call("ask_human", {"question": "Which one?"})
    feed.step("", ask)
    feed.propose(ask)
    feed.intend(ask)
    decision = feed.ask(ask, "Which one do you want?", "the last one", "all of them")
    feed.close_decision(decision, "answered", text="the last one")
    feed.end_call(ask, "ok", "the last one")
    feed.end_step()
    feed.notice("The browser cannot start.", "Run make setup.")
    feed.step(ANSWER)
    feed.end_step()
    feed.end(ANSWER, files=("primes.py",), steps=4)


@SIZES
@THEMES
def test_a_finished_run(snap_compare: SnapCompare, size: tuple[int, int], theme: str) -> None:
    session = FakeSession()

    async def play(pilot: Pilot[None]) -> None:
        await ready(pilot, session)
        whole_run(session.feed)
        await seen(pilot, session)

    assert snap_compare(make_app(session, theme=theme), terminal_size=size, run_before=play)


@SIZES
@THEMES
def test_a_run_that_goes_on(snap_compare: SnapCompare, size: tuple[int, int], theme: str) -> None:
    session = FakeSession()

    async def play(pilot: Pilot[None]) -> None:
        await ready(pilot, session)
        session.feed.start("Build the project and fix what fails.")
        session.running = True
        call = session.feed.call("shell", {"command": "make -j2"})
        session.feed.step("I build it first.", call)
        session.feed.propose(call)
        session.feed.intend(call)
        session.feed.output(call, "cc -o a a.c\n")
        await seen(pilot, session)
        await pilot.press(*"and tests", "enter", *"a draft")
        await pilot.pause()

    assert snap_compare(make_app(session, theme=theme), terminal_size=size, run_before=play)


@SIZES
@THEMES
def test_the_steps(snap_compare: SnapCompare, size: tuple[int, int], theme: str) -> None:
    session = FakeSession()

    async def play(pilot: Pilot[None]) -> None:
        await ready(pilot, session)
        whole_run(session.feed)
        await seen(pilot, session)
        await pilot.press("f2")
        await pilot.pause()

    assert snap_compare(make_app(session, theme=theme), terminal_size=size, run_before=play)


@SIZES
def test_a_decision_over_a_draft(snap_compare: SnapCompare, size: tuple[int, int]) -> None:
    session = FakeSession()

    async def play(pilot: Pilot[None]) -> None:
        await ready(pilot, session)
        session.feed.start("Clean up.")
        call = session.feed.call("shell", {"command": "rm -r build"})
        session.feed.step("", call)
        session.feed.propose(call, reason="deletes 3 files")
        await pilot.press(*"wait")
        session.feed.ask_approval(call)
        await seen(pilot, session)

    assert snap_compare(make_app(session), terminal_size=size, run_before=play)


@SIZES
@THEMES
def test_nothing_is_configured(
    snap_compare: SnapCompare, size: tuple[int, int], theme: str
) -> None:
    session = FakeSession()

    async def look() -> Findings:
        return Findings(
            has_model=False,
            rows=(
                Finding(
                    name="Model",
                    state="missing",
                    text="no key in OPENAI_API_KEY, and no local server answers on the usual ports",
                    key="k",
                    fix="enter a key",
                ),
                Finding(name="Container engine", state="ok", text="Docker 26.1"),
                Finding(
                    name="Chromium",
                    state="missing",
                    text="web pages cannot be opened",
                    fix="make setup",
                ),
            ),
            tour=open_tour,
        )

    async def open_tour() -> FakeSession:
        return session

    async def play(pilot: Pilot[None]) -> None:
        session.feed.open(model="")
        await seen(pilot, session)
        app = pilot.app
        assert isinstance(app, HandrailApp)
        await eventually(pilot, lambda: app.main.first.has_focus)

    app = make_app(session, theme=theme, findings=look)
    assert snap_compare(app, terminal_size=size, run_before=play)


@SIZES
def test_the_help(snap_compare: SnapCompare, size: tuple[int, int]) -> None:
    session = FakeSession()

    async def play(pilot: Pilot[None]) -> None:
        await ready(pilot, session)
        await pilot.press("f1")
        await eventually(pilot, lambda: isinstance(pilot.app.screen, HelpScreen))
        await pilot.pause()

    assert snap_compare(make_app(session), terminal_size=size, run_before=play)


def test_three_panes_side_by_side(snap_compare: SnapCompare) -> None:
    session = FakeSession()

    async def play(pilot: Pilot[None]) -> None:
        await ready(pilot, session)
        whole_run(session.feed)
        session.feed.say(
            SandboxChanged(state="ready", label="Docker 26.1", tier="docker", image="base")
        )
        await seen(pilot, session)
        await pilot.press("f5")
        await pilot.pause()

    assert snap_compare(make_app(session), terminal_size=(200, 40), run_before=play)


def test_a_window_that_is_too_small(snap_compare: SnapCompare) -> None:
    session = FakeSession()

    async def play(pilot: Pilot[None]) -> None:
        await ready(pilot, session)

    assert snap_compare(make_app(session), terminal_size=(58, 14), run_before=play)

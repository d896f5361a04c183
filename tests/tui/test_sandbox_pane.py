from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass

import pytest
from textual.pilot import Pilot
from textual.widgets import Static

from core.messages import Outcome
from core.surroundings import SandboxChanged
from tests.support.dialog_host import DecidingSession, DialogHost, press, settled
from tests.support.facts import Commands, open_sandbox
from tui.panes.sandbox import DROPPED_AT_ONCE, MAX_COMMANDS, SandboxPane
from tui.screens.text_view import TextViewScreen


@dataclass
class Box:
    session: DecidingSession
    pane: SandboxPane
    commands: Commands
    pilot: Pilot[None]

    async def refresh(self) -> None:
        self.pane.show(self.session.view)
        await settled(self.pilot)

    def lines(self) -> list[str]:
        return [line.text for line in self.pane.terminal.text.lines]

    def style_of(self, text: str) -> str:
        return next(line.style for line in self.pane.terminal.text.lines if line.text == text)

    def head(self) -> str:
        return str(self.pane.query_one("#sandbox-head", Static).content)


@asynccontextmanager
async def box() -> AsyncIterator[Box]:
    session, pane = DecidingSession(), SandboxPane()
    async with DialogHost(widget=pane).run_test(size=(80, 24)) as pilot:
        pane.terminal.focus()
        yield Box(session, pane, Commands(session.log), pilot)


async def test_the_head_says_which_cage_with_which_limits():
    async with box() as b:
        await b.refresh()
        assert "no sandbox was started yet" in b.head()
        open_sandbox(b.session.log)
        await b.refresh()
        for fact in ("Docker 20.10", "memory 1 GiB", "network: none", "workspace: /workspace"):
            assert fact in b.head()


async def test_a_missing_engine_is_said_with_what_to_do():
    async with box() as b:
        b.session.log.append(
            SandboxChanged(state="unavailable", label="No engine", detail="Start Docker.")
        )
        await b.refresh()
        assert "not available Start Docker." in b.head()


async def test_a_command_shows_its_streams_apart_its_exit_code_and_its_time():
    async with box() as b:
        b.commands.run("make all", "compiled\n", "warning: x\n", exit_code=2)
        await b.refresh()
        assert b.lines() == ["$ make all", "compiled", "! warning: x", "[exit 2, 0.12 s]"]
        assert b.style_of("! warning: x") != b.style_of("compiled")
        assert b.style_of("[exit 2, 0.12 s]") == "$text-error"


async def test_output_is_shown_as_it_comes():
    async with box() as b:
        call_id = b.commands.begin("slow")
        b.commands.write(call_id, "one\n")
        await b.refresh()
        assert b.lines() == ["$ slow", "one", "[running, 0.0 s]"]
        b.commands.write(call_id, "two\n")
        await b.refresh()
        assert b.lines()[2] == "two"
        b.commands.end(call_id)
        await b.refresh()
        assert b.lines() == ["$ slow", "one", "two", "[exit 0, 0.12 s]"]


async def test_an_earlier_command_that_ends_later_is_brought_up_to_date():
    async with box() as b:
        first, second = b.commands.begin("first"), b.commands.begin("second")
        await b.refresh()
        b.commands.end(second)
        await b.refresh()
        b.commands.end(first)
        await b.refresh()
        assert b.lines() == ["$ first", "[exit 0, 0.12 s]", "", "$ second", "[exit 0, 0.12 s]"]


@pytest.mark.parametrize(
    ("outcome", "error", "line"),
    [
        ("timed_out", "", "[timed out, 0.12 s]"),
        ("cancelled", "", "[cancelled, 0.12 s]"),
        ("lost", "The sandbox ended.", "[lost, 0.12 s: The sandbox ended.]"),
    ],
)
async def test_other_ends_are_named(outcome: Outcome, error: str, line: str):
    async with box() as b:
        b.commands.end(b.commands.begin("x"), None, outcome, error)
        await b.refresh()
        assert b.lines()[-1] == line


async def test_code_and_commands_of_several_lines_are_shown_whole():
    async with box() as b:
        b.commands.begin("for x in y:\n    print(x)\n", "python")
        await b.refresh()
        assert b.lines()[:2] == [">>> for x in y:", "        print(x)"]


async def test_output_cannot_act_on_the_terminal():
    async with box() as b:
        b.commands.run("evil", "a\x1b[2J\x1b]0;title\x07b\u202ec\n")
        await b.refresh()
        assert b.lines()[1] == "a<U+001B>[2J<U+001B>]0;title<U+0007>b<U+202E>c"


async def test_colours_and_progress_bars_are_shown_as_a_terminal_leaves_them():
    async with box() as b:
        b.commands.run("pip", "\x1b[31mred\x1b[0m\r\n 10%\r 50%\r100%\r\ndone\n")
        await b.refresh()
        assert b.lines()[1:4] == ["red", "100%", "done"]


async def test_a_flood_of_output_is_bounded():
    async with box() as b:
        call_id = b.commands.begin("yes")
        for _ in range(200):
            b.commands.write(call_id, "y\n" * 1000)
        await b.refresh()
        assert len(b.lines()) < 210
        assert any("lines, Enter shows them" in line for line in b.lines())


async def test_of_many_commands_the_newest_are_listed():
    async with box() as b:
        for number in range(MAX_COMMANDS + DROPPED_AT_ONCE + 5):
            b.commands.run(f"echo {number}")
            if number % 50 == 0:
                await b.refresh()
        await b.refresh()
        assert b.lines()[0] == f"({DROPPED_AT_ONCE} earlier commands: see Steps)"
        commands = [line for line in b.lines() if line.startswith("$")]
        assert commands[0] == f"$ echo {DROPPED_AT_ONCE}"
        assert commands[-1] == f"$ echo {MAX_COMMANDS + DROPPED_AT_ONCE + 4}"
        assert len(commands) == len(set(commands))


async def test_the_newest_output_is_in_view_and_enter_opens_that_command():
    async with box() as b:
        b.commands.run("first", "1\n" * 30)
        b.commands.run("second", "2\x1b[31m\n")
        await b.refresh()
        assert b.pane.terminal.end_in_view
        await press(b.pilot, "enter")
        screen = b.pilot.app.screen
        assert isinstance(screen, TextViewScreen)
        texts = [line.text for line in screen.lines_view.text.lines]
        assert texts[0] == "second"
        assert "2<U+001B>[31m" in texts


async def test_a_search_finds_output():
    async with box() as b:
        b.commands.run("first", "needle\n")
        b.commands.run("second", "hay\n" * 40)
        await b.refresh()
        await press(b.pilot, "slash", *"needle", "enter")
        assert b.lines()[b.pane.terminal.cursor_line] == "needle"

import json
from collections.abc import Callable
from pathlib import Path
from typing import TypeAlias

import pytest
from textual.pilot import Pilot

from core.context.rows import MemoryRow, NextRequest
from tests.support.dialog_host import DecidingSession, DialogHost, press, settled
from tests.support.facts import Commands, draw_page, look_at_page, open_sandbox
from tui.panes.browser import BrowserPane
from tui.panes.memory import MemoryPane
from tui.panes.sandbox import SandboxPane

Compare: TypeAlias = Callable[..., bool]
SIZES = [(80, 24), (120, 40)]
THEMES = ["handrail-dark", "handrail-light"]
LOOKS = [(size, theme) for size in SIZES for theme in THEMES]
each_look = pytest.mark.parametrize(("size", "theme"), LOOKS, ids=str)
FLAGS: dict[int, tuple[str, ...]] = {
    0: ("task",),
    2: ("left_out",),
    3: ("shortened",),
    5: ("dropped",),
    7: ("pinned", "edited"),
    8: ("summary",),
    9: ("summarised",),
    10: ("summarised",),
}


ROLES = {0: "user", 4: "note", 6: "user", 8: "summary"}


def _row(number: int) -> MemoryRow:
    flags = FLAGS.get(number, ())
    return MemoryRow(
        unit_id=f"u{number + 3}",
        role=ROLES.get(number, "assistant"),
        tokens=90 + number * 137,
        exact=number % 2 == 0,
        age=15 - number,
        flags=flags,
        first_line=f"-> shell {number}: 漢字 and a line that is longer than the room there is for it",
        text="",
        sent=not {"left_out", "dropped", "summarised"} & set(flags),
        why="fits the window",
        stands_for=2 if "summary" in flags else 0,
    )


def _fixed(role: str, tokens: int, text: str) -> MemoryRow:
    return MemoryRow(
        unit_id=role,
        role=role,
        tokens=tokens,
        exact=False,
        age=0,
        flags=(),
        first_line=text,
        text=text,
        sent=True,
        why="sent with every request",
    )


MESSAGES = [
    {"role": "system", "content": "You are Handrail."},
    {"role": "user", "content": "数え\u202eて"},
]
REQUEST = NextRequest(
    rows=(
        _fixed("system", 812, "You are Handrail, and work with a person."),
        _fixed("tools", 2210, "shell, python, read_file, edit_file, browser"),
        *map(_row, range(12)),
    ),
    body=json.dumps({"model": "local-1.5b", "messages": MESSAGES}, ensure_ascii=False).encode(),
    tokens=12_345,
    window=32_768,
)


@each_look
@pytest.mark.parametrize("keys", ["", "w"], ids=["units", "wire"])
def test_memory(snap_compare: Compare, keys: str, size: tuple[int, int], theme: str):
    session = DecidingSession()
    session.request = REQUEST
    open_sandbox(session.log)
    pane = MemoryPane(session)

    async def run(pilot: Pilot[None]) -> None:
        pane.show(session.view)
        pane.rows_view.focus()
        pane.rows_view.cursor_row = 9
        await press(pilot, *keys)
        await settled(pilot)

    assert snap_compare(DialogHost(theme=theme, widget=pane), terminal_size=size, run_before=run)


@each_look
def test_browser(snap_compare: Compare, tmp_path: Path, size: tuple[int, int], theme: str):
    session = DecidingSession()
    look_at_page(session.log, draw_page(tmp_path))
    pane = BrowserPane()
    run = _shown(session, pane, "down")
    assert snap_compare(DialogHost(theme=theme, widget=pane), terminal_size=size, run_before=run)


@pytest.mark.parametrize("keys", ["jz", "l", "v"], ids=["zoom", "list", "details"])
def test_what_keys_of_the_browser_show(snap_compare: Compare, tmp_path: Path, keys: str):
    session = DecidingSession()
    look_at_page(session.log, draw_page(tmp_path))
    pane = BrowserPane()
    assert snap_compare(DialogHost(widget=pane), run_before=_shown(session, pane, *keys))


@each_look
def test_sandbox(snap_compare: Compare, size: tuple[int, int], theme: str):
    session, pane = DecidingSession(), SandboxPane()
    open_sandbox(session.log)
    commands = Commands(session.log)
    commands.run("python3 primes.py | tail -1", "47\n")
    commands.run("cat <<EOF > notes.txt\n一行\nEOF\n")
    commands.run("grep -r needle .", "", "grep: ./locked: Permission denied\n", exit_code=2)
    commands.end(commands.begin("sleep 500"), None, "timed_out")
    call_id = commands.begin("import time\nfor n in range(9):\n    print(n)\n", "python")
    commands.write(call_id, "0\n1\n2\n")

    async def run(pilot: Pilot[None]) -> None:
        pane.show(session.view)
        pane.terminal.focus()
        await settled(pilot)

    assert snap_compare(DialogHost(theme=theme, widget=pane), terminal_size=size, run_before=run)


def _shown(
    session: DecidingSession, pane: BrowserPane, *keys: str
) -> Callable[[Pilot[None]], object]:
    async def run(pilot: Pilot[None]) -> None:
        pane.show(session.view)
        pane.elements.focus()
        await press(pilot, *keys)
        while not pane.picture.is_up_to_date:
            await settled(pilot)
        await settled(pilot)

    return run

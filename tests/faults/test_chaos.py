"""The whole product against a model that says anything at all."""

import asyncio
from collections.abc import Sequence
from pathlib import Path

import pytest

from core.config_load import load_configuration
from core.record import Record
from tests.faults.chaos import (
    ChaosPlan,
    Done,
    Outcome,
    chaos,
    chaos_run,
    local_sandbox,
    made_workspace,
    run_process,
)
from tests.faults.random_model import RandomModel
from tests.support.exhaustive import count
from tests.support.model_server import ModelServer
from tui.arguments import common_overrides, new_parser, workspace_of
from tui.commands.run import add_arguments as run_arguments
from tui.headless import HeadlessRun, NobodyThere
from tui.session_folders import sessions_folder
from tui.wiring import Wiring

PARTS = 4
RUNS = count(4, 50)
"""Of a part: 16 in the quick suite, 200 in all."""
AT_ONCE = 4
"""Most of a run's time is the wait before it asks a server that failed again."""


class KeptReport:
    """Keeps the events of a run (`tui.run_report.Report`)."""

    reader_gone = False

    def __init__(self) -> None:
        self.lines: list[str] = []

    def take(self, record: Record) -> None:
        self.lines.append(record.json_line())

    def close(self, timeout_s: float | None = None) -> None:
        pass


async def run_here(words: Sequence[str], folder: Path) -> Done:
    """Run the command in this process: starting one takes longer than most of these runs."""
    parser = new_parser("run", "")
    run_arguments(parser)
    options = parser.parse_args([*words[1:], "--workspace", str(made_workspace(folder))])
    configuration = load_configuration(common_overrides(options))
    wiring = Wiring(configuration, workspace_of(options), attended=False)
    report = KeptReport()
    code = await HeadlessRun(report, NobodyThere()).play(wiring.open_session, options.task)
    session = sessions_folder() / wiring.session_id
    return Done(code=code, lines=report.lines, stderr="", sessions=[session])


async def random_run(seed: int, sandbox: str) -> Outcome:
    async with ModelServer([RandomModel(seed).turn], repeat_last=True) as server:
        return await chaos_run(
            seed, ChaosPlan(base_url=server.base_url, drive=run_here, sandbox=sandbox)
        )


@pytest.mark.parametrize("part", range(PARTS))
async def test_whatever_a_model_says_every_run_ends_well_and_every_request_is_sound(
    part: int,
) -> None:
    sandbox = await asyncio.to_thread(local_sandbox)
    places = asyncio.Semaphore(AT_ONCE)

    async def one(number: int) -> Outcome:
        async with places:
            return await random_run(part * 1000 + number, sandbox)

    outcomes = await asyncio.gather(*map(one, range(RUNS)))
    bad = [outcome.line() for outcome in outcomes if outcome.bad]
    assert not bad, "\n".join(bad)
    assert sum(outcome.requests for outcome in outcomes) >= RUNS


async def test_the_command_itself_is_judged_the_same_way() -> None:
    sandbox = await asyncio.to_thread(local_sandbox)
    async with ModelServer([RandomModel(5).turn], repeat_last=True) as server:
        plan = ChaosPlan(base_url=server.base_url, drive=run_process, sandbox=sandbox)
        outcome = await chaos_run(5, plan)
    assert not outcome.bad, outcome.line()
    assert outcome.end != "none"


class Broken:
    """Drives that end in ways that must be called bad."""

    def __init__(self, code: int, *lines: str, stderr: str = "") -> None:
        self._done = Done(code=code, lines=lines, stderr=stderr)

    async def __call__(self, words: Sequence[str], folder: Path) -> Done:
        return self._done


ENDED = '{"kind":"run_ended","reason":"answered","exit_code":0,"steps":1,"error":null}'
DEFECT = ENDED.replace("null", '{"code":"internal","message":"Internal error: KeyError."}')


@pytest.mark.parametrize(
    ("drive", "bad"),
    [
        (Broken(0, ENDED), 0),
        (Broken(0, ENDED, stderr="Traceback (most recent call last):\nKeyError: 1"), 1),
        (Broken(1, ENDED), 1),
        (Broken(0, DEFECT), 1),
        (Broken(0, ENDED, '{"kind":"step_ended"}'), 1),
        (Broken(0, "not JSON", ENDED), 1),
        (Broken(-9, stderr="it hung"), 1),
    ],
)
async def test_the_last_line_counts_what_was_bad(
    drive: Broken, bad: int, capsys: pytest.CaptureFixture[str]
) -> None:
    plan = ChaosPlan(base_url="http://127.0.0.1:1/v1", drive=drive)
    assert await chaos(plan, 2, at_once=2) == 2 * bad
    lines = capsys.readouterr().out.splitlines()
    assert lines[-1] == f"2 runs, {2 * bad} bad"
    assert ["BAD" in line for line in lines[:-1]] == [bool(bad)] * 2

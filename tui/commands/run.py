"""`handrail run`: one task without the screen."""

import asyncio
import contextlib
import signal
import sys
from argparse import Namespace
from pathlib import Path

from core.config_load import load_configuration
from core.errors import ConfigError
from tui.answers import PreparedAnswers, load_answers
from tui.arguments import OneLineParser, add_session_arguments, common_overrides, workspace_of
from tui.headless import HeadlessRun, NobodyThere
from tui.run_report import JsonReport, TextReport

HELP = "run one task without the screen; what needs a person is refused"


def add_arguments(parser: OneLineParser) -> None:
    """Add the task and the form of the output."""
    add_session_arguments(parser)
    parser.add_argument("task", metavar="TASK", help="what to do, in any language")
    parser.add_argument("--json", action="store_true", help="one JSON event a line on stdout")
    parser.add_argument(
        "--answers", metavar="FILE", help="TOML file that answers questions, never approvals"
    )


def run(options: Namespace) -> int:
    """Run the task.

    Raises:
        ConfigError: Nothing was started; the settings or the command line are wrong.
    """
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    if not options.task.strip():
        raise ConfigError("The task is empty.", code="usage")
    if options.mode == "full":
        raise ConfigError(
            "Mode full needs a person at a terminal.", hint="Use --mode auto.", code="usage"
        )
    configuration = load_configuration(common_overrides(options))
    workspace = workspace_of(options)
    answers = load_answers(Path(options.answers)) if options.answers else PreparedAnswers()
    from tui.wiring import Wiring

    wiring = Wiring(configuration, workspace, attended=bool(options.answers))
    report = JsonReport() if options.json else TextReport()
    # Ours goes to the stream itself; what else is printed, by a tool of the person's own, is no part of it.
    with contextlib.redirect_stdout(sys.stderr):
        return asyncio.run(
            HeadlessRun(report, NobodyThere(answers)).play(wiring.open_session, options.task)
        )

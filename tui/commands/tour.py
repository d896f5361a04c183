"""`handrail tour`: a scripted model plays a real task; needs no model and no key."""

import asyncio
import signal
from argparse import Namespace

from tui.arguments import OneLineParser, common_overrides

HELP = "watch a scripted model do a real task; needs no model and no key"


def add_arguments(parser: OneLineParser) -> None:
    """Add the form of the output."""
    parser.add_argument(
        "--headless", action="store_true", help="without the screen; the script answers too"
    )
    parser.add_argument(
        "--json", action="store_true", help="one JSON event a line on stdout; means --headless"
    )


def run(options: Namespace) -> int:
    """Play the tour.

    Raises:
        ConfigError: The settings are wrong, or the screen has no terminal.
    """
    if not (options.headless or options.json):
        from tui.commands.app import run_tour

        return run_tour(options)
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    from core.config_load import load_configuration
    from tui.headless import HeadlessRun
    from tui.run_report import JsonReport, TextReport
    from tui.tour import Tour, TourAnswers
    from tui.tour_script import TASK

    tour = Tour(load_configuration(common_overrides(options)), attended=False)
    report = JsonReport() if options.json else TextReport()
    return asyncio.run(HeadlessRun(report, TourAnswers()).play(tour.open_session, TASK))

"""The program: finds the command, runs it, and turns whatever goes wrong into one line and an exit code."""

import importlib
import signal
import sys
from argparse import Namespace
from collections.abc import Sequence
from typing import Protocol, cast

from core.errors import HandrailError, StoreError
from tui.arguments import OneLineParser, new_parser, split_command
from tui.console import open_closed_streams, report, tell
from tui.exits import ANSWERED, INTERRUPTED, exit_code_of

COMMANDS = ("run", "resume", "sessions", "tour", "doctor", "inspect", "config", "policy", "trust")
"""In the order of the help; `app` is what runs when none is named."""


class Command(Protocol):
    """What each module of `tui.commands` offers."""

    HELP: str

    def add_arguments(self, parser: OneLineParser, /) -> None:
        """Add the command's own options."""
        ...

    def run(self, options: Namespace, /) -> int:
        """Do it and return the exit code."""
        ...


def main() -> None:
    """Run the command line of this process and exit."""
    open_closed_streams()
    code = run_command(sys.argv[1:])
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)  # it is ending, with a code of its own
    sys.exit(code)


def run_command(words: Sequence[str]) -> int:
    """Run one command line.

    Args:
        words: Without the program's own name.

    Returns:
        Exit code.
    """
    name, rest = split_command(words, frozenset(COMMANDS))
    try:
        return _run(name, rest)
    except KeyboardInterrupt:
        return INTERRUPTED
    except BrokenPipeError:  # whoever read our output has gone: end quietly, as other programs do
        return INTERRUPTED
    except StoreError as error:  # nor could its report be written
        return exit_code_of(error)


def _run(name: str, words: Sequence[str]) -> int:
    command = cast("Command", importlib.import_module(f"tui.commands.{name}"))
    try:
        options = _parsed(name, command, words)
        if getattr(options, "version", False):
            return _tell_version()
        return command.run(options)
    except HandrailError as error:
        return _report(error, name, words)


def _parsed(name: str, command: Command, words: Sequence[str]) -> Namespace:
    parser = new_parser(name, command.HELP)
    if name == "app":
        _add_overview(parser)
    command.add_arguments(parser)
    return parser.parse_args(words)


def _add_overview(parser: OneLineParser) -> None:
    parser.add_argument("--version", action="store_true", help="print the version and exit")
    parser.epilog = f"Commands: {', '.join(COMMANDS)}. See `handrail COMMAND --help`."


def _tell_version() -> int:
    from tui.version import version

    tell(f"handrail {version()}")
    return ANSWERED


def _report(error: HandrailError, name: str, words: Sequence[str]) -> int:
    code = exit_code_of(error)
    report(error)
    if name in ("run", "tour") and "--json" in words:
        from tui.run_report import print_failed_run

        print_failed_run(error, code)
    return code


if __name__ == "__main__":
    main()

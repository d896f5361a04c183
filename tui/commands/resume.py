"""`handrail resume`: the app, going on with an earlier session."""

from argparse import Namespace
from pathlib import Path

from core.errors import ConfigError
from tui.arguments import OneLineParser, add_session_arguments, workspace_of
from tui.commands.app import LateSession, require_terminal, run_app

HELP = "go on with an earlier session"


def add_arguments(parser: OneLineParser) -> None:
    """Add the session."""
    add_session_arguments(parser)
    parser.add_argument(
        "session",
        nargs="?",
        metavar="ID",
        help="the session, or the beginning of its id; without it, the one with a task that was used last",
    )


def run(options: Namespace) -> int:
    """Open the app on the session, in the session's own workspace.

    Raises:
        ConfigError: There is no such session or no terminal.
        StoreError: It is open elsewhere, or its journal is damaged.
    """
    require_terminal()
    if options.mode == "full":
        raise ConfigError("Going on with a session never starts in mode full.", code="usage")
    from tui.session_folders import find_session, require_resumable, stored_sessions

    with_task = [one for one in stored_sessions() if one.task]
    found = [find_session(options.session)] if options.session else with_task
    if not found:
        raise ConfigError("There is no earlier session.", code="no_session")
    session = found[0]
    require_resumable(session)
    options.workspace = session.workspace or options.workspace
    workspace: Path = workspace_of(options)
    return run_app(options, LateSession(options, workspace, session.folder), task=None)

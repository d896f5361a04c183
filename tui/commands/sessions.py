"""`handrail sessions`: what was done before."""

import os
import sys
from argparse import Namespace
from collections.abc import Callable
from dataclasses import asdict

from core.config_load import load_or_excuse
from core.errors import ConfigError, StoreError
from core.events import RunEnded, RunStarted
from core.journal import FILE_NAME, LoadedJournal
from core.record import Record
from core.redact import Redactor, secret_values
from tui.arguments import OneLineParser
from tui.console import print_object, say, tell
from tui.exits import ANSWERED
from tui.run_limits import spent_line
from tui.session_folders import (
    StoredSession,
    delete_session,
    find_session,
    read_session,
    stored_sessions,
)

HELP = "list, show, export or delete earlier sessions"


def add_arguments(parser: OneLineParser) -> None:
    """Add the actions."""
    parser.add_argument("action", choices=("list", "show", "export", "delete"), help="what to do")
    parser.add_argument(
        "session", nargs="?", metavar="ID", help="the session, or the beginning of its id"
    )
    parser.add_argument("--json", action="store_true", help="list: one JSON object a line")
    parser.add_argument("--yes", action="store_true", help="delete: do not ask")


def run(options: Namespace) -> int:
    """Do one action.

    Raises:
        ConfigError: There is no such session.
        StoreError: It cannot be read or removed, or is damaged: what stands before is printed first.
    """
    if options.action == "list":
        _list(as_json=options.json)
        return ANSWERED
    if not options.session:
        raise ConfigError(f"sessions {options.action} needs an ID.", code="usage")
    session = find_session(options.session)
    if options.action == "show":
        _show(session)
    elif options.action == "export":
        _export(session)
    else:
        _delete(session, sure=options.yes)
    return ANSWERED


def _list(*, as_json: bool) -> None:
    for session in stored_sessions():
        if as_json:
            print_object({**asdict(session), "folder": str(session.folder)})
            continue
        task = " ".join(session.task.split())[:60] or "(no task)"
        tell(f"{session.session_id}  {session.changed_utc}  {task}  ({session.workspace})")
    if not as_json and (line := spent_line(load_or_excuse())):
        tell(line)


def _show(session: StoredSession) -> None:
    redact = Redactor(secret_values(os.environ)).redact
    tell(f"session    {session.session_id}")
    tell(f"workspace  {session.workspace}")
    tell(f"model      {session.model or 'none'}")
    tell(f"folder     {session.folder}")
    journal = read_session(session)
    for record in journal.records:
        _show_record(record, redact)
    _tell_damage(session, journal)


def _show_record(record: Record, redact: Callable[[str], str]) -> None:
    event = record.event
    if isinstance(event, RunStarted):
        tell(f"\n{record.at_utc}  {redact(event.task)}")
    elif isinstance(event, RunEnded):
        cost = "unknown" if event.cost_usd is None else f"${event.cost_usd:.2f}"
        tell(f"  {event.reason} after {event.steps} steps, cost {cost}")
        if event.answer:
            tell(redact(event.answer))


def _export(session: StoredSession) -> None:
    """Print the events, with secrets masked: what is exported is passed on."""
    redactor = Redactor(secret_values(os.environ))
    journal = read_session(session)
    for record in journal.records:
        print_object(redactor.redact_value(record.fields()))
    _tell_damage(session, journal)


def _tell_damage(session: StoredSession, journal: LoadedJournal) -> None:
    """Say what of the journal was not printed.

    Raises:
        StoreError: It is damaged in the middle.
    """
    if journal.torn_bytes:
        say(
            f"The last {journal.torn_bytes} bytes of the journal are no whole record and are left out."
        )
    if journal.damaged_line:
        raise StoreError(
            f"The journal is damaged at line {journal.damaged_line}: what stands from there on is left out.",
            hint=f"It is kept as it is: {session.folder / FILE_NAME}",
            code="journal_damaged",
        )


def _delete(session: StoredSession, *, sure: bool) -> None:
    if not sure:
        if not sys.stdin.isatty():
            raise ConfigError("Deleting asks a person.", hint="Give --yes.", code="usage")
        tell(f"Delete session {session.session_id} with all it kept? Type yes:")
        if sys.stdin.readline().strip() != "yes":
            tell("Nothing was deleted.")
            return
    delete_session(session)
    tell(f"Deleted {session.session_id}.")

"""What a call that runs a command text would do."""

from collections.abc import Iterator
from typing import Final

from core.assessment import Assessment, Case, Finding, Subject, Words
from core.reach import Reach, Target
from core.risk_code import ground, ground_name, where
from core.shell.words import PlainCommand
from core.shell_reader import Change, CheckedCommand, CommandReading, read_command

MANY_FILES: Final = 20
"""More files than this are many."""
SHOWN_COMMANDS: Final = 60
"""Commands listed in a dialog; the rest is counted."""
SHOWN_LINES: Final = 400
"""Lines of a text listed in a dialog; the whole text is one of the arguments."""
SHOWN_TEXT: Final = 400
"""Characters of one command in a dialog."""


def assess_shell(case: Case) -> Assessment:
    """Assess `shell`."""
    text = case.text("command")
    reach = case.situation.reach
    reading = read_command(text, reach, _start(case, reach))
    findings = tuple(dict.fromkeys(_findings(case, reading)))
    return Assessment(
        subject=_subject(case, text, reading),
        title=case.facts.title or f"{case.tool} {where(case)}",
        findings=findings,
        parts=tuple(_parts(text, reading, reach)),
        notes=tuple(_notes(reading)),
    )


def _start(case: Case, reach: Reach) -> str | None:
    """Return the folder a command starts in, inside: the argument, where the shell says it is, or the situation's."""
    now = case.facts.bindings.get("folder", case.situation.cwd)
    given = case.text("cwd")
    if not given:
        return now
    target = reach.resolve(given, now)
    if target.place == "workspace":
        return f"{reach.inside.rstrip('/')}/{target.path}".rstrip("/")
    return target.path if target.path.startswith("/") else ""


def _findings(case: Case, reading: CommandReading) -> Iterator[Finding]:
    uncaged = case.situation.tier == "none"
    if uncaged or not reading.only_reads:
        yield from ground(case, "shell", _why_not_plain(reading))
    for item in reading.commands:
        yield from _reads(item)
    for danger in reading.dangers:
        yield Finding("shell_danger", detail=danger)
    if reading.installs:
        yield Finding("install")
    if reading.pushes:
        yield Finding("git_push")
    if reading.commits:
        yield Finding("git_commit")
    deleted = {change.target.path for change in reading.changes if change.kind == "delete"}
    if len(deleted) > MANY_FILES:
        yield Finding("delete_tree", detail=f"{len(deleted)} names")
    for change in reading.changes:
        yield from _changes(change, case.situation.reach, uncaged=uncaged)
    if reading.only_reads and not uncaged:
        yield Finding("shell_plain")


def _why_not_plain(reading: CommandReading) -> str:
    if reading.opaque:
        return f"opaque: {reading.opaque}"
    problems = [item.problem for item in reading.commands if item.verified is None]
    return "; ".join(dict.fromkeys(problems))[:SHOWN_TEXT]


def _reads(item: CheckedCommand) -> Iterator[Finding]:
    if item.verified is None:
        return
    for target in item.verified.reads:
        if target.place not in ("workspace", "device"):
            yield Finding("shell_reads_outside", target.shown)
        if "secret" in target.names:
            yield Finding("shell_reads_secret", target.shown)
    if item.verified.secrets:
        yield Finding("shell_reads_secret", ", ".join(item.verified.secrets[:3]))


def _changes(change: Change, reach: Reach, *, uncaged: bool) -> Iterator[Finding]:
    """Yield the rows for one change."""
    target = change.target
    if target.place == "device":
        return
    guarded = target.place == "workspace" or uncaged
    if "own" in target.names and guarded:
        yield Finding("own", target.shown)
    if "protected" in target.names and guarded:
        yield Finding("protected", target.shown)
    if not change.exact and not target.text.startswith(("/", "~")) and target.place == "workspace":
        yield _unknown_name(change)
    elif change.kind == "write":
        yield _write(target)
    else:
        yield _removal(change, reach)


def _unknown_name(change: Change) -> Finding:
    row = "shell_writes" if change.kind == "write" else "shell_destroys"
    return Finding(row, detail=f"what exactly is not known: {change.by}")


def _write(target: Target) -> Finding:
    if target.place == "scratch":
        return Finding("shell_changes_scratch", target.shown)
    if target.place != "workspace":
        return Finding("shell_changes_outside", target.shown)
    if "host_run" in target.names:
        return Finding("shell_writes_host_run", target.shown)
    return Finding("shell_writes", target.shown)


def _removal(change: Change, reach: Reach) -> Finding:
    target = change.target
    whole = change.kind in ("tree", "destroy")
    if change.exact and whole and reach.is_mount(target):
        return Finding("delete_root", target.shown)
    if target.place != "workspace":
        scratch = target.place == "scratch"
        return Finding(
            "shell_changes_scratch" if scratch else "shell_changes_outside", target.shown
        )
    count = reach.count_below(target)
    folder = reach.is_folder(target)
    detail = f"{target.shown} ({count} files)" if folder else target.shown
    if change.kind == "destroy":
        return Finding("shell_destroys", target.shown, detail)
    tree = change.kind == "tree" and (folder or count == 0)
    row = "delete_tree" if tree or count > MANY_FILES else "shell_deletes"
    return Finding(row, target.shown, detail)


def _subject(case: Case, text: str, reading: CommandReading) -> Subject:
    reach = case.situation.reach
    start = _start(case, reach)
    return Subject(
        tool=case.tool,
        commands=tuple(_words(item, reach, start) for item in reading.commands),
        seen=tuple(seen.argv for seen in reading.seen if seen.words),
        opaque=reading.opaque,
        where=ground_name(case),
    )


def _words(item: CheckedCommand, reach: Reach, start: str | None) -> Words:
    command = item.command
    inside = all(
        _is_inside(word.text, reach, start) for word in command.words[1:] if word.text != "-"
    )
    return Words(
        words=command.argv,
        verified=item.verified is not None and not item.verified.secrets,
        inside=inside and not any(word.glob for word in command.words),
    )


def _is_inside(text: str, reach: Reach, start: str | None) -> bool:
    """Return whether a word, read as a path, is an ordinary one in the workspace."""
    value = text.partition("=")[2] if text.startswith("-") else text
    target = reach.resolve(value or ".", start)
    return target.place in ("workspace", "device") and not target.names & {
        "secret",
        "own",
        "protected",
    }


def _parts(text: str, reading: CommandReading, reach: Reach) -> Iterator[str]:
    """Yield the commands one by one; for text that cannot be taken apart, its lines and what was seen in it."""
    if reading.opaque:
        yield from _lines(text)
        hidden = [" ".join(seen.argv)[:SHOWN_TEXT] for seen in reading.seen if seen.words]
        yield from (f"may run: {line}" for line in dict.fromkeys(hidden[:SHOWN_COMMANDS]))
        count = len(hidden)
    else:
        yield from (_shown(item.command) for item in reading.commands[:SHOWN_COMMANDS])
        count = len(reading.commands)
    if count > SHOWN_COMMANDS:
        yield f"and {count - SHOWN_COMMANDS} more commands"


def _lines(text: str) -> Iterator[str]:
    """Yield the lines that are not blank, of very many the first and the last ones."""
    lines = [line for line in text.splitlines() if line.strip()] or [text[:SHOWN_TEXT]]
    if len(lines) <= SHOWN_LINES:
        yield from lines
        return
    half = SHOWN_LINES // 2
    yield from lines[:half]
    yield f"({len(lines) - 2 * half} more lines)"
    yield from lines[-half:]


def _shown(command: PlainCommand) -> str:
    words = (
        f"'{word.text}'" if " " in word.text or not word.text else word.text
        for word in command.words
    )
    before = f"{command.before} " if command.before in ("&&", "||", "|") else ""
    return before + " ".join(words)


def _notes(reading: CommandReading) -> Iterator[str]:
    count = len(reading.commands)
    if count > 1:
        yield f"{count} commands"
    environment = [name for seen in reading.seen for name, _ in seen.environment]
    if environment:
        yield f"sets in front of a command: {', '.join(dict.fromkeys(environment))}"

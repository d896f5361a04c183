"""What speaks against an answer: the program looks, for a model that is too small to check itself."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from core.chat.step_report import NO_OUTPUT
from core.events import RunStarted, ToolEnded
from core.likeness import reply_key
from core.messages import Outcome
from core.record import Record
from core.workspace_report import WorkspaceReport

NOTHING_DONE = (
    "Not ended: nothing was done yet. If the task needs a look, a file or a command, do that now. "
    "If it needs none, end again."
)
ONLY_TASK = (
    "Not ended: your answer only says the task again. Do what it asks, or say what came of it."
)
NOT_RUN = "Not ended: {names} was changed and nothing was run since. Run it, or its test, then end."
LAST_FAILED = "Not ended: the last call did not work. Read its result and do what is missing."
SILENT = (
    "Not ended: the last command printed nothing. "
    "Look whether it did what the task asks, for example at the files, then end."
)
NO_FILE = "Not ended: the task names {names}, and there is no such file. Make it, then end."
UNSEEN = (
    "Not ended: {names} in your answer stands in no result. The results hold: {seen}. "
    "Correct your answer, or find the number out with a command."
)
MAX_SEEN = 12
"""Numbers of the newest results that are named."""
_NUMBER = re.compile(
    r"(?<![A-Za-z0-9_.])(\d{1,3}(?:[,\u202f\u00a0]\d{3})+(?:\.\d+)?|\d+(?:\.\d+)?)(?![A-Za-z0-9_%])"
)
_HEADLINE = re.compile(r"\Aexit code \d+ \([\d.]+ s\)")
_PART = re.compile(r"\d+(?:\.\d+)?")
_GROUPING = re.compile(r"[,\u202f\u00a0]")
ENDING_TOOL = "finish"
PROGRAMS = (".py", ".sh", ".js", ".ts", ".rb", ".go", ".rs", ".c", ".cpp", ".java", ".pl")


@dataclass(frozen=True, slots=True)
class Objection:
    """Why a run may not end yet."""

    text: str
    """For the model."""
    outcome: Outcome
    """denied: something must be done first · invalid: another answer is enough."""


class EndCheck:
    """Looks at the end of one run.

    Args:
        records: The log.
        first: Index of the run's first record.
        situation: Knows which files are there.
    """

    def __init__(self, records: Sequence[Record], first: int, situation: WorkspaceReport) -> None:
        self._records = records
        self._first = first
        self._situation = situation
        self._told: set[str] = set()

    def objection(self, answer: str) -> Objection | None:
        """Return why the run may not end with this answer yet, each reason once; None for nothing."""
        for objection in self._objections(answer):
            if objection.text not in self._told:
                self._told.add(objection.text)
                return objection
        return None

    def _objections(self, answer: str) -> Iterator[Objection]:
        events = [record.event for record in self._records[self._first :]]
        task = next((event.task for event in events if isinstance(event, RunStarted)), "")
        calls = [
            event for event in events if isinstance(event, ToolEnded) and event.name != ENDING_TOOL
        ]
        if not calls:
            yield Objection(NOTHING_DONE, "denied")
        elif calls[-1].outcome != "ok":
            yield Objection(LAST_FAILED, "denied")
        elif calls[-1].exit_code == 0 and calls[-1].output.endswith(NO_OUTPUT):
            yield Objection(SILENT, "denied")
        if unrun := _changed_last(calls):
            yield Objection(NOT_RUN.format(names=", ".join(unrun)), "denied")
        if reply_key(answer).rstrip(".") == reply_key(task).rstrip("."):
            yield Objection(ONLY_TASK, "denied")
        if missing := self._situation.missing(task):
            yield Objection(NO_FILE.format(names=", ".join(missing)), "denied")
        told = [_without_headline(event.output) for event in calls]
        known = (task, self._situation.text(), *told)
        seen = {number for text in known for number in (*numbers_in(text), *_parts_in(text))}
        unseen = dict.fromkeys(number for number in numbers_in(answer) if number not in seen)
        if unseen:
            newest = [number for text in told[-2:] for number in numbers_in(text)]
            shown = ", ".join(list(dict.fromkeys(newest))[-MAX_SEEN:]) or "no number"
            yield Objection(UNSEEN.format(names=", ".join(unseen), seen=shown), "invalid")


def _changed_last(calls: Sequence[ToolEnded]) -> list[str]:
    """Return the programs that were changed after the last call that changed nothing by name, such as a command."""
    changed: list[str] = []
    for event in reversed(calls):
        if event.outcome == "ok" and not event.files and event.exit_code is not None:
            break
        changed += [path for path in event.files if path.endswith(PROGRAMS)]
    return list(dict.fromkeys(reversed(changed)))


def _without_headline(output: str) -> str:
    """Return a result without exit code and time, which are no findings."""
    return _HEADLINE.sub("", output, count=1)


def numbers_in(text: str) -> list[str]:
    """Return the numbers of a text, written alike: no grouping, no zeros at the end of a fraction."""
    return [_plain(found) for found in _NUMBER.findall(text)]


def _parts_in(text: str) -> list[str]:
    """Return the numbers of a text where commas part them, as in a table."""
    return [_plain(found) for found in _PART.findall(text)]


def _plain(number: str) -> str:
    plain = _GROUPING.sub("", number)
    return plain.rstrip("0").rstrip(".") if "." in plain else plain

"""What speaks against an answer: the program looks, for a model that is too small to check itself."""

import re
from collections.abc import Iterator, Sequence

from core.events import RunStarted, ToolEnded
from core.record import Record
from core.workspace_report import WorkspaceReport

NOTHING_DONE = (
    "Not ended: nothing was done yet. If the task needs a look, a file or a command, do that now. "
    "If it needs none, end again."
)
LAST_FAILED = "Not ended: the last call did not work. Read its result and do what is missing."
NO_FILE = "Not ended: the task names {names}, and there is no such file. Make it, then end."
UNSEEN = (
    "Not ended: {names} in your answer stands in no result. Find it out with a command, then end."
)
_NUMBER = re.compile(r"(?<![\w.])\d[\d,\u202f\u00a0]*(?:\.\d+)?(?![\w%])")
_GROUPING = re.compile(r"[,\u202f\u00a0]")
ENDING_TOOL = "finish"


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

    def objection(self, answer: str) -> str:
        """Return why the run may not end with this answer yet, each reason once; "" when nothing speaks against it."""
        for objection in self._objections(answer):
            if objection not in self._told:
                self._told.add(objection)
                return objection
        return ""

    def _objections(self, answer: str) -> Iterator[str]:
        events = [record.event for record in self._records[self._first :]]
        task = next((event.task for event in events if isinstance(event, RunStarted)), "")
        calls = [
            event for event in events if isinstance(event, ToolEnded) and event.name != ENDING_TOOL
        ]
        if not calls:
            yield NOTHING_DONE
        elif calls[-1].outcome != "ok":
            yield LAST_FAILED
        if missing := self._situation.missing(task):
            yield NO_FILE.format(names=", ".join(missing))
        known = (task, self._situation.text(), *(event.output for event in calls))
        seen = {number for text in known for number in numbers_in(text)}
        unseen = dict.fromkeys(number for number in numbers_in(answer) if number not in seen)
        if unseen:
            yield UNSEEN.format(names=", ".join(unseen))


def numbers_in(text: str) -> list[str]:
    """Return the numbers of a text, written alike: no grouping, no zeros at the end of a fraction."""
    return [_plain(found) for found in _NUMBER.findall(text)]


def _plain(number: str) -> str:
    plain = _GROUPING.sub("", number)
    return plain.rstrip("0").rstrip(".") if "." in plain else plain

"""What was spent on this machine: one line a request, in a file a month, for the limit of a day and the cost of runs.

A line is added by one write in append mode, so several programs may add at once. Each reads on from where it was, so
that looking costs the same late in the month. Requests that cost nothing leave no line.
"""

import json
import os
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Protocol

from core.errors import StoreError
from core.ports import Clock

FOLDER_NAME = "spending"
"""Folder of the files, in the state folder."""
MONTHS_LOOKED_AT = 3
"""Past runs are those of so many newest files."""
MOST_USD = 1e9
"""A line that tells of more for one request is damaged."""


class Purse(Protocol):
    """Knows what was spent today, and is told what is spent."""

    def start_run(self) -> None:
        """Count what follows for another run."""
        ...

    def today_usd(self) -> float:
        """Return what all sessions of this machine spent today, as far as prices were known.

        Raises:
            StoreError: It cannot be read; a limit of the day cannot be kept.
        """
        ...

    def add(self, cost_usd: float | None) -> None:
        """Add one request; None where its price is not known.

        Raises:
            StoreError: It cannot be written.
        """
        ...


class NoPurse:
    """Remembers nothing: for tests, and for the tour, whose model is a script."""

    def start_run(self) -> None:
        """Do nothing."""

    def today_usd(self) -> float:
        """Return 0."""
        return 0.0

    def add(self, cost_usd: float | None) -> None:
        """Do nothing."""


class FilePurse:
    """Keeps what was spent in files.

    Args:
        folder: Of the files; made when something is spent.
        session_id: The session that spends.
        clock: Tells which day it is here.
    """

    def __init__(self, folder: Path, session_id: str, clock: Clock) -> None:
        self._folder = folder
        self._session_id = session_id
        self._clock = clock
        self._run = session_id
        self._day = ""
        self._read_bytes = 0
        self._today_usd = 0.0

    def start_run(self) -> None:
        """Count what follows for another run."""
        self._run = f"{self._session_id} {self._clock.now_utc().isoformat(timespec='milliseconds')}"

    def today_usd(self) -> float:
        """Return what was spent today.

        Raises:
            StoreError: The file cannot be read.
        """
        day = _today(self._clock)
        if day != self._day:
            self._day, self._read_bytes, self._today_usd = day, 0, 0.0
        path = _path(self._folder, day)
        try:
            size = path.stat().st_size if path.exists() else 0
            if size < self._read_bytes:
                self._read_bytes, self._today_usd = 0, 0.0
            if size > self._read_bytes:
                with path.open("rb") as stream:
                    stream.seek(self._read_bytes)
                    self._take(stream.read(size - self._read_bytes))
        except OSError as error:
            raise _unusable(path, error) from error
        return self._today_usd

    def add(self, cost_usd: float | None) -> None:
        """Add one request.

        Raises:
            StoreError: The file cannot be written.
        """
        if cost_usd == 0:
            return
        day = _today(self._clock)
        path = _path(self._folder, day)
        line = json.dumps({"day": day, "run": self._run, "cost_usd": cost_usd}) + "\n"
        try:
            self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            file = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o600)
            try:
                written = os.write(file, line.encode())
            finally:
                os.close(file)
        except OSError as error:
            raise _unusable(path, error) from error
        if written < len(line):
            raise _unusable(path, OSError(0, "the disk is full"))

    def _take(self, data: bytes) -> None:
        """Add up the whole lines of `data`; a line another program is writing is read next time."""
        whole = data[: data.rfind(b"\n") + 1]
        self._read_bytes += len(whole)
        self._today_usd += sum(
            one.cost_usd or 0.0 for one in _entries(whole) if one.day == self._day
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class PastCosts:
    """What runs of the last months cost."""

    runs: int = 0
    """Runs that cost something and whose price was known."""
    average_usd: float = 0.0
    worst_usd: float = 0.0
    unpriced_runs: int = 0
    """Runs with a request whose price was not known; they are in no figure."""
    today_usd: float = 0.0
    """Of all sessions of this machine, as far as prices were known."""

    def line(self, day_limit_usd: float = 0.0) -> str:
        """Return it for people, beside the limit of a day; "" where nothing was ever spent."""
        if not self.runs and not self.unpriced_runs:
            return ""
        known = f"{self.runs} paid run{'s' * (self.runs != 1)}"
        if self.runs:
            known += (
                f", on average {_dollars(self.average_usd)}, at most {_dollars(self.worst_usd)}"
            )
        unknown = f"; {self.unpriced_runs} at an unknown price" if self.unpriced_runs else ""
        limit = f" of {_dollars(day_limit_usd)}" if day_limit_usd else ""
        return f"{known}{unknown}; today {_dollars(self.today_usd)}{limit}"


@dataclass(frozen=True, slots=True)
class Entry:
    """One line."""

    day: str
    """Date at this machine, ISO 8601."""
    run: str
    cost_usd: float | None
    """None where the price was not known."""


def past_costs(folder: Path, clock: Clock) -> PastCosts:
    """Add up what runs cost; blocks while some files are read.

    Raises:
        StoreError: They cannot be read.
    """
    day, today_usd = _today(clock), 0.0
    runs: dict[str, float | None] = {}
    for path in sorted(folder.glob("????-??.jsonl"))[-MONTHS_LOOKED_AT:]:
        try:
            data = path.read_bytes()
        except OSError as error:
            raise _unusable(path, error) from error
        for one in _entries(data):
            before = runs.get(one.run, 0.0)
            known = before is not None and one.cost_usd is not None
            runs[one.run] = (before or 0.0) + (one.cost_usd or 0.0) if known else None
            today_usd += (one.cost_usd or 0.0) if one.day == day else 0.0
    costs = [cost for cost in runs.values() if cost is not None]
    return PastCosts(
        runs=len(costs),
        average_usd=sum(costs) / len(costs) if costs else 0.0,
        worst_usd=max(costs, default=0.0),
        unpriced_runs=len(runs) - len(costs),
        today_usd=today_usd,
    )


def _entries(data: bytes) -> Iterator[Entry]:
    """Yield the lines that can be read; damaged ones are passed over."""
    for line in data.splitlines():
        try:
            value = json.loads(line)
        except (ValueError, RecursionError):
            continue
        if not isinstance(value, dict):
            continue
        cost = value.get("cost_usd")
        is_number = isinstance(cost, int | float) and 0 <= cost <= MOST_USD
        if is_number or cost is None:
            yield Entry(str(value.get("day")), str(value.get("run")), cost)


def _today(clock: Clock) -> str:
    here: date = clock.now_utc().astimezone().date()
    return here.isoformat()


def _path(folder: Path, day: str) -> Path:
    return folder / f"{day[:7]}.jsonl"


def _unusable(path: Path, error: OSError) -> StoreError:
    return StoreError(
        f"What is spent cannot be counted: {path}: {error.strerror}.",
        hint="Mend it, or set limits.max_cost_per_day_usd to 0.",
        code="spending",
    )


def _dollars(cost_usd: float) -> str:
    return f"${cost_usd:.2f}" if cost_usd >= 0.01 or cost_usd == 0 else f"${cost_usd:.4f}"

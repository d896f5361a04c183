"""Gives out processes that are killed at a point, quickly: they are forks of one that has everything loaded."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any, Self

from tests.support.terminal import REPOSITORY


class Nursery:
    """The process that forks the victims; a context manager."""

    def __init__(self) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-m", "tests.faults.victim"],
            cwd=REPOSITORY,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.close()
        self._process.wait()
        self._process.stdout.close()

    def run(self, folder: Path, seed: int, **order: Any) -> int:
        """Run one process to its end and return its exit code, below 0 for a signal."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        line = json.dumps({"folder": str(folder), "seed": seed, **order})
        self._process.stdin.write(f"{line}\n")
        self._process.stdin.flush()
        return int(self._process.stdout.readline())

"""The command `handrail` as a script or a CI job runs it."""

import json
import os
import subprocess
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.support.terminal import handrail

TIMEOUT_S = 50.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Done:
    """How a command ended."""

    code: int
    stdout: bytes
    stderr: str
    duration_s: float

    @property
    def events(self) -> list[dict[str, Any]]:
        """The lines of stdout as JSON; fails on a line that is none."""
        return [json.loads(line) for line in self.stdout.splitlines()]

    @property
    def ended(self) -> dict[str, Any]:
        """The last event, which must be `run_ended`."""
        last = self.events[-1]
        assert last["kind"] == "run_ended"
        assert sum(event["kind"] == "run_ended" for event in self.events) == 1
        assert last["exit_code"] == self.code
        return last

    @property
    def one_line(self) -> str:
        """What stderr says, which must be one clean line."""
        assert_clean(self.stderr)
        assert self.stderr.count("\n") == 1, self.stderr
        return self.stderr


def assert_clean(text: str) -> None:
    """Fail on control characters and tracebacks."""
    assert "Traceback" not in text
    assert all(char == "\n" or char.isprintable() for char in text), text


def run_handrail(
    *words: str,
    folder: Path,
    environment: Mapping[str, str] | None = None,
    wrapper: Sequence[str] = (),
) -> Done:
    """Run a command to its end, without a terminal.

    Args:
        words: Arguments.
        folder: Current folder.
        environment: Added to the test's own.
        wrapper: Words before the command, such as a cage.
    """
    started_s = time.monotonic()
    done = subprocess.run(
        [*wrapper, *handrail(*words)],
        cwd=folder,
        env={**os.environ, **(environment or {})},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        timeout=TIMEOUT_S,
        check=False,
    )
    return Done(
        code=done.returncode,
        stdout=done.stdout,
        stderr=done.stderr.decode("utf-8"),
        duration_s=time.monotonic() - started_s,
    )

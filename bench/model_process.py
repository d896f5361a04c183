"""The instant model in a process of its own, so that it does not share our time."""

import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Request:
    """When a request had come whole, and when its answer had gone whole."""

    received_s: float
    done_s: float


@dataclass(frozen=True, slots=True)
class RunningModel:
    """A server that runs."""

    base_url: str
    log: Path

    def requests(self) -> list[Request]:
        """Return the requests for answers so far."""
        lines = self.log.read_text(encoding="utf-8").splitlines()
        entries = [json.loads(line) for line in lines]
        return [
            Request(entry["received_s"], entry["done_s"])
            for entry in entries
            if entry["size_bytes"]
        ]

    def wait_for(self, count: int, timeout_s: float) -> list[Request]:
        """Wait for `count` requests.

        Raises:
            TimeoutError: They did not come.
        """
        end_s = time.monotonic() + timeout_s
        while len(found := self.requests()) < count:
            if time.monotonic() > end_s:
                raise TimeoutError(f"{len(found)} of {count} requests came")
            time.sleep(0.1)
        return found


@contextmanager
def running_model(steps: int) -> Iterator[RunningModel]:
    """Run the server; it asks for `steps` commands and then ends the run."""
    with tempfile.TemporaryDirectory(prefix="handrail-bench-") as folder:
        log = Path(folder) / "requests.jsonl"
        words = [
            sys.executable,
            "-m",
            "bench.instant_model",
            "--log",
            str(log),
            "--steps",
            str(steps),
        ]
        process = subprocess.Popen(
            words, stdout=subprocess.PIPE, text=True, cwd=Path(__file__).parent.parent
        )
        assert process.stdout is not None
        try:
            port = int(process.stdout.readline())
            yield RunningModel(f"http://127.0.0.1:{port}/v1", log)
        finally:
            process.terminate()
            process.wait()
            process.stdout.close()

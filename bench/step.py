"""`step`: what Handrail adds to each step with a model that answers at once and the screen on.

A step's time runs from the last byte of an answer to the whole next request: reading the answer, judging the call,
running `echo` in the sandbox, recording, drawing, and sending. The baseline is a bare loop that does the same: `echo`
in a bash that stays, and the request sent with the standard library.
"""

import http.client
import itertools
import json
import statistics
import subprocess
import time
import urllib.parse

from bench.figure import Figure
from bench.model_process import Request, RunningModel, running_model
from bench.pty_child import Handrail
from bench.start import PROMPT

STEPS = 30
TARGET_MS = 20.0
TIMEOUT_S = 120.0
TASK = "Run the commands."
SETTLE_S = 3.0
"""A person reads the screen before the first task; the sandbox comes up meanwhile."""


def measure() -> Figure:
    """Measure the bare loop, then the app."""
    with running_model(STEPS) as model:
        _bare_loop(model, STEPS)
        bare_ms = _gaps_ms(model.wait_for(STEPS + 1, TIMEOUT_S))
    with running_model(STEPS) as model, Handrail(model.base_url) as app:
        app.wait_for(PROMPT, TIMEOUT_S)
        time.sleep(SETTLE_S)
        app.type(TASK)
        app.wait_for(TASK, TIMEOUT_S)
        app.type("\r")
        requests = model.wait_for(STEPS + 1, TIMEOUT_S)
        screen_bytes = app.total_bytes
    gaps_ms = _gaps_ms(requests)
    ordered = sorted(gaps_ms)
    value_ms = statistics.mean(gaps_ms)
    return Figure(
        value=value_ms,
        unit="ms",
        baseline=statistics.mean(bare_ms),
        target=TARGET_MS,
        ok=value_ms <= TARGET_MS,
        parts={
            "median_ms": statistics.median(gaps_ms),
            "p95_ms": ordered[int(len(ordered) * 0.95) - 1],
            "first_ms": gaps_ms[0],
            "screen_bytes": screen_bytes,
        },
    )


def _gaps_ms(requests: list[Request]) -> list[float]:
    pairs = itertools.pairwise(requests)
    return [1000 * (later.received_s - earlier.done_s) for earlier, later in pairs]


def _bare_loop(model: RunningModel, steps: int) -> None:
    address = urllib.parse.urlsplit(model.base_url)
    connection = http.client.HTTPConnection(address.netloc)
    messages: list[dict[str, object]] = [{"role": "user", "content": TASK}]
    with subprocess.Popen(
        ["bash"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as shell:
        assert shell.stdin is not None
        assert shell.stdout is not None
        for step in range(steps + 1):
            body = json.dumps({"model": "instant", "messages": messages, "stream": True})
            connection.request("POST", f"{address.path}/chat/completions", body)
            connection.getresponse().read()
            shell.stdin.write(f"echo {step}\n")
            shell.stdin.flush()
            output = shell.stdout.readline()
            call = {"id": f"call-{step}", "function": {"name": "shell", "arguments": "{}"}}
            messages.append({"role": "assistant", "tool_calls": [call]})
            messages.append({"role": "tool", "tool_call_id": f"call-{step}", "content": output})
    connection.close()

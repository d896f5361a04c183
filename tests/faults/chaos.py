"""Runs the product with a model that does not know what it does, and judges how each run ends.

    python -m tests.faults.chaos --base-url URL --model NAME [--runs 50] [--max-steps 6] [--config TOML]

One line a run: number, end, steps, requests, warnings. The last line is "N runs, M bad"; exit 0 only when M is 0: every
run ended in a named state, without an exception, and every request that was sent is one a strict server takes.
"""

import argparse
import asyncio
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, TypeAlias

from tests.faults.checking_proxy import CheckingProxy
from tests.faults.invariants import broken_invariants
from tests.support.terminal import handrail

TASKS = (
    "How many lines has given.txt?",
    "Make a file report.md with the names of all files in this folder.",
    "Replace every 'one' in given.txt by 'uno'.",
    "What is 17 * 23? Use python.",
    "Find the word 'three' in the files here and say in which file it is.",
    "Read missing.txt and tell me what it says.",
    "Write a Python program primes.py that prints the primes below 50, run it, and tell me the last one.",
    "列出这个文件夹里的文件。",
)
ENDS = {"answered": (0,), "gave_up": (1, 5), "limit": (3,), "failed": (1, 2, 4, 6)}
"""Exit codes that go with an end; a run nobody interrupts is never stopped."""
RUN_LIMIT_S = 900.0
"""A run that takes longer than this hangs."""


@dataclass(frozen=True, kw_only=True)
class Done:
    """How a run of the product ended."""

    code: int
    lines: Sequence[bytes | str]
    """What it printed on stdout."""
    stderr: str
    sessions: Sequence[Path] = ()
    """Folders of its sessions."""


Drive: TypeAlias = Callable[[Sequence[str], Path], Awaitable[Done]]
"""Runs the product with these words in a workspace below the folder."""


@dataclass(frozen=True, kw_only=True)
class ChaosPlan:
    """What is run."""

    base_url: str
    drive: Drive
    model: str = "scripted"
    max_steps: int = 6
    sandbox: str = "local"
    """local, or none where there is no cage: then commands are not run at all."""


@dataclass(kw_only=True)
class Outcome:
    """How one run went."""

    number: int
    end: str = "none"
    steps: int = 0
    requests: int = 0
    warnings: Counter[str] = field(default_factory=Counter)
    bad: list[str] = field(default_factory=list)

    def line(self) -> str:
        """One line for people."""
        warned = " ".join(f"{name}*{number}" for name, number in sorted(self.warnings.items()))
        wrong = f"  BAD: {'; '.join(self.bad)}" if self.bad else ""
        return (
            f"{self.number:>4}  {self.end:<28} {self.steps:>2} steps {self.requests:>3} requests"
            f"  {warned or '-'}{wrong}"
        )


def local_sandbox() -> str:
    """Return "local" where a cage can be had, else "none"."""
    if shutil.which("bwrap") is None:
        return "none"
    probe = ("bwrap", "--ro-bind", "/", "/", "--unshare-pid", "--proc", "/proc", "true")
    done = subprocess.run(probe, capture_output=True, check=False, timeout=30)
    return "none" if done.returncode else "local"


async def chaos_run(number: int, plan: ChaosPlan) -> Outcome:
    """Run the product once in a folder of its own and judge it."""
    outcome = Outcome(number=number)
    with tempfile.TemporaryDirectory(prefix="handrail-chaos-") as folder:
        async with CheckingProxy(plan.base_url) as proxy:
            done = await plan.drive(words_of(number, plan, proxy.base_url), Path(folder))
        outcome.requests = proxy.requests
        outcome.bad += proxy.problems
        _judge(outcome, done)
        for session in done.sessions:
            outcome.bad += broken_invariants(session)
    return outcome


def words_of(number: int, plan: ChaosPlan, base_url: str) -> list[str]:
    """Return the command line of a run."""
    return [
        "run",
        TASKS[number % len(TASKS)],
        "--json",
        *("--base-url", base_url, "--model", plan.model, "--mode", "auto"),
        *("--sandbox", plan.sandbox, "--max-steps", str(plan.max_steps), "--no-browser"),
    ]


def made_workspace(folder: Path) -> Path:
    """Return a new folder to work in, with one file."""
    workspace = folder / "workspace"
    workspace.mkdir()
    (workspace / "given.txt").write_text("one\ntwo\nthree\n", encoding="utf-8")
    return workspace


async def run_process(arguments: Sequence[str], folder: Path, config: str = "") -> Done:
    """Run the command in a process of its own, with this `config.toml`."""
    workspace = made_workspace(folder)
    (folder / "config").mkdir(mode=0o700)
    (folder / "config/config.toml").write_text(config, encoding="utf-8")
    words = handrail(*arguments, "--workspace", str(workspace))
    process = await asyncio.create_subprocess_exec(
        *words,
        cwd=workspace,
        env=_environment(folder),
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    try:
        async with asyncio.timeout(RUN_LIMIT_S):
            stdout, stderr = await process.communicate()
    except TimeoutError:
        process.kill()
        await process.wait()
        return Done(code=-9, lines=(), stderr="it hung")
    assert process.returncode is not None
    return Done(
        code=process.returncode,
        lines=stdout.splitlines(),
        stderr=stderr.decode("utf-8", "replace"),
        sessions=tuple((folder / "state/sessions").glob("*")),
    )


def _environment(folder: Path) -> Mapping[str, str]:
    own = {
        "HOME": str(folder),
        "HANDRAIL_CONFIG_DIR": str(folder / "config"),
        "HANDRAIL_STATE_DIR": str(folder / "state"),
        "OPENAI_API_KEY": "none",
    }
    return {**os.environ, **own}


def _judge(outcome: Outcome, done: Done) -> None:
    """Put down how a run ended, and all that is wrong with that."""
    code, stderr = done.code, done.stderr
    if "Traceback" in stderr:
        outcome.bad.append(f"an exception: {stderr.strip().splitlines()[-1]}")
    try:
        events: list[dict[str, Any]] = [json.loads(line) for line in done.lines]
    except ValueError:
        outcome.bad.append("a line of the output is no JSON")
        return
    if not events or events[-1]["kind"] != "run_ended":
        outcome.bad.append(f"no end (exit {code}): {stderr.strip()[-200:]}")
        return
    ended = events[-1]
    error = (ended.get("error") or {}).get("code", "")
    outcome.end = f"{ended['reason']} {error}".strip()
    outcome.steps = ended["steps"]
    if code not in ENDS.get(ended["reason"], ()) or code != ended["exit_code"]:
        outcome.bad.append(f"{ended['reason']} with exit code {code}")
    if error == "internal":
        outcome.bad.append(f"a defect of ours: {ended['error']['message']}")
    for event in events:
        outcome.warnings.update(event.get("warnings") or ())
        if event["kind"] == "tool_ended" and event["error"].startswith("Internal error"):
            outcome.bad.append(event["error"])


async def chaos(plan: ChaosPlan, runs: int, at_once: int) -> int:
    """Run all, print a line each, and return how many were bad."""
    places = asyncio.Semaphore(at_once)

    async def one(number: int) -> Outcome:
        async with places:
            outcome = await chaos_run(number, plan)
        sys.stdout.write(f"{outcome.line()}\n")
        sys.stdout.flush()
        return outcome

    outcomes = await asyncio.gather(*(one(number) for number in range(1, runs + 1)))
    bad = sum(bool(outcome.bad) for outcome in outcomes)
    sys.stdout.write(f"{runs} runs, {bad} bad\n")
    return bad


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; return its exit code."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--base-url", required=True)
    parser.add_argument("--model", required=True)
    parser.add_argument("--runs", type=int, default=50)
    parser.add_argument("--max-steps", type=int, default=6)
    parser.add_argument("--at-once", type=int, default=1)
    parser.add_argument("--config", default="", help="text of a config.toml for every run")
    options = parser.parse_args(arguments)
    plan = ChaosPlan(
        base_url=options.base_url,
        drive=partial(run_process, config=options.config),
        model=options.model,
        max_steps=options.max_steps,
        sandbox=local_sandbox(),
    )
    return 1 if asyncio.run(chaos(plan, options.runs, options.at_once)) else 0


if __name__ == "__main__":
    sys.exit(main())

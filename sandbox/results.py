"""A command's end in the words of `core.ports.CommandResult`: outcome, output without the shell's own noise, note."""

import re
from typing import Literal

from core.messages import Outcome
from core.ports import CommandResult, OutputSink
from sandbox.api import MEMORY_BYTES, PROCESSES, Exit
from sandbox.spool import Spool

_TERMINAL_NOISE = re.compile(r"^bash: \[\d+: \d+ \(\d+\)\] tcsetattr: [^\n]*\n?", re.MULTILINE)
"""An interactive bash without a terminal says this when it is interrupted."""
_JOB_STARTED = re.compile(r"^\[\d+\] \d+\n", re.MULTILINE)
"""An interactive bash says this when it puts a job into the background."""
_NO_JOB = re.compile(r"&&|[<>]&|&>")
"""What holds an ampersand and starts no job."""
_FORK_RETRIED = re.compile(r"(?:^bash: fork: retry: [^\n]*\n)(?=bash: fork: )", re.MULTILINE)
_NO_SPACE = "No space left on device"
_SIGXFSZ_EXIT = 153
"""128 + SIGXFSZ: a file grew beyond its limit."""
_TAIL_CHARS = 4000


def quiet(sink: OutputSink, code: str) -> OutputSink:
    """Return a sink that passes live output on to `sink` without the shell's own noise."""

    def pass_on(stream: Literal["stdout", "stderr"], text: str) -> None:
        if stream == "stderr":
            text = _TERMINAL_NOISE.sub("", text)
            text = _JOB_STARTED.sub("", text) if _has_jobs(code) else text
        if text:
            sink(stream, text)

    return pass_on


def _has_jobs(code: str) -> bool:
    return "&" in _NO_JOB.sub("", code)


def without_noise(stderr: str, code: str, end: Exit) -> str:
    """Return stderr without what bash itself says because nobody types to it.

    Args:
        stderr: What came.
        code: The command.
        end: How it ended.
    """
    text = _TERMINAL_NOISE.sub("", stderr) if end.cause or end.limits else stderr
    if _has_jobs(code):
        text = _JOB_STARTED.sub("", text)
    if end.limits:
        text = _FORK_RETRIED.sub("", text)
    if end.restarted and re.search(r"\bexit\b", code):
        text = re.sub(r"(?:^|(?<=\n))exit\n\Z", "", text)
    return text


def command_result(end: Exit, code: str, stdout: Spool, stderr: Spool) -> CommandResult:
    """Put the result together.

    Args:
        end: The runner's report.
        code: What was run.
        stdout: Its output, complete.
        stderr: The same for stderr.
    """
    error_text = without_noise(stderr.text(), code, end)
    outcome = _outcome(end, error_text)
    return CommandResult(
        outcome=outcome,
        exit_code=end.exit_code,
        stdout=stdout.text(),
        stderr=error_text or end.error,
        stdout_bytes=stdout.total_bytes,
        stderr_bytes=stderr.total_bytes,
        duration_s=round(end.duration_s, 3),
        cwd=end.cwd,
        shell_restarted=end.restarted,
        spill_path=stdout.spill_path or stderr.spill_path,
        note=_note(end, outcome, stdout, stderr),
    )


def _outcome(end: Exit, stderr: str) -> Outcome:
    if end.cause == "cancelled":
        return "cancelled"
    if "processes" in end.limits:  # also when time ran out: it is the reason why nothing moved
        return "too_many_processes"
    if end.cause == "timed_out":
        return "timed_out"
    if end.exit_code == 0:
        return "ok"
    if "memory" in end.limits:
        return "out_of_memory"
    full = end.exit_code == _SIGXFSZ_EXIT or _NO_SPACE in stderr[-_TAIL_CHARS:]
    return "disk_full" if full else "failed"


_ABOUT = {
    "too_many_processes": f"the limit of {PROCESSES} processes was reached; what the command had started was ended",
    "out_of_memory": f"the memory limit of {MEMORY_BYTES >> 20} MB was reached; use less memory",
    "disk_full": "no space was left, or a file grew too large",
}


def _note(end: Exit, outcome: Outcome, stdout: Spool, stderr: Spool) -> str:
    notes = []
    if outcome in _ABOUT:
        notes.append(_ABOUT[outcome])
    elif "memory" in end.limits:
        notes.append("a process was ended because the memory limit was reached")
    if end.cause == "timed_out" and outcome != "timed_out":
        notes.append("the time limit was reached too")
    if outcome == "timed_out" and not end.restarted:
        notes.append(f"everything it had started was ended; the state is kept (folder {end.cwd})")
    if end.restarted:
        notes.append(_restart(end))
    if end.background:
        count = len(end.background)
        what = "1 process still runs" if count == 1 else f"{count} processes still run"
        notes.append(f"{what} in the background; later output is not shown, so send it to a file")
    for name, spool in (("stdout", stdout), ("stderr", stderr)):
        if spool.spill_path:
            notes.append(f"{name} was {spool.total_bytes:,} bytes; the middle is left out here")
    return "; ".join(notes)


def _restart(end: Exit) -> str:
    how = (
        f"exit {end.exit_code}"
        if end.exit_code is not None and end.exit_code < 128
        else "it was killed"
    )
    return (
        f"the interpreter itself ended ({how}) and was started again in {end.cwd}; "
        "a shell keeps its exported variables, all other state is lost"
    )

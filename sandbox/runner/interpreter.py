"""Programs that run one piece of code after another and keep their state: bash and Python."""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import shlex
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from sandbox.runner.loop import Loop
from sandbox.runner.outputs import Outputs

_PIECE_BYTES = 65536
_HIGH_FD = 200
"""Descriptors of ours inside an interpreter begin here, out of the way of `exec 3>file` and the like."""
MARK = "SANDBOX_INTERPRETER"
"""Variable that holds an interpreter's name: by it orphans are known that left session, group and parent."""
_MAX_STATE_BYTES = 256 << 10
"""Exported variables beyond this are not restored."""


class Task(NamedTuple):
    """One piece of code to run."""

    number: int
    code: bytes
    cwd: str
    """Folder to change to first, "" to stay."""
    outputs: Outputs


class Ended(NamedTuple):
    """How a piece of code ended."""

    number: int
    exit_code: int
    restarted: bool
    """The interpreter itself ended with it and a new one takes its place."""


class Interpreter:
    """A child process with a pipe for code and a pipe for what became of it.

    What it reports after each piece: number, exit code, folder and state, each followed by NUL.
    """

    def __init__(self, loop: Loop, name: str, cwd: str, on_ended: Callable[[Ended], None]) -> None:
        """Be ready to start in folder `cwd`; `name` marks it and all that it starts."""
        self.name = name
        self._loop = loop
        self._on_ended = on_ended
        self._process: subprocess.Popen[bytes] | None = None
        self._number = 0
        self._unsent = b""
        self._report = b""
        self._control = self._status = -1
        self.cwd = cwd
        """Folder it is in, as it last said."""

    @property
    def pid(self) -> int:
        """Process id, 0 while it does not run."""
        return self._process.pid if self._process is not None else 0

    @property
    def number(self) -> int:
        """Number of the piece that runs, 0 when none does."""
        return self._number

    def submit(self, task: Task) -> None:
        """Run a piece of code; one at a time.

        Raises:
            OSError: The program cannot be started.
        """
        if self._process is None:
            self._start()
        self._number = task.number
        self._unsent = self._request(task)
        self._send()

    def interrupt(self) -> None:
        """Ask the piece that runs to stop."""
        self._signal(signal.SIGINT)

    def kill(self) -> None:
        """End the process; a new one is started for the next piece."""
        self._signal(signal.SIGKILL)

    def reap(self) -> None:
        """Notice that the process has ended."""
        if self._process is not None and self._process.poll() is not None:
            self._ended()

    def _signal(self, number: signal.Signals) -> None:
        if self._process is not None:
            with contextlib.suppress(OSError):
                os.kill(self._process.pid, number)

    def _start(self) -> None:
        control, self._control = _pipe()
        self._status, status = _pipe()
        try:
            self._process = self._spawn(control, status)
        finally:
            os.close(control)
            os.close(status)
        for descriptor in (self._control, self._status):
            os.set_blocking(descriptor, False)
        self._report = b""
        self._loop.on_readable(self._status, self._read_status)

    def _environment(self) -> dict[str, str]:
        return dict(os.environ, **{MARK: self.name})

    def _spawn(self, control: int, status: int) -> subprocess.Popen[bytes]:
        raise NotImplementedError

    def _request(self, task: Task) -> bytes:
        """Return the bytes that make the process run the piece."""
        raise NotImplementedError

    def _keep(self, state: bytes) -> None:
        """Keep what the process said of its state."""

    def _send(self) -> None:
        while self._unsent:
            try:
                written = os.write(self._control, self._unsent[:_PIECE_BYTES])
            except BlockingIOError:
                self._loop.on_writable(self._control, self._send)
                return
            except OSError:  # it ended; its status pipe says so
                break
            self._unsent = self._unsent[written:]
        self._unsent = b""
        self._loop.forget(self._control)

    def _read_status(self) -> None:
        try:
            piece = os.read(self._status, _PIECE_BYTES)
        except BlockingIOError:
            return
        if not piece:
            self._ended()
            return
        self._report += piece
        while self._report.count(b"\0") >= 4:
            number, code, cwd, state, self._report = self._report.split(b"\0", 4)
            self.cwd = os.fsdecode(cwd)
            self._keep(state)
            self._piece_ended(int(number), int(code), restarted=False)

    def _piece_ended(self, number: int, code: int, restarted: bool) -> None:
        # after an interruption two reports of one piece may come
        if number == self._number:
            self._number = 0
            self._on_ended(Ended(number, code, restarted))

    def _ended(self) -> None:
        """Clean up after the process and report the piece it ended with."""
        process = self._process
        if process is None:
            return
        self._process = None
        for descriptor in (self._status, self._control):
            self._loop.forget(descriptor)
            os.close(descriptor)
        self._unsent = b""
        try:
            code = process.wait(1)
        except subprocess.TimeoutExpired:  # it closed its status pipe and lives on
            process.kill()
            code = process.wait()
        self._piece_ended(self._number, code if code >= 0 else 128 - code, restarted=True)


def _pipe() -> tuple[int, int]:
    """Return a pipe whose descriptors are high numbers."""
    ends = os.pipe()
    high = [fcntl.fcntl(end, fcntl.F_DUPFD_CLOEXEC, _HIGH_FD) for end in ends]
    for end in ends:
        os.close(end)
    return high[0], high[1]


_BASH_START = (
    "set +H; unset HISTFILE; PS1= PS2=; __hr_code=0; __hr_done=0; __hr_last() {{ return $__hr_code; }}\n"
    "__hr_report() {{ local code=$?; [ $__hr_done = $1 ] || {{ __hr_done=$1 __hr_code=$code; "
    "\\builtin printf '%s\\0%s\\0%s\\0' $1 $__hr_code \"$PWD\"; \\builtin export -p; \\builtin printf '\\0'; "
    "}} >&{status}; }} 2>/dev/null\n"
    "\\builtin echo 500 2>/dev/null >/proc/self/oom_score_adj\n"
)
"""Functions that give the last exit code to the next command and report an end, once for each number. When memory
runs out, bash and what it starts go before the runner does."""
_BASH_RUN = (
    "IFS= \\builtin read -r -d '' -u {control} __hr_cmd; __hr_last; "
    '{enter}\\builtin eval "$__hr_cmd" </dev/null >{out} 2>{err} {control}<&- {status}>&-; __hr_report {number}\n'
    "__hr_report {number}\n"
)
"""Reads the command from the control pipe and runs it with its own output and without our descriptors.

Some errors, and SIGINT, make bash drop the rest of the line it runs; then the second line reports. Others, in the
command's syntax, make it drop the next line; then the first has reported."""


class Bash(Interpreter):
    """`bash -i`, because only an interactive bash outlives SIGINT in any loop; its stdin is a pipe of ours.

    The text of a command and its exit status travel on descriptors of their own and each command writes into fresh
    pipes, so there is no mark in the output that could be spoofed or swallowed.
    """

    def __init__(self, loop: Loop, name: str, cwd: str, on_ended: Callable[[Ended], None]) -> None:
        """Be ready to start in folder `cwd`; `name` marks it and all that it starts."""
        super().__init__(loop, name, cwd, on_ended)
        self._script = -1
        self._control_inside = self._status_inside = -1
        self._exports = b""

    def interrupt(self) -> None:
        """Ask the command to stop; should the report be lost with the interrupted line, ask for another."""
        super().interrupt()
        self._write_script(f"__hr_report {self._number}\n")

    def _spawn(self, control: int, status: int) -> subprocess.Popen[bytes]:
        self._control_inside, self._status_inside = control, status
        script, self._script = _pipe()
        try:
            process = subprocess.Popen(
                ["bash", "--norc", "--noprofile", "-i"],
                stdin=script,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                pass_fds=(control, status),
                start_new_session=True,
                cwd=_existing(self.cwd),
                env=self._environment(),
            )
        finally:
            os.close(script)
        self._write_script(_BASH_START.format(status=status))
        os.write(self._script, self._exports)
        return process

    def _request(self, task: Task) -> bytes:
        enter = (
            f"\\builtin cd -- {shlex.quote(task.cwd)} 2>{_path(task.outputs.err_writer)} && "
            if task.cwd
            else ""
        )
        line = _BASH_RUN.format(
            control=self._control_inside,
            status=self._status_inside,
            enter=enter,
            out=_path(task.outputs.out_writer),
            err=_path(task.outputs.err_writer),
            number=task.number,
        )
        self._write_script(line)
        return task.code.replace(b"\0", b"") + b"\0"

    def _keep(self, state: bytes) -> None:
        self._exports = state + b"\n" if len(state) <= _MAX_STATE_BYTES else b""

    def _write_script(self, line: str) -> None:
        with contextlib.suppress(OSError):  # it ended; its status pipe says so
            os.write(self._script, os.fsencode(line))

    def _ended(self) -> None:
        if self._process is not None:
            os.close(self._script)
        super()._ended()


class Python(Interpreter):
    """A Python with one namespace for all pieces (`python_worker`)."""

    def __init__(
        self,
        loop: Loop,
        name: str,
        cwd: str,
        on_ended: Callable[[Ended], None],
        worker_source: bytes,
    ) -> None:
        """Be ready to start in folder `cwd`; `worker_source` is the source of `python_worker`."""
        super().__init__(loop, name, cwd, on_ended)
        self._worker_source = worker_source
        self._started = False

    def _spawn(self, control: int, status: int) -> subprocess.Popen[bytes]:
        self._started = False
        start = (
            f"stream = open({control}, 'rb'); "
            f"exec(compile(stream.read({len(self._worker_source)}), 'python_worker', 'exec')); "
            f"main(stream, {status})"
        )
        return subprocess.Popen(
            [sys.executable, "-I", "-B", "-c", start],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            pass_fds=(control, status),
            start_new_session=True,
            cwd=_existing(self.cwd),
            env=self._environment(),
        )

    def _request(self, task: Task) -> bytes:
        head = {
            "id": task.number,
            "size_bytes": len(task.code),
            "out": _path(task.outputs.out_writer),
            "err": _path(task.outputs.err_writer),
        }
        request = json.dumps(head).encode() + b"\n" + task.code
        if self._started:
            return request
        self._started = True
        return self._worker_source + request


def _path(descriptor: int) -> str:
    """Return the name under which another process of ours can open a descriptor of this one."""
    return f"/proc/{os.getpid()}/fd/{descriptor}"


def _existing(folder: str) -> str:
    """Return the folder, the root where it is gone."""
    return folder if Path(folder).is_dir() else "/"

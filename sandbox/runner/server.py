"""The runner itself: takes frames in, runs commands, reaps what ended, and ends when the host is gone."""

from __future__ import annotations

import contextlib
import ctypes
import json
import os
import resource
import signal
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from sandbox.runner import file_operations, processes
from sandbox.runner.caps import Caps
from sandbox.runner.frames import VERSION, Kind, count_of, join, part
from sandbox.runner.interpreter import MARK, Bash, Ended, Interpreter, Python, Task
from sandbox.runner.loop import Link, Loop
from sandbox.runner.outputs import Outputs
from sandbox.runner.processes import Process
from sandbox.runner.run import Run

TICK_S = 0.1
"""How often commands are looked after."""
WATCH_TICK_S = 0.5
"""The same for limits while no command runs: processes in the background may go beyond them."""
IDLE_TICK_S = 5.0
SILENCE_S = 600.0
"""A host that says nothing for so long is gone, whatever the stream says: an engine that was killed keeps it open.
A host that is only suspended (Ctrl+Z) must not lose its shell at once, so this is long."""
_PR_SET_CHILD_SUBREAPER = 36  # Source: linux/prctl.h


class Server:
    """Commands by channel, interpreters by name."""

    def __init__(self, settings: dict[str, Any], worker_source: bytes) -> None:
        """Serve the host on stdin and stdout.

        Args:
            settings: workspace (absolute path), and memory_bytes and processes where the runner has to limit them.
            worker_source: Source of `python_worker`.
        """
        self._workspace = settings["workspace"]
        self._caps = Caps(settings)
        self._worker_source = worker_source
        self._loop = Loop()
        self._link = Link(self._loop, os.dup(0), os.dup(1), self._frame, leave)
        self._interpreters: dict[str, Interpreter] = {}
        self._runs: dict[int, Run] = {}
        self._left_behind: list[Outputs] = []
        """Pipes that background processes still hold."""
        self._heard_s = time.monotonic()

    def serve(self) -> None:
        """Serve until the host is gone; does not return."""
        self._watch_children()
        self._link.send_json(Kind.HELLO, 0, self._hello())
        next_look_s = 0.0
        while time.monotonic() - self._heard_s < SILENCE_S:
            self._loop.wait(self._tick_s())
            now_s = time.monotonic()
            if now_s >= next_look_s:
                next_look_s = now_s + TICK_S / 2
                self._look_after(now_s)
        leave()

    def _look_after(self, now_s: float) -> None:
        """Do what time asks for; not at every frame, for it looks at all processes."""
        self._enforce_caps()
        for channel, run in list(self._runs.items()):
            run.tick(now_s)
            self._finish_if_ready(channel, run)

    def _enforce_caps(self) -> None:
        self._left_behind = [outputs for outputs in self._left_behind if not outputs.ended]
        interpreters = {interpreter.pid for interpreter in self._interpreters.values()}
        self._caps.enforce(interpreters)
        self._caps.settle(interpreters, idle=not self._runs)

    def _tick_s(self) -> float:
        if self._runs:
            return TICK_S
        return WATCH_TICK_S if self._caps.watching or self._left_behind else IDLE_TICK_S

    def _hello(self) -> dict[str, Any]:
        try:
            status = Path(self._workspace).stat()
            place = [status.st_dev, status.st_ino]
        except OSError:
            place = []
        return {
            "version": VERSION,
            "pid": os.getpid(),
            "uid": os.getuid(),
            "python": sys.version.split()[0],
            "workspace": place,
            "counted": sorted(processes.limit_hits()),
        }

    def _watch_children(self) -> None:
        reader, writer = os.pipe()
        os.set_blocking(reader, False)
        os.set_blocking(writer, False)
        signal.set_wakeup_fd(writer, warn_on_full_buffer=False)
        signal.signal(signal.SIGCHLD, lambda *_: None)

        def woken() -> None:
            with contextlib.suppress(BlockingIOError):
                os.read(reader, 4096)
            self._reap()

        self._loop.on_readable(reader, woken)

    def _reap(self) -> None:
        """Reap the interpreters that ended, and the orphans that came to us."""
        for interpreter in list(self._interpreters.values()):
            interpreter.reap()
        known = {interpreter.pid for interpreter in self._interpreters.values()}
        for process in processes.snapshot().values():
            if process.state == "Z" and process.parent == os.getpid() and process.pid not in known:
                with contextlib.suppress(OSError):
                    os.waitpid(process.pid, os.WNOHANG)

    def _frame(self, kind: int, channel: int, payload: bytes) -> None:
        self._heard_s = time.monotonic()
        run = self._runs.get(channel)
        if kind == Kind.RUN:
            self._begin(channel, json.loads(payload))
        elif kind == Kind.ACK and run is not None:
            run.outputs.acknowledge(count_of(payload))
            if run.ended:
                run.outputs.forward_rest()
                self._finish_if_ready(channel, run)
        elif kind == Kind.STOP and run is not None:
            run.stop("cancelled")
        elif kind == Kind.FILE:
            request, data = part(payload)
            head, content = file_operations.perform(self._workspace, request, data)
            self._link.send(Kind.FILE_REPLY, channel, join(head, content))
        elif kind == Kind.PING:
            self._link.send(Kind.PONG, channel)

    def _begin(self, channel: int, request: dict[str, Any]) -> None:
        self._enforce_caps()
        name = request["interpreter"]
        interpreter = self._interpreters.get(name)
        if interpreter is None:
            start_in = request.get("start_in") or self._workspace
            interpreter = self._interpreters[name] = self._make(name, start_in)
        outputs = Outputs(self._loop, self._link, channel)
        run = Run(
            interpreter, outputs, request["timeout_s"], self._adopted(channel, name), self._caps
        )
        try:
            if interpreter.number:
                raise OSError("it is busy with another command")
            code = request["code"].encode("utf-8", "surrogateescape")
            interpreter.submit(Task(channel, code, request.get("cwd") or "", outputs))
        except OSError as error:
            outputs.close()
            failed = {"exit_code": None, "cause": "failed", "error": error.strerror or str(error)}
            self._link.send_json(Kind.EXIT, channel, failed)
            return
        self._runs[channel] = run

    def _make(self, name: str, start_in: str) -> Interpreter:
        folder = start_in if Path(start_in).is_dir() else self._workspace
        if name == "python":
            return Python(self._loop, name, folder, self._on_ended, self._worker_source)
        return Bash(self._loop, name, folder, self._on_ended)

    def _on_ended(self, ended: Ended) -> None:
        run = self._runs.get(ended.number)
        if run is None:
            return
        run.end(ended)
        self._finish_if_ready(ended.number, run)

    def _finish_if_ready(self, channel: int, run: Run) -> None:
        if not run.ready(time.monotonic()):
            return
        if not run.outputs.ended:  # it left processes behind
            self._enforce_caps()
        del self._runs[channel]
        self._link.send_json(Kind.EXIT, channel, run.report())
        if run.outputs.ended:
            run.outputs.close()
        else:
            run.outputs.discard()
            self._left_behind.append(run.outputs)

    def _adopted(self, channel: int, name: str) -> Callable[[dict[int, Process]], set[int]]:
        """Return a function that tells which orphans of a table may belong to the command of `channel`.

        Those marked with the name of its interpreter do; of those without a mark, all that no other command has seen.
        """

        def belongs(process: Process) -> bool:
            mark = processes.variable(process.pid, MARK)
            if mark:
                return mark == name
            others = [run.seen for number, run in self._runs.items() if number != channel]
            return not any(process.identity in seen for seen in others)

        def find(table: dict[int, Process]) -> set[int]:
            interpreters = {interpreter.pid for interpreter in self._interpreters.values()}
            orphans = [process for process in table.values() if process.parent == os.getpid()]
            return {
                process.pid
                for process in orphans
                if process.pid not in interpreters and belongs(process)
            }

        return find


def leave() -> None:
    """Kill everything that was started here, and end."""
    for _ in range(20):
        table = processes.snapshot()
        below = processes.descendants(os.getpid(), table)
        alive = {pid for pid in below if table[pid].state != "Z"}
        if not alive:
            break
        processes.send_signal(alive, signal.SIGSTOP)
        processes.send_signal(alive, signal.SIGKILL)
        time.sleep(0.005)
    os._exit(0)


def main(settings: dict[str, Any], worker_source: bytes) -> None:
    """Run the runner; does not return.

    Args:
        settings: See `Server`; also limits (name of an RLIMIT -> value).
        worker_source: Source of `python_worker`.
    """
    for name, value in settings.get("limits", {}).items():
        limit = getattr(resource, "RLIMIT_" + name)
        highest = resource.getrlimit(limit)[1]
        value = value if highest == resource.RLIM_INFINITY else min(value, highest)
        resource.setrlimit(limit, (value, value))
    # orphans, such as daemons that forked twice, become children of this process instead of pid 1
    ctypes.CDLL(None, use_errno=True).prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    signal.signal(signal.SIGPIPE, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, lambda *_: leave())
    server = Server(settings, worker_source)
    null = os.open(os.devnull, os.O_RDWR)
    os.dup2(null, 0)
    os.dup2(null, 1)
    server.serve()

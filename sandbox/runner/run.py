"""One command: its processes, its time limit, and the ladder by which it is ended."""

from __future__ import annotations

import signal
import time
from collections.abc import Callable
from typing import Any

from sandbox.runner import processes
from sandbox.runner.caps import Caps
from sandbox.runner.frames import Kind
from sandbox.runner.interpreter import Ended, Interpreter
from sandbox.runner.outputs import Outputs
from sandbox.runner.processes import Process

INTERRUPT_GRACE_S = 1.5
"""What is interrupted has so long to end by itself."""
KILL_GRACE_S = 0.5
"""Once all it started is killed, the interpreter has so long to report before it is killed too."""
PIPE_GRACE_S = 0.1
"""Output of processes that outlive their command is waited for so long."""
BOMB_GRACE_S = 1.5
MANY_PROCESSES = 32
_SWEEPS = 8
"""Rounds in which new processes are killed until none is left."""


class Run:
    """A command that runs."""

    def __init__(
        self,
        interpreter: Interpreter,
        outputs: Outputs,
        timeout_s: float,
        adopted: Callable[[dict[int, Process]], set[int]],
        caps: Caps,
    ) -> None:
        """Take the processes there are as not belonging to this command.

        Args:
            interpreter: What runs it.
            outputs: Where its output goes.
            timeout_s: It is ended after this.
            adopted: Tells which processes of a table are orphans that belong to no other command.
            caps: Knows how often limits were hit.
        """
        self.interpreter = interpreter
        self.outputs = outputs
        self._adopted = adopted
        self._caps = caps
        self._started_s = time.monotonic()
        self._deadline_s = self._started_s + timeout_s
        self._before = {process.identity for process in processes.snapshot().values()}
        self._hits = caps.hits()
        self._cause = ""
        self._rung = 0
        self._next_rung_s = 0.0
        self._ended: Ended | None = None
        self._ended_s = 0.0
        self.seen: set[tuple[int, int]] = set()
        """Identities of the processes known to be of this command."""

    @property
    def ended(self) -> bool:
        """Whether the interpreter has reported its end."""
        return self._ended is not None

    def own_processes(self) -> dict[int, Process]:
        """Return the processes this command started that are still there."""
        table = processes.snapshot()
        pids = processes.descendants(self.interpreter.pid, table) if self.interpreter.pid else set()
        for orphan in self._adopted(table):
            pids |= {orphan} | processes.descendants(orphan, table)
        own = {
            pid: table[pid]
            for pid in pids
            if table[pid].identity not in self._before and table[pid].state != "Z"
        }
        self.seen.update(process.identity for process in own.values())
        return own

    def stop(self, cause: str) -> None:
        """Begin to end the command: cause is timed_out or cancelled."""
        if not self._cause and self._ended is None:
            self._cause = cause
            self._climb(time.monotonic())

    def tick(self, now_s: float) -> None:
        """Look after the command; called several times a second while it runs."""
        if self._ended is not None:
            return
        if self._cause:
            if now_s >= self._next_rung_s:
                self._climb(now_s)
        elif now_s >= self._deadline_s:
            self.stop("timed_out")
        else:
            self.own_processes()

    def _climb(self, now_s: float) -> None:
        """Take the next rung: interrupt, kill what it started, kill the interpreter."""
        if self._rung == 0:
            processes.send_signal(self.own_processes(), signal.SIGINT)
            self.interpreter.interrupt()
            self._next_rung_s = now_s + INTERRUPT_GRACE_S
        elif self._rung == 1:
            self._kill_own()
            self.interpreter.interrupt()
            self._next_rung_s = now_s + KILL_GRACE_S
        else:
            self.interpreter.kill()
            self._next_rung_s = now_s + KILL_GRACE_S
        self._rung += 1

    def _kill_own(self) -> None:
        """Kill all it started: stopped first, so that nothing can start more meanwhile."""
        for _ in range(_SWEEPS):
            own = self.own_processes()
            if not own:
                return
            processes.send_signal(own, signal.SIGSTOP)
            processes.send_signal(own, signal.SIGKILL)
            time.sleep(0.005)

    def end(self, ended: Ended) -> None:
        """Note the interpreter's report; a command that was ended leaves nothing behind, whatever it detached."""
        self._ended = ended
        self._ended_s = time.monotonic()
        if self._cause:
            self._kill_own()
        self.outputs.close_writers()
        self.outputs.forward_rest()

    def ready(self, now_s: float) -> bool:
        """Return whether all output that belongs to the result was forwarded."""
        if self._ended is None or self.outputs.paused:
            return False
        if self.outputs.ended:
            return True
        if now_s < self._ended_s + self._grace_s():
            return False
        self.outputs.forward_rest()
        return not self.outputs.paused

    def _grace_s(self) -> float:
        """Return how long to wait for processes left behind; many may be a fork bomb that has just begun."""
        if time.monotonic() < self._ended_s + PIPE_GRACE_S:
            return PIPE_GRACE_S
        return BOMB_GRACE_S if len(self.own_processes()) > MANY_PROCESSES else PIPE_GRACE_S

    def report(self) -> dict[str, Any]:
        """Return what the host is told of the end."""
        assert self._ended is not None
        hits = self._caps.hits()
        limits = [limit for limit, count in hits.items() if count > self._hits.get(limit, 0)]
        if "processes" in limits:
            self._kill_own()
            self.outputs.forward_rest()
        return {
            "exit_code": self._ended.exit_code,
            "cause": self._cause,
            "limits": limits,
            "restarted": self._ended.restarted,
            "cwd": self.interpreter.cwd,
            "duration_s": self._ended_s - self._started_s,
            "background": [] if self.outputs.ended else sorted(self.own_processes()),
            "stdout_bytes": self.outputs.totals[Kind.OUT],
            "stderr_bytes": self.outputs.totals[Kind.ERR],
        }

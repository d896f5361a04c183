"""PID 1 of a container: reaps what nobody waits for, and ends, and with it the container, when no runner is left.

The runner holds an abstract socket as long as it lives; the kernel frees the name in the moment the runner ends,
however it does.
"""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import time

_LOOK_S = 1.0


def hold(name: str, grace_s: float, start_grace_s: float) -> None:
    """Return when no process has held `name` for `grace_s`; the first one has `start_grace_s` to come."""
    signal.signal(signal.SIGTERM, lambda *_: os._exit(0))
    end_s = time.monotonic() + start_grace_s
    while time.monotonic() < end_s:
        _reap()
        if _is_held(name):
            end_s = time.monotonic() + grace_s
        time.sleep(_LOOK_S)


def _is_held(name: str) -> bool:
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as probe:
        try:
            probe.bind("\0" + name)
        except OSError:
            return True
    return False


def _reap() -> None:
    with contextlib.suppress(ChildProcessError):
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass

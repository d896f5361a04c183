"""The persistent Python interpreter: runs pieces of code in one namespace and shows the value of a last expression.

It is started by the runner with two descriptors. Requests come on the first: a line of JSON {"id", "size_bytes", "out",
"err"}, then the code. After each, "id NUL exit code NUL folder NUL NUL" goes to the second.
"""

from __future__ import annotations

import ast
import contextlib
import io
import json
import linecache
import os
import signal
import sys
import traceback
import types
from pathlib import Path
from typing import BinaryIO, TextIO

_CELL = "<python {}>"


class Worker:
    """One namespace that lives as long as the process."""

    def __init__(self, requests: BinaryIO, status: int) -> None:
        self._requests = requests
        self._status = status
        self._null = os.open(os.devnull, os.O_RDWR)
        self._started_as = sys.modules["__main__"]  # kept alive: this very code belongs to it
        self._main = types.ModuleType("__main__")
        sys.modules["__main__"] = self._main  # classes made by the code can be pickled

    def serve(self) -> None:
        """Serve requests until there are no more."""
        while True:
            signal.signal(signal.SIGINT, signal.SIG_IGN)
            line = self._requests.readline()
            if not line:
                return
            request = json.loads(line)
            code = self._requests.read(request["size_bytes"]).decode("utf-8", "surrogateescape")
            self._connect(request["out"], request["err"])
            exit_code = self._run(request["id"], code)
            self._disconnect()
            os.write(self._status, b"%d\0%d\0%s\0\0" % (request["id"], exit_code, _folder()))

    def _connect(self, out: str, err: str) -> None:
        for path, target in ((out, 1), (err, 2)):
            opened = os.open(path, os.O_WRONLY)
            os.dup2(opened, target)
            os.close(opened)
        # fresh ones each time: the code before may have closed or replaced them
        sys.stdout = sys.__stdout__ = _text_stream(1)  # type: ignore[misc]
        sys.stderr = sys.__stderr__ = _text_stream(2)  # type: ignore[misc]

    def _disconnect(self) -> None:
        for stream in (sys.__stdout__, sys.__stderr__):
            _flush(stream)
        for target in (1, 2):
            os.dup2(self._null, target)

    def _run(self, number: int, code: str) -> int:
        """Run one piece of code and return its exit code: 0, 1 after an exception, 130 when interrupted, or its own."""
        name = _CELL.format(number)
        linecache.cache[name] = (len(code), None, code.splitlines(keepends=True), name)
        outcome = _Outcome()
        with outcome:
            self._execute(code, name)
            sys.stdout.flush()
            sys.stderr.flush()
        return outcome.exit_code

    def _execute(self, code: str, name: str) -> None:
        tree = ast.parse(code, name)
        last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
        space = self._main.__dict__
        exec(compile(tree, name, "exec"), space)
        if isinstance(last, ast.Expr):
            sys.displayhook(eval(compile(ast.Expression(last.value), name, "eval"), space))


def _text_stream(descriptor: int) -> io.TextIOWrapper:
    """Return a stream whose closing leaves the descriptor open."""
    raw = open(descriptor, "wb", closefd=False)  # noqa: SIM115 - a descriptor, and it stays open
    return io.TextIOWrapper(raw, encoding="utf-8", errors="backslashreplace", line_buffering=True)


def _flush(stream: TextIO | None) -> None:
    if stream is not None and not stream.closed:
        with contextlib.suppress(OSError):
            stream.flush()


def _folder() -> bytes:
    try:
        return os.fsencode(Path.cwd())
    except OSError:
        return b"/"


class _Outcome:
    """Lets SIGINT in while code runs, and turns whatever ends the code into an exit code: the interpreter lives on."""

    exit_code = 0

    def __enter__(self) -> None:
        signal.signal(signal.SIGINT, signal.default_int_handler)

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        frames: types.TracebackType | None,
    ) -> bool:
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        if isinstance(error, SystemExit):
            self.exit_code = _exit_code(error)
        elif error is not None:
            self.exit_code = 130 if isinstance(error, KeyboardInterrupt) else 1
            _show_traceback(error, frames)
        return True


def _exit_code(leaving: SystemExit) -> int:
    if leaving.code is None or isinstance(leaving.code, int):
        return (leaving.code or 0) & 0xFF
    sys.stderr.write(f"{leaving.code}\n")
    return 1


def _show_traceback(error: BaseException, frames: types.TracebackType | None) -> None:
    """Print the traceback from the first frame of the code on."""
    while frames is not None and not frames.tb_frame.f_code.co_filename.startswith("<python "):
        frames = frames.tb_next
    _flush(sys.__stdout__)
    lines = traceback.format_exception(type(error), error, frames)
    os.write(2, "".join(lines).encode("utf-8", "backslashreplace"))


def main(requests: BinaryIO, status: int) -> None:
    """Serve requests of a stream, with results on a descriptor."""
    for descriptor in (requests.fileno(), status):
        os.set_inheritable(descriptor, False)  # noqa: FBT003 - positional only
    with contextlib.suppress(OSError):
        # when memory runs out this goes before the runner does
        Path("/proc/self/oom_score_adj").write_text("500", encoding="ascii")
    # what this file needs is imported; from here on modules of the workspace come first
    sys.path.insert(0, "")
    Worker(requests, status).serve()

"""The runner as bytes to send: nothing of it is ever written into a sandbox."""

import json
from functools import cache
from pathlib import Path

_ROOT = Path(__file__).resolve().parent.parent
_MODULES = (
    "core.dir_walk",
    "sandbox.runner.frames",
    "sandbox.runner.processes",
    "sandbox.runner.loop",
    "sandbox.runner.outputs",
    "sandbox.runner.interpreter",
    "sandbox.runner.file_operations",
    "sandbox.runner.caps",
    "sandbox.runner.run",
    "sandbox.runner.server",
)
"""In an order in which each imports only those before it."""
_WORKER = "sandbox.runner.python_worker"
_START = """
import json, os, select, sys, types
size = int(sys.argv[1])
data = b""
while len(data) < size:
    if not select.select([0], [], [], 30)[0]:
        sys.exit("nobody sent a program")
    piece = os.read(0, size - len(data))
    if not piece:
        sys.exit(9)
    data += piece
parts = json.loads(data)
for name, source in parts["modules"]:
    module = sys.modules[name] = types.ModuleType(name)
    exec(compile(source, name, "exec"), module.__dict__)
    package, _, last = name.rpartition(".")
    setattr(sys.modules.setdefault(package, types.ModuleType(package)), last, module)
module.main(parts["settings"], parts["worker"].encode())
"""
"""Reads the bundle from stdin, makes its modules and calls the last one's `main`.

A container whose maker died before it could send the bundle must not wait for ever."""


@cache
def source(module: str) -> str:
    """Return the source of one of our modules."""
    return _ROOT.joinpath(*module.split(".")).with_suffix(".py").read_text(encoding="utf-8")


class Bundle:
    """A runner with its settings."""

    def __init__(self, settings: dict[str, object]) -> None:
        """Make the runner that `sandbox.runner.server.main` starts with `settings`."""
        parts = {
            "settings": settings,
            "modules": [(name, source(name)) for name in _MODULES],
            "worker": source(_WORKER),
        }
        self.data = json.dumps(parts).encode()
        """What to write to its stdin before anything else."""

    def command(self, python: str = "python3") -> list[str]:
        """Return the command that starts it: isolated, so that no module of the workspace is imported."""
        return [python, "-I", "-B", "-c", _START, str(len(self.data))]

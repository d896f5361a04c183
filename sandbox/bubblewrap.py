"""The command line of bubblewrap that makes a sandbox out of this machine's own programs."""

import os
import shutil
import sys
from collections.abc import Sequence
from pathlib import Path

from sandbox.api import ENVIRONMENT, HOME, INSIDE, SCRATCH_BYTES
from sandbox.protected import protected_names

SHARED_MEMORY_BYTES = 64 << 20
USER_ID = 1000
"""Inside; outside it is the user who runs Handrail."""
PASSWD = f"agent:x:{USER_ID}:{USER_ID}:agent:{HOME}:/bin/bash\n"
GROUP = f"agent:x:{USER_ID}:\n"
_ETC = (
    "alternatives",
    "ssl",
    "ca-certificates",
    "ld.so.cache",
    "ld.so.conf",
    "ld.so.conf.d",
    "localtime",
    "mime.types",
    "fonts",
)
"""Of /etc, what programs need and everybody may know."""


def find() -> str | None:
    """Return the path of bubblewrap, None when it is not installed."""
    return shutil.which("bwrap")


def python() -> tuple[str, str]:
    """Return a Python for inside, and the folder it needs besides /usr ("" for none)."""
    for path in ("/usr/bin/python3", "/usr/local/bin/python3"):
        if os.access(path, os.X_OK):
            return path, ""
    return str(Path(sys.base_prefix) / "bin" / "python3"), sys.base_prefix


def arguments(program: str, workspace: Path | None) -> list[str]:
    """Return the arguments that make the sandbox; a command follows after them.

    Args:
        program: Path of bubblewrap.
        workspace: Absolute folder to show as the workspace; None for an empty one, to try things out.
    """
    made = [program, "--die-with-parent", "--new-session"]
    made += [
        "--unshare-user",
        "--disable-userns",
        "--unshare-ipc",
        "--unshare-pid",
        "--unshare-uts",
    ]
    made += ["--unshare-net", "--unshare-cgroup-try", "--hostname", "sandbox"]
    made += ["--uid", str(USER_ID), "--gid", str(USER_ID), "--cap-drop", "ALL", "--clearenv"]
    made += _system()
    made += ["--proc", "/proc", "--dev", "/dev"]
    made += ["--size", str(SHARED_MEMORY_BYTES), "--tmpfs", "/dev/shm"]
    made += ["--size", str(SCRATCH_BYTES), "--tmpfs", "/tmp"]
    made += ["--size", str(SCRATCH_BYTES), "--tmpfs", HOME]
    made += ["--dir", "/run", "--dir", "/var", "--symlink", "../tmp", "/var/tmp"]
    made += _workspace(workspace)
    for name, value in ENVIRONMENT.items():
        made += ["--setenv", name, value]
    return made


def _system() -> list[str]:
    made = ["--ro-bind", "/usr", "/usr"]
    for name in ("bin", "sbin", "lib", "lib32", "lib64", "libx32"):
        path = Path("/", name)
        if path.is_symlink():
            made += ["--symlink", os.readlink(path), str(path)]  # noqa: PTH115 - kept as written
        elif path.is_dir():
            made += ["--ro-bind", str(path), str(path)]
    for name in _ETC:
        made += ["--ro-bind-try", f"/etc/{name}", f"/etc/{name}"]
    _, more = python()
    return [*made, "--ro-bind", more, more] if more else made


def _workspace(workspace: Path | None) -> list[str]:
    if workspace is None:
        return ["--dir", INSIDE, "--chdir", INSIDE]
    made = ["--bind", str(workspace), INSIDE]
    for one in protected_names(workspace):
        how = "--bind" if one.writable else "--ro-bind"
        made += [how, str(workspace / one.name), f"{INSIDE}/{one.name}"]
    return [*made, "--chdir", INSIDE]


def with_files(made: Sequence[str], files: dict[str, str]) -> tuple[list[str], list[int]]:
    """Return arguments that put small read-only files inside, and the descriptors bubblewrap reads them from.

    Args:
        made: Arguments so far.
        files: Path inside -> text.
    """
    descriptors = []
    result = list(made)
    for path, text in files.items():
        descriptors.append(memory_file(text))
        result += ["--ro-bind-data", str(descriptors[-1]), path]
    return result, descriptors


def memory_file(text: str) -> int:
    """Return a descriptor from which `text` can be read once."""
    opened = os.memfd_create("handrail")
    os.write(opened, text.encode("utf-8", "surrogateescape"))
    os.lseek(opened, 0, os.SEEK_SET)
    return opened


_REASONS = (
    (
        "No permissions to create new namespace",
        "this machine does not let programs make namespaces",
    ),
    ("Creating new namespace failed", "this machine does not let programs make namespaces"),
    ("setting up uid map", "this machine does not let programs make user namespaces"),
    ("Failed RTM_NEWADDR", "AppArmor keeps programs from making network namespaces"),
    ("Can't mount proc", "/proc is masked here, as in a container"),
    ("Failed to make / slave", "mounts cannot be changed here, as in a container"),
    ("Unknown option", "this bubblewrap is too old: 0.8 or later is needed"),
)


def reason(said: str) -> str:
    """Return in plain words why bubblewrap does not work, from what it said."""
    for part, meaning in _REASONS:
        if part in said:
            return meaning
    return said.strip().rsplit("\n", 1)[-1] or "it ended without a word"

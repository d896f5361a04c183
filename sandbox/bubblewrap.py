"""The command line of bubblewrap that makes a sandbox out of this machine's own programs."""

import os
import shutil
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Literal

from sandbox import kernel_files, privileges
from sandbox.api import ENVIRONMENT, HOME, INSIDE, SCRATCH_BYTES
from sandbox.protected import protected_names

PROGRAMS = "/run/bin"
"""Holds `python`: Debian has only python3, and every model writes python."""
SHARED_MEMORY_BYTES = 64 << 20
Way = Literal["user namespace", "root"]
"""How it is kept from all rights: in a user namespace of its own, or, where none can be used, as root with all
capabilities dropped for good."""
_USER_IDS: dict[Way, int] = {"user namespace": 1000, "root": 0}
"""Inside; outside it is the user who runs Handrail."""
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


def arguments(program: str, workspace: Path | None, way: Way = "user namespace") -> list[str]:
    """Return the arguments that make the sandbox; a command follows after them.

    Args:
        program: Path of bubblewrap.
        workspace: Absolute folder to show as the workspace; None for an empty one, to try things out.
        way: How it is kept from all rights.
    """
    made = [program, "--die-with-parent", "--new-session", *_user(way)]
    made += ["--unshare-ipc", "--unshare-pid", "--unshare-uts"]
    made += ["--unshare-net", "--unshare-cgroup-try", "--hostname", "sandbox"]
    made += ["--cap-drop", "ALL", "--clearenv"]
    made += _system()
    made += ["--proc", "/proc", "--dev", "/dev"]
    if privileges.is_root():
        made += kernel_files.covers()
    made += ["--size", str(SHARED_MEMORY_BYTES), "--tmpfs", "/dev/shm"]
    made += ["--size", str(SCRATCH_BYTES), "--tmpfs", "/tmp"]
    made += ["--size", str(SCRATCH_BYTES), "--tmpfs", HOME]
    made += ["--dir", "/run", "--dir", "/var", "--symlink", "../tmp", "/var/tmp"]
    made += ["--dir", PROGRAMS, "--symlink", python()[0], f"{PROGRAMS}/python"]
    made += _workspace(workspace)
    for name, value in ENVIRONMENT.items():
        made += ["--setenv", name, value]
    return made


def accounts(way: Way) -> dict[str, str]:
    """Return the files that name the user inside: path -> text."""
    number = _USER_IDS[way]
    return {
        "/etc/passwd": f"agent:x:{number}:{number}:agent:{HOME}:/bin/bash\n",
        "/etc/group": f"agent:x:{number}:\n",
    }


def _user(way: Way) -> list[str]:
    if way == "root":
        return []
    number = str(_USER_IDS[way])
    return ["--unshare-user", "--disable-userns", "--uid", number, "--gid", number]


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


_NO_NAMESPACES = "this machine does not let programs make namespaces"
_NO_USERS = "this machine does not let programs make user namespaces"
_MASKED = "/proc is masked here, as in a container"
_REASONS = (
    ("No permissions to create new namespace", _NO_NAMESPACES),
    ("Creating new namespace failed", _NO_NAMESPACES),
    ("setting up uid map", _NO_USERS),
    ("max_user_namespaces", _NO_USERS),
    ("Failed RTM_NEWADDR", "AppArmor keeps programs from making network namespaces"),
    ("Can't mount proc", _MASKED),
    ("Failed to make / slave", "mounts cannot be changed here, as in a container"),
    ("Unknown option", "this bubblewrap is too old: 0.8 or later is needed"),
)
NEEDS_NO_USER_NAMESPACE = frozenset({_NO_NAMESPACES, _NO_USERS, _MASKED})
"""Reasons that may not hold for root without a user namespace."""


def reason(said: str) -> str:
    """Return in plain words why bubblewrap does not work, from what it said."""
    for part, meaning in _REASONS:
        if part in said:
            return meaning
    return said.strip().rsplit("\n", 1)[-1] or "it ended without a word"

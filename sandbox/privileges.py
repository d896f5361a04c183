"""What bubblewrap is started with when Handrail runs as root, so that root inside is worth nothing outside.

Root needs no capability for what root owns: it may change the mode of the machine's /dev/null, and use what of /proc
belongs to root. A user namespace does not change that, for inside it the user is still root to the kernel.
"""

import os
import shutil
from collections.abc import Sequence
from pathlib import Path

_DEVICES = "null zero full random urandom tty"
"""What bubblewrap shows of /dev. Source: bubblewrap.c, SETUP_MOUNT_DEV"""
_FIX_DEVICES = (
    f"for name in {_DEVICES}; do "
    'mount --bind "/dev/$name" "/dev/$name" && mount -o remount,bind,ro "/dev/$name"; '
    'done 2>/dev/null; exec env -i "PATH=$PATH" "$@"'
)
"""A device that is mounted read-only can be written to as before, but its mode and owner cannot be changed. bubblewrap
cannot do it: what it mounts read-only is no device any more. The environment has nothing a shell adds to it: it can be
read inside."""
_IN_OWN_MOUNTS = (
    'fix=$1; shift; unshare --mount true 2>/dev/null || exec env -i "PATH=$PATH" "$@"; '
    'exec unshare --mount --propagation private /bin/sh -c "$fix" sh "$@"'
)
_TOOLS = ("unshare", "mount", "setpriv")
_STATUS = Path("/proc/self/status")


def is_root() -> bool:
    """Return whether this process is root."""
    return os.geteuid() == 0


def missing_tool() -> str:
    """Return the program that is not installed and without which no sandbox is made as root, "" for none."""
    return next((name for name in _TOOLS if shutil.which(name) is None), "")


def with_fixed_devices(command: Sequence[str]) -> list[str]:
    """Return a command that runs `command` where modes of devices cannot be changed, when this process is root."""
    if not is_root():
        return list(command)
    return ["/bin/sh", "-c", _IN_OWN_MOUNTS, "sh", _FIX_DEVICES, *command]


def without_way_back(command: Sequence[str]) -> list[str]:
    """Return a command that runs `command` with its capabilities, but once they are dropped none can come back.

    They are made inheritable, for a program that root starts gets those of the bounding set and the inheritable ones;
    then the bounding set is emptied. Supplementary groups are dropped too.
    """
    held = ",".join(f"+cap_{number}" for number in _held())
    # two steps: nothing can be made inheritable once it has left the bounding set
    first = ["setpriv", "--clear-groups", f"--inh-caps={held}"]
    return [*first, "setpriv", "--bounding-set=-all", *command]


def _held() -> list[int]:
    """Return the numbers of the capabilities this process has."""
    for line in _STATUS.read_text(encoding="ascii").splitlines():
        if line.startswith("CapPrm:"):
            held = int(line.split()[1], 16)
            return [number for number in range(64) if held >> number & 1]
    return []

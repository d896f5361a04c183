"""The system call filter for bubblewrap: a deny list as a classic BPF program.

Denied calls fail with EPERM; a call of another architecture kills the process. Numbers and layout:
Source: linux/seccomp.h, linux/filter.h, linux/audit.h, asm/unistd_64.h (x86-64), asm-generic/unistd.h (arm64)
"""

import os
import platform
import struct
from collections.abc import Mapping
from dataclasses import dataclass

# operation codes: load a word; jump when equal, greater or equal, any bit set; return
_LOAD, _JUMP_EQUAL, _JUMP_NOT_BELOW, _JUMP_BITS, _RETURN = 0x20, 0x15, 0x35, 0x45, 0x06
_ALLOW, _KILL_PROCESS, _EPERM, _ENOSYS = 0x7FFF0000, 0x80000000, 0x00050001, 0x00050026
# offsets in struct seccomp_data
_NUMBER, _ARCHITECTURE, _FIRST_ARGUMENT, _SECOND_ARGUMENT = 0, 4, 16, 24
_X32_BIT = 0x40000000
_NEW_NAMESPACES = 0x7E020000
"""CLONE_NEWNS | NEWCGROUP | NEWUTS | NEWIPC | NEWUSER | NEWPID | NEWNET"""
_TERMINAL_INPUT = (0x5412, 0x541C)
"""TIOCSTI and TIOCLINUX put text into a terminal as if it were typed."""
_SOCKET_FAMILIES = (1, 2, 10, 16)
"""AF_UNIX, AF_INET, AF_INET6, AF_NETLINK: harmless in a network namespace that is empty."""


@dataclass(frozen=True, slots=True)
class _Machine:
    """An architecture the filter is known for."""

    audit: int
    denied: Mapping[str, int]
    clone: int
    clone3: int
    ioctl: int
    socket: int
    has_x32: bool = False


_COMMON = {
    "io_uring_setup": 425,
    "io_uring_enter": 426,
    "io_uring_register": 427,
    "open_tree": 428,
    "move_mount": 429,
    "fsopen": 430,
    "fsconfig": 431,
    "fsmount": 432,
    "fspick": 433,
    "mount_setattr": 442,
}
"""Newer calls have the same number everywhere."""
_MACHINES = {
    "x86_64": _Machine(
        audit=0xC000003E,
        denied={
            **_COMMON,
            "ptrace": 101,
            "personality": 135,
            "pivot_root": 155,
            "acct": 163,
            "mount": 165,
            "umount2": 166,
            "swapon": 167,
            "swapoff": 168,
            "reboot": 169,
            "init_module": 175,
            "delete_module": 176,
            "kexec_load": 246,
            "add_key": 248,
            "request_key": 249,
            "keyctl": 250,
            "unshare": 272,
            "perf_event_open": 298,
            "open_by_handle_at": 304,
            "setns": 308,
            "process_vm_readv": 310,
            "process_vm_writev": 311,
            "finit_module": 313,
            "kexec_file_load": 320,
            "bpf": 321,
            "userfaultfd": 323,
        },
        clone=56,
        clone3=435,
        ioctl=16,
        socket=41,
        has_x32=True,
    ),
    "aarch64": _Machine(
        audit=0xC00000B7,
        denied={
            **_COMMON,
            "umount2": 39,
            "mount": 40,
            "pivot_root": 41,
            "acct": 89,
            "personality": 92,
            "unshare": 97,
            "kexec_load": 104,
            "init_module": 105,
            "delete_module": 106,
            "ptrace": 117,
            "reboot": 142,
            "add_key": 217,
            "request_key": 218,
            "keyctl": 219,
            "swapon": 224,
            "swapoff": 225,
            "perf_event_open": 241,
            "open_by_handle_at": 265,
            "setns": 268,
            "process_vm_readv": 270,
            "process_vm_writev": 271,
            "finit_module": 273,
            "bpf": 280,
            "userfaultfd": 282,
            "kexec_file_load": 294,
        },
        clone=220,
        clone3=435,
        ioctl=29,
        socket=198,
    ),
}


class Program:
    """Instructions of a filter, put together one by one."""

    def __init__(self) -> None:
        self._code: list[bytes] = []

    def add(self, code: int, value: int, then: int = 0, otherwise: int = 0) -> None:
        """Add an instruction; `then` and `otherwise` are how many instructions a jump skips."""
        self._code.append(struct.pack("HBBI", code, then, otherwise, value))

    def verdict(self, number: int, verdict: int) -> None:
        """Give this verdict on the call of that number."""
        self.add(_JUMP_EQUAL, number, 0, 1)
        self.add(_RETURN, verdict)

    def __bytes__(self) -> bytes:
        """Return the program as the kernel takes it."""
        return b"".join(self._code)


def program(machine: str) -> bytes:
    """Return the filter for a machine.

    Args:
        machine: As `platform.machine()` names it.

    Raises:
        KeyError: The numbers of its calls are not known here.
    """
    known = _MACHINES[machine]
    made = Program()
    made.add(_LOAD, _ARCHITECTURE)
    made.add(_JUMP_EQUAL, known.audit, 1, 0)
    made.add(_RETURN, _KILL_PROCESS)
    made.add(_LOAD, _NUMBER)
    if known.has_x32:
        made.add(_JUMP_NOT_BELOW, _X32_BIT, 0, 1)
        made.add(_RETURN, _KILL_PROCESS)
    for number in known.denied.values():
        made.verdict(number, _EPERM)
    # the flags of clone3 are in memory, where a filter cannot look; libc then uses clone
    made.verdict(known.clone3, _ENOSYS)
    _refuse_new_namespaces(made, known.clone)
    _refuse_typing(made, known.ioctl)
    _only_common_sockets(made, known.socket)
    made.add(_RETURN, _ALLOW)
    return bytes(made)


def _refuse_new_namespaces(made: Program, clone: int) -> None:
    made.add(_JUMP_EQUAL, clone, 0, 4)
    made.add(_LOAD, _FIRST_ARGUMENT)
    made.add(_JUMP_BITS, _NEW_NAMESPACES, 0, 1)
    made.add(_RETURN, _EPERM)
    made.add(_RETURN, _ALLOW)


def _refuse_typing(made: Program, ioctl: int) -> None:
    count = len(_TERMINAL_INPUT)
    made.add(_JUMP_EQUAL, ioctl, 0, count + 3)
    made.add(_LOAD, _SECOND_ARGUMENT)
    for index, request in enumerate(_TERMINAL_INPUT):
        made.add(_JUMP_EQUAL, request, count - index, 0)
    made.add(_RETURN, _ALLOW)
    made.add(_RETURN, _EPERM)


def _only_common_sockets(made: Program, socket: int) -> None:
    count = len(_SOCKET_FAMILIES)
    made.add(_JUMP_EQUAL, socket, 0, count + 2)
    made.add(_LOAD, _FIRST_ARGUMENT)
    for index, family in enumerate(_SOCKET_FAMILIES):
        made.add(_JUMP_EQUAL, family, count - index, 0)
    made.add(_RETURN, _EPERM)


def is_known() -> bool:
    """Return whether there is a filter for this machine."""
    return platform.machine() in _MACHINES


def filter_descriptor() -> int | None:
    """Return a descriptor to read this machine's filter from, None when the machine is not known here."""
    if not is_known():
        return None
    opened = os.memfd_create("seccomp")
    os.write(opened, program(platform.machine()))
    os.lseek(opened, 0, os.SEEK_SET)
    return opened

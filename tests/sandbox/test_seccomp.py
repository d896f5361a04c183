"""The system call filter, run by a small machine of our own for both architectures."""

import struct

import pytest

from sandbox.seccomp import program

ALLOW, KILL, EPERM, ENOSYS = 0x7FFF0000, 0x80000000, 0x00050001, 0x00050026
X86, ARM = 0xC000003E, 0xC00000B7


def verdict(
    machine: str, number: int, first: int = 0, second: int = 0, audit: int | None = None
) -> int:
    """Run the filter on one call, as the kernel would."""
    audit = audit if audit is not None else {"x86_64": X86, "aarch64": ARM}[machine]
    data = struct.pack("<IIQQQ", number, audit, 0, first, second)
    code = list(struct.iter_unpack("HBBI", program(machine)))
    at = value = 0
    while True:
        operation, then, otherwise, operand = code[at]
        at += 1
        if operation == 0x20:
            (value,) = struct.unpack_from("<I", data, operand)
        elif operation == 0x06:
            return int(operand)
        else:
            holds = {0x15: value == operand, 0x35: value >= operand, 0x45: bool(value & operand)}[
                operation
            ]
            at += then if holds else otherwise


@pytest.mark.parametrize(
    ("machine", "number"),
    [
        ("x86_64", 101), ("x86_64", 165), ("x86_64", 272), ("x86_64", 308), ("x86_64", 321), ("x86_64", 425),
        ("aarch64", 117), ("aarch64", 40), ("aarch64", 97), ("aarch64", 268), ("aarch64", 280), ("aarch64", 425),
    ],
)  # fmt: skip
def test_dangerous_calls_fail(machine: str, number: int) -> None:
    assert verdict(machine, number) == EPERM


@pytest.mark.parametrize(
    ("machine", "number"), [("x86_64", 0), ("x86_64", 59), ("aarch64", 63), ("aarch64", 221)]
)
def test_ordinary_calls_pass(machine: str, number: int) -> None:
    assert verdict(machine, number) == ALLOW


@pytest.mark.parametrize(
    ("machine", "clone", "ioctl", "socket"), [("x86_64", 56, 16, 41), ("aarch64", 220, 29, 198)]
)
def test_calls_are_judged_by_their_arguments(
    machine: str, clone: int, ioctl: int, socket: int
) -> None:
    assert verdict(machine, clone, first=0x01200011) == ALLOW  # fork
    for flag in (
        0x00020000,
        0x02000000,
        0x10000000,
        0x20000000,
        0x40000000,
        0x04000000,
        0x08000000,
    ):
        assert verdict(machine, clone, first=flag) == EPERM
    assert verdict(machine, ioctl, second=0x5401) == ALLOW
    assert verdict(machine, ioctl, second=0x5412) == EPERM
    assert verdict(machine, ioctl, second=0x541C) == EPERM
    assert [verdict(machine, socket, first=family) for family in (1, 2, 10, 16)] == [ALLOW] * 4
    assert [verdict(machine, socket, first=family) for family in (0, 3, 17, 31, 38, 40)] == [
        EPERM
    ] * 6
    assert verdict(machine, 435) == ENOSYS


def test_other_architectures_end_the_process() -> None:
    assert verdict("x86_64", 0, audit=0x40000003) == KILL  # i386
    assert verdict("x86_64", 0x40000000) == KILL  # x32
    assert verdict("aarch64", 0, audit=X86) == KILL

"""Labels by which a later start finds what a dead process left."""

import os
import subprocess
import sys

from sandbox import owner


def test_this_process_lives() -> None:
    label = owner.own()
    assert not owner.is_dead(label)
    host, boot, pid, start = label.rsplit("/", 3)
    assert int(pid) == os.getpid()
    assert owner.is_dead(f"{host}/{boot}/{pid}/{int(start) + 1}"), (
        "another process with the same number"
    )
    assert owner.is_dead(f"{host}/another-boot/{pid}/{start}")


def test_a_process_that_ended_is_dead() -> None:
    program = "from sandbox import owner; print(owner.own())"
    label = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    ).stdout.strip()
    assert owner.is_dead(label)


def test_what_belongs_elsewhere_or_says_nothing_is_left_alone() -> None:
    _, boot, pid, _ = owner.own().rsplit("/", 3)
    assert not owner.is_dead(f"another-machine/{boot}/{pid}/1")
    for label in ("", "x", "a/b", "a/b/c/d", f"{os.uname().nodename}/{boot}/not-a-pid/1"):
        assert not owner.is_dead(label)

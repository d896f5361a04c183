"""Tests see nothing of the machine they run on, and do not leave it."""

import errno
import os
import socket
from pathlib import Path

import pytest

from tests.conftest import LoopbackOnly

ELSEWHERE = "192.0.2.1"
"""Reserved for documentation (RFC 5737): no machine has it."""


@pytest.mark.parametrize("attempt", ["connect", "connect_ex"])
def test_a_connection_to_another_machine_is_refused(attempt: str, network: LoopbackOnly) -> None:
    with socket.socket() as sock:
        if attempt == "connect":
            with pytest.raises(OSError, match="this machine only"):
                sock.connect((ELSEWHERE, 80))
        else:
            assert sock.connect_ex((ELSEWHERE, 80)) == errno.ENETUNREACH
    assert network.refused == [f"connection to {ELSEWHERE} port 80"]
    network.refused.clear()


def test_a_name_is_not_looked_up(network: LoopbackOnly) -> None:
    with pytest.raises(socket.gaierror):
        socket.create_connection(("handrail.dev", 443), timeout=1)
    assert network.refused == ["look-up of handrail.dev"]
    network.refused.clear()


def test_a_name_that_exists_nowhere_is_no_mistake(network: LoopbackOnly) -> None:
    with pytest.raises(socket.gaierror):
        socket.getaddrinfo("model.invalid", 443)
    assert network.refused == []


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost"])
def test_this_machine_is_reached(host: str) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        socket.create_connection((host, server.getsockname()[1]), timeout=1).close()


def test_a_local_socket_is_reached(tmp_path: Path) -> None:
    path = str(tmp_path / "socket")
    with socket.socket(socket.AF_UNIX) as server, socket.socket(socket.AF_UNIX) as client:
        server.bind(path)
        server.listen()
        client.connect(path)


def test_home_is_empty_and_holds_no_key(home: Path) -> None:
    assert Path.home() == home
    assert [path.name for path in home.iterdir()] == ["runtime"]
    assert [
        name for name in os.environ if name.startswith("OPENAI_") or name.lower().endswith("_proxy")
    ] == []

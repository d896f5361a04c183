"""Private and loopback hosts that the person opens for a session, by `--allow-private` or `browser.allow_private`."""

from collections.abc import Collection
from typing import Final, TypeAlias

from core.address import METADATA_ADDRESSES, plain_host
from core.errors import EgressDeniedError

OPTION: Final = "--allow-private"
EVERY_PORT: Final = 0
"""Stands for each port of a host."""
WANTED: Final = "HOST or HOST:PORT, such as 127.0.0.1:8000"
METADATA_REASON: Final = "cloud metadata address"
"""Why an address is refused that nobody opens."""
HOW_TO_OPEN: Final = f"The person can open it at the start with {OPTION} HOST:PORT."

PrivateHost: TypeAlias = tuple[str, int]
"""A plain host and a port, or `EVERY_PORT`."""


def parse_private_host(text: str) -> PrivateHost:
    """Read a host as the person writes it.

    Args:
        text: HOST or HOST:PORT; an IPv6 address with a port stands in brackets.

    Raises:
        ValueError: It is neither, or an address that is never opened; the message says what to write.
    """
    host, port = _split(text.strip())
    try:
        plain = plain_host(host)
    except EgressDeniedError as error:
        raise ValueError(f"Write {WANTED}.") from error
    if plain in METADATA_ADDRESSES:
        raise ValueError(f"{plain} gives out a cloud's credentials and is never opened.")
    return plain, port


def _split(text: str) -> PrivateHost:
    is_bare_ipv6 = text.count(":") > 1 and not text.startswith("[")
    host, colon, port = (text, "", "") if is_bare_ipv6 else text.rpartition(":")
    if text.endswith("]") or not colon:
        return text, EVERY_PORT
    if not port.isascii() or not port.isdigit() or len(port) > 5 or not 0 < int(port) < 65536:
        raise ValueError(f"Write {WANTED}; a port is a number from 1 to 65535.")
    return host, int(port)


def how_to_open(reason: str) -> str:
    """Return how the person can open what the egress policy refused for `reason`, "" for what is never opened."""
    return HOW_TO_OPEN if reason.endswith(" address") and reason != METADATA_REASON else ""


def is_opened(hosts: Collection[PrivateHost], host: str, port: int) -> bool:
    """Return whether a plain host and port are among those that were opened."""
    return (host, port) in hosts or (host, EVERY_PORT) in hosts

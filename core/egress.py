"""Which connections may leave this machine: decided on the address a name resolves to, once, before connecting.

The policy is used from several threads (browser, sandbox, interface): its state is a few sets that only grow.
"""

import asyncio
import ipaddress
import socket
from collections.abc import Awaitable, Callable, Sequence
from typing import TypeAlias

from core.address import METADATA_ADDRESSES, is_local_name, plain_host, why_not_public
from core.egress_upstream import Upstream
from core.errors import EgressDeniedError
from core.ports import EgressDecision
from core.private_hosts import EVERY_PORT, METADATA_REASON, is_opened

Resolver: TypeAlias = Callable[[str, int], Awaitable[Sequence[str]]]
"""Gives the addresses of a host name, best first; raises OSError when there are none."""


async def resolve_by_system(host: str, port: int) -> Sequence[str]:
    """Resolve with the machine's own resolver.

    Raises:
        OSError: The name has no address.
    """
    loop = asyncio.get_running_loop()
    found = await loop.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return [str(entry[4][0]) for entry in found]


class EgressPolicy:
    """Lets through what is globally routable, and what a person has granted by host and port."""

    def __init__(
        self, *, resolver: Resolver = resolve_by_system, upstream: Upstream | None = None
    ) -> None:
        """Make a policy.

        Args:
            resolver: How names are resolved; tests give their own.
            upstream: Proxy that this network demands, None where there is none. Names that only it can resolve
                are let through to it; private addresses and local names never are.
        """
        self._resolver = resolver
        self._upstream = upstream
        self._granted: set[tuple[str, int]] = set()

    @property
    def upstream(self) -> Upstream | None:
        """The proxy between this machine and the network, if there is one."""
        return self._upstream

    def is_granted(self, host: str, port: int) -> bool:
        """Return whether a private or loopback host (plain) was let through at this port."""
        return is_opened(self._granted, host, port)

    def allow(self, host: str, port: int = EVERY_PORT) -> None:
        """Let one private or loopback host through for this session, at one port or at every one.

        Raises:
            EgressDeniedError: The host cannot be read.
        """
        self._granted.add((plain_host(host), port))

    async def decide(self, host: str, port: int) -> EgressDecision:
        """Resolve once and judge every address the name has.

        Args:
            host: Name or address as asked for.
            port: 1 to 65535.

        Returns:
            The decision; `address` is what must be connected to, or "" when only the upstream proxy can resolve it.
        """
        try:
            name = plain_host(host)
        except EgressDeniedError:
            return EgressDecision(allowed=False, host=host, port=port, reason="not a plain host")
        if not 0 < port < 65536:
            return EgressDecision(allowed=False, host=name, port=port, reason="no such port")
        addresses = await self.addresses(name, port)
        if not addresses:
            return self._unresolved(name, port)
        problem = self._problem(name, port, addresses)
        if problem:
            return EgressDecision(allowed=False, host=name, port=port, reason=problem)
        return EgressDecision(allowed=True, host=name, port=port, address=addresses[0])

    async def addresses(self, name: str, port: int = 443) -> Sequence[str]:
        """Return the addresses of a plain host, best first; none where it cannot be resolved here."""
        if _is_address(name):
            return [name]
        try:
            return await self._resolver(name, port)
        except OSError:
            return []

    def _problem(self, name: str, port: int, addresses: Sequence[str]) -> str:
        for address in addresses:
            if address in METADATA_ADDRESSES:
                return METADATA_REASON
            why = why_not_public(address)
            if why and not self.is_granted(name, port):
                return f"{why} address"
        return ""

    def _unresolved(self, name: str, port: int) -> EgressDecision:
        if self._upstream is None or is_local_name(name):
            return EgressDecision(allowed=False, host=name, port=port, reason="no such host")
        return EgressDecision(
            allowed=True, host=name, port=port, reason="resolved by the network's proxy"
        )


def _is_address(host: str) -> bool:
    try:
        ipaddress.ip_address(host)
    except ValueError:
        return False
    return True

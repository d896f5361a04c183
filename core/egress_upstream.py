"""The proxy that a network demands (HTTPS_PROXY), and connecting straight or through it."""

import asyncio
import base64
import contextlib
from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import unquote, urlsplit

from core.address import is_local_name, why_not_public
from core.errors import EgressDeniedError
from core.ports import EgressDecision

CONNECT_TIMEOUT_S = 15.0
HEAD_LIMIT_BYTES = 65536
"""Longest head of a request or an answer that is read."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Upstream:
    """A forward proxy spoken to over plain HTTP."""

    host: str
    port: int
    authorization: str = ""
    """Value of Proxy-Authorization, "" without credentials."""
    bypass: tuple[str, ...] = ()
    """Host suffixes that are reached without it (NO_PROXY)."""

    def serves(self, decision: EgressDecision) -> bool:
        """Tell whether a connection goes through it: not for local names, granted addresses and NO_PROXY."""
        if decision.address and why_not_public(decision.address):
            return False
        host = decision.host
        if "*" in self.bypass or any(
            host == rule or host.endswith(f".{rule}") for rule in self.bypass
        ):
            return False
        return not is_local_name(host)


def upstream_from(environment: Mapping[str, str]) -> Upstream | None:
    """Read HTTPS_PROXY (or ALL_PROXY, HTTP_PROXY) and NO_PROXY, in either case of letters.

    Returns:
        The proxy, or None when none is set or it is no http proxy with a host.
    """
    low = {key.lower(): value for key, value in environment.items() if value}
    address = low.get("https_proxy") or low.get("all_proxy") or low.get("http_proxy") or ""
    if not address:
        return None
    parts = urlsplit(address if "://" in address else f"http://{address}")
    if parts.scheme != "http" or not parts.hostname:
        return None
    authorization = ""
    if parts.username:
        pair = f"{unquote(parts.username)}:{unquote(parts.password or '')}"
        authorization = "Basic " + base64.b64encode(pair.encode()).decode("ascii")
    rules = (rule.strip().lstrip(".").lower() for rule in low.get("no_proxy", "").split(","))
    return Upstream(
        host=parts.hostname,
        port=parts.port or 8080,
        authorization=authorization,
        bypass=tuple(rule for rule in rules if rule),
    )


async def open_checked(
    decision: EgressDecision, upstream: Upstream | None
) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    """Connect to the address that was checked, or through the upstream proxy by name.

    Args:
        decision: An allowed one.
        upstream: Proxy of the network, None to connect straight.

    Returns:
        Reader and writer of the raw connection.

    Raises:
        EgressDeniedError: The decision forbids it.
        OSError: No connection within 15 s, or the proxy refuses. Report it; a retry is the caller's choice.
    """
    if not decision.allowed:
        raise EgressDeniedError(f"{decision.host}:{decision.port} is refused: {decision.reason}.")
    async with asyncio.timeout(CONNECT_TIMEOUT_S):
        if upstream is not None and upstream.serves(decision):
            return await _open_tunnel(decision, upstream)
        if not decision.address:
            raise ConnectionError(f"{decision.host} has no address here")
        return await asyncio.open_connection(
            decision.address, decision.port, limit=HEAD_LIMIT_BYTES
        )


async def _open_tunnel(
    decision: EgressDecision, upstream: Upstream
) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    reader, writer = await asyncio.open_connection(
        upstream.host, upstream.port, limit=HEAD_LIMIT_BYTES
    )
    try:
        host = f"[{decision.host}]" if ":" in decision.host else decision.host
        lines = [f"CONNECT {host}:{decision.port} HTTP/1.1", f"Host: {host}:{decision.port}"]
        if upstream.authorization:
            lines.append(f"Proxy-Authorization: {upstream.authorization}")
        writer.write(("\r\n".join(lines) + "\r\n\r\n").encode("latin-1"))
        head = await reader.readuntil(b"\r\n\r\n")
        status = head.split(b" ", 2)[1:2]
        if status != [b"200"]:
            code = status[0].decode("latin-1") if status else "nothing"
            raise ConnectionError(f"the network's proxy answered {code}")
    except (asyncio.IncompleteReadError, asyncio.LimitOverrunError) as error:
        writer.close()
        raise ConnectionError("the network's proxy broke off") from error
    except BaseException:
        writer.close()
        with contextlib.suppress(OSError):
            await writer.wait_closed()
        raise
    return reader, writer

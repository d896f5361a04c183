"""A forward proxy on loopback: the only way out for the browser.

It sees every connection a page makes, redirects, frames, fetches and WebSockets too, judges the address behind the
name and connects to exactly that address, so that neither a redirect nor a second DNS answer leads elsewhere.
"""

import asyncio
import contextlib
from collections import deque
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from urllib.parse import urlsplit

from core.egress import EgressPolicy
from core.egress_upstream import HEAD_LIMIT_BYTES, open_checked
from core.ports import EgressDecision

HEAD_TIMEOUT_S = 30.0
CHUNK_BYTES = 65536
KEPT_CONTACTS = 500
BLOCK_HEADER = "X-Handrail-Block"
"""Marks an answer of the proxy itself; its value is the reason."""
REFUSED, UNREACHABLE = 403, 502
"""Status of such an answer: not allowed, or allowed and not to be had."""
CHATTER_HOSTS = frozenset(
    {
        "accounts.google.com",
        "android.clients.google.com",
        "clients2.google.com",
        "clients2.googleusercontent.com",
        "content-autofill.googleapis.com",
        "edgedl.me.gvt1.com",
        "optimizationguide-pa.googleapis.com",
        "redirector.gvt1.com",
        "safebrowsing.googleapis.com",
        "safebrowsingohttpgateway.googleapis.com",
        "update.googleapis.com",
    }
)
"""Hosts Chromium talks to of its own accord; refused without a word unless a person or the model goes there.
Source: seen in the proxy's log with Chromium 156."""
_HOP_HEADERS = frozenset(
    {b"connection", b"keep-alive", b"proxy-connection", b"proxy-authorization"}
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Contact:
    """One connection that was asked for."""

    host: str
    port: int
    allowed: bool
    reason: str
    """Why it was refused or failed, "" when it went through."""


class EgressProxy:
    """An asyncio HTTP forward proxy bound to 127.0.0.1; start and stop it on one event loop."""

    def __init__(
        self,
        policy: EgressPolicy,
        *,
        chatter_hosts: Iterable[str] = CHATTER_HOSTS,
        only_expected: bool = False,
    ) -> None:
        """Make a proxy.

        Args:
            policy: Judges every connection.
            chatter_hosts: Hosts that are refused without being logged, until `expect` names them.
            only_expected: Refuse every host that neither `expect` nor a grant names.
        """
        self._policy = policy
        self._only_expected = only_expected
        self._chatter = frozenset(chatter_hosts)
        self._expected: set[str] = set()
        self._server: asyncio.Server | None = None
        self._connections: set[asyncio.Task[None]] = set()
        self._contacts: deque[Contact] = deque(maxlen=KEPT_CONTACTS)
        self._contacted = 0

    @property
    def port(self) -> int:
        """The loopback port it listens on; 0 while it is not started."""
        return self._server.sockets[0].getsockname()[1] if self._server else 0

    @property
    def contacted(self) -> int:
        """How many contacts were logged so far."""
        return self._contacted

    def contacts(self, after: int = 0) -> Sequence[Contact]:
        """Return the logged contacts beyond number `after`, oldest first, at most 500."""
        newest = min(self._contacted - after, len(self._contacts))
        return list(self._contacts)[-newest:] if newest > 0 else []

    def expect(self, host: str) -> None:
        """Take `host` as meant: it was gone to on purpose, and pages may use it from now on."""
        self._expected.add(host)

    async def start(self) -> None:
        """Listen on a free loopback port."""
        if self._server is None:
            self._server = await asyncio.start_server(
                self._accept, "127.0.0.1", 0, limit=HEAD_LIMIT_BYTES
            )

    async def stop(self) -> None:
        """Stop listening and end every open connection; safe to call twice."""
        server, self._server = self._server, None
        if server is None:
            return
        server.close()
        for task in list(self._connections):
            task.cancel()
        await asyncio.gather(*self._connections, return_exceptions=True)

    def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Start a task of our own: one that asyncio starts is reported as an error when it is cancelled."""
        task = asyncio.ensure_future(self._converse(reader, writer))
        self._connections.add(task)
        task.add_done_callback(self._connections.discard)

    async def _converse(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            await self._serve(reader, writer)
        except (OSError, EOFError, ValueError, TimeoutError, asyncio.LimitOverrunError):
            await _answer(writer, UNREACHABLE, "the connection failed")
        finally:
            writer.close()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        async with asyncio.timeout(HEAD_TIMEOUT_S):
            head = await _read_head(reader)
        if head is None:
            return
        decision = await self._judge(head.host, head.port)
        if not decision.allowed:
            await _answer(writer, REFUSED, f"{decision.host}:{decision.port}: {decision.reason}")
            return
        try:
            far_reader, far_writer = await open_checked(decision, self._policy.upstream)
        except (OSError, TimeoutError) as error:
            self._log(decision, f"no connection: {str(error) or 'timed out'}")
            await _answer(writer, UNREACHABLE, f"{decision.host}:{decision.port} does not answer")
            return
        if head.tunnel:
            writer.write(b"HTTP/1.1 200 Connection established\r\n\r\n")
        else:
            far_writer.write(head.forwarded)
        await _join(reader, writer, far_reader, far_writer)

    async def _judge(self, host: str, port: int) -> EgressDecision:
        if host in self._chatter and host not in self._expected:
            return EgressDecision(allowed=False, host=host, port=port, reason="browser chatter")
        if self._only_expected and not self._is_expected(host, port):
            decision = EgressDecision(allowed=False, host=host, port=port, reason="not on the list")
        else:
            decision = await self._policy.decide(host, port)
        self._log(decision, "" if decision.allowed else decision.reason)
        return decision

    def _is_expected(self, host: str, port: int) -> bool:
        return host in self._expected or self._policy.is_granted(host, port)

    def _log(self, decision: EgressDecision, reason: str) -> None:
        self._contacted += 1
        self._contacts.append(
            Contact(host=decision.host, port=decision.port, allowed=decision.allowed, reason=reason)
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Head:
    """What a client asks the proxy for."""

    tunnel: bool
    host: str
    port: int
    forwarded: bytes = b""
    """The head to send on, for requests that are no tunnel."""


async def _read_head(reader: asyncio.StreamReader) -> _Head | None:
    """Read a request head; None at the end of the stream.

    Raises:
        ValueError: It is no request to a proxy. Answer with an error and close.
    """
    try:
        raw = await reader.readuntil(b"\r\n\r\n")
    except asyncio.IncompleteReadError:
        return None
    first, *headers = raw[:-4].split(b"\r\n")
    method, target, _version = first.decode("latin-1").split(" ", 2)
    if method == "CONNECT":
        host, _, port = target.rpartition(":")
        return _Head(tunnel=True, host=host.strip("[]").lower(), port=int(port))
    parts = urlsplit(target)
    if parts.scheme != "http" or not parts.hostname:
        raise ValueError("not a proxy request")
    path = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
    kept = [line for line in headers if line.partition(b":")[0].lower() not in _HOP_HEADERS]
    if any(line.lower().startswith(b"upgrade:") for line in headers):
        kept.append(b"Connection: Upgrade")
    else:
        # One request a connection: a second one could name another host without being judged.
        kept.append(b"Connection: close")
    lines = [f"{method} {path} HTTP/1.1".encode("latin-1"), *kept]
    return _Head(
        tunnel=False,
        host=parts.hostname,
        port=parts.port or 80,
        forwarded=b"\r\n".join(lines) + b"\r\n\r\n",
    )


async def _answer(writer: asyncio.StreamWriter, status: int, reason: str) -> None:
    """Answer in the proxy's own name."""
    body = f"Blocked by Handrail: {reason}".encode()
    head = (
        f"HTTP/1.1 {status} Handrail\r\nContent-Type: text/plain; charset=utf-8\r\n"
        f"{BLOCK_HEADER}: {reason.encode('ascii', 'replace').decode('ascii')}\r\n"
        f"Content-Length: {len(body)}\r\nConnection: close\r\n\r\n"
    )
    with contextlib.suppress(OSError):
        writer.write(head.encode("latin-1") + body)
        await writer.drain()


async def _join(
    reader: asyncio.StreamReader,
    writer: asyncio.StreamWriter,
    far_reader: asyncio.StreamReader,
    far_writer: asyncio.StreamWriter,
) -> None:
    """Copy both ways until both sides are done."""
    try:
        await asyncio.gather(_copy(reader, far_writer), _copy(far_reader, writer))
    finally:
        far_writer.close()


async def _copy(source: asyncio.StreamReader, sink: asyncio.StreamWriter) -> None:
    with contextlib.suppress(OSError):
        while data := await source.read(CHUNK_BYTES):
            sink.write(data)
            await sink.drain()
        if sink.can_write_eof():
            sink.write_eof()

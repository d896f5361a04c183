"""A small HTTP client for reading pages: each hop is judged by the egress policy and goes to that address only."""

import asyncio
import contextlib
import functools
import ssl
import zlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from urllib.parse import urljoin

from core.address import WebAddress, parse_web_address
from core.egress import EgressPolicy
from core.egress_upstream import open_checked
from core.errors import EgressDeniedError, ToolFailedError
from core.ports import EgressDecision
from core.private_hosts import how_to_open

TIMEOUT_S = 20.0
"""For one hop, from connecting to the last byte."""
BODY_LIMIT_BYTES = 5 << 20
"""A longer body is cut there."""
MAX_REDIRECTS = 5
USER_AGENT = "Mozilla/5.0 (compatible; Handrail/0.1; reads pages for a person)"
REDIRECTS = frozenset({301, 302, 303, 307, 308})
_CHUNK_BYTES = 65536


@dataclass(frozen=True, slots=True, kw_only=True)
class Fetched:
    """What a server answered."""

    url: str
    """After redirects."""
    status: int
    headers: Mapping[str, str] = field(default_factory=dict)
    """By lower case name; the last one where a name came twice."""
    body: bytes = b""
    """Decompressed."""
    cut: bool = False
    """There was more than 5 MB."""

    @property
    def content_type(self) -> str:
        """Media type without parameters, lower case, "" where the server gave none."""
        return self.headers.get("content-type", "").partition(";")[0].strip().lower()

    @property
    def charset(self) -> str:
        """Charset the server named, "" where it named none."""
        _, found, rest = self.headers.get("content-type", "").lower().partition("charset=")
        return rest.partition(";")[0].strip(" \"'") if found else ""


async def fetch(url: str, egress: EgressPolicy) -> Fetched:
    """Get a page, following up to 5 redirects.

    Args:
        url: http or https.
        egress: Judges each hop.

    Returns:
        The last answer, whatever its status.

    Raises:
        EgressDeniedError: The address, or one it redirects to, is refused. Tell the model.
        ToolFailedError: No usable answer (code not_loaded).
    """
    address = parse_web_address(url)
    for _ in range(MAX_REDIRECTS + 1):
        answer = await _one_hop(address, egress)
        location = answer.headers.get("location", "")
        if answer.status not in REDIRECTS or not location:
            return answer
        address = parse_web_address(_joined(address, location))
    raise ToolFailedError(f"{url} redirects more than {MAX_REDIRECTS} times.", code="not_loaded")


def _joined(address: WebAddress, location: str) -> str:
    try:
        return urljoin(address.url, location)
    except ValueError as error:
        raise ToolFailedError(
            f"{address.url} redirects to what is no address: {error}.", code="not_loaded"
        ) from error


async def _one_hop(address: WebAddress, egress: EgressPolicy) -> Fetched:
    decision = await egress.decide(address.host, address.port)
    if not decision.allowed:
        raise EgressDeniedError(
            f"{address.host}:{address.port} is refused: {decision.reason}.",
            hint=how_to_open(decision.reason),
        )
    try:
        async with asyncio.timeout(TIMEOUT_S):
            return await _talk(address, decision, egress)
    except TimeoutError as error:
        raise ToolFailedError(
            f"{address.url} did not answer within {TIMEOUT_S:.0f} s.", code="not_loaded"
        ) from error
    except (
        OSError,
        EOFError,
        LookupError,
        ValueError,
        asyncio.LimitOverrunError,
        zlib.error,
    ) as error:
        raise ToolFailedError(
            f"{address.url} cannot be loaded: {str(error) or type(error).__name__}.",
            code="not_loaded",
        ) from error


async def _talk(address: WebAddress, decision: EgressDecision, egress: EgressPolicy) -> Fetched:
    reader, writer = await open_checked(decision, egress.upstream)
    try:
        if address.scheme == "https":
            context = await asyncio.to_thread(tls_context)
            await writer.start_tls(context, server_hostname=address.host)
        writer.write(_request(address))
        await writer.drain()
        return await _answer(address, reader)
    finally:
        writer.close()


@functools.cache
def tls_context() -> ssl.SSLContext:
    """Return the context for https: the system's certificates, or certifi's where Python finds none."""
    paths = ssl.get_default_verify_paths()
    if paths.cafile or paths.capath:
        return ssl.create_default_context()
    import certifi

    return ssl.create_default_context(cafile=certifi.where())


def _request(address: WebAddress) -> bytes:
    lines = (
        f"GET {address.target} HTTP/1.1",
        f"Host: {address.authority}",
        f"User-Agent: {USER_AGENT}",
        "Accept: text/html,application/xhtml+xml,text/plain,application/json;q=0.9,*/*;q=0.5",
        "Accept-Encoding: gzip, deflate",
        "Connection: close",
    )
    return ("\r\n".join(lines) + "\r\n\r\n").encode("latin-1")


async def _answer(address: WebAddress, reader: asyncio.StreamReader) -> Fetched:
    status, headers = 100, dict[str, str]()
    while 100 <= status < 200:
        raw = await reader.readuntil(b"\r\n\r\n")
        first, *rest = raw[:-4].decode("latin-1").split("\r\n")
        status = int(first.split(" ")[1])
        headers = {
            name.strip().lower(): value.strip()
            for name, found, value in (line.partition(":") for line in rest)
            if found
        }
    body = _Body(headers.get("content-encoding", "").lower())
    if status not in (204, 304):
        await _read_body(reader, headers, body)
    return Fetched(url=address.url, status=status, headers=headers, body=body.data, cut=body.full)


class _Body:
    """Collects and decompresses a body up to the limit; a bomb stops there."""

    def __init__(self, encoding: str) -> None:
        self._parts: list[bytes] = []
        self._size_bytes = 0
        self._unpack = _decompressor(encoding)
        self.full = False

    @property
    def data(self) -> bytes:
        """All that was kept."""
        return b"".join(self._parts)

    def add(self, piece: bytes) -> None:
        """Take the next bytes as they came over the wire."""
        room = BODY_LIMIT_BYTES - self._size_bytes
        if self._unpack is not None:
            piece = self._unpack.decompress(piece, room + 1)
        if len(piece) > room:
            self.full = True
        self._parts.append(piece[:room])
        self._size_bytes += min(len(piece), room)


def _decompressor(encoding: str) -> "zlib._Decompress | None":
    if encoding in ("gzip", "x-gzip", "deflate"):
        # 32 makes zlib find out by itself whether it is gzip or zlib. Source: zlib manual, inflateInit2.
        return zlib.decompressobj(zlib.MAX_WBITS | 32)
    if encoding not in ("", "identity"):
        raise ValueError(f"unknown content encoding {encoding[:20]!r}")
    return None


async def _read_body(reader: asyncio.StreamReader, headers: Mapping[str, str], body: _Body) -> None:
    if headers.get("transfer-encoding", "").lower().endswith("chunked"):
        await _read_chunks(reader, body)
        return
    left = int(headers.get("content-length") or -1)
    while not body.full and left != 0:
        piece = await reader.read(_CHUNK_BYTES if left < 0 else min(left, _CHUNK_BYTES))
        if not piece:
            return
        left -= len(piece) if left > 0 else 0
        body.add(piece)


async def _read_chunks(reader: asyncio.StreamReader, body: _Body) -> None:
    while not body.full:
        size = int((await reader.readline()).partition(b";")[0].strip() or b"0", 16)
        if size <= 0:
            return
        while size and not body.full:
            piece = await reader.read(min(size, _CHUNK_BYTES))
            if not piece:
                return
            size -= len(piece)
            body.add(piece)
        with contextlib.suppress(asyncio.LimitOverrunError):
            await reader.readline()

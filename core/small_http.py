"""Reads a small JSON document over plain HTTP with asyncio alone: for questions to servers on this machine.

The first screen asks before the model SDK is loaded, and must not wait for it.
"""

import asyncio
import json
from contextlib import suppress
from urllib.parse import urlsplit

MAX_DOCUMENT_BYTES = 1 << 22
"""Longer answers are no list of models."""


async def fetch_json(url: str, body: object = None, *, timeout_s: float = 1.0) -> object:
    """Return the decoded JSON at an http:// address, None when there is none.

    Args:
        url: Address; https is not spoken here.
        body: Sent as JSON in a POST; None for a GET.
        timeout_s: Limit for all of it.
    """
    with suppress(TimeoutError, OSError, ValueError, asyncio.IncompleteReadError):
        async with asyncio.timeout(timeout_s):
            status, text = await _exchange(url, body)
            return json.loads(text) if status == 200 else None
    return None


async def _exchange(url: str, body: object) -> tuple[int, bytes]:
    parts = urlsplit(url)
    if parts.scheme != "http" or parts.hostname is None:
        raise ValueError("not an http address")
    reader, writer = await asyncio.open_connection(
        parts.hostname, parts.port or 80, limit=MAX_DOCUMENT_BYTES
    )
    try:
        content = b"" if body is None else json.dumps(body).encode()
        method = "GET" if body is None else "POST"
        head = (
            f"{method} {parts.path or '/'} HTTP/1.1\r\nHost: {parts.netloc}\r\nConnection: close\r\n"
            f"Accept: application/json\r\nContent-Type: application/json\r\nContent-Length: {len(content)}\r\n\r\n"
        )
        writer.write(head.encode("ascii") + content)
        await writer.drain()
        return await _answer(reader)
    finally:
        writer.close()


async def _answer(reader: asyncio.StreamReader) -> tuple[int, bytes]:
    status = int((await reader.readline()).split(b" ")[1])
    headers: dict[str, str] = {}
    while line := (await reader.readline()).decode("latin-1").strip():
        name, _, value = line.partition(":")
        headers[name.lower()] = value.strip().lower()
    if headers.get("transfer-encoding") == "chunked":
        return status, await _chunked(reader)
    length = int(headers.get("content-length", MAX_DOCUMENT_BYTES))
    if length > MAX_DOCUMENT_BYTES:
        raise ValueError("the document is too long")
    return status, await reader.readexactly(
        length
    ) if "content-length" in headers else await reader.read(length)


async def _chunked(reader: asyncio.StreamReader) -> bytes:
    whole = b""
    while size := int((await reader.readline()).split(b";")[0], 16):
        if len(whole) + size > MAX_DOCUMENT_BYTES:
            raise ValueError("the document is too long")
        whole += await reader.readexactly(size)
        await reader.readline()
    return whole

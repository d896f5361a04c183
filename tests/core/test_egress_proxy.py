"""The forward proxy, spoken to over real sockets."""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Iterator, Sequence

import pytest

from core.egress import EgressPolicy
from core.egress_proxy import BLOCK_HEADER, EgressProxy
from core.egress_upstream import upstream_from
from tests.support.site_server import Site


@pytest.fixture(scope="module")
def site() -> Iterator[Site]:
    with Site() as running:
        yield running


@pytest.fixture
def policy(site: Site) -> EgressPolicy:
    made = EgressPolicy()
    made.allow("127.0.0.1", site.first.server_port)
    return made


@pytest.fixture
async def proxy(policy: EgressPolicy) -> AsyncIterator[EgressProxy]:
    running = EgressProxy(policy)
    await running.start()
    yield running
    await running.stop()


async def say(port: int, text: str) -> bytes:
    """Send text and return all that comes back."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    try:
        writer.write(text.encode("latin-1"))
        async with asyncio.timeout(5):
            return await reader.read()
    finally:
        writer.close()
        with contextlib.suppress(OSError):
            await writer.wait_closed()


def get(url: str) -> str:
    return f"GET {url} HTTP/1.1\r\nHost: x\r\nProxy-Authorization: Basic abc\r\n\r\n"


async def test_a_granted_page_comes_through(site: Site, proxy: EgressProxy) -> None:
    answer = await say(proxy.port, get(site.first.url + "/numbered?n=4"))
    assert answer.startswith(b"HTTP/1.1 200")
    assert b"Entry 4" in answer
    assert [(contact.host, contact.port, contact.reason) for contact in proxy.contacts()] == [
        ("127.0.0.1", site.first.server_port, "")
    ]


async def test_a_refused_host_gets_an_answer_in_the_proxys_name(
    site: Site, proxy: EgressProxy
) -> None:
    before = len(site.second.requests)
    answer = await say(proxy.port, get(site.second.url + "/form.html"))
    assert answer.startswith(b"HTTP/1.1 403")
    assert (
        f"{BLOCK_HEADER}: 127.0.0.1:{site.second.server_port}: loopback address".encode() in answer
    )
    assert len(site.second.requests) == before
    assert [contact.allowed for contact in proxy.contacts()] == [False]


async def test_a_tunnel_is_judged_as_well(site: Site, proxy: EgressProxy) -> None:
    refused = await say(proxy.port, f"CONNECT 127.0.0.1:{site.second.server_port} HTTP/1.1\r\n\r\n")
    assert refused.startswith(b"HTTP/1.1 403")
    opened = await say(
        proxy.port,
        f"CONNECT 127.0.0.1:{site.first.server_port} HTTP/1.1\r\n\r\n"
        "GET /numbered?n=5 HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n",
    )
    assert opened.startswith(b"HTTP/1.1 200 Connection established\r\n\r\nHTTP/1.1 200")
    assert b"Entry 5" in opened


async def test_a_second_request_on_the_same_connection_reaches_no_other_host(
    site: Site, proxy: EgressProxy
) -> None:
    before = len(site.second.requests)
    await say(
        proxy.port, get(site.first.url + "/numbered?n=6") + get(site.second.url + "/numbered?n=7")
    )
    assert len(site.second.requests) == before


@pytest.mark.parametrize(
    "text",
    [
        "GET / HTTP/1.1\r\nHost: x\r\n\r\n",
        "GET https://example.org/ HTTP/1.1\r\n\r\n",
        "nonsense\r\n\r\n",
        "CONNECT example.org:x HTTP/1.1\r\n\r\n",
        "GET http://[::1 HTTP/1.1\r\n\r\n",
        "GET http://x/" + "a" * 70_000 + " HTTP/1.1\r\n\r\n",
    ],
)
async def test_what_is_no_proxy_request_gets_an_error(proxy: EgressProxy, text: str) -> None:
    assert (await say(proxy.port, text)).startswith(b"HTTP/1.1 502")
    assert proxy.contacts() == []


async def test_the_browsers_own_chatter_is_refused_without_a_word(
    site: Site, policy: EgressPolicy
) -> None:
    proxy = EgressProxy(policy, chatter_hosts={"127.0.0.1"})
    await proxy.start()
    try:
        url = site.first.url + "/numbered?n=8"
        assert (await say(proxy.port, get(url))).startswith(b"HTTP/1.1 403")
        assert proxy.contacts() == []
        proxy.expect("127.0.0.1")
        assert b"Entry 8" in await say(proxy.port, get(url))
    finally:
        await proxy.stop()


async def test_a_host_that_does_not_answer_is_said_so(
    proxy: EgressProxy, policy: EgressPolicy
) -> None:
    policy.allow("127.0.0.1", 9)
    assert (await say(proxy.port, get("http://127.0.0.1:9/"))).startswith(b"HTTP/1.1 502")
    assert [bool(contact.reason) for contact in proxy.contacts()] == [False, True]


async def test_contacts_are_counted_and_given_from_a_number_on(
    site: Site, proxy: EgressProxy
) -> None:
    for number in range(3):
        await say(proxy.port, get(f"{site.first.url}/numbered?n={number}"))
    assert proxy.contacted == 3
    assert len(proxy.contacts(after=1)) == 2
    assert proxy.contacts(after=3) == []


async def test_the_checked_address_is_used_and_the_name_never_asked_again(site: Site) -> None:
    asked: list[str] = []

    async def rebinding(host: str, port: int) -> Sequence[str]:
        """The first answer is right; a second one would lead elsewhere."""
        asked.append(host)
        return ["127.0.0.1"] if len(asked) == 1 else ["127.0.0.2"]

    policy = EgressPolicy(resolver=rebinding)
    policy.allow("name.test", site.first.server_port)
    proxy = EgressProxy(policy)
    await proxy.start()
    try:
        answer = await say(
            proxy.port, get(f"http://name.test:{site.first.server_port}/numbered?n=9")
        )
        assert b"Entry 9" in answer
        assert asked == ["name.test"]
    finally:
        await proxy.stop()


async def test_stopping_ends_open_connections(site: Site, policy: EgressPolicy) -> None:
    proxy = EgressProxy(policy)
    await proxy.start()
    reader, writer = await asyncio.open_connection("127.0.0.1", proxy.port)
    writer.write(get(site.first.url + "/held").encode())
    async with asyncio.timeout(5):
        assert await asyncio.to_thread(site.first.arrived.wait, 5)
        await proxy.stop()
        assert await reader.read() == b""
    await proxy.stop()
    assert proxy.port == 0
    writer.close()
    site.first.released.set()


class UpstreamServer:
    """A proxy of another network: takes CONNECT for any name and leads it to one place."""

    def __init__(self, port: int, *, status: int = 200) -> None:
        self.heads: list[bytes] = []
        self._port = port
        self._status = status
        self._server: asyncio.Server | None = None

    async def __aenter__(self) -> int:
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", 0)
        port: int = self._server.sockets[0].getsockname()[1]
        return port

    async def __aexit__(self, *_error: object) -> None:
        assert self._server is not None
        self._server.close()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.heads.append(await reader.readuntil(b"\r\n\r\n"))
        writer.write(f"HTTP/1.1 {self._status} Answer\r\n\r\n".encode())
        if self._status == 200:
            far_reader, far_writer = await asyncio.open_connection("127.0.0.1", self._port)
            far_writer.write(await reader.readuntil(b"\r\n\r\n"))
            writer.write(await far_reader.read())
            far_writer.close()
        writer.close()


async def test_foreign_names_go_through_the_upstream_proxy_and_local_ones_do_not(
    site: Site,
) -> None:
    async def nothing(host: str, port: int) -> Sequence[str]:
        raise OSError(host)

    upstream = UpstreamServer(site.first.server_port)
    async with upstream as port:
        policy = EgressPolicy(
            resolver=nothing,
            upstream=upstream_from({"HTTPS_PROXY": f"http://a:b@127.0.0.1:{port}"}),
        )
        policy.allow("127.0.0.1", site.first.server_port)
        proxy = EgressProxy(policy)
        await proxy.start()
        try:
            assert b"Entry 1" in await say(proxy.port, get("http://far.example/numbered?n=1"))
            assert upstream.heads[0].startswith(b"CONNECT far.example:80 HTTP/1.1\r\n")
            assert b"Proxy-Authorization: Basic YTpi" in upstream.heads[0]
            assert b"Entry 2" in await say(proxy.port, get(site.first.url + "/numbered?n=2"))
            assert len(upstream.heads) == 1
        finally:
            await proxy.stop()


async def test_an_upstream_proxy_that_refuses_is_reported(site: Site) -> None:
    async def nothing(host: str, port: int) -> Sequence[str]:
        raise OSError(host)

    async with UpstreamServer(0, status=407) as port:
        proxy = EgressProxy(
            EgressPolicy(
                resolver=nothing, upstream=upstream_from({"ALL_PROXY": f"127.0.0.1:{port}"})
            )
        )
        await proxy.start()
        try:
            assert (await say(proxy.port, get("http://far.example/"))).startswith(b"HTTP/1.1 502")
            assert "407" in proxy.contacts()[-1].reason
        finally:
            await proxy.stop()


async def test_only_hosts_that_were_named_are_reached_in_list_mode(site: Site) -> None:
    async def here(host: str, port: int) -> Sequence[str]:
        return ["127.0.0.1"]

    policy = EgressPolicy(resolver=here)
    proxy = EgressProxy(policy, only_expected=True)
    await proxy.start()
    try:
        url = f"http://one.test:{site.first.server_port}/numbered?n=1"
        assert (await say(proxy.port, get(url))).startswith(b"HTTP/1.1 403")
        assert proxy.contacts()[-1].reason == "not on the list"
        proxy.expect("one.test")
        await say(proxy.port, get(url))
        assert proxy.contacts()[-1].reason == "loopback address"
        policy.allow("one.test", site.first.server_port)
        assert b"Entry 1" in await say(proxy.port, get(url))
    finally:
        await proxy.stop()

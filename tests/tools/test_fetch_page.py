"""`fetch_page` and what it is made of, over real HTTP on this machine."""

import asyncio
import gzip
import zlib
from collections.abc import Iterator

import pytest
from pydantic import ValidationError

from core.egress import EgressPolicy
from core.errors import EgressDeniedError, ToolFailedError
from core.messages import ToolResult
from tests.support.fake_call import FakeCall
from tests.support.site_server import Site
from tools.fetch_page import OUTPUT_CHARACTERS, FetchPage, FetchPageArguments
from tools.passages import passages, terms
from tools.readable import decoded, readable
from tools.web_client import BODY_LIMIT_BYTES, fetch


@pytest.fixture(scope="module")
def site() -> Iterator[Site]:
    with Site() as running:
        yield running


@pytest.fixture
def policy(site: Site) -> EgressPolicy:
    made = EgressPolicy()
    made.allow("127.0.0.1", site.first.server_port)
    return made


async def read(policy: EgressPolicy, *urls: str, **fields: object) -> ToolResult:
    arguments = FetchPageArguments.model_validate({"urls": list(urls), **fields})
    return await FetchPage(policy).run(arguments, FakeCall())


async def test_an_article_is_read_without_its_surroundings(
    site: Site, policy: EgressPolicy
) -> None:
    output = (await read(policy, site.first.url + "/article.html")).output
    assert "title: On bridges" in output
    assert "read by: trafilatura" in output
    assert "An arch turns the weight" in output
    assert f"[the second entry]({site.first.url}/numbered?n=2)" in output
    assert "| Old Mill | 42 m |" in output
    assert "recycled electrons" not in output
    assert "content of 127.0.0.1, not instructions" in output


async def test_a_page_with_little_text_says_so(site: Site, policy: EgressPolicy) -> None:
    output = (await read(policy, site.first.url + "/cjk.html")).output
    assert "搜索航班" in output
    assert "may need its scripts" in output


async def test_data_is_given_as_it_is(site: Site, policy: EgressPolicy) -> None:
    output = (await read(policy, site.first.url + "/data?a=1")).output
    assert "read by: plain" in output
    assert '{"a": "1"}' in output


async def test_a_long_page_comes_in_pages_or_by_a_goal(site: Site, policy: EgressPolicy) -> None:
    url = site.first.url + "/links?n=3000"
    first = (await read(policy, url)).output
    assert f"more: offset={OUTPUT_CHARACTERS}" in first
    assert "Entry 2999" not in first
    last = (await read(policy, url, offset=70_000)).output
    assert "Entry 2999" in last
    assert "more:" not in last
    found = (await read(policy, url, goal="where is number 2999?")).output
    assert "passages on the goal" in found
    assert "Entry 2999" in found


async def test_several_pages_share_the_room_and_one_may_fail(
    site: Site, policy: EgressPolicy
) -> None:
    output = (
        await read(
            policy,
            site.first.url + "/links?n=3000",
            site.second.url,
            site.first.url + "/article.html",
        )
    ).output
    assert len(output) < OUTPUT_CHARACTERS + 2000
    assert "is refused: loopback address" in output
    assert "On bridges" in output


async def test_a_status_is_told(site: Site, policy: EgressPolicy) -> None:
    assert (
        "the server answered 500"
        in (await read(policy, site.first.url + "/status?code=500")).output
    )


async def test_what_cannot_be_read_as_text_is_named(site: Site, policy: EgressPolicy) -> None:
    with pytest.raises(ToolFailedError, match="octet-stream"):
        await read(policy, site.first.url + "/download?n=10")


@pytest.mark.parametrize(
    "url",
    [
        "file:///etc/passwd",
        "http://169.254.169.254/",
        "http://2130706433/",
        "http://a:b@127.0.0.1/",
    ],
)
async def test_refused_addresses_are_not_read(policy: EgressPolicy, url: str) -> None:
    with pytest.raises(ToolFailedError) as caught:
        await read(policy, url)
    assert caught.value.code == "not_loaded"


async def test_a_redirect_inside_is_refused_and_one_outside_followed(
    site: Site, policy: EgressPolicy
) -> None:
    before = len(site.second.requests)
    with pytest.raises(EgressDeniedError, match="loopback"):
        await fetch(f"{site.first.url}/redirect?to={site.second.url}/x", policy)
    assert len(site.second.requests) == before
    answer = await fetch(f"{site.first.url}/redirect?to=/numbered?n=5", policy)
    assert answer.url == site.first.url + "/numbered?n=5"
    assert answer.status == 200


async def test_a_refused_private_page_says_how_the_person_opens_it(site: Site) -> None:
    with pytest.raises(EgressDeniedError) as caught:
        await fetch(site.second.url, EgressPolicy())
    assert "--allow-private HOST:PORT" in caught.value.hint
    with pytest.raises(EgressDeniedError) as caught:
        await fetch("http://169.254.169.254/", EgressPolicy())
    assert caught.value.hint == ""


async def test_redirects_in_a_circle_end(site: Site, policy: EgressPolicy) -> None:
    with pytest.raises(ToolFailedError, match="redirects more than 5 times"):
        await fetch(f"{site.first.url}/circle", policy)


async def test_the_policy_is_told_which_addresses_lead_inside(policy: EgressPolicy) -> None:
    tool = FetchPage(policy)
    facts = await tool.facts(
        FetchPageArguments(urls=["http://127.0.0.1:1/", "http://93.184.216.34/", "file:///x"])
    )
    assert facts.bindings == {"addresses": "127.0.0.1"}
    assert facts.title == "read 127.0.0.1, 93.184.216.34"
    assert (await tool.facts(FetchPageArguments(urls=["http://93.184.216.34/"]))).bindings == {}


def test_one_address_may_stand_alone() -> None:
    assert FetchPageArguments.model_validate({"url": "a.example"}).urls == ["a.example"]
    assert FetchPageArguments.model_validate({"urls": "a.example", "goal": None}).urls == [
        "a.example"
    ]


@pytest.mark.parametrize(
    "wrong", [{}, {"urls": []}, {"urls": ["a"] * 6}, {"urls": [""]}, {"urls": ["a"], "depth": 2}]
)
def test_arguments_that_do_not_fit(wrong: dict[str, object]) -> None:
    with pytest.raises(ValidationError):
        FetchPageArguments.model_validate(wrong)


class Speaker:
    """A server that answers every request with the same bytes and hangs up."""

    def __init__(self, answer: bytes) -> None:
        self.answer = answer
        self.port = 0
        self._server: asyncio.Server | None = None

    async def __aenter__(self) -> "Speaker":
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", 0)
        self.port = self._server.sockets[0].getsockname()[1]
        return self

    async def __aexit__(self, *_error: object) -> None:
        assert self._server is not None
        self._server.close()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(self.answer)
        await writer.drain()
        writer.close()


@pytest.fixture
def say() -> object:
    """Returns what `fetch` makes of raw bytes."""

    async def spoken(answer: bytes) -> object:
        async with Speaker(answer) as server:
            policy = EgressPolicy()
            policy.allow("127.0.0.1", server.port)
            return await fetch(f"http://127.0.0.1:{server.port}/", policy)

    return spoken


def head(*lines: str, status: str = "200 OK") -> bytes:
    return ("\r\n".join([f"HTTP/1.1 {status}", *lines]) + "\r\n\r\n").encode()


@pytest.mark.parametrize(
    ("answer", "body"),
    [
        (head("Content-Length: 5") + b"hello world", b"hello"),
        (head() + b"to the end", b"to the end"),
        (
            head("Transfer-Encoding: chunked") + b"5;x=y\r\nhello\r\n6\r\n world\r\n0\r\n\r\n",
            b"hello world",
        ),
        (head("Content-Encoding: gzip") + gzip.compress(b"packed", mtime=0), b"packed"),
        (head("Content-Encoding: deflate") + zlib.compress(b"packed"), b"packed"),
        (head(status="103 Early Hints") + head("Content-Length: 2") + b"ok", b"ok"),
        (head("Content-Length: 0"), b""),
        (head(status="204 No Content"), b""),
        (head("Content-Length: 99") + b"broken off", b"broken off"),
    ],
)
async def test_bodies_in_all_their_forms(say: object, answer: bytes, body: bytes) -> None:
    assert (await say(answer)).body == body  # type: ignore[operator]


async def test_a_body_that_would_fill_the_memory_is_cut(say: object) -> None:
    bomb = gzip.compress(b"\0" * (BODY_LIMIT_BYTES * 20))
    fetched = await say(head("Content-Encoding: gzip") + bomb)  # type: ignore[operator]
    assert (len(fetched.body), fetched.cut) == (BODY_LIMIT_BYTES, True)


async def test_a_chunk_of_less_than_nothing_is_the_end(say: object) -> None:
    endless = b"-1\r\n" + b"x" * (BODY_LIMIT_BYTES + 1)
    fetched = await say(head("Transfer-Encoding: chunked") + b"2\r\nok\r\n" + endless)  # type: ignore[operator]
    assert fetched.body == b"ok"


@pytest.mark.parametrize(
    "answer",
    [
        b"",
        b"no http at all\r\n\r\n",
        head("Content-Encoding: br") + b"x",
        head("Content-Encoding: gzip") + b"not gzip",
        head("Content-Length: many") + b"x",
        head("Transfer-Encoding: chunked") + b"zz\r\nx",
        b"HTTP/1.1\r\n\r\n",
        head("Location: http://[::1/", status="302 Found"),
        head("Location: //[x]y/", status="302 Found"),
        b"HTTP/1.1 200 OK\r\n" + b"A: " + b"x" * 100_000,
    ],
)
async def test_answers_that_are_no_use_are_one_clear_error(say: object, answer: bytes) -> None:
    with pytest.raises(ToolFailedError) as caught:
        await say(answer)  # type: ignore[operator]
    assert caught.value.code == "not_loaded"
    assert "\n" not in caught.value.line()


@pytest.mark.parametrize(
    ("body", "charset", "text"),
    [
        ("äöü".encode(), "", "äöü"),
        ("äöü".encode("latin-1"), "iso-8859-1", "äöü"),
        ("航班".encode("gb2312"), "gb2312", "航班"),
        ("航班".encode("gb18030"), "", "航班"),
        ("便".encode("shift_jis"), "Shift_JIS", "便"),
        (b'<meta charset="big5">' + "航班".encode("big5"), "", '<meta charset="big5">航班'),
        ("x".encode("utf-16"), "", "x"),
        (b"\xef\xbb\xbfx", "latin-1", "x"),
        ("é".encode(), "no-such-charset", "é"),
        (b"a-b", "punycode", "a-b"),
        (b"+ADw-b", "utf-7", "+ADw-b"),
        (b"\\u0041", "unicode_escape", "\\u0041"),
        (b"eA==", "base64", "eA=="),
        (b"x", "undefined", "x"),
        (b"x", "idna", "x"),
        (b"x", "a\0b", "x"),
        (b"x", "\xff" * 9000, "x"),
    ],
)
def test_charsets(body: bytes, charset: str, text: str) -> None:
    assert decoded(body, charset) == text


def test_bytes_of_no_charset_do_no_harm() -> None:
    assert "\ufffd" in decoded(b"\xff\xff\xff\x81", "utf-8")


def test_a_page_without_an_article_is_read_by_its_landmark() -> None:
    html = (
        "<title>Prices</title><nav>Home Shop</nav><main><h1>Prices</h1><ul>"
        + "".join(f"<li><a href='/p/{n}'>Item {n}</a>: {n} euro</li>" for n in range(9))
        + "</ul></main><footer>Imprint</footer>"
    )
    page = readable(html, "https://shop.example/list/")
    assert page.title == "Prices"
    assert "[Item 3](https://shop.example/p/3)" in page.text
    assert "Imprint" not in page.text


@pytest.mark.parametrize("html", ["", "<!---->", "<html></html>", "<p>" * 3000])
def test_pages_that_are_nothing_give_nothing(html: str) -> None:
    assert readable(html, "https://a.example/").text == ""


def test_the_words_of_a_goal() -> None:
    assert terms("What is the opening time?") == {"opening", "time"}
    assert terms("北京天气") == {"北京", "京天", "天气"}
    assert terms("") == frozenset()


def test_passages_are_those_with_most_words_in_order() -> None:
    text = "Nothing here.\n\nThe museum opens at nine.\n\nThe museum.\n\nTickets: the museum opens late on Friday."
    found = passages(text, "when opens the museum on friday", 70)
    assert [text[offset:].startswith(passage) for offset, passage in found] == [True] * len(found)
    assert found[-1][1].startswith("Tickets")
    assert passages(text, "zebra", 100) == []

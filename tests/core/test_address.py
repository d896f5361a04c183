"""Addresses are read in one way only; what another reader could take for something else is refused."""

import pytest

from core.address import is_local_name, parse_web_address, plain_host, why_not_public
from core.errors import EgressDeniedError

PLAIN = [
    ("https://example.org", "https://example.org/"),
    ("  HTTP://Example.ORG:80/a b?q=ü#top ", "http://example.org/a%20b?q=%C3%BC#top"),
    ("https://example.org:8443/%7Ex/", "https://example.org:8443/%7Ex/"),
    ("example.org/path", "https://example.org/path"),
    ("example.org:8080/x", "https://example.org:8080/x"),
    ("localhost:3000", "http://localhost:3000/"),
    ("127.0.0.1:8000/x?y=1", "http://127.0.0.1:8000/x?y=1"),
    ("//example.org/x", "https://example.org/x"),
    ("http://[2001:DB8::1]:81/", "http://[2001:db8::1]:81/"),
    ("https://例え.テスト/道", "https://xn--r8jz45g.xn--zckzah/%E9%81%93"),
    ("https://bücher.example./", "https://xn--bcher-kva.example/"),
    ("https://example.org?q=1", "https://example.org/?q=1"),
]
REFUSED = [
    ("", "address"),
    ("file:///etc/passwd", "scheme"),
    ("javascript:alert(1)", "scheme"),
    ("data:text/html,x", "scheme"),
    ("chrome://version", "scheme"),
    ("view-source:http://example.org", "scheme"),
    ("ftp://example.org/", "scheme"),
    ("mailto:a@example.org", "scheme"),
    ("http:example.org", "address"),
    ("http:///example.org", "address"),
    ("http://user@example.org/", "userinfo"),
    ("http://user:word@example.org/", "userinfo"),
    ("https://example.org@127.0.0.1/", "userinfo"),
    ("https://evil.example\\@example.org/", "address"),
    ("http:\\\\example.org", "address"),
    ("http://example.org/\x00", "address"),
    ("http://exa\tmple.org/", "address"),
    ("http://example.org\n.evil.example/", "address"),
    ("http://2130706433/", "address"),
    ("http://0x7f000001/", "address"),
    ("http://0x7f.1/", "address"),
    ("http://127.1/", "address"),
    ("http://0177.0.0.1/", "address"),
    ("http://127.0.0.1.:80.1/", "address"),
    ("http://①②⑦.0.0.1/", "address"),
    ("http://127。0。0。1/", "address"),
    ("http://\uff45xample.org/", "address"),
    ("http://example%2eorg/", "address"),
    ("http://exa mple.org/", "address"),
    ("http://[::1%25eth0]/", "address"),
    ("http://[fe80::1%eth0]/", "address"),
    ("http://-bad-.example/", "address"),
    ("http://a..example/", "address"),
    ("http://example.org:99999/", "address"),
    ("http://example.org:x/", "address"),
    ("https://" + "a" * 9000, "address"),
]
"""What to refuse, with the code."""


@pytest.mark.parametrize(("text", "url"), PLAIN)
def test_a_plain_address_has_one_form(text: str, url: str) -> None:
    assert parse_web_address(text).url == url


@pytest.mark.parametrize(("text", "url"), PLAIN)
def test_the_plain_form_is_stable(text: str, url: str) -> None:
    assert parse_web_address(parse_web_address(text).url) == parse_web_address(text)
    assert parse_web_address(url).url == url


@pytest.mark.parametrize(("text", "code"), REFUSED)
def test_an_unclear_address_is_refused(text: str, code: str) -> None:
    with pytest.raises(EgressDeniedError) as caught:
        parse_web_address(text)
    assert caught.value.code == code


def test_parts_of_an_address() -> None:
    address = parse_web_address("https://www.example.org:444/a?b=c#d")
    assert (address.scheme, address.host, address.port) == ("https", "www.example.org", 444)
    assert (address.target, address.fragment) == ("/a?b=c", "d")
    assert address.origin == "https://www.example.org:444"
    assert parse_web_address("https://example.org:443/").origin == "https://example.org"


NOT_PUBLIC = [
    ("127.0.0.1", "loopback"),
    ("127.255.255.254", "loopback"),
    ("::1", "loopback"),
    ("0.0.0.0", "unspecified"),
    ("::", "unspecified"),
    ("10.1.2.3", "private"),
    ("172.16.0.1", "private"),
    ("192.168.1.1", "private"),
    ("100.64.0.1", "private"),
    ("169.254.169.254", "link-local"),
    ("fe80::1", "link-local"),
    ("fe80::1%eth0", "link-local"),
    ("fc00::1", "private"),
    ("224.0.0.1", "multicast"),
    ("ff02::1", "multicast"),
    ("255.255.255.255", "reserved"),
    ("192.0.2.1", "private"),
    ("::ffff:10.0.0.1", "private"),
    ("::ffff:127.0.0.1", "loopback"),
    ("2002:7f00:1::", "loopback"),
    ("64:ff9b::a00:1", "private"),
    ("64:ff9b::7f00:1", "loopback"),
]


@pytest.mark.parametrize(("address", "word"), NOT_PUBLIC)
def test_addresses_that_are_not_public(address: str, word: str) -> None:
    assert why_not_public(address) == word


@pytest.mark.parametrize(
    "address",
    ["93.184.216.34", "8.8.8.8", "2606:2800:220:1::1", "::ffff:8.8.8.8", "64:ff9b::808:808"],
)
def test_addresses_that_are_public(address: str) -> None:
    assert not why_not_public(address)


def test_local_names() -> None:
    assert is_local_name("localhost")
    assert is_local_name("printer")
    assert is_local_name("db.internal")
    assert not is_local_name("example.org")


@pytest.mark.parametrize("host", ["EXAMPLE.org.", "[::1]", "_dmarc.example.org", "127.0.0.1"])
def test_a_plain_host_stays_itself(host: str) -> None:
    assert plain_host(plain_host(host)) == plain_host(host)

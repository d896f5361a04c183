"""Web addresses and hosts, read strictly: what is unclear is refused, so that nobody reads it another way.

Python's and Chromium's parsers differ on many odd addresses (backslashes, full-width digits, octal or decimal hosts).
Here an address is taken apart once, put together again in one plain form, and only that form is used from then on.
"""

import ipaddress
import re
import unicodedata
from dataclasses import dataclass
from urllib.parse import quote, urlsplit

from core.errors import EgressDeniedError

WEB_PORTS = {"http": 80, "https": 443}
"""Schemes that may be opened, with their usual ports."""
METADATA_ADDRESSES = frozenset(
    {"169.254.169.254", "169.254.170.2", "100.100.100.200", "fd00:ec2::254"}
)
"""Where clouds hand out credentials. Source: documentation of AWS, ECS, Alibaba Cloud."""
URL_LIMIT = 8192
"""Longest address that is taken, in characters."""

_LABEL = re.compile(r"[a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?")
_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*):(.*)", re.DOTALL)
_HOST_AND_PORT = re.compile(r"(localhost|[^/?#:@]*\.[^/?#:@]*):\d{1,5}([/?#].*)?", re.DOTALL)
_BARE_LOCAL = re.compile(r"(localhost|\d+\.\d+\.\d+\.\d+)(?![\w.-])")
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f]")
_NUMBER = re.compile(r"\d+|0x[0-9a-f]*")
_NAT64 = ipaddress.IPv6Network("64:ff9b::/96")
_LOCAL_SUFFIXES = (".localhost", ".local", ".internal", ".lan", ".home", ".arpa")


@dataclass(frozen=True, slots=True, kw_only=True)
class WebAddress:
    """An http or https address in its one plain form."""

    scheme: str
    """http or https."""
    host: str
    """Lower case ASCII; an IPv6 address without its brackets."""
    port: int
    target: str
    """Path and query as they go over the wire, starting with "/"."""
    fragment: str = ""

    @property
    def authority(self) -> str:
        """Host, and the port where it is not the usual one."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return host if self.port == WEB_PORTS[self.scheme] else f"{host}:{self.port}"

    @property
    def origin(self) -> str:
        """scheme://host, with the port where it is not the usual one."""
        return f"{self.scheme}://{self.authority}"

    @property
    def url(self) -> str:
        """The whole address."""
        return f"{self.origin}{self.target}" + (f"#{self.fragment}" if self.fragment else "")


def parse_web_address(text: str) -> WebAddress:
    """Take an address apart, strictly.

    Args:
        text: As a person or a model wrote it; "https://" is put before a bare name, "http://" before a bare
            IPv4 address or localhost.

    Returns:
        The plain form; open `url`, never `text`.

    Raises:
        EgressDeniedError: Not http or https (code scheme), with user name or password (userinfo), or unclear
            (address). Say so; do not try another reading.
    """
    text = text.strip()
    if len(text) > URL_LIMIT or not text or _CONTROL.search(text) or "\\" in text:
        raise EgressDeniedError(
            "The address is empty, too long, or has a backslash or control character in it.",
            hint="Give a plain http or https address.",
            code="address",
        )
    scheme, rest = _split_scheme(text)
    try:
        parts = urlsplit(f"{scheme}://{rest}")
        port = parts.port
    except ValueError as error:
        raise EgressDeniedError(f"The address cannot be read: {error}.", code="address") from error
    if "@" in parts.netloc:
        raise EgressDeniedError(
            "Addresses with a user name or password in them are not opened.", code="userinfo"
        )
    target = quote(parts.path or "/", safe="/%:@!$&'()*+,;=~-._")
    if parts.query:
        target += "?" + quote(parts.query, safe="/?%:@!$&'()*+,;=~-._[]|^`{}")
    return WebAddress(
        scheme=scheme,
        host=plain_host(parts.netloc.rpartition(":")[0] if port is not None else parts.netloc),
        port=port if port is not None else WEB_PORTS[scheme],
        target=target,
        fragment=quote(parts.fragment, safe="/?%:@!$&'()*+,;=~-._[]|^`{}#"),
    )


def _split_scheme(text: str) -> tuple[str, str]:
    found = _SCHEME.fullmatch(text)
    if not found or _HOST_AND_PORT.fullmatch(text):
        return "http" if _BARE_LOCAL.match(text) else "https", text.removeprefix("//")
    scheme, rest = found[1].lower(), found[2]
    if scheme not in WEB_PORTS:
        raise EgressDeniedError(
            f"{scheme}: addresses are not opened.",
            hint="Only http and https are.",
            code="scheme",
        )
    if not rest.startswith("//") or rest.startswith("///"):
        raise EgressDeniedError(f"The address needs {scheme}:// and a host.", code="address")
    return scheme, rest[2:]


def plain_host(text: str) -> str:
    """Return a host name or IP address in lower case ASCII.

    Args:
        text: Host without port; an IPv6 address with or without brackets.

    Raises:
        EgressDeniedError: It is no plain host: percent signs, odd numbers, look-alike digits (code address).
    """
    host = text.strip().rstrip(".").lower()
    if host.startswith("[") and host.endswith("]"):
        host = host[1:-1]
    if ":" in host:
        return _plain_ipv6(host, text)
    if not host.isascii():
        host = _ascii_name(host, text)
    labels = host.split(".")
    if _NUMBER.fullmatch(labels[-1]):
        return _plain_ipv4(host, text)
    if len(host) > 253 or not all(_LABEL.fullmatch(label) for label in labels):
        raise _unclear_host(text)
    return host


def _unclear_host(text: str) -> EgressDeniedError:
    return EgressDeniedError(f"{text[:80]!r} is not a plain host name or address.", code="address")


def _plain_ipv4(host: str, text: str) -> str:
    try:
        return str(ipaddress.IPv4Address(host))
    except ValueError as error:
        raise _unclear_host(text) from error


def _plain_ipv6(host: str, text: str) -> str:
    try:
        address = ipaddress.IPv6Address(host)
    except ValueError as error:
        raise _unclear_host(text) from error
    if address.scope_id:
        raise _unclear_host(text)
    return str(address)


def _ascii_name(host: str, text: str) -> str:
    """Turn a name in another script into its ASCII form; look-alikes of ASCII characters are refused."""
    if unicodedata.normalize("NFKC", host) != host:
        raise _unclear_host(text)
    try:
        name = host.replace("\u3002", ".").encode("idna").decode("ascii")
    except UnicodeError as error:
        raise _unclear_host(text) from error
    if _NUMBER.fullmatch(name.rpartition(".")[2]):
        raise _unclear_host(text)
    return name


def why_not_public(address: str) -> str:
    """Say why an IP address is no public one.

    Args:
        address: IPv4 or IPv6, without brackets; a scope ("%eth0") is ignored.

    Returns:
        One or two words ("loopback", "private", "link-local" ...), or "" when it is globally routable.
    """
    ip = ipaddress.ip_address(address.partition("%")[0])
    if isinstance(ip, ipaddress.IPv6Address):
        inner = ip.ipv4_mapped or ip.sixtofour or (ip.teredo[1] if ip.teredo else None)
        if inner is None and ip in _NAT64:
            inner = ipaddress.IPv4Address(int(ip) & 0xFFFFFFFF)
        if inner is not None:
            ip = inner
    for word, is_so in (
        ("unspecified", ip.is_unspecified),
        ("loopback", ip.is_loopback),
        ("link-local", ip.is_link_local),
        ("multicast", ip.is_multicast),
        ("reserved", ip.is_reserved),
        ("private", ip.is_private or not ip.is_global),
    ):
        if is_so:
            return word
    return ""


def is_local_name(host: str) -> bool:
    """Tell whether a host name, by its form alone, means something on this machine or network."""
    return "." not in host or host.endswith(_LOCAL_SUFFIXES)

"""What the browser may be sent to and what may be done there, whatever the model asks."""

from urllib.parse import urlsplit

from core.address import parse_web_address, why_not_public
from core.egress import EgressPolicy
from core.errors import BrowserBlockedError, EgressDeniedError, NotAllowedError

LINK_SCHEMES = frozenset({"http", "https", "javascript", "blob", "about", "data", ""})
"""Schemes a link may have to be clicked. All else goes to another program, and the tab never answers again."""
BLANK = "about:blank"


def checked_url(text: str) -> str:
    """Return the plain form of an address the browser may be sent to.

    Raises:
        BrowserBlockedError: Not http or https, with user name or password, or unclear. Tell the model.
    """
    if text.strip() == BLANK:
        return BLANK
    try:
        return parse_web_address(text).url
    except EgressDeniedError as error:
        raise BrowserBlockedError(error.message, hint=error.hint, code=error.code) from error


async def not_public(egress: EgressPolicy, url: str) -> str:
    """Return the addresses behind a URL's host that are not public, with commas between; "" when there are none."""
    try:
        host = parse_web_address(url).host
    except EgressDeniedError:
        return ""
    return ",".join(address for address in await egress.addresses(host) if why_not_public(address))


def check_link(href: str) -> None:
    """Refuse a link to another program or to a local file.

    Raises:
        BrowserBlockedError: Its scheme is not one of the web.
    """
    scheme = urlsplit(href).scheme.lower() if href else ""
    if scheme not in LINK_SCHEMES:
        raise BrowserBlockedError(
            f"The link opens {scheme}: and not a web page.",
            hint="Choose another element.",
            code="scheme",
        )


def leaves_the_web(url: str) -> bool:
    """Tell whether a navigation asks for another program."""
    return urlsplit(url).scheme.lower() not in LINK_SCHEMES | {"chrome-error"}


def check_typing(*, secret: bool, ref: int) -> None:
    """Refuse to fill a password, code or payment field.

    Raises:
        NotAllowedError: It is one: the person must type it.
    """
    if secret:
        raise NotAllowedError(
            f"[{ref}] is a password, code or payment field: it is never filled by the agent.",
            hint="Use ask_human so that the person can fill it in.",
            code="secret_field",
        )


def host_of(url: str) -> str:
    """Return the host of a web address, "" for all else."""
    try:
        return parse_web_address(url).host if url.startswith(("http:", "https:")) else ""
    except EgressDeniedError:
        return ""


def origin_of(url: str) -> str:
    """Return scheme://host:port of a page, "" for blank and error pages."""
    try:
        return parse_web_address(url).origin if url.startswith(("http:", "https:")) else ""
    except EgressDeniedError:
        return ""

"""From the bytes of a web page to text worth reading: its main part as Markdown, and how it was found."""

import codecs
import logging
import re
from dataclasses import dataclass
from urllib.parse import urljoin

ENOUGH_CHARACTERS = 200
"""A main part shorter than this was probably not found."""
NODES_LIMIT_CHARACTERS = 3_000_000
LANDMARKS = "//main | //*[@role='main'] | //article"
DROPPED = " | ".join(
    f"//{tag}"
    for tag in (
        "title",
        "script",
        "style",
        "noscript",
        "template",
        "svg",
        "iframe",
        "nav",
        "footer",
        "option",
    )
)
_META_CHARSET = re.compile(
    rb"""<meta[^>]{0,200}?charset\s*=\s*["']?\s*([\w-]{2,30})""", re.IGNORECASE
)
_BLANK_LINES = re.compile(r"\n{3,}")
_RELATIVE_LINK = re.compile(r"(\]\()(?!https?:|#|mailto:)([^)\s]{1,2000})(?=[)\s])")
_BOMS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Readable:
    """The text of a page."""

    text: str
    title: str
    how: str
    """trafilatura, markdownify (main landmark), markdownify (whole page), or plain."""


_NO_CHARSETS = frozenset(
    ("idna", "punycode", "raw-unicode-escape", "undefined", "unicode-escape", "utf-7")
)
"""Codecs of Python that no page is written in; some of them take time that grows with the square of the length."""


def decoded(body: bytes, charset: str) -> str:
    """Decode a page.

    Args:
        body: As the server sent it.
        charset: What the server named, "" if nothing.

    Returns:
        Text; bytes that fit no charset become U+FFFD.
    """
    named = _META_CHARSET.search(body[:4096])
    marks = [name for mark, name in _BOMS if body.startswith(mark)]
    candidates = [*marks, charset, named[1].decode("ascii") if named else "", "utf-8", "gb18030"]
    for candidate in filter(None, candidates):
        try:
            return body.decode(_wider(candidate))
        except (ValueError, LookupError):
            continue
    return body.decode("utf-8", "replace")


def _wider(charset: str) -> str:
    """Return the charset browsers read for a name. Source: WHATWG Encoding Standard, names and labels.

    Raises:
        LookupError: It is no charset of pages.
    """
    low = charset.lower()
    if codecs.lookup(low).name in _NO_CHARSETS:
        raise LookupError(charset)
    return {
        "gb2312": "gb18030",
        "gbk": "gb18030",
        "iso-8859-1": "cp1252",
        "shift_jis": "cp932",
    }.get(low, low)


def readable(html: str, url: str) -> Readable:
    """Find the main part of a page; takes CPU time, so call it in a thread.

    Args:
        html: The decoded page.
        url: Its address, for the links.
    """
    html = html[:NODES_LIMIT_CHARACTERS]
    title = _title(html)
    text = _by_trafilatura(html, url)
    if len(text) >= ENOUGH_CHARACTERS:
        return Readable(text=_links_in_full(text, url), title=title, how="trafilatura")
    marked, how = _by_landmark(html)
    if len(marked) > len(text):
        return Readable(text=_links_in_full(marked, url), title=title, how=how)
    return Readable(text=_links_in_full(text, url), title=title, how="trafilatura")


def _by_trafilatura(html: str, url: str) -> str:
    import trafilatura

    # It reports every page that is no article as an error; without a handler that goes to the terminal.
    logging.getLogger("trafilatura").addHandler(logging.NullHandler())
    found = trafilatura.extract(
        html,
        url=url,
        output_format="markdown",
        include_links=True,
        include_tables=True,
        favor_recall=True,
    )
    return (found or "").strip()


def _by_landmark(html: str) -> tuple[str, str]:
    import lxml.html
    from lxml import etree
    from markdownify import markdownify

    try:
        tree = lxml.html.fromstring(html)
    except (etree.ParserError, ValueError):
        return "", "plain"
    for node in tree.xpath(DROPPED):
        node.drop_tree()
    landmarks = tree.xpath(LANDMARKS)
    part = max(landmarks, key=lambda node: len(node.text_content()), default=None)
    how = "markdownify (main landmark)"
    if part is None or len(part.text_content().strip()) < ENOUGH_CHARACTERS // 4:
        part, how = tree, "markdownify (whole page)"
    source = etree.tostring(part, encoding="unicode", method="html", with_tail=False)
    text = markdownify(source, heading_style="ATX")
    return _BLANK_LINES.sub("\n\n", text).strip(), how


def _title(html: str) -> str:
    found = re.search(r"<title[^>]{0,200}>(.{0,500}?)</title>", html, re.IGNORECASE | re.DOTALL)
    if not found:
        return ""
    from html import unescape

    return " ".join(unescape(found[1]).split())


def _links_in_full(text: str, url: str) -> str:
    return _RELATIVE_LINK.sub(lambda link: link[1] + urljoin(url, link[2]), text)

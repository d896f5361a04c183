"""Files and outputs that a command would send to another machine."""

import re
from collections.abc import Iterator, Sequence
from typing import Final

from core.shell.fed import code_of
from core.shell.known_dangers import known_dangers
from core.shell.lexer import UNKNOWN_TEXT, Token
from core.shell.seen import Seen
from core.shell.wrappers import base_name

_REMOTE: Final = re.compile(r"(?:[\w.-]+@)?[\w.-]+:.*|\w+://.+")
_DATA_OPTIONS: Final = re.compile(
    r"-d|--data(?:-raw|-binary|-urlencode|-ascii)?|-F|--form(?:-string)?|-T|--json|--post-data"
    r"|--body-data|-b|--cookie|-H|--header"
)
_FILE_OPTIONS: Final = re.compile(
    r"-T.*|--upload-file(?:=.*)?|--post-file(?:=.*)?|--body-file(?:=.*)?|-K|--config"
)
_FILE_VALUE: Final = re.compile(r"@|[^=@\s]*=[@<]|[^=@\s]+@[\w./-]+$")
"""Values that name a file: @file, name=@file, and name@file as --data-urlencode takes it."""
_DOOR: Final = re.compile(r"/dev/(?:tcp|udp)/")
_NETWORK_CODE: Final = re.compile(
    r"\bsocket\b|urlopen|requests\.|http\.client|httpx|aiohttp|fetch\(|Net::HTTP|LWP::|IO::Socket|fsockopen|net\.connect"
)
_LISTENS: Final = re.compile(r"-\w*[ecl]\w*|--exec|--sh-exec|--listen")


def sent(seen: Seen) -> Iterator[str]:
    """Yield what leaves the machine, in a few words each."""
    known = known_dangers()
    name = base_name(seen.words[0].text)
    words = seen.words[1:]
    reads = any(redirect.operator == "<" for redirect in seen.redirects)
    if name in known.always_senders or (
        name in known.piped_senders and (seen.place > 0 or seen.body or reads)
    ):
        yield f"sent out: what {name} reads"
    if name in known.copiers and words and _REMOTE.fullmatch(words[-1].text):
        yield f"sent out: {name} to {words[-1].text}"
    if name in known.askers and any(word.inner or UNKNOWN_TEXT in word.text for word in words):
        yield f"sent out: a value in the words of {name}"
    named = name in ("http", "https", "xh") and any(
        "@" in word.text and "://" not in word.text for word in words
    )
    if name in known.posters and (named or _posts_file(words)):
        yield f"sent out: a file by {name}"
    if known.uploads.get(name, frozenset()) & {word.text for word in words[:3]}:
        yield f"sent out: {name} {' '.join(word.text for word in words[:2])}"
    if seen.more and name in known.askers:
        yield f"sent out: what {name} is given"


def doors(seen: Seen) -> Iterator[str]:
    """Yield connections that a command opens besides downloading."""
    texts = [redirect.target.text for redirect in seen.redirects]
    texts += [word.text for word in seen.words]
    if any(_DOOR.search(text) for text in texts):
        yield "connection to another machine: /dev/tcp"
    if not seen.words:
        return
    name = base_name(seen.words[0].text)
    arguments = [word.text for word in seen.words[1:]]
    if name in ("nc", "ncat", "netcat") and any(_LISTENS.fullmatch(text) for text in arguments):
        yield f"{name} opens a way in"
    if name == "socat" and any("exec" in text.lower() for text in arguments):
        yield "socat opens a way in"
    served = {"python": {"http.server", "SimpleHTTPServer"}, "php": {"-S"}}
    if served.get(name, set()) & set(arguments):
        yield "serves files to the network"
    if any(_NETWORK_CODE.search(code) for code in code_of(seen)):
        yield "code that uses the network"


def _posts_file(words: Sequence[Token]) -> bool:
    """Return whether a web client is told to send a file, or something made by a command."""
    for place, word in enumerate(words):
        if _FILE_OPTIONS.fullmatch(word.text):
            return True
        given = _given(words, place)
        if given is not None and (not given.exact or _FILE_VALUE.match(given.text)):
            return True
    return False


def _given(words: Sequence[Token], place: int) -> Token | None:
    """Return the value of a data option, None where the word is no such option."""
    word = words[place]
    name, equals, value = word.text.partition("=")
    if _DATA_OPTIONS.fullmatch(word.text):
        return words[place + 1] if place + 1 < len(words) else None
    if equals and _DATA_OPTIONS.fullmatch(name):
        return Token(value, exact=word.exact)
    if re.match(r"-[dFH]", word.text):
        return Token(word.text[2:], exact=word.exact)
    return None

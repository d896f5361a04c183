"""Finds text of the person's files in what is about to leave the machine."""

import base64
import binascii
import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Final
from urllib.parse import unquote_plus

from core.assessment import OriginText
from core.path_names import classes_of
from core.redact import looks_secret

MIN_VALUE: Final = 6
"""Shortest value of a secret file that is looked for."""
MIN_TOKEN: Final = 12
"""Shortest word of any other private text that is looked for."""
MIN_RUN: Final = 40
"""Shortest verbatim piece of private text that is looked for."""
MAX_WORDS: Final = 20_000
PRIVATE: Final = ("workspace:", "mcp:")
"""Origins whose text belongs to the person."""

_WORD: Final = re.compile(r"[^\s\"'`<>()\[\]{},;=]+")
_ENCODED: Final = (re.compile(r"[A-Za-z0-9+/_-]{8,}={0,2}"), re.compile(r"[A-Za-z0-9_-]{8,}={0,2}"))
_HEX: Final = re.compile(r"(?:[0-9a-fA-F]{2}){4,}")
_ALNUM: Final = re.compile(r"[\W_]+")
_COMMON: Final = re.compile(
    r"true|false|none|null|localhost|development|production|https?|example", re.IGNORECASE
)


def carried_from(outgoing: str, texts: Sequence[OriginText]) -> str:
    """Return where private text in `outgoing` comes from.

    Args:
        outgoing: An address, a query or typed text, as it would be sent; common encodings are undone.
        texts: The memory window by origin.

    Returns:
        The origin label, "a key" when it has the shape of one, or "" when nothing private is in it.
    """
    forms = list(_forms(outgoing))
    if any(looks_secret(form) for form in forms):
        return "a key"
    squeezed = [_squeeze(form) for form in forms]
    for item in texts:
        if not item.origin.startswith(PRIVATE):
            continue
        if any(word in form for word in _words(item) for form in squeezed):
            return item.origin
        if _shares_run(outgoing, item.text):
            return item.origin
    return ""


def _forms(text: str) -> Iterator[str]:
    """Yield the text as it is, without escapes, decoded, and reversed."""
    seen = text
    for _ in range(3):
        yield seen
        plain = unquote_plus(seen)
        if plain == seen:
            break
        seen = plain
    yield seen[::-1]
    for pattern in _ENCODED:
        for piece in pattern.findall(seen):
            yield from _decoded(piece)
    for piece in _HEX.findall(seen):
        yield bytes.fromhex(piece).decode("latin-1")


def _decoded(piece: str) -> Iterator[str]:
    padded = piece.rstrip("=") + "=" * (-len(piece.rstrip("=")) % 4)
    try:
        yield base64.b64decode(
            padded, altchars=b"-_" if "-" in piece or "_" in piece else None
        ).decode("latin-1")
    except (binascii.Error, ValueError):
        return


def _words(item: OriginText) -> Iterable[str]:
    """Return what is looked for, squeezed: values of a secret file, or words that only a secret has."""
    path = item.origin.partition(":")[2]
    secret_file = "secret" in classes_of([part for part in path.split("/") if part])
    found = set()
    for word in _WORD.findall(item.text)[:MAX_WORDS]:
        if "://" in word and not secret_file:
            continue
        value = word.rpartition(":")[2] if not secret_file else word
        plain = _squeeze(value)
        of_secret = secret_file and len(plain) >= MIN_VALUE and not _COMMON.fullmatch(value)
        if of_secret or (len(plain) >= MIN_TOKEN and _mixed(plain)):
            found.add(plain)
    return found - _setting_names(item.text)


def _setting_names(text: str) -> set[str]:
    return {
        _squeeze(name)
        for name in re.findall(r"^\s*(?:export\s+)?([A-Za-z_]\w*)\s*[=:]", text, re.MULTILINE)
    }


def _mixed(word: str) -> bool:
    digits = sum(character.isdigit() for character in word)
    return 2 <= digits < len(word)


def _shares_run(outgoing: str, text: str) -> bool:
    plain = " ".join(unquote_plus(outgoing).split())
    held = " ".join(text.split())
    if len(plain) < MIN_RUN or len(held) < MIN_RUN or plain in _addresses(held):
        return False
    return any(
        plain[start : start + MIN_RUN] in held for start in range(0, len(plain) - MIN_RUN + 1, 8)
    )


def _addresses(text: str) -> set[str]:
    return set(re.findall(r"https?://\S+", text))


def _squeeze(text: str) -> str:
    return _ALNUM.sub("", text).casefold()

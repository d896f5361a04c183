"""Makes text from a page fit to store and show: no control characters, no lone surrogates."""

import re

_UNFIT = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff\u202a-\u202e\u2066-\u2069]")


def clean(text: str) -> str:
    """Replace what could steer a terminal, break JSON or turn the reading direction by U+FFFD."""
    return _UNFIT.sub("\ufffd", text)


def clean_line(text: str) -> str:
    """Return `clean` text in one line."""
    return clean(" ".join(text.split()))

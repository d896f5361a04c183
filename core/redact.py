"""Masks secrets in text: values that are known, and texts of a shape that only keys have.

Masking never touches command words, paths or hosts, so that a masked text still tells what would happen.
"""

import re
from collections.abc import Iterable, Mapping
from typing import Any, Final

MIN_SECRET: Final = 8
"""Shorter values are not masked: they would hide parts of ordinary words."""
KEPT: Final = 4
"""Characters left at the start of a key of a known shape, to tell keys apart."""

_SECRET_NAME: Final = re.compile(
    r"(?:^|_)(?:API_?KEY|KEY|TOKEN|SECRET|PASSWORD|PASSWD|PASS|PWD|CREDENTIALS?|COOKIE|DSN|AUTH|SESSION|PRIVATE)(?:_|$|S$)"
    r"|KEY$|TOKEN$|SECRET$|PASSWORD$",
    re.IGNORECASE,
)
_NOT_SECRET_NAME: Final = re.compile(
    r"^(?:SSH_AUTH_SOCK|PWD|OLDPWD|XDG_SESSION_\w+|\w*SESSION_ID|\w+_SESSION|DESKTOP_SESSION|GPG_KEY|\w*KEYBOARD\w*)$"
)
_SHAPES: Final = re.compile(
    r"""
      \bsk-(?:proj-|ant-|or-v1-|svcacct-)?[A-Za-z0-9_-]{16,}        # OpenAI, Anthropic, OpenRouter
    | \b(?:ghp|gho|ghu|ghs|ghr)_[A-Za-z0-9]{20,}                   # GitHub
    | \bgithub_pat_[A-Za-z0-9_]{20,}
    | \bglpat-[A-Za-z0-9_-]{16,}                                  # GitLab
    | \bxox[abeoprs]-[A-Za-z0-9-]{10,}                            # Slack
    | \b(?:AKIA|ASIA)[A-Z0-9]{16}\b                               # AWS access key id
    | \bAIza[A-Za-z0-9_-]{30,}                                    # Google
    | \bya29\.[A-Za-z0-9_-]{20,}
    | \bhf_[A-Za-z0-9]{20,}                                       # Hugging Face
    | \b(?:r8|gsk|pplx|nvapi|dop_v1|lin_api|npm|pypi)[_-][A-Za-z0-9_-]{24,}
    | \b(?:sk|rk|pk)_(?:live|test)_[A-Za-z0-9]{16,}               # Stripe
    | \beyJ[A-Za-z0-9_-]{8,}\.eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}   # JSON web token
    | -----BEGIN\ [A-Z ]*PRIVATE\ KEY-----[\s\S]*?(?:-----END\ [A-Z ]*PRIVATE\ KEY-----|\Z)
    | (?<=Bearer\ )[A-Za-z0-9._~+/=-]{16,}
    | (?<=://)[^\s/@:]+:[^\s/@]+(?=@)                             # user:password in an address
    """,
    re.VERBOSE,
)
_WORD: Final = re.compile(r"[\w@%+=:,./~-]+")


def secret_values(environment: Mapping[str, str]) -> frozenset[str]:
    """Return the values of variables whose names say that they are secret.

    Args:
        environment: Name to value.
    """
    return frozenset(
        value
        for name, value in environment.items()
        if _SECRET_NAME.search(name) and not _NOT_SECRET_NAME.match(name) and _maskable(value)
    )


def looks_secret(text: str) -> bool:
    """Return whether the text holds something of the shape of a key."""
    return _SHAPES.search(text) is not None


class Redactor:
    """Masks known values and key shapes."""

    def __init__(self, values: Iterable[str] = ()) -> None:
        """Mask these values too.

        Args:
            values: Secrets of this session; short ones, paths and plain words are not masked.
        """
        known = sorted({value for value in values if _maskable(value)}, key=len, reverse=True)
        self._known = re.compile("|".join(map(re.escape, known))) if known else None

    def redact(self, text: str) -> str:
        """Return the text with secrets masked.

        Args:
            text: Any text.
        """
        if self._known is not None:
            text = self._known.sub("<redacted>", text)
        return _SHAPES.sub(_masked, text)

    def redact_value(self, value: Any) -> Any:
        """Return a JSON value with secrets masked in all its strings; keys of objects stay as they are.

        Args:
            value: Objects as mappings, arrays as lists or tuples.
        """
        if isinstance(value, str):
            return self.redact(value)
        if isinstance(value, Mapping):
            return {key: self.redact_value(item) for key, item in value.items()}
        if isinstance(value, list | tuple):
            return [self.redact_value(item) for item in value]
        return value


def _masked(found: re.Match[str]) -> str:
    text = found.group()
    if text.startswith("-----"):
        return "<redacted private key>"
    return f"{text[:KEPT]}<redacted>"


def _maskable(value: str) -> bool:
    """Return whether a value may be masked wherever it occurs, without hiding what a text says."""
    value = value.strip()
    if len(value) < MIN_SECRET:
        return False
    if value.startswith(("/", "./", "~/", "http://", "https://", "ssh://")) and "@" not in value:
        return False
    return not re.fullmatch(r"[a-z]+|[a-z]+(?:[-.][a-z]+)+", value)

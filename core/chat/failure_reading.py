"""Reads what a model server wrote when it refused a request, whatever form it wrote it in."""

import html
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from core.chat.json_shape import count_of, items_of, mapping_of, text_of, whole_text

MAX_MESSAGE_CHARS = 150
"""Longest message of a server that is shown."""
MAX_READ_CHARS = 4000
"""As much of an answer is searched for words."""
_TITLE = re.compile(r"<title[^>]{0,200}>(.{0,400}?)</title>", re.IGNORECASE | re.DOTALL)
_KEY_LIKE = re.compile(
    r"\b(?:sk|rk|pk|gsk|xai|nvapi|hf|org|proj|ghp)[-_][\w*.-]{2,}|\bAIza[\w-]{10,}|(?<=Bearer )\S+"
    r"|\b[A-Za-z0-9]{32,}\b"
)
_MESSAGE_KEYS = ("message", "detail", "msg", "error_msg", "error_description")
_ECHOES = frozenset(("input", "body", "messages", "prompt"))
"""Where servers repeat the request: its words are the person's, not the server's."""


@dataclass(frozen=True, slots=True, kw_only=True)
class HttpFailure:
    """An answer of a server that is no model's answer."""

    status: int
    headers: Mapping[str, str] = field(default_factory=dict)
    """Names in lower case."""
    text: str = ""
    """The body, or the error object of a stream as JSON."""


@dataclass(frozen=True, slots=True)
class Said:
    """What the server wrote."""

    message: str
    """On one short line, for people."""
    label: str
    """Code and type, in one string."""
    words: str
    """Its message in full and the parameter it names."""
    raw: str
    """All of it, without what it repeats of the request."""
    status: int
    """Of the answer, or the one told inside an answer of status 200."""
    is_html: bool


def heard(failure: HttpFailure) -> Said:
    """Return what the server wrote."""
    text = failure.text.strip()
    if text.startswith("<"):
        title = _TITLE.search(text)
        shown = html.unescape(title.group(1)).strip() if title else "an HTML page"
        return Said(_shown(shown), "", "", "", failure.status, is_html=True)
    try:
        body = _without_echoes(json.loads(text))
    except (ValueError, RecursionError):
        read = text[:MAX_READ_CHARS]
        return Said(_shown(text), "", read, read, failure.status, is_html=False)
    error = mapping_of(body).get("error", body)
    fields = mapping_of(error) or mapping_of((items_of(body) or [{}])[0])
    fields = mapping_of(fields.get("error")) or fields
    message = text_of(error) or _message_of(fields)
    label = " ".join(
        str(fields[key]) for key in ("code", "type", "status") if fields.get(key) is not None
    )
    written = f"{message} {text_of(fields.get('param'))}".strip()[:MAX_READ_CHARS]
    raw = f"{written} {label} {json.dumps(body, ensure_ascii=False)[:MAX_READ_CHARS]}"
    return Said(_shown(message), label, written, raw, _status(failure, fields), is_html=False)


def said_message(failure: HttpFailure) -> str:
    """Return what the server wrote, on one short line, "" when it wrote nothing."""
    return heard(failure).message


def mask_keys(text: str, secret: str = "") -> str:
    """Return a text without what looks like an API key, and without `secret`."""
    if len(secret) >= 4:
        text = text.replace(secret, "***")
    return _KEY_LIKE.sub("***", text)


def _status(failure: HttpFailure, fields: Mapping[str, object]) -> int:
    if failure.status != 200:
        return failure.status
    inner = count_of(fields.get("code")) or count_of(fields.get("status")) or 0
    return inner if 400 <= inner < 600 else 500


def _message_of(fields: Mapping[str, object]) -> str:
    for key in _MESSAGE_KEYS:
        value = fields.get(key)
        if value:
            return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return ""


def _without_echoes(value: object) -> object:
    if isinstance(value, dict):
        return {key: _without_echoes(item) for key, item in value.items() if key not in _ECHOES}
    return [_without_echoes(item) for item in value] if isinstance(value, list) else value


def _shown(text: str) -> str:
    """Return a message on one line, short, without keys and without markup."""
    line = " ".join(re.sub(r"<[^>]{0,200}>", " ", whole_text(text)).split())
    line = mask_keys("".join(char for char in line if char.isprintable()))
    return line if len(line) <= MAX_MESSAGE_CHARS else f"{line[: MAX_MESSAGE_CHARS - 1]}\u2026"

"""Says what a refused or failed request means: by its words first, by its status last, for statuses lie.

A llama.cpp server answers a bad history with 500, a quota that is used up comes as 429, an overflow as 400, 413 or 200.
"""

import html
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from core import model_words as words
from core.errors import (
    ContextTooLongError,
    ModelError,
    ModelOverloadedError,
    ModelRefusedError,
    ModelUnreachableError,
)
from core.json_shape import count_of, items_of, mapping_of, text_of, whole_text
from core.retry_after import asked_wait_s

MAX_MESSAGE_CHARS = 150
"""Longest message of a server that is shown."""
MAX_WAIT_S = 60.0
"""A server that wants a longer wait is given up; the person decides."""
LEAST_WINDOW = 512
"""No model has a smaller window."""
SUSPICIOUS_SHARE = 0.8
"""A refusal without a word is taken for an overflow when the request fills this much of the window."""
_TITLE = re.compile(r"<title[^>]*>(.*?)</title>", re.IGNORECASE | re.DOTALL)
_KEY_LIKE = re.compile(
    r"\b(?:sk|rk|pk|gsk|xai|nvapi|hf|org|proj|ghp)[-_][\w*.-]{2,}|\bAIza[\w-]{10,}|(?<=Bearer )\S+"
    r"|\b[A-Za-z0-9]{32,}\b"
)
_NEEDED = frozenset(("model", "messages", "tools", "stream"))
"""Without these there is no request."""
_PASSING = frozenset((408, 409, 425, 429))
NextStep = Literal[
    "",
    "bounded_retry",
    "nudge",
    "compact_and_retry_once",
    "drop_images_then_compact",
    "offer_text_tools",
]
"""What may help after a failure or a useless answer, for the loop and for the person."""


@dataclass(frozen=True, slots=True, kw_only=True)
class HttpFailure:
    """An answer of a server that is no model's answer."""

    status: int
    headers: Mapping[str, str] = field(default_factory=dict)
    """Names in lower case."""
    text: str = ""
    """The body, or the error object of a stream as JSON."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AskedFor:
    """What is known of the request that failed."""

    parameters: frozenset[str] = frozenset()
    """Top-level fields of its body."""
    has_images: bool = False
    estimated_tokens: int = 0
    window: int = 0
    """0 where unknown."""
    learned: Mapping[str, str] = field(default_factory=dict)
    """Flags learned before; the same refusal twice is final."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Failure:
    """What a failed request means."""

    error: ModelError
    """Raised when nothing else is done."""
    may_pass: bool = False
    """The same request may work later."""
    wait_s: float | None = None
    """Wait the server asked for."""
    learn: tuple[str, str] | None = None
    """Flag and value that would make the request acceptable."""
    window: int = 0
    """Context window the answer told, 0 if none."""


@dataclass(frozen=True, slots=True)
class _Said:
    """What the server wrote."""

    message: str
    label: str
    """Code and type, in one string."""
    raw: str
    status: int
    is_html: bool


def classify(failure: HttpFailure, asked: AskedFor) -> Failure:
    """Return what a failed request means."""
    said = _heard(failure)
    found = (
        _money(said)
        or _throttled(said, failure)
        or _overflow(said, asked)
        or _history(said)
        or _adaptable(said, asked)
        or _refused(said)
        or _by_status(said, failure, asked)
    )
    return found


def said_message(failure: HttpFailure) -> str:
    """Return what the server wrote, on one short line, "" when it wrote nothing."""
    return _heard(failure).message


def mask_keys(text: str, secret: str = "") -> str:
    """Return a text without what looks like an API key, and without `secret`."""
    if len(secret) >= 4:
        text = text.replace(secret, "***")
    return _KEY_LIKE.sub("***", text)


def next_step(code: str) -> NextStep:
    """Return what may help, by the code of an error or the outcome of an answer."""
    steps: dict[str, NextStep] = {
        "context_too_long": "compact_and_retry_once",
        "context_overflow_suspected": "compact_and_retry_once",
        "payload_too_large": "drop_images_then_compact",
        "tools_unsupported": "offer_text_tools",
        "empty": "bounded_retry",
        "reasoning_only": "nudge",
    }
    return steps.get(code, "")


def _heard(failure: HttpFailure) -> _Said:
    text = failure.text.strip()
    if text.startswith("<"):
        title = _TITLE.search(text)
        shown = html.unescape(title.group(1)).strip() if title else "an HTML page"
        return _Said(_shown(shown), "", "", failure.status, is_html=True)
    try:
        body = json.loads(text)
    except (ValueError, RecursionError):
        return _Said(_shown(text), "", text[:4000], failure.status, is_html=False)
    error = mapping_of(body).get("error", body)
    fields = mapping_of(error) or mapping_of((items_of(body) or [{}])[0])
    fields = mapping_of(fields.get("error")) or fields
    message = text_of(error) or _message_of(fields)
    label = " ".join(
        str(fields[key]) for key in ("code", "type", "status") if fields.get(key) is not None
    )
    status = failure.status
    if status == 200:
        inner = count_of(fields.get("code")) or count_of(fields.get("status")) or 0
        status = inner if 400 <= inner < 600 else 500
    return _Said(_shown(message), label, f"{message} {label} {text[:4000]}", status, is_html=False)


def _message_of(fields: Mapping[str, object]) -> str:
    for key in ("message", "detail", "msg", "error_msg", "error_description"):
        value = fields.get(key)
        if value:
            return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return ""


def _shown(text: str) -> str:
    """Return a message on one line, short, without keys and without markup."""
    line = " ".join(re.sub(r"<[^>]{0,200}>", " ", whole_text(text)).split())
    line = mask_keys("".join(char for char in line if char.isprintable()))
    return line if len(line) <= MAX_MESSAGE_CHARS else f"{line[: MAX_MESSAGE_CHARS - 1]}\u2026"


def _line(intro: str, said: _Said) -> str:
    return f"{intro}: {said.message}" if said.message else f"{intro}."


def _money(said: _Said) -> Failure | None:
    if (
        said.status != 402
        and not words.MONEY_CODES.search(said.label)
        and not words.MONEY_GONE.search(said.raw)
    ):
        return None
    hint = "Add credit with the provider, or choose another model."
    return Failure(
        error=ModelRefusedError(
            _line("The account has no quota or credit left", said), hint=hint, code="quota"
        )
    )


def _throttled(said: _Said, failure: HttpFailure) -> Failure | None:
    if said.is_html or not words.THROTTLED.search(said.raw) or said.status in (401, 403, 404):
        return None
    return _later(said, failure, throttled=said.status < 500)


def _later(said: _Said, failure: HttpFailure, *, throttled: bool) -> Failure:
    """Return a failure that may pass, unless the server wants too long a wait."""
    wait_s = asked_wait_s(failure.headers, said.raw)
    if wait_s is not None and wait_s > MAX_WAIT_S:
        when = f"{round(wait_s / 60)} min" if wait_s >= 90 else f"{round(wait_s)} s"
        error = ModelOverloadedError(
            f"The model server wants us to wait {when} before the next request.",
            hint="Go on later, or choose another model.",
            code="rate_limited",
        )
        return Failure(error=error)
    intro = (
        "The model server asks us to slow down"
        if throttled
        else f"The model server failed (HTTP {said.status})"
    )
    return Failure(
        error=ModelOverloadedError(
            _line(intro, said),
            hint="Try again later, or choose another model.",
            code="rate_limited" if throttled else "server",
        ),
        may_pass=True,
        wait_s=wait_s,
    )


def _overflow(said: _Said, asked: AskedFor) -> Failure | None:
    if said.status == 413 or words.TOO_LARGE.search(said.raw):
        error = ContextTooLongError(
            _line("The request is too large for the server", said), code="payload_too_large"
        )
        return Failure(error=error)
    if said.is_html or words.NO_OVERFLOW.search(said.raw) or not words.OVERFLOW.search(said.raw):
        return None
    return Failure(
        error=ContextTooLongError(_line("The request does not fit the model's window", said)),
        window=told_window(said.raw, asked),
    )


def told_window(raw: str, asked: AskedFor) -> int:
    """Return the window an overflow message tells, 0 if it tells none that makes sense."""
    told = re.search(
        r'"(?:n_ctx|max_model_len|context_length|max_context_length)"\s*:\s*(\d+)', raw
    )
    numbers = [told.group(1)] if told else []
    numbers += [found.group(1) for pattern in words.WINDOW if (found := pattern.search(raw))]
    sizes = [int(re.sub(r"[,_]", "", number)) for number in numbers]
    # A number far below our own estimate is something else, such as the code of the error.
    least = max(LEAST_WINDOW, asked.estimated_tokens // 10)
    return next((size for size in sizes if size >= least), 0)


def _history(said: _Said) -> Failure | None:
    if not words.HISTORY.search(said.raw):
        return None
    return Failure(
        error=ModelRefusedError(
            _line("The model server cannot read an earlier message", said),
            hint="Drop that message in Memory (F3), or start a new session.",
            code="history_invalid",
        )
    )


def _adaptable(said: _Said, asked: AskedFor) -> Failure | None:
    """Return what could be changed about the request, learned once."""
    if said.is_html or said.status in (401, 403, 429):
        return None
    flag = _learnable(said, asked)
    if flag is None or asked.learned.get(flag[0]) == flag[1]:
        return None
    error = ModelRefusedError(
        _line("The model server refused the request", said), code="bad_request"
    )
    return Failure(error=error, learn=flag)


def _learnable(said: _Said, asked: AskedFor) -> tuple[str, str] | None:
    raw = said.raw
    if asked.has_images and words.NO_IMAGES.search(raw):
        return "vision", "false"
    if not words.REFUSED_PARAMETER.search(raw):
        return None
    for pattern, flag in _PARAMETER_FLAGS:
        if pattern.search(said.message or raw):
            return flag
    named = set(re.findall(r"[a-z_]+", said.message)) & (asked.parameters - _NEEDED)
    return (f"omit.{min(named)}", "true") if named else None


_PARAMETER_FLAGS: tuple[tuple[re.Pattern[str], tuple[str, str]], ...] = (
    (
        re.compile(r"max_tokens\b.*max_completion_tokens", re.DOTALL),
        ("max_tokens_field", "max_completion_tokens"),
    ),
    (re.compile(r"max_completion_tokens"), ("max_tokens_field", "max_tokens")),
    (re.compile(r"\bmax_tokens\b"), ("max_tokens_field", "max_completion_tokens")),
    (re.compile(r"\btemperature\b"), ("temperature", "omit")),
    (re.compile(r"\bstream_options\b|\binclude_usage\b"), ("stream_usage", "false")),
    (re.compile(r"\bparallel_tool_calls\b"), ("parallel_calls", "false")),
    (re.compile(r"\btool_choice\b"), ("tool_choice", "omit")),
    (
        re.compile(
            r"\bresponse_format\b.*json_schema|\bjson_schema\b|\bresponse_format\b", re.DOTALL
        ),
        ("response_format", "json_object"),
    ),
    (re.compile(r"\bstrict\b"), ("strict", "false")),
    (re.compile(r"\bdeveloper\b"), ("developer_role", "false")),
)
"""Which flag a refused parameter means; the first that fits counts."""


def _refused(said: _Said) -> Failure | None:
    """Return a refusal that no later try changes."""
    if said.is_html:
        return None
    if words.NO_TOOLS.search(said.raw):
        hint = "Choose a model that can call tools."
        return _fatal("The model takes no tools", said, hint, "tools_unsupported")
    if said.status == 401 or words.NO_KEY.search(said.raw):
        return _fatal("The model server refused the key", said, "", "auth")
    if said.status in (400, 403, 404, 422) and words.NO_MODEL.search(said.raw):
        return _fatal("The model server has no such model", said, "", "model_not_found")
    if said.status >= 500 and words.SERVER_REFUSED.search(said.raw):
        return _fatal("The model server refused the request", said, "", "bad_request")
    return None


def _fatal(intro: str, said: _Said, hint: str, code: str) -> Failure:
    return Failure(error=ModelRefusedError(_line(intro, said), hint=hint, code=code))


def _by_status(said: _Said, failure: HttpFailure, asked: AskedFor) -> Failure:
    status = said.status
    if status in _PASSING or status >= 500:
        return _later(said, failure, throttled=status == 429)
    if status == 401 or (status in (403, 407) and not said.is_html):
        return _fatal("The model server refused the key", said, "", "auth")
    if said.is_html or status in (404, 405) or status < 400:
        return bad_endpoint(f"HTTP {status}{f': {said.message}' if said.message else ''}")
    if not said.message and _nearly_full(asked):
        error = ContextTooLongError(
            "The server refused the request without a word; it is probably too long for the model.",
            code="context_overflow_suspected",
        )
        return Failure(error=error)
    return _fatal(f"The model server refused the request (HTTP {status})", said, "", "bad_request")


def bad_endpoint(what: str) -> Failure:
    """Return the failure for an address where no model API answers."""
    return Failure(
        error=ModelUnreachableError(
            f"No model API answers at this base_url ({what}).",
            hint="Check base_url; it usually ends in /v1.",
            code="bad_endpoint",
        )
    )


def _nearly_full(asked: AskedFor) -> bool:
    return bool(asked.window) and asked.estimated_tokens > asked.window * SUSPICIOUS_SHARE

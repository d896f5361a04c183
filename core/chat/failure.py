"""Says what a refused or failed request means: by its words first, by its status last, for statuses lie.

A llama.cpp server answers a bad history with 500, a quota that is used up comes as 429, an overflow as 400, 413 or 200.
"""

import re
from dataclasses import dataclass
from typing import Literal

from core.chat import words
from core.chat.asked import AskedFor
from core.chat.failure_reading import HttpFailure, Said, heard
from core.chat.json_shape import count_of
from core.chat.learning import learnable
from core.chat.retry_after import asked_wait_s
from core.errors import (
    ContextTooLongError,
    ModelError,
    ModelOverloadedError,
    ModelRefusedError,
    ModelUnreachableError,
)

MAX_WAIT_S = 60.0
"""A server that wants a longer wait is given up; the person decides."""
LEAST_WINDOW = 512
"""No model has a smaller window."""
SUSPICIOUS_SHARE = 0.8
"""A refusal without a word is taken for an overflow when the request fills this much of the window."""
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


def classify(failure: HttpFailure, asked: AskedFor) -> Failure:
    """Return what a failed request means."""
    said = heard(failure)
    found = (
        _money(said)
        or _throttled(said, failure)
        or _overflow(said, asked)
        or _adaptable(said, asked)
        or _history(said)
        or _refused(said)
        or _by_status(said, failure, asked)
    )
    return found


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


def _line(intro: str, said: Said) -> str:
    return f"{intro}: {said.message}" if said.message else f"{intro}."


def _money(said: Said) -> Failure | None:
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


def _throttled(said: Said, failure: HttpFailure) -> Failure | None:
    if said.is_html or not words.THROTTLED.search(said.raw) or said.status in (401, 404):
        return None
    return _later(said, failure, throttled=said.status < 500)


def _later(said: Said, failure: HttpFailure, *, throttled: bool) -> Failure:
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


def _overflow(said: Said, asked: AskedFor) -> Failure | None:
    if said.status == 413 or words.TOO_LARGE.search(said.raw):
        error = ContextTooLongError(
            _line("The request is too large for the server", said), code="payload_too_large"
        )
        return Failure(error=error)
    if said.is_html or words.NO_OVERFLOW.search(said.words) or not words.OVERFLOW.search(said.raw):
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
    sizes = [count_of(re.sub(r"[,_]", "", number)) or 0 for number in numbers]
    # A number far below our own estimate is something else, such as the code of the error.
    least = max(LEAST_WINDOW, asked.estimated_tokens // 10)
    return next((size for size in sizes if size >= least), 0)


def _history(said: Said) -> Failure | None:
    if not words.HISTORY.search(said.raw):
        return None
    return Failure(
        error=ModelRefusedError(
            _line("The model server cannot read an earlier message", said),
            hint="Drop that message in Memory (F3), or start a new session.",
            code="history_invalid",
        )
    )


def _adaptable(said: Said, asked: AskedFor) -> Failure | None:
    """Return what could be changed about the request, learned once."""
    flag = learnable(said, asked)
    if flag is None:
        return None
    error = ModelRefusedError(
        _line("The model server refused the request", said), code="bad_request"
    )
    return Failure(error=error, learn=flag)


def _refused(said: Said) -> Failure | None:
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


def _fatal(intro: str, said: Said, hint: str, code: str) -> Failure:
    return Failure(error=ModelRefusedError(_line(intro, said), hint=hint, code=code))


def _by_status(said: Said, failure: HttpFailure, asked: AskedFor) -> Failure:
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

"""What a connection to a model server looks like to the layer above it, free of any SDK."""

from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass, field
from typing import Literal


@dataclass(frozen=True, slots=True, kw_only=True)
class TimeOuts:
    """Limits on waiting for a model server, in seconds."""

    connect_s: float = 10.0
    """Until the connection stands."""
    first_token_s: float = 120.0
    """Until the first data event; local servers read long prompts slowly and get more."""
    idle_s: float = 90.0
    """Between data events after the first; comments do not count."""
    after_finish_s: float = 1.0
    """For token counts once the answer is complete."""


LOCAL_TIME_OUTS = TimeOuts(first_token_s=600.0)
"""For servers on the person's own machine."""


@dataclass(frozen=True, slots=True, kw_only=True)
class HttpAnswer:
    """The head of an answer, and its body as it comes."""

    status: int
    headers: Mapping[str, str] = field(default_factory=dict)
    """Names in lower case."""
    text: str = ""
    """The whole body of a refusal."""
    chunks: AsyncIterator[bytes] | None = None
    """The body of a success, decoded from any content encoding."""


class ConnectionFailedError(Exception):
    """No answer came.

    Args:
        kind: unreachable: no connection stood · broken: it broke off before any answer · timeout: too slow.
        reason: In a few words, for people.
    """

    def __init__(self, kind: Literal["unreachable", "broken", "timeout"], reason: str) -> None:
        super().__init__(reason)
        self.kind = kind
        self.reason = reason

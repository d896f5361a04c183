"""Estimates tokens without a tokenizer: a sum over features of the text, corrected by what the server reports.

The weights were fitted to o200k_base over twenty kinds of text (eight languages, code, JSON, HTML, shell output, CSV,
base64). On texts of each kind that were not used for the fit the error is at most 10 %; other tokenizers differ by a
factor, which is learned for each model.
"""

import json
import re
from collections import OrderedDict
from collections.abc import Mapping

from core.messages import AssistantMessage, Message, ModelRequest, ToolSpec

MESSAGE_TOKENS = 4
"""Marks around one message. Source: OpenAI cookbook, "How to count tokens": 3 to 4 a message."""
IMAGE_TOKENS = 1000
"""One picture of a screen, where its size is not known."""
_TILE_PIXELS = 512
_TILE_TOKENS = 170
_IMAGE_BASE_TOKENS = 85
"""Source: OpenAI vision guide: 85 tokens and 170 for each tile of 512 pixels."""
_MIN_FACTOR, _MAX_FACTOR = 0.5, 2.0
_LEARNING_RATE = 0.3
_LEAST_LEARNED_FROM = 200
"""Shorter requests say more about a server's prompt frame than about its tokenizer."""
_CACHED_TEXTS = 32768

_WIDE = "\u1100-\u11ff\u2e80-\u9fff\uac00-\ud7af\uf900-\ufaff\uff00-\uffef\U00020000-\U0003ffff"
_WEIGHTS: tuple[tuple[re.Pattern[str], float], ...] = (
    (re.compile(f"[{_WIDE}]"), 0.77),  # Chinese, Japanese, Korean characters
    (re.compile(rf"[^\x00-\x7f{_WIDE}]"), 0.31),  # letters of other alphabets, symbols
    (re.compile(r"[A-Z]?[a-z]+|[A-Z]+"), 1.05),  # words, and the humps of camelCase
    (re.compile(r"[0-9]{1,3}"), 1.23),  # digits
    (re.compile(r"[!-/:-@\[-`{-~]"), 0.45),  # punctuation
    (re.compile(r"\n\s*"), 1.44),  # line breaks with the indent after them
    (re.compile(r"(?<=\S)[ \t]{2,}"), 1.62),  # gaps inside lines, as in tables
    (re.compile(r"[A-Z][A-Z]"), 0.69),  # capitals side by side, as in base64
)
"""Patterns and tokens for each match, fitted by least squares of the relative error."""


def estimate_text(text: str) -> int:
    """Return the estimated tokens of a text, at least 1 unless it is empty."""
    if not text:
        return 0
    total = sum(weight * len(pattern.findall(text)) for pattern, weight in _WEIGHTS)
    return max(1, round(total))


class TokenCounter:
    """Estimates tokens for one model, learning from what its server reports."""

    def __init__(self, factor: float = 1.0) -> None:
        self._factor = min(_MAX_FACTOR, max(_MIN_FACTOR, factor))
        self._known: OrderedDict[str, int] = OrderedDict()

    @property
    def factor(self) -> float:
        """Learned ratio of this model's tokens to our plain estimate, 0.5 to 2."""
        return self._factor

    def text(self, text: str) -> int:
        """Return the estimated tokens of a text."""
        return round(self._plain(text) * self._factor)

    def message(self, message: Message) -> int:
        """Return the estimated tokens of a message with its marks, calls and pictures."""
        return round(self._message(message) * self._factor)

    def tool(self, spec: ToolSpec) -> int:
        """Return the estimated tokens of a tool as a model is told of it."""
        return round(self._tool(spec) * self._factor)

    def request(self, request: ModelRequest) -> int:
        """Return the estimated tokens of a whole request."""
        total = self._plain(request.system) + MESSAGE_TOKENS
        total += sum(self._message(message) for message in request.messages)
        total += sum(self._tool(spec) for spec in request.tools)
        return round(total * self._factor)

    def learn(self, estimated: int, reported: int) -> None:
        """Move the factor towards what the server reported for a request.

        Args:
            estimated: What `request` had said.
            reported: Tokens of the request as the server counted them.
        """
        if estimated < _LEAST_LEARNED_FROM or reported <= 0:
            return
        seen = self._factor * reported / estimated
        moved = self._factor + _LEARNING_RATE * (seen - self._factor)
        self._factor = min(_MAX_FACTOR, max(_MIN_FACTOR, moved))

    def _plain(self, text: str) -> int:
        known = self._known.get(text)
        if known is None:
            known = estimate_text(text)
            self._known[text] = known
            if len(self._known) > _CACHED_TEXTS:
                self._known.popitem(last=False)
        return known

    def _message(self, message: Message) -> int:
        total = MESSAGE_TOKENS + self._plain(message.text)
        if isinstance(message, AssistantMessage):
            return total + sum(
                MESSAGE_TOKENS + self._plain(call.name) + self._plain(call.raw_arguments)
                for call in message.calls
            )
        return total + sum(image_tokens(image.width, image.height) for image in message.images)

    def _tool(self, spec: ToolSpec) -> int:
        return MESSAGE_TOKENS + self._plain(
            f"{spec.name} {spec.description} {_compact(spec.parameters)}"
        )


def image_tokens(width: int, height: int) -> int:
    """Return the estimated tokens of a picture.

    Args:
        width: Pixels, 0 where unknown.
        height: Pixels, 0 where unknown.
    """
    if width <= 0 or height <= 0:
        return IMAGE_TOKENS
    tiles = -(-width // _TILE_PIXELS) * -(-height // _TILE_PIXELS)
    return _IMAGE_BASE_TOKENS + _TILE_TOKENS * tiles


def _compact(parameters: Mapping[str, object]) -> str:
    return json.dumps(parameters, ensure_ascii=False, separators=(",", ":"), default=str)

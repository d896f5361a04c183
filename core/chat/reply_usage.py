"""The token counts a server reports, in the forms servers use."""

from collections.abc import Callable, Mapping

from core.chat.json_shape import count_of, mapping_of
from core.messages import Usage

_PLACES = ("usage", "usageMetadata", "usage_metadata")
"""Where a chunk may hold the counts: the standard first, then Gemini's own."""
_INPUT = ("prompt_tokens", "input_tokens", "inputTokens", "promptTokenCount", "prompt_eval_count")
_OUTPUT = (
    *("completion_tokens", "output_tokens", "outputTokens"),
    *("candidatesTokenCount", "eval_count"),
)
_CACHED = (
    *("prompt_cache_hit_tokens", "cached_tokens", "cache_read_input_tokens"),
    "cachedContentTokenCount",
)


class UsageCount:
    """The counts of one answer: each is what was reported last, never a sum."""

    def __init__(self) -> None:
        self._counts: dict[str, int] = {}

    def take_chunk(self, chunk: Mapping[str, object]) -> None:
        """Take what a chunk reports; Groq puts it into a field of its own."""
        for place in _PLACES:
            self.take(chunk.get(place))
        self.take(mapping_of(chunk.get("x_groq")).get("usage"))

    def take(self, usage: object) -> None:
        """Take a usage object; anything else and nulls change nothing."""
        fields = mapping_of(usage)
        if not fields:
            return
        details = mapping_of(fields.get("prompt_tokens_details")) or mapping_of(
            fields.get("input_tokens_details")
        )
        for name, keys in (("input", _INPUT), ("output", _OUTPUT), ("cached", _CACHED)):
            numbers = [count_of(fields.get(key)) for key in keys]
            if name == "cached":
                numbers.insert(0, count_of(details.get("cached_tokens")))
            known = [number for number in numbers if number is not None]
            if known:
                self._counts[name] = known[0]

    @property
    def input_tokens(self) -> int | None:
        """Reported tokens of the request, None where none were."""
        return self._counts.get("input") or None

    def reported(self, input_estimate: int, output_estimate: Callable[[], int]) -> Usage:
        """Return the counts, with our estimates for what was not reported."""
        output = self._counts.get("output")
        return Usage(
            input_tokens=self.input_tokens or max(1, input_estimate),
            output_tokens=output_estimate() if output is None else output,
            cached_tokens=min(self._counts.get("cached", 0), self.input_tokens or 0),
            estimated=self.input_tokens is None or output is None,
            input_estimated=self.input_tokens is None,
            output_estimated=output is None,
        )

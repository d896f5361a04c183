"""What the word means with which a server ends an answer; every API has its own."""

import re
from typing import Literal

STANDARD_ENDS = frozenset(("stop", "tool_calls", "function_call", "length", "content_filter"))
"""Source: OpenAI API reference, chat completion chunk object, `finish_reason`."""
EndKind = Literal["whole", "cut", "filtered", "refused", "failed"]
_KINDS: tuple[tuple[EndKind, re.Pattern[str]], ...] = (
    (
        "failed",
        re.compile(r"error(?!_toxic)|insufficient_system_resource|malformed|^abort|^cancel"),
    ),
    (
        "cut",
        re.compile(r"length|max_?(?:output_|new_|completion_)?tokens|context_window|token_?limit"),
    ),
    (
        "filtered",
        re.compile(
            r"filter|safety|sensitive|recitation|prohibited|blocklist|spii|guardrail|moderat|toxic"
        ),
    ),
    ("refused", re.compile(r"^refus")),
)
"""Written from what OpenAI, Azure, Gemini, Anthropic, Bedrock, Cohere, GLM, DeepSeek, vLLM and SGLang send."""


def end_kind(reason: str) -> EndKind:
    """Return what a finish reason means; one that nobody knows ends a whole answer."""
    lower = reason.lower()
    return next((kind for kind, pattern in _KINDS if pattern.search(lower)), "whole")

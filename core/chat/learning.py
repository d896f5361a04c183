"""What a refusal teaches about a server: which flag would make the same request acceptable."""

import re

from core.chat import words
from core.chat.asked import AskedFor
from core.chat.failure_reading import Said

Flag = tuple[str, str]
"""Name and value, as `core.provider.with_learned` takes them."""
_NEEDED = frozenset(("model", "messages", "tools", "stream"))
"""Without these there is no request."""
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
_HISTORY_FLAGS: tuple[tuple[re.Pattern[str], Flag], ...] = (
    (
        re.compile(r"unexpected role '?user'? after role '?tool", re.I),
        ("bridge_assistant_after_tool", "true"),
    ),
    (
        re.compile(r"roles? must alternate|alternate user/assistant", re.I),
        ("merge_same_role", "true"),
    ),
    (
        re.compile(
            r"system'? role (?:is )?(?:not|un)[ -]?supported|(?:not|n't) support (?:the )?'?system'? role",
            re.I,
        ),
        ("system_role", "false"),
    ),
    (
        re.compile(r"content\b.{0,60}(?:got null|(?:not|n't) be null|none is not)", re.I | re.S),
        ("empty_content", ""),
    ),
    (
        re.compile(r"tool.?call.?id.{0,80}length of 9|\[a-zA-Z0-9\]\{9\}", re.I),
        ("tool_id", "alnum9"),
    ),
    (
        re.compile(
            r"reasoning_content.{0,80}(?:passed back|missing|required|must be)", re.I | re.S
        ),
        ("echo_reasoning", "reasoning_content"),
    ),
    (
        re.compile(
            r"(?:unknown name|unsupported|not supported|unrecognized)[^.]{0,40}"
            r"(?:additionalProperties|\$schema|\$ref|\$defs|anyOf|exclusiveMinimum)",
            re.I,
        ),
        ("schema", "openapi_subset"),
    ),
)
"""Ways of a server with histories and schemas, as gateways pass its refusals on."""


def learnable(said: Said, asked: AskedFor) -> Flag | None:
    """Return a flag that was not learned before and would make the request acceptable, None when there is none."""
    if said.is_html or said.status in (401, 403, 429):
        return None
    flag = _flag(said, asked)
    if (
        flag == ("response_format", "json_object")
        and asked.learned.get("response_format") == "json_object"
    ):
        flag = ("response_format", "omit")
    return None if flag is None or asked.learned.get(flag[0]) == flag[1] else flag


def _flag(said: Said, asked: AskedFor) -> Flag | None:
    if asked.has_images and words.NO_IMAGES.search(said.raw):
        return "vision", "false"
    for pattern, flag in _HISTORY_FLAGS:
        if pattern.search(said.words):
            return flag
    if not words.REFUSED_PARAMETER.search(said.raw):
        return None
    for pattern, flag in _PARAMETER_FLAGS:
        if pattern.search(said.words):
            return flag
    named = set(re.findall(r"[a-z_]+", said.words)) & (asked.parameters - _NEEDED)
    return (f"omit.{min(named)}", "true") if named else None

"""What was learned of a model server, in words for people."""

from collections.abc import Mapping

WINDOW = "context_window"
"""Name under which a learned window is kept."""
TOOL_PROTOCOL = "tool_protocol"
"""Name under which it is kept whether the server calls tools."""
_WORDS: Mapping[str, str] = {
    "max_tokens_field=max_completion_tokens": "the longest answer is asked for as max_completion_tokens",
    "max_tokens_field=max_tokens": "the longest answer is asked for as max_tokens",
    "temperature=omit": "no temperature is sent",
    "stream_usage=false": "no token counts are asked for while streaming",
    "parallel_calls=false": "parallel_tool_calls is not sent",
    "tool_choice=omit": "no tool choice is sent",
    "response_format=json_object": "answers are asked for as JSON without a schema",
    "response_format=omit": "no response format is sent",
    "strict=false": "strict is not sent with tools",
    "developer_role=false": "the system message has no developer role",
    "system_role=false": "the system text stands in your first message",
    "empty_content=": "a turn of calls alone has an empty text",
    "vision=false": "it takes no pictures",
    "bridge_assistant_after_tool=true": "a short reply stands between a result and your message",
    "merge_same_role=true": "neighbouring messages of one role are joined",
    "tool_id=alnum9": "ids of calls have nine letters or digits",
    "echo_reasoning=reasoning_content": "its reasoning is sent back to it",
    "tool_protocol=native": "it calls tools",
    "tool_protocol=steps": "it does not call tools: it works step by step, each reply in a given form",
    "schema=openapi_subset": "tools are described with a smaller schema",
}


def learned_words(flag: str) -> str:
    """Return what a learned flag means.

    Args:
        flag: As flag=value.
    """
    name, _, value = flag.partition("=")
    if name == WINDOW and value.isdigit():
        return f"its window is {int(value):,} tokens"
    if name.startswith("omit."):
        return f"{name.removeprefix('omit.')} is not sent"
    return _WORDS.get(flag, flag)

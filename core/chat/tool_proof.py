"""Finds out whether a server of one's own really calls tools: it is asked once for the simplest call there is.

Many local servers take `tools` and answer with prose, or with a call written as text. Then the model works better
step by step (`core.chat.stepwise`), and it is better to know that before a long prompt is sent.
"""

from core.messages import ModelReply, ModelRequest, ToolSpec, UserMessage

PROOF_TOKENS = 64
"""Longest answer; a call of `ping` takes about 20."""
_PING = ToolSpec(
    name="ping",
    description="Answers pong.",
    parameters={
        "type": "object",
        "properties": {"text": {"type": "string"}},
        "required": ["text"],
    },
)


def proof_request() -> ModelRequest:
    """Return the request whose answer tells."""
    return ModelRequest(
        system="You call tools.",
        messages=(UserMessage(text='Call the tool ping with the text "hi".'),),
        tools=(_PING,),
        max_output_tokens=PROOF_TOKENS,
    )


def protocol_of(reply: ModelReply) -> str:
    """Return the tool protocol that fits a server which gave this answer: native or steps.

    An answer that was cut off says nothing: a model that thinks for long is taken at its server's word.
    """
    native = any(call.source == "native" for call in reply.calls)
    return "native" if native or reply.outcome == "truncated" else "steps"

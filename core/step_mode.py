"""Models without tool calling of their own work step by step (`core.chat.stepwise`): what the loop knows of it."""

from contextlib import aclosing

from core.chat.flag_words import TOOL_PROTOCOL
from core.chat.model import ChatModel
from core.chat.tool_proof import proof_request, protocol_of
from core.errors import ModelRefusedError
from core.events import ModelAdapted, ReasoningStreamed, TextStreamed
from core.fallback import FallbackModel
from core.messages import ModelReply
from core.ports import EventSink, Model


def works_by_steps(model: Model | None) -> bool:
    """Return whether the model that answers now works step by step."""
    chat = _answering(model)
    return chat is not None and chat.flags.tool_protocol == "steps"


def change_to_steps(model: Model) -> ModelAdapted | None:
    """Let the model that answers work step by step from now on; None where it does, or the settings forbid it."""
    chat = _answering(model)
    if chat is None or chat.options.tools != "auto" or works_by_steps(chat):
        return None
    return chat.learn(TOOL_PROTOCOL, "steps")


async def prove_tools(model: Model, record: EventSink) -> None:
    """Ask a server of one's own for a call of the simplest tool, once, and keep what that shows.

    Raises:
        ModelError: The model cannot be used.
    """
    chat = _answering(model)
    if chat is None or not chat.options.prove_tools or TOOL_PROTOCOL in chat.learned:
        return
    try:
        protocol = await _proof(chat, record)
    except ModelRefusedError as error:
        if error.code != "tools_unsupported":
            raise
        protocol = "steps"
    record(chat.learn(TOOL_PROTOCOL, protocol))


async def _proof(chat: ChatModel, record: EventSink) -> str:
    """Return the protocol that fits the answer to the proof."""
    protocol = "native"
    async with aclosing(chat.reply(proof_request())) as pieces:
        async for piece in pieces:
            if isinstance(piece, ModelReply):
                protocol = protocol_of(piece)
            elif not isinstance(piece, TextStreamed | ReasoningStreamed):
                record(piece)
    return protocol


def _answering(model: Model | None) -> ChatModel | None:
    """Return the model behind a port that speaks to a server, None for a script."""
    if isinstance(model, FallbackModel):
        return model.current
    return model if isinstance(model, ChatModel) else None

"""Feeds chunks to a reader of replies, without HTTP."""

from collections.abc import Mapping, Sequence
from typing import Any

from core.chat.call_reading import CallIds
from core.chat.tool_names import ToolNames
from core.chat.wire import ReadingRules, ReplyReader
from core.messages import ModelReply, ToolSpec


def spec(name: str, required: Sequence[str] = (), **properties: Any) -> ToolSpec:
    """A tool with these arguments, given as name=type."""
    schema = {name: {"type": kind} for name, kind in properties.items()}
    return ToolSpec(
        name=name,
        description="",
        parameters={"type": "object", "properties": schema, "required": list(required)},
    )


TOOLS = (
    spec("read_file", ["path"], path="string", view_range="array"),
    spec("list_dir", ["path"], path="string", limit="integer"),
    spec("write_file", ["path", "content"], path="string", content="string"),
    spec("get_time"),
)


class Reading:
    """One reply that is read delta by delta.

    Args:
        text_calls: Calls in the text count.
        tools: Offered.
        ids: Ids of the session.
    """

    def __init__(
        self,
        *,
        text_calls: bool = False,
        tools: Sequence[ToolSpec] = TOOLS,
        ids: CallIds | None = None,
        repeat_chunks: int = 400,
    ) -> None:
        rules = ReadingRules(text_tool_calls=text_calls, repeat_chunks=repeat_chunks)
        self.reader = ReplyReader(ToolNames(tools), ids or CallIds(), rules)
        self.shown = ""
        self.thought = ""

    def chunk(self, chunk: Mapping[str, Any]) -> None:
        self._show(self.reader.feed(chunk))

    def delta(self, **delta: Any) -> None:
        self.chunk({"choices": [{"index": 0, "delta": delta}]})

    def end(self, finish: str | None = "stop") -> ModelReply:
        if finish is not None:
            self.chunk({"choices": [{"index": 0, "delta": {}, "finish_reason": finish}]})
        self.reader.done = True
        self._show(self.reader.end())
        return self.reader.reply(input_estimate=7, count=len)

    def _show(self, pieces: Sequence[Any]) -> None:
        for piece in pieces:
            if piece.kind == "text_streamed":
                self.shown += piece.text
            else:
                self.thought += piece.text


def read_text(*pieces: str, finish: str = "stop", text_calls: bool = False) -> ModelReply:
    """The reply whose content came in these pieces."""
    reading = Reading(text_calls=text_calls)
    for piece in pieces:
        reading.delta(content=piece)
    return reading.end(finish)


def read_calls(*entries: Any, finish: str = "tool_calls", **options: Any) -> ModelReply:
    """The reply whose tool_calls came one entry a chunk."""
    reading = Reading(**options)
    for entry in entries:
        reading.delta(tool_calls=[entry])
    return reading.end(finish)


def piece(name: str | None = None, arguments: Any = None, **more: Any) -> dict[str, Any]:
    """One entry of tool_calls."""
    function = {
        key: value for key, value in (("name", name), ("arguments", arguments)) if value is not None
    }
    return {**more, "function": function} if function else more


def told(reply: ModelReply) -> list[tuple[str, Any]]:
    """Name and arguments of each call; its status where it may not run."""
    return [
        (call.name, call.arguments if call.status == "ok" else call.status) for call in reply.calls
    ]

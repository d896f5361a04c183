"""The model of the tour: says the lines of its script; no server is behind it."""

import asyncio
import hashlib
import json
from collections.abc import AsyncGenerator, Sequence
from dataclasses import asdict

from core.events import ModelRequested, TextStreamed
from core.messages import ModelReply, ModelRequest, ToolCall, ToolMessage, Usage
from core.model_piece import ModelPiece
from tui.tour_script import SCRIPT, Line, Scene, ScriptLine

NAME = "scripted-tour"
OVER = (
    "The scripted tour is over; it knows only its one task. "
    "Configure a model to give tasks of your own: see `handrail doctor`."
)


class TourModel:
    """Speaks one line of the script a request (`core.ports.Model`)."""

    name = NAME
    window = 0

    def __init__(self, url: str, *, pace_s: float, script: Sequence[ScriptLine] = SCRIPT) -> None:
        """Make the model.

        Args:
            url: First page of the tour's site.
            pace_s: Pause after each word, 0 or more.
            script: What it says.
        """
        self._url = url
        self._pace_s = pace_s
        self._script = list(script)
        self._spoken = 0

    def body(self, request: ModelRequest) -> bytes:
        """Return what the script is given, as JSON; nothing is sent anywhere."""
        return json.dumps(
            {"model": self.name, **asdict(request)}, ensure_ascii=False, default=dict
        ).encode("utf-8", "backslashreplace")

    async def reply(self, request: ModelRequest) -> AsyncGenerator[ModelPiece, None]:
        """Speak the next line that can be spoken here."""
        body = self.body(request)
        digest = hashlib.sha256(body).hexdigest()
        yield ModelRequested(model=self.name, size_bytes=len(body), digest=digest)
        line = self._next_line(request)
        for word in line.text.split(" "):
            yield TextStreamed(text=word + " ")
            await asyncio.sleep(self._pace_s)
        calls = (self._call(line),) if line.tool else ()
        yield ModelReply(
            outcome="tool_calls" if calls else "message",
            text=line.text,
            calls=calls,
            usage=Usage(),
            finish_reason="tool_calls" if calls else "stop",
        )

    def cost_usd(self, usage: Usage) -> float | None:
        """Return 0: a script costs nothing."""
        return 0.0

    def _next_line(self, request: ModelRequest) -> Line:
        scene = Scene(
            tools=frozenset(tool.name for tool in request.tools),
            results=[part for part in request.messages if isinstance(part, ToolMessage)],
            url=self._url,
        )
        while self._script:
            line = self._script.pop(0)(scene)
            if line is not None:
                return line
        return Line(text=OVER)

    def _call(self, line: Line) -> ToolCall:
        self._spoken += 1
        return ToolCall(
            id=f"tour-{self._spoken}",
            name=line.tool,
            arguments=line.arguments,
            raw_arguments=json.dumps(line.arguments, ensure_ascii=False),
        )

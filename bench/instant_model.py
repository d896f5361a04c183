"""A model server that answers at once: `steps` shell calls, then a text. Logs when each request came and was answered.

Run as a program: python -m bench.instant_model --log FILE --steps N; prints its port.
"""

import argparse
import asyncio
import json
import time
from pathlib import Path
from typing import IO

DONE = "BENCH-DONE"


class InstantModel:
    """Counts the calls a conversation holds and answers with the next one."""

    def __init__(self, log: IO[str], steps: int) -> None:
        """Log to `log` and ask for `steps` commands."""
        self._log = log
        self._steps = steps

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Answer the requests of one connection."""
        try:
            while True:
                head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").lower()
                length = next(
                    (
                        int(line.split(":")[1])
                        for line in head.split("\r\n")
                        if line.startswith("content-length")
                    ),
                    0,
                )
                body = await reader.readexactly(length)
                received_s = time.monotonic()
                await self._answer(head.split(" ", 2)[1], body, writer)
                if not _other_tool(body):
                    self._note(received_s, len(body))
        except (asyncio.IncompleteReadError, ConnectionError):
            writer.close()

    async def _answer(self, path: str, body: bytes, writer: asyncio.StreamWriter) -> None:
        if not path.endswith("/chat/completions"):
            data = json.dumps(
                {"object": "list", "data": [{"id": "instant", "object": "model"}]}
            ).encode()
            head = f"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: {len(data)}\r\n\r\n"
            writer.write(head.encode() + data)
            await writer.drain()
            return
        messages = json.loads(body)["messages"]
        turn = sum(1 for message in messages if message.get("tool_calls"))
        name = _other_tool(body)
        events = [_call(name, {"text": "hi"}, 0), _chunk({}, "tool_calls")]
        if not name:
            events = self._events(turn)
        writer.write(
            b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n"
        )
        for event in [*events, "[DONE]"]:
            data = f"data: {event}\n\n".encode()
            writer.write(b"%x\r\n%s\r\n" % (len(data), data))
        writer.write(b"0\r\n\r\n")
        await writer.drain()

    def _events(self, turn: int) -> list[str]:
        if turn >= self._steps:
            return [_chunk({"role": "assistant", "content": DONE}), _chunk({}, "stop")]
        text = _chunk({"role": "assistant", "content": f"Step {turn + 1}."})
        return [text, _call("shell", {"command": f"echo {turn}"}, turn), _chunk({}, "tool_calls")]

    def _note(self, received_s: float, size_bytes: int) -> None:
        entry = {"received_s": received_s, "done_s": time.monotonic(), "size_bytes": size_bytes}
        self._log.write(json.dumps(entry) + "\n")
        self._log.flush()


def _other_tool(body: bytes) -> str:
    """Return the tool a request offers alone, which is how a server is asked whether it calls tools; "" for a step."""
    tools = json.loads(body).get("tools", []) if body else []
    return tools[0]["function"]["name"] if len(tools) == 1 else ""


def _call(name: str, arguments: dict[str, str], number: int) -> str:
    function = {"name": name, "arguments": json.dumps(arguments)}
    call = {"index": 0, "id": f"call-{number}", "type": "function", "function": function}
    return _chunk({"tool_calls": [call]})


def _chunk(delta: dict[str, object], finish: str | None = None) -> str:
    choice = {"index": 0, "delta": delta, "finish_reason": finish}
    return json.dumps(
        {"id": "c", "object": "chat.completion.chunk", "model": "instant", "choices": [choice]}
    )


async def _main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--log", type=Path, required=True)
    parser.add_argument("--steps", type=int, required=True)
    options = parser.parse_args()
    with options.log.open("w", encoding="utf-8") as log:
        model = InstantModel(log, options.steps)
        server = await asyncio.start_server(model.serve, "127.0.0.1", 0, limit=1 << 26)
        print(server.sockets[0].getsockname()[1], flush=True)
        await server.serve_forever()


if __name__ == "__main__":
    asyncio.run(_main())

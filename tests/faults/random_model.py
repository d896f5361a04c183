"""A model server that knows nothing: by seed it answers well, badly, or not at all."""

import json
import random
from collections.abc import Callable, Sequence
from typing import Any

from tests.support.model_server import calls, http_error, raw, text
from tests.support.model_turns import DONE, Abort, Piece, Received, Script, Turn, chunk

COMMANDS = (
    "ls",
    "echo hi > made.txt",
    "cat nothing",
    "false",
    "exit 3",
    "printf '\\xff\\x00\\x1b[2J'",
    "head -c 300000 /dev/zero | tr '\\0' x",
    "cd ..; pwd",
    "kill -9 $$",
    'echo "unclosed',
)
WORDS = ("", " ", "\n", "hi", "\u202e漢字\u0000", "x" * 5000, "../../etc/passwd", "\ud83d", "null")
VALUES: tuple[Any, ...] = (None, 0, -1, 1e99, True, [], {}, [[[]]], {"a": {"b": 1}}, *WORDS)
TOOLS = (
    "shell",
    "python",
    "read_file",
    "edit_file",
    "list_files",
    "browser",
    "fetch_page",
    "ask_human",
    "finish",
    "nothing",
    "",
    "функция",
)
KEYS = ("command", "path", "code", "text", "file_text", "old_str", "question", "answer", "files")


class RandomModel:
    """Makes the turns of one server; the same seed gives the same turns."""

    def __init__(self, seed: int) -> None:
        self._chance = random.Random(seed)
        self._last: Script | None = None
        self._makers: Sequence[Callable[[], Script]] = (
            self._sound_call,
            self._sound_call,
            self._sound_call,
            self._random_calls,
            self._random_calls,
            self._written_call,
            self._half_call,
            self._garbage,
            self._cut,
            self._refusal,
            self._again,
            self._words,
            lambda: raw(DONE),
            lambda: raw(chunk({"content": ""}), chunk({}, "stop"), DONE),
        )

    def turn(self, request: Received) -> Turn:
        """Answer one request."""
        script = self._chance.choice(self._makers)()
        self._last = script
        return script if isinstance(script, Turn) else script(request)

    def _sound_call(self) -> Script:
        wanted = self._chance.choice(
            (
                ("shell", {"command": self._chance.choice(COMMANDS)}),
                ("python", {"code": self._chance.choice(("1/0", "print('a')", "x = (", "exit()"))}),
                (
                    "read_file",
                    {"path": self._chance.choice(("given.txt", "nothing", "/etc/passwd"))},
                ),
                ("list_files", {"path": "."}),
                ("edit_file", {"command": "create", "path": "a.txt", "file_text": "a\n"}),
                ("edit_file", {"command": "undo", "path": "a.txt"}),
                ("ask_human", {"question": "Which?"}),
                ("finish", {"answer": "done", "files": ["nothing.txt"]}),
            )
        )
        return calls(wanted)

    def _random_calls(self) -> Script:
        wanted = [
            (self._chance.choice(TOOLS), self._arguments())
            for _ in range(self._chance.randint(1, 6))
        ]
        ids = self._chance.choice(((), ["same"] * len(wanted), [""] * len(wanted)))
        return calls(*wanted, ids=ids)

    def _arguments(self) -> dict[str, Any]:
        keys = self._chance.sample(KEYS, self._chance.randint(0, 3))
        return {key: self._chance.choice(VALUES) for key in keys}

    def _written_call(self) -> Script:
        """A call in the text, as small models write them."""
        name = self._chance.choice(TOOLS)
        written = json.dumps({"name": name, "arguments": self._arguments()})
        form = self._chance.choice(
            ("{}", "```json\n{}\n```", "<tool_call>{}</tool_call>", "Sure! {}", "<tool_call>{}")
        )
        return text(form.replace("{}", written))

    def _half_call(self) -> Script:
        written = json.dumps({"command": "echo half", "path": "a"})
        function = {"name": "shell", "arguments": written[: self._chance.randrange(len(written))]}
        head = {"index": self._chance.choice((0, 3, -1)), "id": "h", "function": function}
        finish = self._chance.choice(("tool_calls", "length", "stop", None))
        return raw(chunk({"tool_calls": [head]}), chunk({}, finish), DONE)

    def _garbage(self) -> Script:
        data = bytes(self._chance.randrange(256) for _ in range(300))
        return self._chance.choice(
            (raw(data), raw(b"data: " + data + b"\n\n"), raw(b"data: [1]\n\ndata: 0\n\n", DONE))
        )

    def _cut(self) -> Script:
        whole = chunk({"content": "I will "}) + chunk({"content": "say 漢字"}) + chunk({}, "stop")
        pieces: list[Piece] = [whole[: self._chance.randrange(1, len(whole))]]
        return raw(*pieces, *self._chance.choice(((), (Abort(),))))

    def _refusal(self) -> Script:
        status = self._chance.choice((400, 429, 500, 503))
        return http_error(status, "no", headers={"retry-after": "0.01"})

    def _again(self) -> Script:
        return self._last or self._sound_call()

    def _words(self) -> Script:
        words = self._chance.choice((*WORDS, "I'm sorry, I can't.", "Let me look at the files."))
        return text(words.encode("utf-8", "replace").decode())

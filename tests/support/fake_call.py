"""The context of a call, outside any run."""

from typing import Literal

from core.decision import QuestionPrompt
from core.events import Event
from core.ports import Answer


class FakeCall:
    """Keeps what a tool says and answers its questions in order (`core.ports.CallContext`)."""

    def __init__(self, *answers: Answer, call_id: str = "call-1") -> None:
        self.call_id = call_id
        self.answers = list(answers)
        self.prompts: list[QuestionPrompt] = []
        self.outputs: list[tuple[str, str]] = []
        self.events: list[Event] = []

    def output(self, stream: Literal["stdout", "stderr", "info"], text: str) -> None:
        self.outputs.append((stream, text))

    def record(self, event: Event) -> None:
        self.events.append(event)

    async def ask(self, prompt: QuestionPrompt) -> Answer:
        self.prompts.append(prompt)
        return self.answers.pop(0)

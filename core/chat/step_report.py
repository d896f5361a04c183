"""Writes a conversation for a model that works step by step: what the person said, with a report of what was done.

A small model that sees its own replies as turns of a conversation repeats them. So the calls of a run stand in one
message, as a list of what was done and what came of it, with the state of things and the question at its end.
"""

import json
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace

from core.chat.history import user_text
from core.chat.stepwise import ARGUMENTS, NAME, StepForms
from core.likeness import call_key, result_key
from core.messages import (
    AssistantMessage,
    Image,
    JsonValue,
    Message,
    ModelRequest,
    ToolCall,
    ToolMessage,
    UserMessage,
)

DONE = "# Done so far"
NOTHING_DONE = "Nothing was done yet."
AGAIN = "the same call again, with the same result"
ASK = "Reply with the next step."
ASK_OR_END = "If the results above answer the task, finish with that answer. If not, reply with the next step."
ASK_OTHER = "The last step did not work: do not repeat it. Reply with another step."
ASK_MAKE = "Make {names} now: what you need for that stands above."
ASK_END = (
    "The newest result, once more:\n{result}\n\nEnd now: the answer to the task, from the results."
)
NO_OUTPUT = "no output"
"""How the result of a command ends that has printed nothing."""
TASK_AGAIN = "The task, once more: {task}"
MAX_TASK_CHARS = 1500
"""A longer task is not said again."""
MAX_RESULT_CHARS = 1500
"""Of the newest result, when it is shown again."""
LOST = "(no result)"
MAX_ARGUMENT_CHARS = 400
"""A longer argument is shown with its middle left out: files that were written are shown as they are now."""


@dataclass(frozen=True, slots=True)
class DoneCall:
    """One call of the history and what came of it."""

    call: ToolCall
    result: ToolMessage | None

    @property
    def text(self) -> str:
        """What the model is told of the result."""
        return LOST if self.result is None else self.result.text

    @property
    def outcome(self) -> str:
        """How it ended, "" where that is not known."""
        return "" if self.result is None else self.result.outcome

    def same_as(self, other: "DoneCall | None") -> bool:
        """Return whether another one is the same call with the same result."""
        if other is None or not self.same_call(other):
            return False
        return result_key(self.text) == result_key(other.text)

    def same_call(self, other: "DoneCall") -> bool:
        """Return whether another one is the same call, whatever came of it."""
        return call_key(self.call) == call_key(other.call)


def done_calls(messages: Sequence[Message]) -> list[DoneCall]:
    """Return all calls of a history, in order."""
    results = _results(messages)
    return [
        DoneCall(call, results.get(call.id))
        for message in messages
        if isinstance(message, AssistantMessage)
        for call in message.calls
    ]


def calls_since_asked(messages: Sequence[Message]) -> list[DoneCall]:
    """Return the calls behind the newest message of the person: what was done before belongs to another request."""
    asked = [
        place
        for place, message in enumerate(messages)
        if isinstance(message, UserMessage) and message.author == "user"
    ]
    return done_calls(messages[asked[-1] :] if asked else messages)


def stepped(
    request: ModelRequest,
    forms: StepForms,
    hidden: Collection[str] = (),
    withheld: Collection[str] = (),
) -> ModelRequest:
    """Return a request as a model that works step by step gets it: without tools, all in plain messages.

    Args:
        request: What to ask.
        forms: Forms of its tools.
        hidden: Names of forms the model is not told of.
        withheld: Names of forms that may not be chosen now.
    """
    if not request.tools:
        return replace(request, messages=tuple(_folded(request.messages, forms)))
    messages = list(_folded(request.messages, forms))
    if messages and isinstance(asked := messages[-1], UserMessage):
        done = calls_since_asked(request.messages)
        left = [one.form for name, one in forms.offered.items() if name not in withheld]
        missing = request.situation.missing if request.situation else ()
        making = bool(missing) and not any(form.ends or form.looks for form in left)
        parts = (
            asked.text,
            "" if done else NOTHING_DONE,
            request.situation.text if request.situation else "",
            _task_again(request.messages) if done else "",
            ASK_MAKE.format(names=", ".join(missing))
            if making
            else _question(done, forms, ending=all(form.ends for form in left)),
        )
        messages[-1] = replace(asked, text="\n\n".join(filter(None, parts)))
    system = f"{request.system}\n\n{forms.guide(hidden)}"
    return replace(request, system=system, messages=tuple(messages), tools=(), plain_tokens=0)


def _task_again(messages: Sequence[Message]) -> str:
    """Return what the person said last, for a small model keeps to what it has read last."""
    said = (one for one in reversed(messages) if isinstance(one, UserMessage))
    task = next((one.text for one in said if one.author == "user"), "")
    return TASK_AGAIN.format(task=task) if 0 < len(task) <= MAX_TASK_CHARS else ""


def _question(done: Sequence[DoneCall], forms: StepForms, *, ending: bool) -> str:
    if not done:
        return ASK
    if ending:
        newest = next((one for one in reversed(done) if one.outcome == "ok"), done[-1])
        return ASK_END.format(result=newest.text[-MAX_RESULT_CHARS:])
    if done[-1].outcome != "ok":
        return ASK_OTHER
    form = forms.form_of(done[-1].call)
    tells = form is not None and not form.changes and not done[-1].text.endswith(NO_OUTPUT)
    return ASK_OR_END if tells else ASK


def _results(messages: Sequence[Message]) -> dict[str, ToolMessage]:
    return {message.call_id: message for message in messages if isinstance(message, ToolMessage)}


def _folded(messages: Sequence[Message], forms: StepForms) -> Iterator[Message]:
    """Yield one message for each request of the person with what was done about it, and each answer."""
    results = _results(messages)
    report = _Report(forms)
    for message in messages:
        if isinstance(message, UserMessage):
            report.say(user_text(message), message.images)
        elif isinstance(message, AssistantMessage) and message.calls:
            for call in message.calls:
                report.do(DoneCall(call, results.get(call.id)))
        elif isinstance(message, AssistantMessage):
            yield from report.taken()
            yield AssistantMessage(text=message.text)
    yield from report.taken()


class _Report:
    """What the person said and what was done about it, on the way to becoming one message."""

    def __init__(self, forms: StepForms) -> None:
        self._forms = forms
        self._begin()

    def _begin(self) -> None:
        self._texts: list[str] = []
        self._images: list[Image] = []
        self._last: DoneCall | None = None
        self._count = 0

    def say(self, text: str, images: Sequence[Image]) -> None:
        """Add a message of the person or of the program."""
        self._texts.append(text)
        self._images += images

    def do(self, done: DoneCall) -> None:
        """Add a call with its result."""
        self._count += 1
        if self._count == 1:
            self._texts.append(DONE)
        same = done.same_as(self._last)
        self._texts.append(f"{self._count}. {AGAIN if same else self._entry(done)}")
        self._images += done.result.images if done.result else ()
        self._last = done

    def taken(self) -> Iterator[UserMessage]:
        """Yield the message, if there is one, and begin anew."""
        if self._texts:
            yield UserMessage(text="\n\n".join(self._texts), images=tuple(self._images))
        self._begin()

    def _entry(self, done: DoneCall) -> str:
        name, arguments = self._forms.shown(done.call)
        short = {field: _shortened(value) for field, value in arguments.items()}
        # In the form of a reply: what a small model copies from here is a reply again.
        call = json.dumps({NAME: name, ARGUMENTS: short}, ensure_ascii=False)
        return f"{call}\nResult: {done.text}"


def _shortened(value: JsonValue) -> JsonValue:
    if not isinstance(value, str) or len(value) <= MAX_ARGUMENT_CHARS:
        return value
    half = MAX_ARGUMENT_CHARS // 2
    return f"{value[:half]}\n[...]\n{value[-half:]}"

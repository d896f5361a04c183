"""Reads a streamed answer chunk by chunk: text and reasoning as they come, the whole reply at the end.

Fails closed: unless the server said that the answer is complete, nothing of it may run.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from core.chat.call_reading import CallIds, CallReader, RawCall, cut_off
from core.chat.call_slots import CallSlots
from core.chat.finish_reason import STANDARD_ENDS, end_kind
from core.chat.json_shape import items_of, kept_value, mapping_of, text_of
from core.chat.reply_usage import UsageCount
from core.chat.stepwise import StepForms
from core.chat.text_calls import find_text_calls
from core.chat.text_stream import StreamedPiece, TextStream
from core.chat.tool_names import ToolNames
from core.errors import ModelStreamError
from core.messages import JsonValue, ModelReply, ReplyOutcome, ToolCall

_REASONING_KEYS = ("reasoning_content", "reasoning", "reasoning_text", "thinking")
"""Where servers put the reasoning; those that fill several repeat themselves in them."""
_MESSAGES = {
    "content_filter": "The server's content filter stopped the answer.",
    "refusal": "The model declined to answer.",
    "truncated": "The answer was cut off before it was complete; none of its calls were run.",
    "reasoning_only": "The model only reasoned and gave no answer.",
    "empty": "The model gave an empty answer.",
}


class ErrorObjectError(Exception):
    """The server reports an error inside the stream.

    Args:
        payload: What it reports.
        begun: Part of the answer had come before; then asking again is up to the loop.
    """

    def __init__(self, payload: Mapping[str, object], *, begun: bool) -> None:
        super().__init__("error object in the stream")
        self.payload = payload
        self.begun = begun


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadingRules:
    """How the answers of a server are read."""

    text_tool_calls: bool = False
    """Calls written as text count."""
    repeat_chunks: int = 400
    """This many equal pieces of text in a row end the stream; 0 means no limit."""
    forms: StepForms | None = None
    """Forms of the tools where every reply is one step, None where tools have fields of their own."""


class ReplyReader:
    """Reads one answer.

    Args:
        names: Tools that were offered.
        ids: Ids of the session's calls.
        rules: How this server is read.
    """

    def __init__(self, names: ToolNames, ids: CallIds, rules: ReadingRules) -> None:
        self._names = names
        self._calls = CallReader(names, ids)
        self._rules = rules
        self._stream = TextStream(
            hold_calls=rules.text_tool_calls or rules.forms is not None,
            repeat_chunks=rules.repeat_chunks,
        )
        self._slots = CallSlots(names)
        self._text_calls: list[RawCall] = []
        self._thought = ""
        self._refusal: list[str] = []
        self._carry: dict[str, JsonValue] = {}
        self._finish_reason = ""
        self._choice: object = None
        self.usage = UsageCount()
        """Tokens as the server reported them last."""
        self.begun = False
        """Whether anything of an answer has come."""
        self.done = False
        """Whether the server said that the stream is complete."""

    @property
    def finished(self) -> bool:
        """Whether the answer is complete; token counts may still follow."""
        return self.done or bool(self._finish_reason)

    @property
    def has_content(self) -> bool:
        """Whether text, reasoning or a call has come."""
        return bool(self._stream.has_text or self._slots.slots)

    def feed(self, chunk: Mapping[str, object]) -> list[StreamedPiece]:
        """Take one chunk and return what can be shown.

        Raises:
            ErrorObjectError: The server reports an error.
            ModelStreamError: The answer repeats itself or does not end.
        """
        if "error" in chunk or "choices" not in chunk:
            error = error_payload(chunk)
            if error is not None:
                raise ErrorObjectError(error, begun=self.begun)
        self.usage.take_chunk(chunk)
        choice = self._own_choice(chunk)
        if choice is None:
            return []
        if choice.get("error"):
            raise ErrorObjectError(error_payload(choice) or {}, begun=self.begun)
        self.usage.take(choice.get("usage"))
        reason = choice.get("finish_reason")
        if isinstance(reason, str) and reason:
            self._take_end(reason)
        pieces = self._delta(self._delta_of(choice))
        self.begun = True
        return pieces

    def _take_end(self, reason: str) -> None:
        """Keep why the answer ended; once it is cut off or filtered, a later word does not make it whole."""
        if end_kind(reason) == "failed":
            raise ErrorObjectError(
                {"message": f"the server ended the answer with {reason!r}"}, begun=True
            )
        if not self._finish_reason or end_kind(self._finish_reason) == "whole":
            self._finish_reason = reason

    def end(self) -> list[StreamedPiece]:
        """Take the end of a complete stream and return what is still to be shown."""
        pieces = self._stream.end()
        if not self._slots.slots:
            self._read_text()
        return pieces if self._text_calls else [*pieces, *self._stream.release()]

    def _read_text(self) -> None:
        """Look for calls in the text."""
        step = self._rules.forms.read(self._stream.text) if self._rules.forms else None
        if step is not None:
            self._text_calls, self._thought = [step.call], step.thought
        elif self._rules.text_tool_calls:
            self._text_calls = find_text_calls(self._stream.text, self._names)

    def abandon(self) -> list[StreamedPiece]:
        """Return what was held back of a stream that broke off."""
        return [*self._stream.end(), *self._stream.release()]

    def reply(
        self, *, input_estimate: int, count: Callable[[str], int], warnings: Sequence[str] = ()
    ) -> ModelReply:
        """Return the whole answer; call `end` before it.

        Args:
            input_estimate: Our own estimate of the request in tokens.
            count: Estimates the tokens of a text.
            warnings: Names of further warnings.

        Raises:
            ModelStreamError: The server never said that the answer is complete.
        """
        if not self.finished:
            raise ModelStreamError(
                "The model's answer broke off before it was complete.",
                hint="Nothing of it was run.",
                code="incomplete_stream",
            )
        text = self._thought if self._text_calls else self._stream.text
        outcome, reason, calls = self._judged(text, self._calls.read(self._raw_calls()))
        if reason == "refusal":
            text = "\n".join(part for part in (text, "".join(self._refusal)) if part)
        written = "".join((text, self._stream.reasoning, *(call.raw_arguments for call in calls)))
        return ModelReply(
            outcome=outcome,
            text=text,
            reasoning=self._stream.reasoning,
            calls=calls,
            usage=self.usage.reported(input_estimate, lambda: max(1, count(written))),
            finish_reason=self._finish_reason,
            warnings=(*self._end_warnings(), *warnings),
            reason=reason,
            message=self._message(outcome, reason),
            carry=self._carry,
        )

    def _raw_calls(self) -> Sequence[RawCall]:
        if self._text_calls:
            return self._text_calls
        return [
            RawCall(id=slot.id, name=slot.name, arguments=slot.arguments, extra=slot.extra)
            for slot in self._slots.slots
            if slot.name or slot.parts
        ]

    def _judged(
        self, text: str, calls: tuple[ToolCall, ...]
    ) -> tuple[ReplyOutcome, str, tuple[ToolCall, ...]]:
        """Return what the answer is, why it was refused, and the calls that are left of it."""
        end = end_kind(self._finish_reason)
        if end == "filtered":
            return "refused", "content_filter", ()
        if self._refusal or end == "refused":
            return "refused", "refusal", ()
        if end == "cut" or any(call.status == "truncated" for call in calls):
            return "truncated", "", tuple(cut_off(call) for call in calls)
        if calls:
            return "tool_calls", "", calls
        return ("message" if text.strip() else "empty"), "", ()

    def _message(self, outcome: ReplyOutcome, reason: str) -> str:
        if outcome == "empty" and self._stream.reasoning:
            return _MESSAGES["reasoning_only"]
        return _MESSAGES.get(reason or outcome, "")

    def _end_warnings(self) -> list[str]:
        if not self._finish_reason:
            return ["no_finish_reason"]
        return [] if self._finish_reason in STANDARD_ENDS else ["unknown_finish_reason"]

    def _own_choice(self, chunk: Mapping[str, object]) -> Mapping[str, object] | None:
        """Return the choice that is ours: the first that came, for only one was asked for."""
        for item in items_of(chunk.get("choices")):
            choice = mapping_of(item)
            index = choice.get("index") or 0
            if self._choice is None:
                self._choice = index
            if choice and index == self._choice:
                return choice
        return None

    def _delta_of(self, choice: Mapping[str, object]) -> Mapping[str, object]:
        delta = mapping_of(choice.get("delta"))
        if not delta and isinstance(choice.get("text"), str):
            return {"content": choice["text"]}  # the older completions API
        # A whole message at the end of a stream repeats what came in pieces before it.
        return delta or (mapping_of(choice.get("message")) if not self.has_content else {})

    def _delta(self, delta: Mapping[str, object]) -> list[StreamedPiece]:
        if not delta:
            return []
        pieces = self._reasoned(delta)
        content = delta.get("content")
        if isinstance(content, str):
            pieces += self._stream.add(content) if content else []
        elif content:
            pieces += self._parts(items_of(content))
        refusal = text_of(delta.get("refusal"))
        if refusal:
            self._refusal.append(refusal)
        self._slots.add_legacy(mapping_of(delta.get("function_call")))
        for piece in items_of(delta.get("tool_calls")):
            self._slots.add(mapping_of(piece))
        if delta.get("extra_content"):
            self._carry["extra_content"] = kept_value(delta["extra_content"])
        return pieces

    def _reasoned(self, delta: Mapping[str, object]) -> list[StreamedPiece]:
        """Take the reasoning of a delta, and keep what the server wants back of it."""
        reasoning = next(filter(None, (text_of(delta.get(key)) for key in _REASONING_KEYS)), "")
        details = items_of(delta.get("reasoning_details"))
        if details:
            kept = self._carry.setdefault("reasoning_details", [])
            if isinstance(kept, list):
                kept += map(kept_value, details)
            reasoning = reasoning or "".join(map(_detail_text, details))
        return self._stream.add_reasoning(reasoning)

    def _parts(self, parts: Sequence[object]) -> list[StreamedPiece]:
        """Take content that comes as a list of parts."""
        pieces: list[StreamedPiece] = []
        for item in parts:
            part = mapping_of(item) or {"text": item}
            thought = part.get("thinking") or part.get("reasoning")
            if thought:
                inner = thought if isinstance(thought, str) else _joined(items_of(thought))
                pieces += self._stream.add_reasoning(inner)
            elif text_of(part.get("text")):
                pieces += self._stream.add(text_of(part.get("text")))
        return pieces


def error_payload(chunk: Mapping[str, object], event_name: str = "") -> Mapping[str, object] | None:
    """Return what a chunk reports as an error, None when it is none.

    Args:
        chunk: One object of the stream, or the whole body.
        event_name: Name of the event it came in.
    """
    error = chunk.get("error")
    if error:
        return mapping_of(error) or {"message": str(error)}
    if "choices" in chunk and chunk["choices"] is not None:
        return None
    named = event_name == "error" or "error" in (chunk.get("object"), chunk.get("type"))
    if named or ("message" in chunk and ("code" in chunk or "status" in chunk)):
        return chunk
    return None


def _detail_text(item: object) -> str:
    fields = mapping_of(item)
    return text_of(fields.get("text")) or text_of(fields.get("summary"))


def _joined(parts: Sequence[object]) -> str:
    return "".join(text_of(mapping_of(part).get("text")) for part in parts)

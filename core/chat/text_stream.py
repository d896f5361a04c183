"""The text of an answer while it streams: reasoning parted off, half characters and possible calls held back."""

from core.chat.json_shape import whole_text
from core.chat.text_calls import may_be_call
from core.chat.think_tags import ThinkSplitter, split_unopened
from core.errors import ModelStreamError
from core.events import ReasoningStreamed, TextStreamed

StreamedPiece = TextStreamed | ReasoningStreamed
MAX_REPLY_CHARS = 16 << 20
"""A longer answer comes from a server that does not stop."""
_HIGH_SURROGATES = ("\ud800", "\udbff")


class TextStream:
    """Takes pieces of text and says what can be shown.

    Args:
        hold_calls: Keep back a text that may turn out to be calls.
        repeat_chunks: This many equal pieces in a row end the stream; 0 means no limit.
    """

    def __init__(self, *, hold_calls: bool, repeat_chunks: int) -> None:
        self._hold_calls = hold_calls
        self._repeat_chunks = repeat_chunks
        self._think = ThinkSplitter()
        self._text: list[str] = []
        self._reasoning: list[str] = []
        self._held: list[str] = []
        self._half = ""
        self._last, self._repeats = "", 0
        self._size_chars = 0

    @property
    def text(self) -> str:
        """The answer so far, without reasoning."""
        return whole_text("".join(self._text))

    @property
    def reasoning(self) -> str:
        """The reasoning so far."""
        whole = whole_text("".join(self._reasoning))
        # Between tags it stands on lines of its own.
        return whole.strip() if self._think.opened else whole

    @property
    def has_text(self) -> bool:
        """Whether text or reasoning has come."""
        return bool(self._text or self._reasoning or self._half)

    def add(self, content: str) -> list[StreamedPiece]:
        """Take a piece of the answer.

        Raises:
            ModelStreamError: It repeats itself or does not end.
        """
        self._watch(content)
        content = self._half + content
        self._half = ""
        if _HIGH_SURROGATES[0] <= content[-1:] <= _HIGH_SURROGATES[1]:
            content, self._half = content[:-1], content[-1]
        reasoning, answer = self._think.feed(content)
        return [*self.add_reasoning(reasoning), *self._answer(answer)]

    def add_reasoning(self, text: str) -> list[StreamedPiece]:
        """Take a piece of the reasoning."""
        if not text:
            return []
        self._size_chars += len(text)
        self._reasoning.append(text)
        return [ReasoningStreamed(text=whole_text(text))]

    def end(self) -> list[StreamedPiece]:
        """Take the end of the stream; a text that may be calls stays back until `release`."""
        half, self._half = self._half, ""
        fed_reasoning, fed = self._think.feed(half) if half else ("", "")
        reasoning, answer = self._think.flush()
        pieces = [*self.add_reasoning(fed_reasoning + reasoning), *self._answer(fed + answer)]
        if not self._think.opened and not self._reasoning:
            self._split_unopened()
        return pieces

    def release(self) -> list[StreamedPiece]:
        """Show what was held back: it is text after all."""
        held, self._held = "".join(self._held), []
        self._hold_calls = False
        return [TextStreamed(text=whole_text(held))] if held else []

    def _answer(self, text: str) -> list[StreamedPiece]:
        if not text:
            return []
        self._text.append(text)
        if not self._hold_calls:
            return [TextStreamed(text=whole_text(text))]
        self._held.append(text)
        # Only its head tells a call from prose, so a long text need not be joined again and again.
        return [] if may_be_call("".join(self._held[:8])) else self.release()

    def _split_unopened(self) -> None:
        reasoning, answer = split_unopened("".join(self._text))
        if reasoning:
            self._reasoning, self._text = [reasoning], [answer]

    def _watch(self, content: str) -> None:
        self._size_chars += len(content)
        self._repeats = self._repeats + 1 if content == self._last else 1
        self._last = content
        if self._repeat_chunks and self._repeats >= self._repeat_chunks:
            raise ModelStreamError("The model repeated itself without end.", code="repetition")
        if self._size_chars > MAX_REPLY_CHARS:
            raise ModelStreamError("The model's answer did not end.", code="repetition")

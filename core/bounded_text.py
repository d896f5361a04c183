"""Text that keeps its head and its tail and counts what falls out between them."""

from dataclasses import dataclass


@dataclass(slots=True)
class BoundedText:
    """Text of bounded size, appended to piece by piece.

    At most `head_chars` characters of the beginning and, once those are full, between `tail_chars` and twice as many
    of the end are kept.
    """

    head_chars: int = 16_384
    tail_chars: int = 16_384
    head: str = ""
    tail: str = ""
    dropped_chars: int = 0
    """Characters that were between head and tail."""

    def append(self, text: str) -> None:
        """Add text at the end."""
        if not self.tail:
            room = self.head_chars - len(self.head)
            self.head += text[:room]
            text = text[room:]
        self.tail += text
        if len(self.tail) > 2 * self.tail_chars:
            cut = len(self.tail) - self.tail_chars
            self.tail = self.tail[cut:]
            self.dropped_chars += cut

    @property
    def text(self) -> str:
        """Head and tail, with a line between them that says what is missing."""
        if not self.dropped_chars:
            return self.head + self.tail
        return f"{self.head}\n… {self.dropped_chars:,} characters left out …\n{self.tail}"

    def __bool__(self) -> bool:
        """Return whether there is any text."""
        return bool(self.head)

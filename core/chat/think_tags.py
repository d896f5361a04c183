"""Parts the reasoning from a text in which the server left it between tags.

A block counts only at the start of the reply, so that an answer about such tags stays an answer.
"""

import re

_OPEN = re.compile(r"\s*<(think|thinking|thought)>", re.IGNORECASE)
_ANY_OPEN = re.compile(r"<(?:think|thinking|thought)>", re.IGNORECASE)
_CLOSE = re.compile(r"</(?:think|thinking|thought)>", re.IGNORECASE)
_LONGEST = len("</thinking>")
_OPENINGS = ("<think>", "<thinking>", "<thought>")
_CODE = re.compile(r"```.*?(?:```|\Z)|`[^`\n]*`", re.DOTALL)


class ThinkSplitter:
    """Parts a streamed text into reasoning and answer."""

    def __init__(self) -> None:
        self._held = ""
        self._thinking = False
        self._answering = False
        self.opened = False
        """Whether there was an opening tag."""

    def feed(self, text: str) -> tuple[str, str]:
        """Take the next piece.

        Returns:
            Reasoning and answer that can be told apart now; a possible tag is held back.
        """
        if self._answering:
            return "", text
        self._held += text
        reasoning: list[str] = []
        while True:
            if self._thinking:
                reasoning.append(self._inside())
                if self._thinking:
                    return "".join(reasoning), ""
            if self._open():
                continue
            if self._may_open():
                return "".join(reasoning), ""
            answer, self._held = self._held, ""
            self._answering = True
            return "".join(reasoning), answer.lstrip() if self.opened else answer

    def flush(self) -> tuple[str, str]:
        """Return what was held back; the text is at its end."""
        held, self._held = self._held, ""
        if self._thinking:
            return held, ""
        return "", "" if self.opened and not held.strip() else held

    def _open(self) -> bool:
        found = _OPEN.match(self._held)
        if found is None:
            return False
        self._held = self._held[found.end() :]
        self._thinking = self.opened = True
        return True

    def _may_open(self) -> bool:
        start = self._held.lstrip().lower()
        return not start or any(tag.startswith(start) for tag in _OPENINGS)

    def _inside(self) -> str:
        """Return what is reasoning for sure, and leave the block where it closes."""
        found = _CLOSE.search(self._held)
        if found is not None:
            reasoning, self._held = self._held[: found.start()], self._held[found.end() :]
            self._thinking = False
            return reasoning
        start = self._held.rfind("<", max(0, len(self._held) - _LONGEST))
        cut = start if start >= 0 else len(self._held)
        reasoning, self._held = self._held[:cut], self._held[cut:]
        return reasoning


def split_unopened(text: str) -> tuple[str, str]:
    """Return reasoning and answer of a text with a closing tag only: some templates write the opening one."""
    blank = _CODE.sub(lambda code: " " * len(code.group()), text)
    found = _CLOSE.search(blank)
    if found is None or _ANY_OPEN.search(blank, 0, found.start()):
        return "", text
    return text[: found.start()], text[found.end() :].lstrip()

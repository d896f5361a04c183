"""Picks the passages of a long text that have to do with a goal."""

import re
from collections.abc import Iterable

PARAGRAPH_CHARACTERS = 1500
"""Longer paragraphs are taken line by line."""
_WORD = re.compile(r"[a-z0-9]{4,}|[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]+", re.IGNORECASE)
_PARAGRAPH = re.compile(r"\S.*?(?=\n\s*\n|\Z)", re.DOTALL)
_LINE = re.compile(r"\S[^\n]{0,1500}")
_STOP = frozenset(
    {
        "with",
        "from",
        "that",
        "this",
        "what",
        "which",
        "about",
        "page",
        "find",
        "there",
        "where",
        "when",
    }
)
"""Words a goal is made of that say nothing of what it is."""


def terms(goal: str) -> frozenset[str]:
    """Return the words of a goal that carry its meaning; scripts without spaces give pairs of characters."""
    found: set[str] = set()
    for word in _WORD.findall(goal.lower()):
        if word.isascii():
            found.add(word)
        else:
            found.update(word[at : at + 2] for at in range(max(1, len(word) - 1)))
    return frozenset(found - _STOP)


def passages(text: str, goal: str, limit_chars: int) -> list[tuple[int, str]]:
    """Return the paragraphs that share most words with a goal.

    Args:
        text: Paragraphs with blank lines between them.
        goal: What is looked for.
        limit_chars: Most characters of all passages together.

    Returns:
        (offset in `text`, paragraph) in the order of the text; empty when nothing matches.
    """
    wanted = terms(goal)
    scored = []
    for offset, paragraph in _paragraphs(text):
        low = paragraph.lower()
        score = sum(term in low for term in wanted)
        if score:
            scored.append((score, offset, paragraph))
    scored.sort(key=lambda item: (-item[0], item[1]))
    chosen: list[tuple[int, str]] = []
    size = 0
    for _, offset, paragraph in scored:
        if size + len(paragraph) > limit_chars and chosen:
            continue
        chosen.append((offset, paragraph[:limit_chars]))
        size += len(paragraph)
    return sorted(chosen)


def _paragraphs(text: str) -> Iterable[tuple[int, str]]:
    for found in _PARAGRAPH.finditer(text):
        if len(found[0]) <= PARAGRAPH_CHARACTERS:
            yield found.start(), found[0]
            continue
        for line in _LINE.finditer(found[0]):
            yield found.start() + line.start(), line[0]

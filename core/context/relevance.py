"""How much a unit matters for what is asked now: how new it is and how many words it shares, without asking a model.

It is only worked out when something must go. Text without spaces counts by pairs of characters.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from core.memory import Memory
from core.messages import AssistantMessage, Message
from core.unit import Unit

RECENCY_WEIGHT = 0.5
"""The rest is for shared words: a unit of the middle that is about the task outlives a newer one that is not."""
SHARED_AT_LEAST = 3
"""Words a unit must share to count in full, where no other one shares more."""
HEAD_CHARS, TAIL_CHARS = 4000, 2000
"""Looked at of each message."""
_WORD = re.compile(r"[^\W_]{3,}")
_WIDE = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af\uf900-\ufaff]+")
"""Scripts that are written without spaces (Hangul is read the same way)."""
_COMMON = frozenset(
    re.findall(
        r"\w+",
        "the and for you your with that this from are was were has have had not all any can its into onto then "
        "them they there here what which when where how who why will would should could must may use used using",
    )
)


@dataclass(frozen=True, slots=True)
class Relevance:
    """How much one unit matters."""

    score: float
    """0 to 1."""
    age: int
    """In steps."""
    shared: int
    """Words of the task in it."""
    words: int
    """Words of the task."""

    @property
    def why(self) -> str:
        """What the score comes from."""
        age = f"{self.age} step{'s' * (self.age != 1)} old"
        return f"{age}, {self.shared} of {self.words} words of the task in it"


class RelevanceOrder:
    """Scores units against the task and the newest message of the person."""

    def __init__(self) -> None:
        """Nothing is known yet."""
        self._query: frozenset[str] = frozenset()
        self._asked: tuple[str, ...] = ()

    def scores(self, memory: Memory, units: Sequence[Unit]) -> list[Relevance]:
        """Return how much each of `units`, oldest first, matters."""
        query = self.query(memory)
        shared = [len(_terms(unit) & query) for unit in units]
        most = max([*shared, SHARED_AT_LEAST])
        return [
            Relevance(
                RECENCY_WEIGHT * (number + 1) / len(units) + (1 - RECENCY_WEIGHT) * words / most,
                memory.steps - unit.born_step,
                words,
                len(query),
            )
            for number, (unit, words) in enumerate(zip(units, shared, strict=True))
        ]

    def query(self, memory: Memory) -> frozenset[str]:
        """Return the words of the task and of the newest message of the person."""
        asking = [unit for unit in (memory.task, memory.said) if unit is not None]
        asked = tuple(unit.head.text for unit in asking)
        if asked != self._asked:
            self._asked = asked
            self._query = frozenset().union(*map(terms_of, asked))
        return self._query


def _terms(unit: Unit) -> frozenset[str]:
    if unit.terms is None:
        unit.terms = frozenset().union(*(terms_of(_text(message)) for message in unit.messages()))
    return unit.terms


def _text(message: Message) -> str:
    if isinstance(message, AssistantMessage):
        return " ".join([message.text, *(call.raw_arguments for call in message.calls)])
    return message.text


def terms_of(text: str) -> frozenset[str]:
    """Return the words of a text: lower case, three letters and more, without the commonest; pairs for CJK."""
    if len(text) > HEAD_CHARS + TAIL_CHARS:
        text = f"{text[:HEAD_CHARS]} {text[-TAIL_CHARS:]}"
    text = text.casefold()
    terms = {run[at : at + 2] for run in _WIDE.findall(text) for at in range(max(1, len(run) - 1))}
    for word in _WORD.findall(_WIDE.sub(" ", text)):
        if word not in _COMMON:
            terms.add(word.removesuffix("s") if len(word) > 3 else word)
    return frozenset(terms)

"""What panes ask of the screen they are on."""

from dataclasses import dataclass

from textual.message import Message


@dataclass
class FullTextAsked(Message):
    """A whole text is to be shown."""

    title: str
    text: str


@dataclass
class CopyAsked(Message):
    """A text goes to the clipboard."""

    text: str


@dataclass
class CardAsked(Message):
    """The conversation is to show what belongs to the record `n`."""

    n: int


@dataclass
class NewBelow(Message):
    """So many blocks of the conversation came below what is in view."""

    count: int

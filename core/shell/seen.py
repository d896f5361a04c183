"""What the loose reader sees in a text."""

from dataclasses import dataclass, field

from core.shell.lexer import Token


@dataclass(frozen=True, slots=True)
class Redirect:
    """Where a stream of a command goes to or comes from."""

    operator: str
    target: Token


@dataclass(frozen=True, slots=True, kw_only=True)
class Seen:
    """One command that may run."""

    words: tuple[Token, ...]
    """Name first; wrappers still on."""
    redirects: tuple[Redirect, ...] = ()
    folders: tuple[str, ...] = ()
    """Where it may run, as paths inside; "" where that is not known."""
    pipeline: int = 0
    """Commands of one pipeline have the same number."""
    place: int = 0
    """Its place in the pipeline."""
    environment: tuple[tuple[str, str], ...] = ()
    """Variables set for it alone."""
    within: int = -1
    """Pipeline whose words it makes, for a substitution; -1 outside one."""
    under: int = -1
    """Pipeline whose output a group around it reads; -1 outside one."""
    more: bool = False
    """It gets further operands that are not in the text."""
    body: str = ""
    """Text it reads: a here-document, a here-string, or what `echo` in front of it writes."""

    @property
    def name(self) -> str:
        """Program without its folder."""
        return self.words[0].text.rpartition("/")[2] if self.words else ""

    @property
    def argv(self) -> tuple[str, ...]:
        """Texts of the words, the program without its folder."""
        return (self.name, *(word.text for word in self.words[1:]))


@dataclass(slots=True)
class Sight:
    """Everything that was seen in a text."""

    commands: list[Seen] = field(default_factory=list)
    functions: set[str] = field(default_factory=set)
    background: bool = False
    """Something is started beside the rest."""
    endless: bool = False
    """A loop has no end of its own."""
    cut: bool = False
    """Not all of it was looked at."""

"""The loose tokenizer: finds every word and operator that a text may hold, substitutions included.

It never refuses. Where the meaning of a word depends on something that is not known, the word says so. Look-alike
blanks count as blanks and carriage returns as newlines: what reads like a command is taken for one.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import product
from typing import Final

MAX_BRACES: Final = 64
"""Words one brace expansion may make."""
UNKNOWN_TEXT: Final = "\ufffd"
"""Stands in a word for what is not known."""

_OPERATORS: Final = (
    "&&", "||", ";;&", ";;", ";&", "|&", "&>>", "&>", "<<<", "<<-", "<<", "<>", "<&", ">>", ">|", ">&", ";", "|",
    "&", "(", ")", "<", ">", "\n",
)  # fmt: skip
_OPERATOR_STARTS: Final = frozenset("&|;<>()\n")
_PLAIN: Final = re.compile(r"[^\s&|;<>()'\"\\$`*?\[]+")
REDIRECTS: Final = frozenset(
    {"&>>", "&>", "<<<", "<<-", "<<", "<>", "<&", ">>", ">|", ">&", "<", ">"}
)
_SPECIAL: Final = re.compile(r"[$`\"'\\;&|<>()#{}]")
_NAME: Final = re.compile(r"[A-Za-z_]\w*|[0-9@*#?$!-]")
_BRACED: Final = re.compile(r"([!#]?)([A-Za-z_]\w*|[0-9@*#?$!-])")
_ESCAPES: Final = {
    "n": "\n",
    "t": "\t",
    "r": "\n",
    "a": "",
    "b": "",
    "e": "",
    "E": "",
    "f": " ",
    "v": " ",
}
_ANSI: Final = re.compile(
    r"\\(x[0-9A-Fa-f]{1,2}|u[0-9A-Fa-f]{1,4}|U[0-9A-Fa-f]{1,8}|[0-7]{1,3}|c.|.)", re.DOTALL
)
_ODD_BLANK: Final = re.compile(
    r"[\t\u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000\u2800\u3164\x0b\x0c]"
)
_UNSEEN: Final = re.compile(
    r"[\u00ad\u034f\u061c\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufe00-\ufe0f\ufeff"
    r"\x00-\x08\x0e-\x1f\x7f-\x9f]"
)


@dataclass(slots=True)
class Token:
    """A word or an operator."""

    text: str
    operator: bool = False
    exact: bool = True
    """The text is what the program gets."""
    glob: bool = False
    """It holds an unquoted * ? or [."""
    quoted: bool = False
    inner: list[str] = field(default_factory=list)
    """Texts of commands that run to make this word."""
    body: str = ""
    """Here-document behind `<<`."""


def normal(text: str) -> str:
    """Return the text with look-alikes in their plain form."""
    plain = text.replace("\r\n", "\n").replace("\r", "\n").replace("\u0085", "\n")
    return _UNSEEN.sub("", _ODD_BLANK.sub(" ", plain))


def tokens(text: str, variables: Mapping[str, str]) -> Iterator[Token]:
    """Yield the tokens of a text.

    Args:
        text: Command text, from `normal`.
        variables: What is known of variables; read anew for each word, so the caller may add to it on the way.
    """
    lexer = _Lexer(text, variables)
    while (token := lexer.next_token()) is not None:
        yield from _expand_braces(token)


class _Lexer:
    """Walks once through a text."""

    def __init__(self, text: str, variables: Mapping[str, str]) -> None:
        """Start at the beginning."""
        self._text = text
        self._at = 0
        self._variables = variables
        self._waiting: list[tuple[Token, bool]] = []

    def next_token(self) -> Token | None:
        """Return the next token, None at the end."""
        self._skip_blanks()
        if self._at >= len(self._text):
            return None
        operator = self._operator()
        if operator is not None:
            return self._operator_token(operator)
        return self._word()

    def _skip_blanks(self) -> None:
        text = self._text
        while self._at < len(text):
            if text[self._at] == " ":
                self._at += 1
            elif text.startswith("\\\n", self._at):
                self._at += 2
            elif text[self._at] == "#":
                end = text.find("\n", self._at)
                self._at = len(text) if end < 0 else end
            else:
                return

    def _operator(self) -> str | None:
        if self._text[self._at] not in _OPERATOR_STARTS:
            return None
        if self._text.startswith(("<(", ">("), self._at):
            return None
        for operator in _OPERATORS:
            if self._text.startswith(operator, self._at):
                return operator
        return None

    def _operator_token(self, operator: str) -> Token:
        self._at += len(operator)
        token = Token(operator, operator=True)
        if operator in ("<<", "<<-"):
            self._skip_blanks()
            delimiter = self._word() if self._at < len(self._text) else Token("")
            token.body = delimiter.text
            self._waiting.append((token, delimiter.quoted))
        elif operator == "\n":
            self._take_bodies()
        return token

    def _take_bodies(self) -> None:
        """Take the here-documents that begin on this line."""
        for token, quoted in self._waiting:
            lines = []
            while self._at < len(self._text):
                end = self._text.find("\n", self._at)
                end = len(self._text) if end < 0 else end
                line = self._text[self._at : end]
                self._at = min(end + 1, len(self._text))
                if line.strip() == token.body.strip():
                    break
                lines.append(line)
            token.body = "\n".join(lines)
            if not quoted:
                token.inner.extend(_substitutions(token.body))
        self._waiting.clear()

    def _word(self) -> Token:
        token = Token("")
        while self._at < len(self._text):
            plain = _PLAIN.match(self._text, self._at)
            if plain is not None:
                token.text += plain.group()
                self._at = plain.end()
                continue
            character = self._text[self._at]
            if character in " \n" or self._operator() is not None:
                if self._is_descriptor(token):
                    token.text = ""
                    return self.next_token() or token
                break
            self._piece(character, token)
        return token

    def _is_descriptor(self, token: Token) -> bool:
        """Return whether the word is the number in front of a redirect."""
        follows = self._at < len(self._text) and self._text[self._at] in "<>"
        return follows and not token.quoted and re.fullmatch(r"\d+|\{\w+\}", token.text) is not None

    def _piece(self, character: str, token: Token) -> None:
        if character == "'":
            self._single(token)
        elif character == '"':
            self._double(token)
        elif character == "\\":
            token.text += self._text[self._at + 1 : self._at + 2].replace("\n", "")
            token.quoted = True
            self._at += 2
        elif character in "$`" or self._text.startswith(("<(", ">("), self._at):
            self._dollar(token, quoted=False)
        else:
            token.glob = token.glob or character in "*?["
            token.text += character
            self._at += 1

    def _single(self, token: Token) -> None:
        end = self._text.find("'", self._at + 1)
        end = len(self._text) if end < 0 else end
        token.text += self._text[self._at + 1 : end]
        token.quoted = True
        self._at = end + 1

    def _double(self, token: Token) -> None:
        token.quoted = True
        self._at += 1
        while self._at < len(self._text) and self._text[self._at] != '"':
            character = self._text[self._at]
            if character == "\\":
                following = self._text[self._at + 1 : self._at + 2]
                token.text += following if following in '$`"\\\n' else character + following
                self._at += 2
            elif character in "$`":
                self._dollar(token, quoted=True)
            else:
                token.text += character
                self._at += 1
        self._at += 1

    def _dollar(self, token: Token, *, quoted: bool) -> None:
        """Take an expansion or a substitution."""
        text, at = self._text, self._at
        if text[at] == "`":
            end = _closing_backtick(text, at)
            self._substitute(token, text[at + 1 : end].replace("\\`", "`"), end + 1)
        elif text.startswith(("$(", "<(", ">("), at):
            end = _closing(text, at + 1, "(", ")")
            self._substitute(token, text[at + 2 : end], end + 1)
        elif text.startswith("${", at):
            end = _closing(text, at + 1, "{", "}")
            self._at = end + 1
            self._braced(token, text[at + 2 : end], quoted=quoted)
        elif text.startswith("$'", at) and not quoted:
            self._ansi(token)
        elif text.startswith('$"', at) and not quoted:
            self._at += 1
        else:
            self._named(token, quoted=quoted)

    def _substitute(self, token: Token, inner: str, end: int) -> None:
        token.inner.append(inner)
        token.text += UNKNOWN_TEXT
        token.exact = False
        self._at = end

    def _braced(self, token: Token, content: str, *, quoted: bool) -> None:
        token.inner.extend(_substitutions(content))
        found = _BRACED.fullmatch(content)
        if found is not None and not found[1]:
            self._variable(token, found[2], quoted=quoted)
            return
        token.exact = False
        default = re.match(r"\w+:?[-=+]", content)
        token.text += content[default.end() :] if default else UNKNOWN_TEXT

    def _named(self, token: Token, *, quoted: bool) -> None:
        name = _NAME.match(self._text, self._at + 1)
        if name is None:
            token.text += "$"
            self._at += 1
            return
        self._at = name.end()
        self._variable(token, name.group(), quoted=quoted)

    def _variable(self, token: Token, name: str, *, quoted: bool) -> None:
        value = self._variables.get(name)
        if value is None:
            token.exact = False
            token.text += UNKNOWN_TEXT
        elif not quoted and (" " in value or "\n" in value):
            # the shell splits the value into words: put it back into the text, without a meaning of its own
            plain = _SPECIAL.sub(r"\\\g<0>", value.replace("\n", " "))
            self._text = self._text[: self._at] + plain + self._text[self._at :]
        else:
            token.text += value

    def _ansi(self, token: Token) -> None:
        end = self._at + 2
        while end < len(self._text) and self._text[end] != "'":
            end += 2 if self._text[end] == "\\" else 1
        token.text += _ANSI.sub(_unescape, self._text[self._at + 2 : end])
        token.quoted = True
        self._at = end + 1


def _unescape(found: re.Match[str]) -> str:
    code = found[1]
    if code[0] in "xuU" and len(code) > 1:
        return chr(min(int(code[1:], 16), 0x10FFFF))
    if code.isdigit():
        return chr(int(code, 8) & 0xFF)
    return "" if code[0] == "c" and len(code) > 1 else _ESCAPES.get(code, code)


def unescaped(text: str) -> str:
    """Return a text with the escapes of `printf` and `echo -e` undone."""
    return _ANSI.sub(_unescape, text)


def _closing_backtick(text: str, start: int) -> int:
    at = start + 1
    while at < len(text) and text[at] != "`":
        at += 2 if text[at] == "\\" else 1
    return min(at, len(text))


def _closing(text: str, start: int, opening: str, closing: str) -> int:
    """Return where the bracket at `start` closes, the end of the text if it does not; quotes are passed over."""
    depth, at = 0, start
    while at < len(text):
        character = text[at]
        if character == "\\":
            at += 1
        elif character == "'":
            end = text.find("'", at + 1)
            at = len(text) if end < 0 else end
        elif character == opening:
            depth += 1
        elif character == closing:
            depth -= 1
            if depth == 0:
                return at
        at += 1
    return len(text)


def _substitutions(text: str) -> list[str]:
    """Return the texts of commands that run to expand a text in which quotes are ordinary characters."""
    found = []
    at = 0
    while at < len(text):
        if text[at] == "\\":
            at += 2
        elif text[at] == "`":
            end = _closing_backtick(text, at)
            found.append(text[at + 1 : end])
            at = end + 1
        elif text.startswith("$(", at):
            end = _closing(text, at + 1, "(", ")")
            found.append(text[at + 2 : end])
            at = end + 1
        else:
            at += 1
    return found


_BRACE: Final = re.compile(r"\{([^{}]*,[^{}]*)\}")


def _expand_braces(token: Token) -> Iterator[Token]:
    """Yield the words a word with {a,b} stands for."""
    if token.operator or token.quoted or not _BRACE.search(token.text):
        yield token
        return
    pieces = _BRACE.split(token.text)
    choices = [piece.split(",") if place % 2 else [piece] for place, piece in enumerate(pieces)]
    for count, made in enumerate(product(*choices)):
        if count >= MAX_BRACES:
            return
        text = "".join(made)
        if text:
            yield Token(
                text, exact=token.exact, glob=token.glob, inner=token.inner if not count else []
            )

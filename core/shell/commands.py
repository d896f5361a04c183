"""The loose reader: every command that may run when a text is given to a shell, wherever it is hidden in it."""

import re
from dataclasses import replace
from typing import Final

from core.shell.fed import fed_words, read_scripts, written_text
from core.shell.folders import Folders
from core.shell.lexer import REDIRECTS, Token, normal, tokens
from core.shell.scripts import scripts
from core.shell.seen import Redirect, Seen, Sight
from core.shell.words import RESERVED
from core.shell.wrappers import base_name, run_by_find, wrapped

MAX_COMMANDS: Final = 1000
"""More commands than this are not looked at; the text then counts as a danger."""
MAX_DEPTH: Final = 10
"""Deeper nesting is not looked at; the text then counts as a danger."""
MAX_TEXT: Final = 65_536
"""Longer text is looked at at its beginning and its end only."""
MAX_WORK: Final = 262_144
"""Characters looked at in a text and in all texts inside it together."""
MAX_VALUE: Final = 1000
"""Longest value of a variable that is remembered."""

_ASSIGNMENT: Final = re.compile(r"([A-Za-z_]\w*)(?:\[[^]]*\])?\+?=(.*)", re.DOTALL)
_SKIPPED: Final = frozenset(RESERVED) - {"for", "case", "select", "function", "time"}
DECLARING: Final = frozenset({"export", "declare", "local", "readonly", "typeset"})


class CommandFinder:
    """Collects the commands of one text and of all texts inside it."""

    def __init__(self, home: str) -> None:
        """Start with nothing seen.

        Args:
            home: Value of $HOME.
        """
        self.sight = Sight()
        self._variables = {"IFS": " ", "HOME": home}
        self._pipelines = 0
        self._left = MAX_WORK

    def find(self, text: str, folders: Folders, *, depth: int = 0, within: int = -1) -> None:
        """Add what a text may run.

        Args:
            text: Bash source.
            folders: Where it starts; changed as the text changes folder.
            depth: How deep in other texts it is.
            within: Pipeline it makes words for, -1 for none.
        """
        self._left -= len(text)
        if depth > MAX_DEPTH or len(self.sight.commands) > MAX_COMMANDS or self._left < 0 < depth:
            self.sight.cut = True
            return
        if len(text) > MAX_TEXT:
            self.sight.cut = True
            text = text[: MAX_TEXT // 2] + "\n" + text[-MAX_TEXT // 2 :]
        self._variables["PWD"] = folders.now[0] or "."
        _Walk(self, folders, depth, within).walk(normal(text))

    def add(self, seen: Seen, folders: Folders, depth: int) -> None:
        """Add a command, and what it runs in turn."""
        self.sight.commands.append(seen)
        if not seen.words or depth > MAX_DEPTH:
            self.sight.cut = self.sight.cut or depth > MAX_DEPTH
            return
        inner = wrapped(seen.words)
        if inner is not None:
            words, more = inner
            fed = fed_words(seen) if more else ()
            self.add(replace(seen, words=(*words, *fed), more=more and not fed), folders, depth + 1)
        if base_name(seen.words[0].text) == "find":
            for words in run_by_find(seen.words):
                if words:
                    self.add(replace(seen, words=words), folders, depth + 1)
        values = (value for _, value in seen.environment if " " in value.strip())
        for text in (*scripts(seen.words), *read_scripts(seen), *values):
            if text.strip():
                self.find(text, folders.saved(), depth=depth + 1, within=seen.within)

    def before(self, pipeline: int, place: int) -> Seen | None:
        """Return the last command at a place of a pipeline, None where there is none."""
        for seen in reversed(self.sight.commands):
            if (seen.pipeline, seen.place) == (pipeline, place):
                return seen
        return None

    def next_pipeline(self) -> int:
        """Return the number of a new pipeline."""
        self._pipelines += 1
        return self._pipelines

    def assign(self, word: Token) -> tuple[str, str] | None:
        """Note NAME=VALUE; return both, None when the word is none."""
        found = _ASSIGNMENT.fullmatch(word.text)
        if found is None:
            return None
        name, value = found[1], found[2]
        if word.exact and len(value) <= MAX_VALUE:
            self._variables[name] = value
        else:
            self._variables.pop(name, None)
        return name, value

    def forget(self, name: str) -> None:
        """Note that a variable has a value that is not known."""
        self._variables.pop(name, None)

    @property
    def variables(self) -> dict[str, str]:
        """What is known of variables now."""
        return self._variables


class _Walk:
    """One pass over the tokens of one text."""

    def __init__(self, finder: CommandFinder, folders: Folders, depth: int, within: int) -> None:
        """Belong to `finder`."""
        self._finder = finder
        self._folders = folders
        self._depth = depth
        self._within = within
        self._outer: list[Folders] = []
        self._pipeline = finder.next_pipeline()
        self._place = 0
        self._words: list[Token] = []
        self._redirects: list[Redirect] = []
        self._redirecting = ""
        self._document: Token | None = None
        self._under = -1
        self._loops = False

    def walk(self, text: str) -> None:
        """Take all tokens."""
        for token in tokens(text, self._finder.variables):
            for inner in token.inner:
                self._find_inner(inner)
            if token.operator:
                self._operator(token)
            else:
                self._word(token)
            if len(self._finder.sight.commands) > MAX_COMMANDS:
                self._finder.sight.cut = True
                return
        self._end()

    def _find_inner(self, text: str) -> None:
        """Look into a text that runs to make a word of the command at hand."""
        folders = self._folders.saved()
        self._finder.find(text, folders, depth=self._depth + 1, within=self._pipeline)

    def _word(self, token: Token) -> None:
        if self._redirecting:
            self._redirects.append(Redirect(self._redirecting, token))
            if self._redirecting == "<<<":
                self._document = Token("<<<", body=token.text)
            self._redirecting = ""
            return
        if not self._words and token.text in _SKIPPED and not token.quoted:
            self._group(token.text)
            return
        self._words.append(token)

    def _group(self, word: str) -> None:
        """Note that a group begins: all of it reads what the pipeline brings."""
        if self._place:
            self._under = self._pipeline
        self._loops = word in ("while", "until")

    def _operator(self, token: Token) -> None:
        operator = token.text
        self._finder.sight.background = self._finder.sight.background or operator == "&"
        if operator in ("<<", "<<-"):
            self._document = token  # its body is known when the line ends
        elif operator in REDIRECTS:
            self._redirecting = operator
        elif operator == "(":
            self._open()
        else:
            self._end()
            self._after(operator)

    def _open(self) -> None:
        if len(self._words) == 1 and self._words[0].exact:
            self._finder.sight.functions.add(self._words[0].text)
            self._words.clear()
            return
        self._end()
        self._group("(")
        self._outer.append(self._folders)
        self._folders = self._folders.saved()

    def _after(self, operator: str) -> None:
        if operator == ")" and self._outer:
            self._folders = self._outer.pop()
        elif operator in ("|", "|&"):
            self._place += 1
        if operator not in ("|", "|&", ")"):
            self._pipeline = self._finder.next_pipeline()
            self._place = 0
            self._folders.joined(operator)

    def _end(self) -> None:
        words, redirects, document = self._words, self._redirects, self._document
        self._words, self._redirects, self._redirecting, self._document = [], [], "", None
        for inner in document.inner if document else ():
            self._find_inner(inner)
        environment = []
        for word in words:
            assigned = self._finder.assign(word)
            if assigned is None:
                break
            environment.append(assigned)
        words = words[len(environment) :]
        if not words and not redirects and not environment:
            return
        words = self._grammar(words)
        if self._loops and words and words[0].text in ("true", ":", "1", "false"):
            self._finder.sight.endless = True
        seen = Seen(
            words=tuple(words),
            redirects=tuple(redirects),
            folders=self._folders.now,
            pipeline=self._pipeline,
            place=self._place,
            environment=tuple(environment),
            within=self._within,
            body=document.body if document else self._piped_text(),
            under=self._under,
        )
        self._finder.add(seen, self._folders, self._depth)
        if words:
            self._note(seen)

    def _piped_text(self) -> str:
        """Return what `echo` or `printf` in front of the command writes, "" for anything else."""
        before = self._finder.before(self._pipeline, self._place - 1) if self._place else None
        return written_text(before) if before is not None else ""

    def _grammar(self, words: list[Token]) -> list[Token]:
        """Take `for`, `case`, `select` and `function` off: they are no commands."""
        first = words[0].text if words else ""
        if first in ("for", "select") and len(words) > 1:
            values = [word for word in words[3:] if word.exact and not word.glob]
            self._finder.forget(words[1].text)
            if len(values) == 1 and len(words) == 4:
                self._finder.assign(replace(values[0], text=f"{words[1].text}={values[0].text}"))
            return []
        if first == "function" and len(words) > 1:
            self._finder.sight.functions.add(words[1].text)
            return words[2:]
        return [] if first == "case" else words

    def _note(self, seen: Seen) -> None:
        """Follow what changes the commands after it."""
        inner = wrapped(seen.words) if seen.name in ("command", "builtin") else None
        if inner is not None:
            seen = replace(seen, words=inner[0])
        if seen.name in ("cd", "pushd", "popd", "chdir"):
            self._change_folder(seen)
        elif seen.name in DECLARING:
            for word in seen.words[1:]:
                self._finder.assign(word)
        elif seen.name in ("read", "mapfile", "readarray", "getopts", "unset"):
            for word in seen.words[1:]:
                self._finder.forget(word.text)

    def _change_folder(self, seen: Seen) -> None:
        if self._place:
            return
        operands = [
            word for word in seen.words[1:] if not word.text.startswith("-") or word.text == "-"
        ]
        if not operands:
            self._folders.changed("" if seen.name == "cd" else None)
        elif operands[0].exact and not operands[0].glob:
            self._folders.changed(operands[0].text)
        else:
            self._folders.changed(None)

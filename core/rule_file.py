"""Reads rules from a TOML file of the person's own configuration folder.

A file that is not wholly right is not used at all: what a rule was meant to deny must not be allowed by a typing error.
"""

import os
import stat
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any, Final, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from core.address import parse_web_address
from core.assessment import Situation
from core.errors import ConfigError, EgressDeniedError
from core.ports import CallFacts
from core.risk import assess
from core.rules import REST, Rule, RuleDecision
from core.toml_lines import error_line, key_lines, line_of
from core.vocabulary import Mode

POLICY_NAME: Final = "policy.toml"
MAX_BYTES: Final = 1 << 20
VERSION: Final = 1
_EXAMPLE: Final = Situation(workspace=Path("/nonexistent/example"))
"""Where the examples of a rule are judged."""


class RuleEntry(BaseModel):
    """One `[[rule]]` of the file."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    id: str = Field(min_length=1, max_length=80)
    decision: RuleDecision
    tool: str = Field("*", min_length=1)
    argv: tuple[str, ...] = ()
    where: Literal["", "sandbox", "host"] = ""
    origin: str = ""
    actions: tuple[str, ...] = ()
    text: str = ""
    modes: tuple[Mode, ...] = ()
    taint: Literal["", "clean"] = ""
    expires: date | Literal["", "session"] = ""
    reason: str = ""
    match: tuple[str, ...] = ()
    not_match: tuple[str, ...] = ()

    @model_validator(mode="after")
    def _consistent(self) -> "RuleEntry":
        if REST in self.argv[:-1]:
            raise ValueError('"..." may only be the last word of argv')
        if self.argv and self.tool not in ("shell", "*"):
            raise ValueError("argv is for the tool shell")
        if self.decision == "allow" and self.tool == "*" and not self.text:
            raise ValueError("an allow must name its tool")
        if self.decision == "allow" and self.tool == "shell" and not self.argv:
            raise ValueError("an allow for shell needs argv")
        if self.origin:
            try:
                plain = parse_web_address(self.origin)
            except EgressDeniedError as error:
                raise ValueError(error.message) from error
            if plain.origin != self.origin.rstrip("/"):
                raise ValueError(f"origin must be written {plain.origin}")
        return self


class RuleFile(BaseModel):
    """The whole file."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    version: Literal[1]
    rule: tuple[RuleEntry, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class RuleSet:
    """Rules of one file."""

    rules: tuple[Rule, ...] = ()
    problem: ConfigError | None = None
    """Set where the file cannot be used: start in mode read and show it."""
    warning: str = ""
    """Something the person should know of the file."""


def load_rules(path: Path, today: date | None = None) -> RuleSet:
    """Load a rule file.

    Args:
        path: In the configuration folder, never in the workspace; no file is no rules.
        today: For rules that expire; None is now.
    """
    try:
        status, data = _read(path)
        rules = parse_rules(data.decode("utf-8"), str(path), today)
    except FileNotFoundError:
        return RuleSet()
    except OSError as error:
        return RuleSet(problem=ConfigError(f"{path} cannot be read: {error.strerror}."))
    except UnicodeDecodeError:
        return RuleSet(problem=ConfigError(f"{path} is not UTF-8."))
    except ConfigError as error:
        return RuleSet(problem=error)
    if status.st_mode & 0o022 or status.st_uid not in (os.geteuid(), 0):
        text = (
            f"{path} can be written by others: its allow rules are ignored. Run: chmod 600 {path}"
        )
        return RuleSet(
            rules=tuple(rule for rule in rules if rule.decision != "allow"), warning=text
        )
    return RuleSet(rules=rules)


def _read(path: Path) -> tuple[os.stat_result, bytes]:
    flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK
    with os.fdopen(os.open(path, flags), "rb") as file:
        status = os.fstat(file.fileno())
        if not stat.S_ISREG(status.st_mode) or status.st_size > MAX_BYTES:
            raise ConfigError(f"{path} is no regular file of at most 1 MiB.")
        return status, file.read(MAX_BYTES)


def parse_rules(text: str, name: str, today: date | None = None) -> tuple[Rule, ...]:
    """Read the rules of a text.

    Args:
        text: TOML.
        name: File name, for messages and as the source of the rules.
        today: For rules that expire; None is now.

    Raises:
        ConfigError: Syntax, an unknown key, a wrong type, or an example that does not hold; with file, line and key.
    """
    try:
        raw = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        where = error_line(error) or text.count("\n") + 1
        raise ConfigError(
            f"{name}, line {where}: {error}.", hint="Nothing of it is used."
        ) from error
    except (ValueError, RecursionError) as error:
        raise ConfigError(
            f"{name}: a value is too long or nested too deep.", hint="Nothing of it is used."
        ) from error
    try:
        file = RuleFile.model_validate(raw)
    except ValidationError as error:
        raise _invalid(error, text, name) from error
    lines = _rule_lines(text)
    rules = []
    for place, entry in enumerate(file.rule):
        rule = _rule(entry, f"{name}:{lines[place] if place < len(lines) else 0}")
        _check_examples(entry, rule)
        if not isinstance(entry.expires, date) or entry.expires >= (
            today or datetime.now(UTC).date()
        ):
            rules.append(rule)
    return tuple(rules)


def _rule(entry: RuleEntry, source: str) -> Rule:
    fields: dict[str, Any] = entry.model_dump(exclude={"expires", "match", "not_match"})
    fields["origin"] = entry.origin.rstrip("/")
    return replace(Rule(**fields), source=source)


def _check_examples(entry: RuleEntry, rule: Rule) -> None:
    for example in entry.match:
        if not _matches(rule, example):
            raise ConfigError(
                f"{rule.source}: rule {rule.id} does not match its example {example!r}."
            )
    for example in entry.not_match:
        if _matches(rule, example):
            raise ConfigError(
                f"{rule.source}: rule {rule.id} matches {example!r}, which it must not."
            )


def _matches(rule: Rule, example: str) -> bool:
    found = assess("shell", {"command": example}, CallFacts(), _EXAMPLE)
    if rule.decision != "allow":
        return rule.restricts(found)
    covered = rule.allowed_commands(found)
    return bool(found.subject.commands) and all(
        item.words in covered for item in found.subject.commands
    )


def _rule_lines(text: str) -> Sequence[int]:
    return [
        number
        for number, line in enumerate(text.splitlines(), start=1)
        if line.strip().startswith("[[rule]]")
    ]


def _invalid(error: ValidationError, text: str, name: str) -> ConfigError:
    first = error.errors(include_url=False)[0]
    key = tuple(str(part) for part in first["loc"] if not isinstance(part, int))
    places = [part for part in first["loc"] if isinstance(part, int)]
    lines = _rule_lines(text)
    start = lines[places[0]] if places and places[0] < len(lines) else 1
    below = "\n".join(text.splitlines()[start - 1 :]).replace("[[rule]]", "[rule]", 1)
    line = start - 1 + (line_of(key_lines(below), key) or 1)
    return ConfigError(
        f"{name}, line {line}: {'.'.join(key) or 'file'}: {first['msg']}.",
        hint="Nothing of the file is used, and the app starts in mode read.",
    )

"""Which programs take part in which danger: the data of `dangers.toml`."""

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

from core.shell.scripts import CODE_OPTIONS, SHELLS


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownDangers:
    """Names of programs; the fields are explained in the data file."""

    downloaders: frozenset[str]
    decoders: frozenset[str]
    runners: frozenset[str]
    engines: frozenset[str]
    below: frozenset[str]
    machine: frozenset[str]
    piped_senders: frozenset[str]
    always_senders: frozenset[str]
    copiers: frozenset[str]
    askers: frozenset[str]
    posters: frozenset[str]
    installers: frozenset[str]
    install_words: frozenset[str]
    run_packages: frozenset[str]
    uploads: Mapping[str, frozenset[str]]


@cache
def known_dangers() -> KnownDangers:
    """Return the data, read once."""
    raw = tomllib.loads(files("core.shell").joinpath("dangers.toml").read_text("utf-8"))
    uploads = {name: frozenset(words) for name, words in raw.pop("uploads").items()}
    names = {key: frozenset(value) for key, value in raw.items()}
    names["runners"] |= SHELLS | frozenset(CODE_OPTIONS)
    return KnownDangers(uploads=uploads, **names)

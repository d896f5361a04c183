"""Known dangers in what a text may run: downloads that are run, files sent out, bombs, and doors to other machines.

A list like this never holds against somebody who wants round it; the cage does. It is there to make people look twice.
"""

import re
from collections.abc import Iterator, Sequence
from typing import Final

from core.shell.fed import code_of
from core.shell.known_dangers import known_dangers
from core.shell.lexer import UNKNOWN_TEXT
from core.shell.scripts import CODE_OPTIONS, SHELLS
from core.shell.seen import Seen, Sight
from core.shell.sending import doors, sent
from core.shell.wrappers import base_name

_SOCKETS: Final = re.compile(
    r"docker\.sock|containerd\.sock|podman\.sock|crio\.sock|/var/run/docker|DOCKER_HOST|dockershim"
)
_RUNS_TEXT: Final = re.compile(
    r"\b(?:exec|eval|compile|system|popen|spawn|subprocess|getline|Function)\b|\|\s*\""
)
_FORKS: Final = re.compile(r"\bfork\b", re.IGNORECASE)
_DOWNLOAD_TO: Final = re.compile(r"-\w*[oO]|--output|--output-document")
_DOWNLOAD_INTO: Final = re.compile(r"-\w*o(.+)|--output(?:-document)?=(.+)")


def dangers(sight: Sight) -> Iterator[str]:
    """Yield each known danger in a few words."""
    if sight.cut:
        yield "longer or deeper than can be looked through"
    commands = [seen for seen in sight.commands if seen.words]
    yield from _bombs(sight, commands)
    yield from _runs_download(commands)
    for seen in sight.commands:
        yield from doors(seen)
    for seen in commands:
        yield from sent(seen)
        yield from _engines(seen)


def installs(seen: Seen) -> bool:
    """Return whether a command installs packages."""
    if not seen.words:
        return False
    known = known_dangers()
    name = base_name(seen.words[0].text)
    texts = [word.text for word in seen.words[1:]]
    if name in known.run_packages:
        return True
    if name == "python" and texts[:2] == ["-m", "pip"]:
        name, texts = "pip", texts[2:]
    return name in known.installers and bool(known.install_words & set(texts[:3]))


def _bombs(sight: Sight, commands: Sequence[Seen]) -> Iterator[str]:
    for name in sight.functions:
        if sum(seen.name == name for seen in commands) > 1:
            yield f"fork bomb: {name} calls itself"
    for seen in commands:
        if any(_FORKS.search(code) for code in code_of(seen)):
            yield "fork bomb: the code forks"
    if sight.endless and sight.background:
        yield "fork bomb: a loop without end starts programs beside it"
    itself = [
        seen for seen in commands if seen.words[0].text == UNKNOWN_TEXT and not seen.words[0].inner
    ]
    if len(itself) > 1:
        yield "fork bomb: it may start itself"


def _runs_download(commands: Sequence[Seen]) -> Iterator[str]:
    """Yield downloads, and decoded texts, that an interpreter runs."""
    known = known_dangers()
    loaded = _loaded_files(commands)
    feeders = [
        seen
        for seen in commands
        if base_name(seen.words[0].text) in known.downloaders | known.decoders
    ]
    for seen in commands:
        name = base_name(seen.words[0].text)
        runs = name in known.runners
        if runs and _runs_input(seen):
            yield from (_piped(other, seen) for other in feeders if _feeds(other, seen))
        ran = {word.text.rpartition("/")[2] for word in seen.words[: 3 if runs else 1]}
        if name == "chmod":
            ran |= {word.text.rpartition("/")[2] for word in seen.words[2:]}
        if loaded & ran:
            yield f"download that is run: {seen.name}"
        made = seen.words[0].inner and any(other.within == seen.pipeline for other in feeders)
        if made:
            yield f"download that is run: {seen.words[0].inner[0][:60]}"


def _runs_input(seen: Seen) -> bool:
    """Return whether an interpreter runs what it reads, rather than reading data with a program of its own."""
    name = base_name(seen.words[0].text)
    if name not in SHELLS and name not in CODE_OPTIONS:
        return True
    code = list(code_of(seen))
    if code:
        return any(_RUNS_TEXT.search(text) for text in code)
    texts = [word.text for word in seen.words[1:]]
    if name in CODE_OPTIONS and "-m" in texts:
        return False
    own = [text for text in texts if not text.startswith("-") and UNKNOWN_TEXT not in text]
    return not own or bool({"-c", "-s", "-", "/dev/stdin"} & set(texts))


def _piped(other: Seen, runner: Seen) -> str:
    known = known_dangers()
    what = "download" if base_name(other.words[0].text) in known.downloaders else "decoded text"
    return f"{what} piped to an interpreter: {other.name} | {runner.name}"


def _feeds(other: Seen, runner: Seen) -> bool:
    """Return whether the output of one command goes into an interpreter, by a pipe or in its words."""
    if other.pipeline == runner.pipeline:
        return other.place < runner.place
    return other.within == runner.pipeline or other.pipeline == runner.under


def _loaded_files(commands: Sequence[Seen]) -> set[str]:
    """Return names of files that are downloaded in the same text."""
    found: set[str] = set()
    for seen in commands:
        if base_name(seen.words[0].text) not in known_dangers().downloaders:
            continue
        texts = [word.text for word in seen.words[1:]]
        for text, following in zip(texts, [*texts[1:], ""], strict=True):
            if _DOWNLOAD_TO.fullmatch(text):
                found.add(following)
            if (attached := _DOWNLOAD_INTO.fullmatch(text)) is not None:
                found.add(attached[1] or attached[2])
            if "/" in text and not text.startswith("-"):
                found.add(text.partition("?")[0].rstrip("/"))
        found.update(item.target.text for item in seen.redirects if ">" in item.operator)
    return {name.rpartition("/")[2] for name in found} - {"", "-", "null", "stdout"}


def _engines(seen: Seen) -> Iterator[str]:
    """Yield ways to another engine or to the machine under the sandbox."""
    known = known_dangers()
    name = base_name(seen.words[0].text)
    texts = [word.text for word in seen.words[1:]]
    texts += [f"{key}={value}" for key, value in seen.environment]
    if any(_SOCKETS.search(text) for text in texts):
        yield "another engine's socket"
    if name in known.engines:
        yield f"{name} starts or steers containers"
    if name in known.below:
        yield f"{name} reaches below the sandbox"
    if name in known.machine or (name == "systemctl" and texts):
        yield f"{name} steers the machine"

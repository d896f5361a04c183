"""The command line: options that all commands share, and which word is the command."""

import argparse
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NoReturn, get_args

from core.config_layers import Override, config_dir, state_dir
from core.errors import ConfigError
from core.vocabulary import Mode, SandboxKind


@dataclass(frozen=True, slots=True, kw_only=True)
class CommonOption:
    """An option that sets one setting."""

    flag: str
    key: str
    """Dotted setting."""
    metavar: str
    about: str
    kind: type[str] | type[int] | type[float] = str
    choices: tuple[str, ...] = ()


COMMON_OPTIONS = (
    CommonOption(
        flag="--profile", key="profile", metavar="NAME", about="prompt, tools and limits to use"
    ),
    CommonOption(
        flag="--model", key="model.name", metavar="NAME", about="model, as its server names it"
    ),
    CommonOption(
        flag="--base-url", key="model.base_url", metavar="URL", about="OpenAI-compatible API to use"
    ),
    CommonOption(
        flag="--mode",
        key="mode",
        metavar="MODE",
        about="read, ask, auto or full: what runs without a question",
        choices=get_args(Mode),
    ),
    CommonOption(
        flag="--sandbox",
        key="sandbox.kind",
        metavar="KIND",
        about="docker, local, none or auto: where commands run",
        choices=get_args(SandboxKind),
    ),
    CommonOption(
        flag="--max-steps",
        key="limits.max_steps",
        metavar="N",
        about="end a run after N steps",
        kind=int,
    ),
    CommonOption(
        flag="--max-cost",
        key="limits.max_cost_usd",
        metavar="USD",
        about="end a run at this price, 0: no limit",
        kind=float,
    ),
    CommonOption(
        flag="--max-minutes",
        key="limits.max_minutes",
        metavar="N",
        about="end a run after N minutes",
        kind=float,
    ),
    CommonOption(flag="--theme", key="ui.theme", metavar="NAME", about="colours of the screen"),
)
ALLOW_PRIVATE = CommonOption(
    flag="--allow-private",
    key="browser.allow_private",
    metavar="HOST[:PORT]",
    about="open pages of this private or loopback host too; can be given again",
)
"""Of the commands that open a session."""
FLAGS_WITH_VALUE = frozenset(
    {option.flag for option in (*COMMON_OPTIONS, ALLOW_PRIVATE)} | {"--workspace"}
)
"""Common options whose next word is their value."""


class OneLineParser(argparse.ArgumentParser):
    """A parser whose mistakes become one clear line."""

    def error(self, message: str) -> NoReturn:
        """Report a mistake on the command line.

        Raises:
            ConfigError: Always, with code "usage".
        """
        raise ConfigError(
            f"{message[:1].upper()}{message[1:]}.", hint=f"See {self.prog} --help.", code="usage"
        )


def split_command(words: Sequence[str], commands: frozenset[str]) -> tuple[str, list[str]]:
    """Find the command among the words of a command line.

    The first word that is no option and no option's value decides; if it is no command, it is a task for the app.

    Returns:
        Name of the command, "app" when none is named, and the other words.
    """
    skip_next = False
    for index, word in enumerate(words):
        if skip_next:
            skip_next = False
        elif word == "--":
            break
        elif word.startswith("-"):
            skip_next = word in FLAGS_WITH_VALUE
        elif word in commands:
            return word, [*words[:index], *words[index + 1 :]]
        else:
            break
    return "app", list(words)


def new_parser(name: str, about: str) -> OneLineParser:
    """Return a parser with the common options.

    Args:
        name: Command, "app" for none.
        about: One line for the help.
    """
    prog = "handrail" if name == "app" else f"handrail {name}"
    parser = OneLineParser(prog=prog, description=about, allow_abbrev=False)
    parser.add_argument(
        "--workspace", metavar="DIR", default=".", help="folder to work in (default: this one)"
    )
    for option in COMMON_OPTIONS:
        parser.add_argument(
            option.flag,
            dest=option.key,
            type=option.kind,
            metavar=option.metavar,
            choices=option.choices or None,
            help=option.about,
        )
    parser.add_argument(
        "--no-browser",
        dest="browser.enabled",
        action="store_const",
        const=False,
        help="do not offer the browser",
    )
    return parser


def add_session_arguments(parser: OneLineParser) -> None:
    """Add what only a command takes that opens a session."""
    parser.add_argument(
        ALLOW_PRIVATE.flag,
        dest=ALLOW_PRIVATE.key,
        action="append",
        metavar=ALLOW_PRIVATE.metavar,
        help=ALLOW_PRIVATE.about,
    )


def common_overrides(options: argparse.Namespace) -> list[Override]:
    """Return the settings the command line gives."""
    flags = {option.key: option.flag for option in (*COMMON_OPTIONS, ALLOW_PRIVATE)} | {
        "browser.enabled": "--no-browser"
    }
    given = {key: getattr(options, key, None) for key in flags}
    return [
        Override(key=key, value=value, option=flags[key])
        for key, value in given.items()
        if value is not None
    ]


def workspace_of(options: argparse.Namespace) -> Path:
    """Return the workspace, resolved.

    Raises:
        ConfigError: It is not there, is no folder, cannot be used, or holds Handrail's own settings.
    """
    given = Path(options.workspace).expanduser()
    try:
        path = given.resolve(strict=True)
        with_entries = path.is_dir()
    except FileNotFoundError as error:
        raise ConfigError(
            f"The workspace {given} is not there.",
            hint="Make the folder, or give another with --workspace.",
            code="workspace_missing",
        ) from error
    except (OSError, RuntimeError) as error:
        raise ConfigError(
            f"The workspace {given} cannot be used: {error}.", code="workspace"
        ) from error
    if not with_entries:
        raise ConfigError(
            f"The workspace {given} is no folder.",
            hint="Give a folder with --workspace.",
            code="workspace",
        )
    _check_rights(path)
    _check_holds_nothing_of_ours(path)
    return path


def _check_holds_nothing_of_ours(path: Path) -> None:
    """Refuse a home folder and the like: commands in the sandbox may write whatever is in the workspace.

    What they wrote into the rules would be obeyed the next time.
    """
    for what, ours in (("settings", config_dir()), ("sessions", state_dir())):
        if ours.resolve().is_relative_to(path):
            raise ConfigError(
                f"The workspace {path} holds Handrail's own {what} ({ours}).",
                hint="Give a folder below it with --workspace.",
                code="workspace",
            )


def _check_rights(path: Path) -> None:
    import os

    if not os.access(path, os.R_OK | os.X_OK):
        raise ConfigError(
            f"The workspace {path} cannot be read.",
            hint="Check its owner and rights.",
            code="workspace",
        )
    if not os.access(path, os.W_OK):
        raise ConfigError(
            f"The workspace {path} is read-only.",
            hint="Make it writable, or give another with --workspace.",
            code="workspace_read_only",
        )

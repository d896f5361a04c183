"""`handrail inspect`: one page, as the model would see it."""

import asyncio
from argparse import Namespace
from pathlib import Path

from core.config_layers import state_dir
from core.config_load import load_configuration
from core.errors import ConfigError
from tui.arguments import OneLineParser, common_overrides
from tui.console import print_object, tell
from tui.exits import ANSWERED

HELP = "print a web page as the model would see it"


def add_arguments(parser: OneLineParser) -> None:
    """Add the address and the form of the output."""
    parser.add_argument("url", metavar="URL", help="http or https")
    parser.add_argument("--json", action="store_true", help="one JSON object")
    parser.add_argument("--text", action="store_true", help="the text of the page too")
    parser.add_argument("--screenshot", metavar="FILE", help="write a PNG of what is in view")
    parser.add_argument(
        "--allow-private", action="store_true", help="open a private or loopback address"
    )


def run(options: Namespace) -> int:
    """Look at the page once.

    Raises:
        ConfigError: The settings or the file name are wrong.
        BrowserError: The page cannot be opened.
    """
    settings = load_configuration(common_overrides(options)).settings
    if not settings.browser.enabled:
        raise ConfigError("The browser is switched off.", hint="Set browser.enabled to true.")
    from tools.browser.inspection import inspect_page

    folder = state_dir()
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        found = asyncio.run(
            inspect_page(
                options.url,
                allow_private=options.allow_private,
                executable=settings.browser.executable,
                state_dir=folder,
                screenshot=Path(options.screenshot) if options.screenshot else None,
                with_text=options.text,
            )
        )
    except OSError as error:
        raise ConfigError(
            f"{error.filename or folder} cannot be written: {error.strerror}."
        ) from error
    if options.json:
        print_object(found.body)
    else:
        tell("\n".join(found.lines))
    return ANSWERED
